"""Proven lower bounds of an instance of either problem."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from instances.dag.contention import Contention
from instances.fields import one_of
from solvers.bound_table import BoundTable
from solvers.check_arguments import check_contention, check_options
from solvers.confirm import confirm_bounds
from solvers.confirmation.claim import CONFIRM_SECONDS, check_confirm_time_limit, confirmation_run
from solvers.problem import problem_of
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import Interrupt
from solvers.run.outcome import Status, Termination
from solvers.run.versions import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from instances.readers.optgap_json import Instance
    from solvers.result import Result
    from solvers.run.bound import Bound


def lower_bound(
    instance: Instance,
    *,
    objective: str | None = None,
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
    objective
        What is minimised; by default the makespan, for jobs the total completion time.
    methods
        Names of bounds or exact methods (see `optgap methods`); by default the bounds that are worth their time on an
        instance of this size.
    time_limit
        Seconds for each exact method. A MILP of a DAG runs in a process of its own, which is killed if it overruns
        them; if it dies, the other bounds remain.
    threads, seed
        For the exact methods, as in `solve`.
    confirm
        Whether second models are asked to refute that a schedule below a bound exists, as
        `solvers.confirmation.claim` says: for every exact method, and once for all other bounds, beginning with the
        largest.
    confirm_time_limit
        Seconds for each question, as in `solve`.
    on_method
        Receives the name of every method before it begins ("confirmation" for the last step), and the table so far.
    contention
        What transfers share, as in `solve`. Bounds that do not know the rule hold under it too.

    Returns
    -------
    BoundTable
        A list with one bound per method, in the given order. An exact method that proved nothing is left out. Ctrl-C
        in an exact method keeps the bounds so far and leaves out the methods after it.

    Raises
    ------
    ValueError
        If a method is neither a bound nor exact, an exact method does not know contention or interference, or an
        argument is out of range or means nothing for this problem.
    ContradictionError
        If an exact method or a second model finds a schedule below a bound, or one where there should be none; a
        reproducer file is left.
    """
    from solvers.solve import solve

    problem = problem_of(instance)
    options: dict[str, Any] = {"confirm": confirm, "confirm_time_limit": confirm_time_limit, "contention": contention}
    check_options(problem, options)
    goal = problem.goal(instance, objective, contention)
    objective, contention = goal.objective, goal.contention
    names = problem.default_bounds(instance, objective, contention) if methods is None else list(methods)
    for name in names:
        one_of(name, problem.known_bounds, "methods")
        if name not in problem.bounds:
            check_contention(name, problem.methods[name].resolve(), contention)
    check_confirm_time_limit(confirm, confirm_time_limit)
    table = BoundTable(instance=instance, objective=objective, contention=contention)
    results: dict[str, Result[Any, Any]] = {}
    for number, name in enumerate(names):
        on_method(name, table)
        if name in problem.bounds:
            table.append(problem.bounds[name].bound(name, instance, objective, contention))
            refuse_contradictions(table, results)
            continue
        # In a process of its own, a solver that dies leaves the other bounds alone.
        can_be_a_worker = "worker" in inspect.signature(problem.methods[name].resolve()).parameters
        worker: dict[str, Any] = {"worker": True} if can_be_a_worker else {}
        results[name] = result = solve(
            instance,
            name,
            objective=objective,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
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
        if result.termination is Termination.INTERRUPTED:
            table.left_out += names[number + 1 :]
            table.is_interrupted = True
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
            table[:], asked = confirm_bounds(goal.instance, goal.objective, table, run=run)
            table.confirmations += asked
    return table


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
