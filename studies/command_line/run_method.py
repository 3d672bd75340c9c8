"""One run for the command line: what it may be given, and its progress on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heuristics.stop.max_evaluations import MaxEvaluations
from solvers.lower_bound import best_bound, lower_bound
from solvers.methods import method_named
from solvers.solve import solve
from studies.command_line.bad_input import BadInputError
from studies.command_line.live_progress import LiveProgress
from studies.command_line.option_types import check_confirm_time_limit
from studies.command_line.output import note
from studies.command_line.set_parameters import set_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from instances.dag_instance import DagInstance
    from solvers.result import Result


def method_parameters(method: str, texts: Sequence[str], *, evaluations: int | None) -> dict[str, Any]:
    """Return a method's parameters from ``key=value`` texts.

    Raises
    ------
    BadInputError
        If it has no such parameter, or a budget of evaluations is given to what is no search.
    """
    registered = method_named(method)
    if evaluations is not None and registered.kind != "search":
        raise BadInputError(f"--evaluations: expected none for {method}, which is no search; got {evaluations}.")
    return set_parameters(method, registered.resolve(), texts, without=["contention"]) if texts else {}


def check_confirmation(method: str, confirm: bool, time_limit: float | None) -> None:
    """Refuse to confirm what proves nothing, and time for a confirmation that is not asked for.

    Raises
    ------
    BadInputError
        If one of them was asked for.
    """
    check_confirm_time_limit(confirm, time_limit)
    if confirm and method_named(method).kind != "exact":
        raise BadInputError(f"--confirm: expected none for {method}, which is no exact method and proves no bound.")


def run_method(
    instance: DagInstance,
    method: str,
    *,
    objective: str,
    time_limit: float | None,
    evaluations: int | None,
    threads: int | None,
    seed: int,
    parameters: Mapping[str, Any],
    against: str | None = None,
    confirm: bool = False,
    confirm_time_limit: float | None = None,
    contention: str = "none",
) -> Result:
    """Bound and solve an instance, with a line on the terminal once it takes longer; see `solve`.

    Where `against` names an exact method, that one proves the bound first, within the same time limit.
    """
    with LiveProgress("bounding") as progress:
        bounds = lower_bound(instance, objective=objective, contention=contention)
        if against is not None:
            progress.doing = against
            proven = lower_bound(
                instance,
                objective=objective,
                methods=[against],
                time_limit=time_limit,
                threads=threads,
                seed=seed,
                contention=contention,
            )
            if proven.infeasible_by:
                note(f"{against}: no schedule exists, the instance is infeasible.")
            bounds += proven
        best = best_bound(bounds)
        progress.lower_bound = None if best is None else best.value
        progress.doing, progress.then = method, "confirmation" if confirm else None
        return solve(
            instance,
            method,
            objective=objective,
            time_limit=time_limit,
            stop=None if evaluations is None else MaxEvaluations(evaluations),
            threads=threads,
            seed=seed,
            callback=progress,
            bounds=bounds,
            confirm=confirm,
            confirm_time_limit=confirm_time_limit,
            contention=contention,
            **parameters,
        )
