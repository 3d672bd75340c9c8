"""Proven lower bounds of an instance of either problem."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from instances.dag.contention import Contention
from instances.dag.objective import Objective
from instances.jobs.objective import JobsObjective
from solvers.bound_methods import BOUND_METHODS, JOBS_BOUND_METHODS, MAX_PAIRS_FOR_COSTLY
from solvers.bound_table import BoundTable
from solvers.check_arguments import check_contention, knows_contention
from solvers.confirm import confirm_bounds
from solvers.confirmation.claim import CONFIRM_SECONDS, check_confirm_time_limit, confirmation_run
from solvers.methods import JOBS_METHODS, METHODS
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import Interrupt
from solvers.run.outcome import Status, Termination
from solvers.run.versions import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance
    from solvers.result import JobsResult, Result
    from solvers.run.bound import Bound


def lower_bound(
    instance: DagInstance,
    *,
    objective: Objective | str = Objective.MAKESPAN,
    methods: Sequence[str] | None = None,
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
    instance
        What is scheduled.
    objective
        What is minimised.
    methods
        Names of bounds (`BOUND_METHODS`) or exact methods; by default the bounds that are worth their time: the paths
        and the area, and up to `MAX_PAIRS_FOR_COSTLY` pairs of task and GPU those that are not below another.
    time_limit
        Seconds for each exact method among them. A MILP runs in a process of its own, which is killed where it overruns
        them; if it dies the other bounds are not touched.
    threads, seed
        Of the exact methods, as in `solve`.
    confirm
        Whether second models are asked to refute that a schedule below a bound exists, as
        `solvers.confirmation.claim` says: for every exact method, and once for all other bounds, beginning with the
        largest.
    confirm_time_limit
        Seconds for each question, as in `solve`.
    on_method
        Told of every method before it begins (of "confirmation" too), and of the table so far.
    contention
        What transfers share, as in `solve`. Bounds that do not know it hold under it too.

    Returns
    -------
    BoundTable
        A list with one bound per method, in the given order. An exact method that proved nothing is left out; Ctrl-C
        in one of them keeps what there is and leaves out the methods after it.

    Raises
    ------
    ValueError
        If a method is neither a bound nor exact, or exact without knowing contention, or an argument is out of range.
    ContradictionError
        If an exact method or a second model finds a schedule below a bound, or one where there should be none; a
        reproducer file is left.
    """
    from solvers.solve import solve

    objective, contention = Objective(objective), Contention(contention)
    names = list(_default_methods(instance, objective, contention) if methods is None else methods)
    _check_arguments(names, confirm, confirm_time_limit, contention)
    table = BoundTable(instance=instance, objective=objective, contention=contention)
    results: dict[str, Result] = {}
    for number, name in enumerate(names):
        on_method(name, table)
        if name in BOUND_METHODS:
            table.append(_bound(name, instance, objective, contention))
            refuse_contradictions(table, results)
            continue
        results[name] = result = solve(
            instance,
            method=name,
            objective=objective,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            confirm=confirm,
            confirm_time_limit=confirm_time_limit,
            contention=contention,
            **_in_a_worker(name),
        )
        _add(table, name, result)
        refuse_contradictions(table, results)
        if result.termination is Termination.INTERRUPTED:
            table.left_out += names[number + 1 :]
            return table
    if confirm:
        on_method("confirmation", table)
        with Interrupt() as interrupt:
            run = confirmation_run(
                time_limit=confirm_time_limit or time_limit or CONFIRM_SECONDS,
                threads=threads or available_cores(),
                seed=seed,
                should_stop=lambda: interrupt.heard,
            )
            table[:], asked = confirm_bounds(instance, objective, table, run=run)
            table.confirmations += asked
    return table


def _check_arguments(
    names: Sequence[str], confirm: bool, confirm_time_limit: float | None, contention: Contention
) -> None:
    """Refuse what would fail later."""
    for name in names:
        if name not in BOUND_METHODS and (name not in METHODS or METHODS[name].kind != "exact"):
            exact = [name for name, method in METHODS.items() if method.kind == "exact"]
            raise ValueError(f"methods: expected some of {', '.join([*BOUND_METHODS, *exact])}, got {name!r}.")
        if name in METHODS:
            check_contention(name, METHODS[name].resolve(), contention)
    check_confirm_time_limit(confirm, confirm_time_limit)


def _in_a_worker(name: str) -> dict[str, Any]:
    """Return the parameter that puts a solver into a process of its own: where it dies, the other bounds live on."""
    return {"worker": True} if "worker" in inspect.signature(METHODS[name].resolve()).parameters else {}


def _add(table: BoundTable, name: str, result: Result) -> None:
    """Add what an exact method proved."""
    if result.status is Status.INFEASIBLE:
        table.infeasible_by.append(name)
    if result.bound is not None:
        table.append(bound_of_exact_method(name, result))
    if result.confirmation is not None:
        table.confirmations.append(result.confirmation)


def _default_methods(instance: DagInstance, objective: Objective, contention: Contention) -> list[str]:
    """Return the bounds that are worth their time on an instance of this size."""
    small = instance.num_tasks * instance.num_gpus <= MAX_PAIRS_FOR_COSTLY
    return [
        name
        for name, method in BOUND_METHODS.items()
        if method.is_default
        and method.only in (None, objective)
        and method.rule in (None, contention)
        and (small or not method.is_costly)
    ]


def _bound(name: str, instance: DagInstance, objective: Objective, contention: Contention) -> Bound:
    """Compute one bound."""
    method = BOUND_METHODS[name]
    rule = {"contention": contention} if knows_contention(method.resolve()) else {}
    return method.bound(name, instance, objective, **rule)


def lower_bound_jobs(
    instance: JobsInstance,
    *,
    objective: JobsObjective | str = JobsObjective.TOTAL_COMPLETION,
    methods: Sequence[str] | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    on_method: Callable[[str, BoundTable], None] = lambda name, table: None,
) -> BoundTable:
    """Return proven lower bounds.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    methods
        Names of bounds (`JOBS_BOUND_METHODS`) or exact methods; by default the bounds that are worth their time with so
        many jobs.
    time_limit
        Seconds for each exact method among them.
    threads, seed
        Of the exact methods, as in `solve_jobs`.
    on_method
        Told of every method before it begins, and of the table so far.

    Returns
    -------
    BoundTable
        A list with one bound per method, in the given order. Ctrl-C in an exact method keeps what there is and leaves
        out the methods after it.

    Raises
    ------
    ValueError
        If a method is neither a bound nor exact, or an argument is out of range.
    ContradictionError
        If an exact method finds a schedule below a bound; a reproducer file is left.
    """
    from solvers.solve_jobs import solve_jobs

    objective = JobsObjective(objective)
    names = list(default_bounds(instance) if methods is None else methods)
    for name in names:
        if name not in known_bounds():
            raise ValueError(f"methods: expected some of {', '.join(known_bounds())}, got {name!r}.")
    table = BoundTable(instance=instance, objective=objective)
    results: dict[str, JobsResult] = {}
    for number, name in enumerate(names):
        on_method(name, table)
        if name in JOBS_BOUND_METHODS:
            table.append(JOBS_BOUND_METHODS[name].bound(name, instance, objective))
            refuse_contradictions(table, results)
            continue
        results[name] = result = solve_jobs(
            instance, name, objective=objective, time_limit=time_limit, threads=threads, seed=seed
        )
        if result.bound is not None:
            table.append(bound_of_exact_method(name, result))
        refuse_contradictions(table, results)
        if result.termination is Termination.INTERRUPTED:
            table.left_out += names[number + 1 :]
            return table
    return table


def known_bounds() -> list[str]:
    """Return the names of all bounds and exact methods."""
    return [*JOBS_BOUND_METHODS, *(name for name, method in JOBS_METHODS.items() if method.kind == "exact")]


def default_bounds(instance: JobsInstance) -> list[str]:
    """Return the bounds that are worth their time on an instance of this size."""
    return [
        name
        for name, method in JOBS_BOUND_METHODS.items()
        if method.max_jobs is None or instance.num_jobs <= method.max_jobs
    ]


def bound_of_exact_method(name: str, result: Result | JobsResult) -> Bound:
    """Return its own bound, or one that it began with and did not have to raise; the result has a bound."""
    bound = result.bound
    assert bound is not None  # the caller looked
    if bound.method == name:
        return bound
    proof = f"{bound.method} meets a schedule" if bound.is_optimum else f"no more than {bound.method}"
    return replace(
        bound, method=name, proof=proof, seconds=result.runtime_seconds, threads=result.threads, seed=result.seed
    )


def refuse_contradictions(table: BoundTable, results: Mapping[str, Result] | Mapping[str, JobsResult]) -> None:
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
