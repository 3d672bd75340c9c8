"""Proven lower bounds of an instance."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.contention import Contention
from instances.objective import Objective
from solvers.bound import best_bound as best_bound
from solvers.bound_method import BoundMethod
from solvers.bound_of_exact_method import bound_of_exact_method
from solvers.bound_table import BoundTable
from solvers.check_contention import check_contention, knows_contention
from solvers.confirm import CONFIRM_SECONDS, check_confirm_time_limit, confirm_bounds, confirmation_run
from solvers.interrupt import Interrupt
from solvers.methods import METHODS
from solvers.refuse_contradictions import refuse_contradictions
from solvers.status import Status, Termination
from solvers.versions import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from instances.dag_instance import DagInstance
    from solvers.bound import Bound
    from solvers.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class DagBoundMethod(BoundMethod):
    """A way to a bound of a DAG instance.

    Parameters
    ----------
    path, proof, distribution
        As in `BoundMethod`.
    is_costly
        Whether it is left out, unless named, above `MAX_PAIRS_FOR_COSTLY` pairs of task and GPU.
    is_default
        Whether it is computed at all unless named; not where another bound is never below it, or it takes a second.
    only
        The one objective that it says something about, None for both; for the other one its value is 0.
    rule
        The contention that it is made for, None where it is not; elsewhere it says no more than another one.
    """

    is_costly: bool = False
    is_default: bool = True
    only: Objective | None = None
    rule: Contention | None = None


BOUND_METHODS = {
    "critical-path": DagBoundMethod(
        path="formulations.dag.bounds.critical_path:critical_path",
        proof="longest path, smallest durations, free transfers",
    ),
    "transfer-aware-path": DagBoundMethod(
        path="formulations.dag.bounds.transfer_aware_path:transfer_aware_path",
        proof="longest path, cheapest transfers",
    ),
    "join-aware-path": DagBoundMethod(
        path="formulations.dag.bounds.join_aware_path:join_aware_path",
        proof="longest path, one task at a time at joins",
    ),
    "nic-aware-path": DagBoundMethod(
        path="formulations.dag.bounds.nic_aware_path:nic_aware_path",
        proof="longest path, one task or transfer at a time at joins",
        rule=Contention.NIC,
    ),
    "area": DagBoundMethod(
        path="formulations.dag.bounds.area:area",
        proof="area LP, multipliers checked in integers",
        distribution="highspy",
    ),
    "fernandez-bussell": DagBoundMethod(
        path="formulations.dag.bounds.fernandez_bussell:fernandez_bussell",
        proof="work inside the fullest window of time, all GPUs together",
        is_costly=True,
        is_default=False,  # energetic is rarely below it
        only=Objective.MAKESPAN,
    ),
    "energetic": DagBoundMethod(
        path="formulations.dag.bounds.energetic:energetic",
        proof="all makespans below are refuted by work inside windows, multipliers checked in integers",
        is_costly=True,
        is_default=False,  # probing is never below it
    ),
    "probing": DagBoundMethod(
        path="formulations.dag.bounds.probing:probing",
        proof="all makespans below are refuted, as by energetic, under every choice for some task",
        is_costly=True,
    ),
    "srpt": DagBoundMethod(
        path="formulations.dag.bounds.srpt:srpt",
        proof="all GPUs as one, the shortest remaining job first, by rank",
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "eastman-even-isaacs": DagBoundMethod(
        path="formulations.dag.bounds.eastman_even_isaacs:eastman_even_isaacs",
        proof="single tasks by weight over shortest duration",
        is_default=False,  # mean-busy-time is never below it
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "mean-busy-time": DagBoundMethod(
        path="formulations.dag.bounds.mean_busy_time:mean_busy_time",
        proof="all GPUs as one, interrupted at will",
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "window-load": DagBoundMethod(
        path="formulations.dag.bounds.window_load:window_load",
        proof="window-load LP, multipliers checked in integers",
        distribution="highspy",
        is_default=False,  # destructive begins with it
        only=Objective.MAKESPAN,
    ),
    "destructive": DagBoundMethod(
        path="formulations.dag.bounds.destructive:destructive",
        proof="all makespans below are refuted by window loads",
        distribution="highspy",
        is_costly=True,
        is_default=False,  # energetic is rarely below it, and quicker
        only=Objective.MAKESPAN,
    ),
    "time-indexed": DagBoundMethod(
        path="formulations.dag.bounds.time_indexed:time_indexed",
        proof="time-indexed LP, multipliers checked in integers",
        distribution="highspy",
        is_default=False,  # about a second
    ),
}
"""Bounds without search, by name."""

MAX_PAIRS_FOR_COSTLY = 1_000
"""Up to here the costly bounds take a fraction of a second."""


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
        Whether second models are asked to refute that a schedule below a bound exists, as `solvers.confirm` says: for
        every exact method, and once for all other bounds, beginning with the largest.
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
