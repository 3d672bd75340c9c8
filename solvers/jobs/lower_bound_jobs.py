"""Proven lower bounds of a jobs instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.jobs.jobs_objective import JobsObjective
from solvers.bound_method import BoundMethod
from solvers.bound_of_exact_method import bound_of_exact_method
from solvers.bound_table import BoundTable
from solvers.jobs.jobs_methods import JOBS_METHODS
from solvers.refuse_contradictions import refuse_contradictions
from solvers.status import Termination

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from instances.jobs.jobs_instance import JobsInstance
    from solvers.jobs.jobs_result import JobsResult


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsBoundMethod(BoundMethod):
    """A way to a bound of a jobs instance.

    Parameters
    ----------
    path, proof, distribution
        As in `BoundMethod`.
    max_jobs
        Up to so many jobs it is computed unless other bounds are named; None for any number, 0 for never.
    """

    max_jobs: int | None = None


JOBS_BOUND_METHODS = {
    "virtual-srpt": JobsBoundMethod(
        path="formulations.jobs.bounds.virtual_srpt:virtual_srpt",
        proof="all GPUs as one machine, interrupted at will, the shortest remaining job first",
    ),
    "release-plus-duration": JobsBoundMethod(
        path="formulations.jobs.bounds.release_plus_duration:release_plus_duration",
        proof="every job at once and at its fastest",
    ),
    "mean-busy-time": JobsBoundMethod(
        path="formulations.jobs.bounds.mean_busy_time:mean_busy_time",
        proof="all GPUs as one machine, by weight over length, plus half the durations",
    ),
    "rank-wise": JobsBoundMethod(
        path="formulations.jobs.bounds.rank_wise:rank_wise",
        proof="virtual SRPT and earliest completions together, rank by rank",
    ),
    "sets-of-kinds": JobsBoundMethod(
        path="formulations.jobs.bounds.sets_of_kinds:sets_of_kinds",
        proof="the bounds above on the jobs that only some kinds may run, plus the best of them on the others",
    ),
    "interval-indexed": JobsBoundMethod(
        path="formulations.jobs.bounds.interval_indexed:interval_indexed",
        proof="interval-indexed LP, multipliers checked in integers",
        distribution="highspy",
        max_jobs=2_000,
    ),
    "time-indexed": JobsBoundMethod(
        path="formulations.jobs.bounds.time_indexed:time_indexed",
        proof="time-indexed LP, multipliers checked in integers",
        distribution="highspy",
        max_jobs=2_000,
    ),
}
"""Bounds without search, by name."""


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
    from solvers.jobs.solve_jobs import solve_jobs

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
