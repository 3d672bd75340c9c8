"""Every bound without search by name, for both problems; resolved on first use."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from heuristics.search.clock import Stopwatch
from instances.dag.contention import Contention
from instances.dag.objective import Objective
from solvers.run.bound import Bound
from solvers.run.versions import hardware, version_of

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundMethod:
    """What bounds of both problems have.

    Parameters
    ----------
    path
        ``module:function`` of instance and objective.
    proof
        What proves it.
    distribution
        The solver that it asks for help, None for none.
    """

    path: str
    proof: str
    distribution: str | None = None

    def resolve(self) -> Callable[..., int]:
        """Import and return the function."""
        module, function = self.path.split(":")
        resolved: Callable[..., int] = getattr(import_module(module), function)
        return resolved

    def bound(self, name: str, instance: object, objective: object, **rule: Any) -> Bound:
        """Compute the bound and time it.

        Parameters
        ----------
        name
            Of the method.
        instance, objective
            What is bounded.
        rule
            ``contention`` where the function knows it.
        """
        watch = Stopwatch()
        value = int(self.resolve()(instance, objective, **rule))
        return Bound(
            value=value,
            method=name,
            proof=self.proof,
            seconds=watch.seconds,
            solver=None if self.distribution is None else f"{self.distribution} {version_of(self.distribution)}",
            objective_name=str(objective),
            threads=1,
            hardware=hardware(),
            contention=rule.get("contention", Contention.NONE),
        )


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
        path="formulations.jobs.bounds.single_machine:virtual_srpt",
        proof="all GPUs as one machine, interrupted at will, the shortest remaining job first",
    ),
    "release-plus-duration": JobsBoundMethod(
        path="formulations.jobs.bounds.single_machine:release_plus_duration",
        proof="every job at once and at its fastest",
    ),
    "mean-busy-time": JobsBoundMethod(
        path="formulations.jobs.bounds.single_machine:jobs_mean_busy_time",
        proof="all GPUs as one machine, by weight over length, plus half the durations",
    ),
    "rank-wise": JobsBoundMethod(
        path="formulations.jobs.bounds.single_machine:rank_wise",
        proof="virtual SRPT and earliest completions together, rank by rank",
    ),
    "sets-of-kinds": JobsBoundMethod(
        path="formulations.jobs.bounds.single_machine:sets_of_kinds",
        proof="the bounds above on the jobs that only some kinds may run, plus the best of them on the others",
    ),
    "interval-indexed": JobsBoundMethod(
        path="formulations.jobs.bounds.time_indexed:interval_indexed",
        proof="interval-indexed LP, multipliers checked in integers",
        distribution="highspy",
        max_jobs=2_000,
    ),
    "time-indexed": JobsBoundMethod(
        path="formulations.jobs.bounds.time_indexed:jobs_time_indexed",
        proof="time-indexed LP, multipliers checked in integers",
        distribution="highspy",
        max_jobs=2_000,
    ),
}
"""Bounds without search, by name."""


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
        path="formulations.dag.bounds.paths:critical_path",
        proof="longest path, smallest durations, free transfers",
    ),
    "transfer-aware-path": DagBoundMethod(
        path="formulations.dag.bounds.paths:transfer_aware_path",
        proof="longest path, cheapest transfers",
    ),
    "join-aware-path": DagBoundMethod(
        path="formulations.dag.bounds.paths:join_aware_path",
        proof="longest path, one task at a time at joins",
    ),
    "nic-aware-path": DagBoundMethod(
        path="formulations.dag.bounds.paths:nic_aware_path",
        proof="longest path, one task or transfer at a time at joins",
        rule=Contention.NIC,
    ),
    "area": DagBoundMethod(
        path="formulations.dag.bounds.loads:area",
        proof="area LP, multipliers checked in integers",
        distribution="highspy",
    ),
    "fernandez-bussell": DagBoundMethod(
        path="formulations.dag.bounds.loads:fernandez_bussell",
        proof="work inside the fullest window of time, all GPUs together",
        is_costly=True,
        is_default=False,  # energetic is rarely below it
        only=Objective.MAKESPAN,
    ),
    "energetic": DagBoundMethod(
        path="formulations.dag.bounds.refuted_makespans:energetic",
        proof="all makespans below are refuted by work inside windows, multipliers checked in integers",
        is_costly=True,
        is_default=False,  # probing is never below it
    ),
    "probing": DagBoundMethod(
        path="formulations.dag.bounds.refuted_makespans:probing",
        proof="all makespans below are refuted, as by energetic, under every choice for some task",
        is_costly=True,
    ),
    "srpt": DagBoundMethod(
        path="formulations.dag.bounds.single_machine:srpt",
        proof="all GPUs as one, the shortest remaining job first, by rank",
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "eastman-even-isaacs": DagBoundMethod(
        path="formulations.dag.bounds.single_machine:eastman_even_isaacs",
        proof="single tasks by weight over shortest duration",
        is_default=False,  # mean-busy-time is never below it
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "mean-busy-time": DagBoundMethod(
        path="formulations.dag.bounds.single_machine:mean_busy_time",
        proof="all GPUs as one, interrupted at will",
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "window-load": DagBoundMethod(
        path="formulations.dag.bounds.loads:window_load",
        proof="window-load LP, multipliers checked in integers",
        distribution="highspy",
        is_default=False,  # destructive begins with it
        only=Objective.MAKESPAN,
    ),
    "destructive": DagBoundMethod(
        path="formulations.dag.bounds.refuted_makespans:destructive",
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
