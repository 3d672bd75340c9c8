"""Proven lower bounds of an instance of either problem."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heuristics.search.clock import Stopwatch
from instances.dag.contention import Contention
from instances.fields import one_of
from solvers.bound_methods import COSTLY_SECONDS
from solvers.bound_table import BoundTable
from solvers.check_arguments import (
    check_contention,
    check_contention_of_buffers,
    check_limits,
    check_options,
    refuse_unknown_buffers,
)
from solvers.confirm import confirm_bounds
from solvers.confirmation.claim import CONFIRM_SECONDS, check_confirm_time_limit, confirmation_run
from solvers.problem import problem_of
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import Interrupt
from solvers.run.outcome import Status, Termination
from solvers.run.versions import usable_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from instances.readers.optgap_json import Instance
    from solvers.problem import Problem
    from solvers.result import Result
    from solvers.run.bound import Bound


def lower_bound(
    instance: Instance,
    *,
    objective: str | None = None,
    methods: Sequence[str] | str | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    confirm: bool = False,
    confirm_time_limit: float | None = None,
    on_method: Callable[[str, BoundTable], None] = lambda name, table: None,
    contention: Contention | str = Contention.NONE,
) -> BoundTable:
    """Return proven lower bounds.

    Parameters
    ----------
    objective
        What is minimised; by default the makespan, for jobs the total completion time.
    methods
        Names of bounds or exact methods (see `optgap methods`), or one name; by default the bounds that are worth their
        time on an instance of this size.
    time_limit
        Seconds for all methods together; None for no limit. Cheap bounds come first, exact methods last, and each may
        take half of what is left, the last one all of it. A bound that was cut short is the best that was proved until
        then and says so in `Bound.proof`. A MILP of a DAG runs in a process of its own, which is
        killed if it overruns its share; if it dies, the other bounds remain.
    threads, seed
        For the exact methods, as in `solve`.
    confirm
        Whether second models are asked to refute that a schedule below a bound exists, as
        `solvers.confirmation.claim` says: for every exact method, and once for all other bounds, beginning with the
        largest.
    confirm_time_limit
        Seconds for each question, as in `solve`; they come on top of `time_limit`.
    on_method
        Receives the name of every method before it begins ("confirmation" for the last step), and the table so far.
    contention
        What transfers share, as in `solve`. Bounds that do not know the rule hold under it too.

    Returns
    -------
    BoundTable
        A list with one bound per method, in the given order. An exact method that proved nothing is left out. Ctrl-C
        and the time limit keep the bounds so far; `BoundTable.left_out` names the methods that came to no bound.

    Raises
    ------
    ValueError
        If a method is neither a bound nor exact, an exact method does not know contention or interference, or an
        argument is out of range or means nothing for this problem.
    ContradictionError
        If an exact method or a second model finds a schedule below a bound, or one where there should be none; a
        reproducer file is left.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3], [3, 8]], [(0, 1, 6), (0, 2, 2)], latency=1, bytes_per_tick=2.0)
    >>> [bound.value for bound in optgap.lower_bound(instance, methods=["critical-path", "join-aware-path"])]
    [7, 10]
    """
    from solvers.solve import solve

    problem = problem_of(instance)
    options: dict[str, Any] = {"confirm": confirm, "confirm_time_limit": confirm_time_limit, "contention": contention}
    check_options(problem, options)
    goal = problem.goal(instance, objective, contention)
    objective, contention = goal.objective, goal.contention
    names = [methods] if isinstance(methods, str) else list(methods or ())
    if methods is None:
        names = problem.default_bounds(instance, objective, contention)
    for name in names:
        one_of(name, problem.known_bounds, "methods")
        if name not in problem.bounds:
            check_contention(name, problem.methods[name].resolve(), contention)
            refuse_unknown_buffers(problem, instance, objective, name)
    check_contention_of_buffers(goal)
    check_confirm_time_limit(confirm, confirm_time_limit)
    check_limits(time_limit, threads, seed)
    table = BoundTable(instance=instance, objective=objective, contention=contention)
    results: dict[str, Result[Any, Any]] = {}
    order = names if time_limit is None else sorted(names, key=lambda name: _cost_class(problem, name))
    watch = Stopwatch()

    def whole_left() -> float:
        """Return the seconds of the whole call that are left; confirmations have their own time."""
        confirming = sum(confirmation.seconds for confirmation in table.confirmations)
        return math.inf if time_limit is None else time_limit + confirming - watch.seconds

    with Interrupt() as interrupt:
        for number, name in enumerate(order):
            share = whole_left() / (1 if number == len(order) - 1 else 2)
            if interrupt.heard or (number > 0 and share <= 0):
                table.left_out.append(name)
                continue
            on_method(name, table)
            if name in problem.bounds:
                method = problem.bounds[name]
                most = COSTLY_SECONDS if methods is None and method.is_costly else math.inf
                until = watch.seconds + min(share, most)

                def seconds_left(until: float = until) -> float:
                    return 0.0 if interrupt.heard else max(0.0, until - watch.seconds)

                bound = method.bound(name, instance, objective, contention, seconds_left)
                has_proved_nothing = bound.value <= 0 and method.is_limited and seconds_left() <= 0
                table.append(bound) if not has_proved_nothing else table.left_out.append(name)
                refuse_contradictions(table, results)
                continue
            # In a process of its own, a solver that dies leaves the other bounds alone.
            can_be_a_worker = "worker" in inspect.signature(problem.methods[name].resolve()).parameters
            worker: dict[str, Any] = {"worker": True} if can_be_a_worker else {}
            results[name] = result = solve(
                instance,
                name,
                objective=objective,
                time_limit=None if time_limit is None else max(share, 1e-3),
                threads=threads,
                seed=seed,
                bounds=None if time_limit is None else list(table) or None,
                **options,
                **worker,
            )
            if result.status is Status.INFEASIBLE:
                table.infeasible_by.append(name)
            if result.failure is not None:
                table.failures[name] = result.failure
            if result.bound is not None:
                table.append(bound_of_exact_method(name, result))
            if result.confirmation is not None:
                table.confirmations.append(result.confirmation)
            refuse_contradictions(table, results)
            interrupt.heard = interrupt.heard or result.termination is Termination.INTERRUPTED
        table.is_interrupted = interrupt.heard
        table.sort(key=lambda bound: names.index(bound.method))
        table.left_out.sort(key=names.index)
        if confirm and not interrupt.heard:
            on_method("confirmation", table)
            run = confirmation_run(
                time_limit=confirm_time_limit or time_limit or CONFIRM_SECONDS,
                threads=usable_threads(threads),
                seed=seed,
                should_stop=lambda: interrupt.heard,
            )
            table[:], asked = confirm_bounds(goal.instance, goal.objective, table, run=run)
            table.confirmations += asked
    return table


def _cost_class(problem: Problem, name: str) -> int:
    """Return 0 for bounds that take a moment, 1 for those that mostly do, 2 for costly ones, 3 for exact methods."""
    if name not in problem.bounds:
        return 3
    bound = problem.bounds[name]
    return 0 if not bound.is_limited else 1 if bound.is_default and not bound.is_costly else 2


def bound_of_exact_method(name: str, result: Result[Any, Any]) -> Bound:
    """Return the method's own bound, or the one that it began with and could not raise; the result has a bound."""
    bound = result.bound
    assert bound is not None  # the caller looked
    if bound.method == name:
        return bound
    proof = f"{bound.method} meets a schedule" if bound.is_optimum else f"no more than {bound.method}"
    return replace(
        bound, method=name, proof=proof, seconds=result.runtime_seconds, threads=result.threads, seed=result.seed
    )


def refuse_contradictions(table: BoundTable, results: Mapping[str, Result[Any, Any]]) -> None:
    """Raise if the schedule of an exact method is below the bound of another one, or refutes that there is none."""
    found = [result for result in results.values() if result.objective is not None]
    best = min(found, key=lambda result: result.objective or 0, default=None)
    if best is None or best.objective is None:
        return
    claims = {name: "no schedule exists" for name in table.infeasible_by}
    claims |= {bound.method: f"a bound of {bound.value}" for bound in table if bound.value > best.objective}
    for name, claim in claims.items():
        other = results.get(name)
        raise_contradiction(
            table.instance,
            f"{name} claims {claim}, {best.method} has a verified schedule of {best.objective}.",
            schedule=best.schedule,
            other_schedule=None if other is None else other.schedule,
            claims={name: claim, best.method: f"a schedule of {best.objective}"},
            evidence={"bounds": table.to_dicts(), "objective_name": table.objective_name, "seed": best.seed},
        )
