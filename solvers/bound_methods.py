"""Every bound that is no exact method by name, for both problems; resolved on first use."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formulations.time_left import without_limit
from heuristics.search.clock import Stopwatch
from instances.dag.contention import Contention
from instances.dag.objective import FINISH_OBJECTIVES, Objective, needs_buffers
from solvers.methods import knows_contention, resolved
from solvers.run.bound import Bound
from solvers.run.versions import hardware, version_of

if TYPE_CHECKING:
    from collections.abc import Callable


COSTLY_SECONDS = 5.0
"""Longest time of a costly bound that nobody named and nobody limits; what takes longer is cut short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundMethod:
    """A bound that finds no optimum: where its function stands, what proves it, and when it is worth its time.

    Parameters
    ----------
    path
        ``module:function`` of instance and objective, and of `contention` where the bound knows it.
    proof
        What proves the bound, in a few words.
    distribution
        Package of the solver that the bound uses; None for none.
    is_default
        Whether the bound is computed at all unless it is named. It is not where another bound is never below it, or
        where it takes a second.
    only
        The one objective that the bound says something about, None for all; its value is 0 for the others.
    rule
        The contention that the bound is made for, None for none; without contention another bound is as good.
    is_costly
        Whether the bound may take seconds on large instances: constructions go without it, and unless it is named it
        is cut short after `COSTLY_SECONDS`.
    without_edges
        Whether the bound is left out, unless it is named, where there are edges, because others are better there.
    needs_search
        Whether a solver's search proves it: it takes up to minutes and is computed only where it is named.
    max_jobs
        Largest number of jobs for which the bound is computed unless it is named; None for any number.
    knows_buffers
        Whether the bound is made for buffers, groups or `stage_span`. Any other bound is computed without buffers and
        groups, which only forbid schedules, so that it holds with them too; of `stage_span` it says nothing and is 0.
    """

    path: str
    proof: str
    distribution: str | None = None
    is_default: bool = True
    only: Objective | None = None
    rule: Contention | None = None
    is_costly: bool = False
    without_edges: bool = False
    needs_search: bool = False
    max_jobs: int | None = None
    knows_buffers: bool = False

    def resolve(self) -> Callable[..., int]:
        """Import and return the function."""
        function: Callable[..., int] = resolved(self.path)
        return function

    def is_worthwhile(self, instance: Any, objective: object, contention: Contention) -> bool:
        """Say whether the bound is worth its time on an instance of this size."""
        return (
            self.is_default
            and (needs_buffers(instance, objective) or not self.knows_buffers)
            and (objective != Objective.STAGE_SPAN or self.knows_buffers)
            and not self.needs_search
            and self.only in (None, objective)
            and self.rule in (None, contention)
            and not (self.without_edges and instance.num_edges)
            and (self.max_jobs is None or instance.num_jobs <= self.max_jobs)
        )

    @property
    def is_limited(self) -> bool:
        """Whether the bound can be cut short; all others take a moment, also on large instances."""
        return "seconds_left" in inspect.signature(self.resolve()).parameters

    def bound(
        self,
        name: str,
        instance: Any,
        objective: object,
        contention: Contention,
        seconds_left: Callable[[], float] = without_limit,
    ) -> Bound:
        """Compute the bound, which is called `name`, and time it; one that was cut short says so in its proof."""
        function = self.resolve()
        rule: dict[str, Any] = {"contention": contention} if knows_contention(function) else {}
        limit: dict[str, Any] = {"seconds_left": seconds_left} if self.is_limited else {}
        watch = Stopwatch()
        if self.knows_buffers or not hasattr(instance, "without_buffers"):
            value = int(function(instance, objective, **rule, **limit))
        elif Objective(str(objective)) in FINISH_OBJECTIVES:
            value = int(function(instance.without_buffers(), objective, **rule, **limit))
        else:
            value = 0
        is_cut_short = self.is_limited and seconds_left() <= 0
        return Bound(
            value=value,
            method=name,
            proof=f"{self.proof}, cut short" if is_cut_short else self.proof,
            seconds=watch.seconds,
            solver=None if self.distribution is None else f"{self.distribution} {version_of(self.distribution)}",
            objective_name=str(objective),
            threads=1,
            hardware=hardware(),
            contention=rule.get("contention", Contention.NONE),
        )


BOUND_METHODS = {
    "critical-path": BoundMethod(
        path="formulations.dag.bounds.paths:critical_path",
        proof="longest path, smallest durations, free transfers",
    ),
    "transfer-aware-path": BoundMethod(
        path="formulations.dag.bounds.paths:transfer_aware_path",
        proof="longest path, cheapest transfers",
    ),
    "join-aware-path": BoundMethod(
        path="formulations.dag.bounds.paths:join_aware_path",
        proof="longest path, one task at a time at joins",
    ),
    "ancestor-aware-path": BoundMethod(
        path="formulations.dag.bounds.paths:ancestor_aware_path",
        proof="longest path, all ancestors of a task on its GPU, within its memory, or in time from elsewhere",
        is_costly=True,
        is_default=False,  # relaxed-diagram is never below it
    ),
    "relaxed-diagram": BoundMethod(
        path="formulations.dag.bounds.relaxed_diagram:relaxed_diagram",
        proof="placements of one task after the other, memory by stay, labels merged into their least entries",
        is_costly=True,
    ),
    "shared-gpus": BoundMethod(
        path="formulations.dag.bounds.shared_gpus:shared_gpus_bound",
        proof="groups of tasks that must share a GPU exclude each other and have too few GPUs, in every order of two",
        is_costly=True,
    ),
    "nic-aware-path": BoundMethod(
        path="formulations.dag.bounds.paths:nic_aware_path",
        proof="longest path, one task or transfer at a time at joins",
        rule=Contention.NIC,
    ),
    "area": BoundMethod(
        path="formulations.dag.bounds.loads:area",
        proof="area LP, multipliers checked in integers",
        distribution="highspy",
    ),
    "fernandez-bussell": BoundMethod(
        path="formulations.dag.bounds.loads:fernandez_bussell",
        proof="work inside the fullest window of time, all GPUs together",
        is_costly=True,
        is_default=False,  # energetic is rarely below it
        only=Objective.MAKESPAN,
    ),
    "energetic": BoundMethod(
        path="formulations.dag.bounds.refuted_makespans:energetic",
        proof="all makespans below are refuted by work inside windows, multipliers checked in integers",
        is_costly=True,
        is_default=False,  # probing is never below it
    ),
    "probing": BoundMethod(
        path="formulations.dag.bounds.refuted_makespans:probing",
        proof="all makespans below are refuted, as by energetic, under every choice for some task",
        is_costly=True,
    ),
    "srpt": BoundMethod(
        path="formulations.dag.bounds.single_machine:srpt",
        proof="all GPUs as one, the shortest remaining job first, by rank",
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "eastman-even-isaacs": BoundMethod(
        path="formulations.dag.bounds.single_machine:eastman_even_isaacs",
        proof="single tasks by weight over shortest duration",
        is_default=False,  # mean-busy-time is never below it
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "mean-busy-time": BoundMethod(
        path="formulations.dag.bounds.single_machine:mean_busy_time",
        proof="all GPUs as one, interrupted at will",
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "smith-columns": BoundMethod(
        path="formulations.dag.bounds.smith_columns:smith_columns",
        proof="cheapest set of tasks for every GPU in Smith's order, at prices of tasks in integers",
        is_costly=True,
        without_edges=True,
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "window-load": BoundMethod(
        path="formulations.dag.bounds.loads:window_load",
        proof="window-load LP, multipliers checked in integers",
        distribution="highspy",
        is_default=False,  # destructive begins with it
        only=Objective.MAKESPAN,
    ),
    "destructive": BoundMethod(
        path="formulations.dag.bounds.refuted_makespans:destructive",
        proof="all makespans below are refuted by window loads",
        distribution="highspy",
        is_costly=True,
        is_default=False,  # energetic is rarely below it, and quicker
        only=Objective.MAKESPAN,
    ),
    "time-indexed": BoundMethod(
        path="formulations.dag.bounds.time_indexed:time_indexed",
        proof="time-indexed LP, multipliers checked in integers",
        distribution="highspy",
        is_default=False,  # about a second
    ),
    "placed-paths": BoundMethod(
        path="formulations.dag.bounds.placed_paths:placed_paths",
        proof="LP of placement, memory, work and all paths with transfers, multipliers checked in integers",
        distribution="highspy",
        is_costly=True,
        is_default=False,  # seconds on large graphs, and strong only where memory binds
        only=Objective.MAKESPAN,
    ),
    "gpu-load": BoundMethod(
        path="formulations.dag.bounds.live_memory:gpu_load",
        proof="work of one GPU, least time before and behind it, in every placement of the groups",
        knows_buffers=True,
    ),
    "ramp": BoundMethod(
        path="formulations.dag.bounds.live_memory:ramp",
        proof="work of one GPU and what memory leaves idle at its ends, in every placement of the groups",
        knows_buffers=True,
    ),
    "memory-chain": BoundMethod(
        path="formulations.dag.bounds.live_memory:memory_chain",
        proof="copies of a task that wait for each other's memory, in every placement of the groups",
        knows_buffers=True,
    ),
    "one-stage": BoundMethod(
        path="solvers.backends.one_stage:one_stage",
        proof="one GPU at a time in CP-SAT, all others as delays",
        distribution="ortools",
        needs_search=True,
        knows_buffers=True,
    ),
    "branched-paths": BoundMethod(
        path="formulations.dag.bounds.branched_paths:branched_paths",
        proof="the same LP for every GPU, branched on placements, multipliers checked in integers at every leaf",
        distribution="highspy",
        needs_search=True,
        only=Objective.MAKESPAN,
    ),
    "branched-classes": BoundMethod(
        path="formulations.dag.bounds.branched_classes:branched_classes",
        proof="LP of placement, paths and work in windows, branched on kinds of GPUs, multipliers checked in integers",
        distribution="highspy",
        needs_search=True,
        only=Objective.MAKESPAN,
    ),
    "branched-windows": BoundMethod(
        path="formulations.dag.bounds.branched_windows:branched_windows",
        proof="all makespans below are refuted, as by probing, in every case of a search over placements and windows",
        needs_search=True,
        only=Objective.MAKESPAN,
    ),
    "memory-refutation": BoundMethod(
        path="solvers.backends.memory_refutation:memory_refutation",
        proof="all makespans below are refuted by CP-SAT on placement, memory and transfers together",
        distribution="ortools",
        needs_search=True,
        only=Objective.MAKESPAN,
    ),
}
"""Bounds for the DAG problem by name."""

JOBS_BOUND_METHODS = {
    "virtual-srpt": BoundMethod(
        path="formulations.jobs.bounds.single_machine:virtual_srpt",
        proof="all GPUs as one machine, interrupted at will, the shortest remaining job first",
    ),
    "release-plus-duration": BoundMethod(
        path="formulations.jobs.bounds.single_machine:release_plus_duration",
        proof="every job at once and at its fastest",
    ),
    "mean-busy-time": BoundMethod(
        path="formulations.jobs.bounds.single_machine:jobs_mean_busy_time",
        proof="all GPUs as one machine, by weight over length, plus half the durations",
    ),
    "rank-wise": BoundMethod(
        path="formulations.jobs.bounds.single_machine:rank_wise",
        proof="virtual SRPT and earliest completions together, rank by rank",
    ),
    "sets-of-kinds": BoundMethod(
        path="formulations.jobs.bounds.single_machine:sets_of_kinds",
        proof="the bounds above on the jobs that only some kinds may run, plus the best of them on the others",
    ),
    "interval-indexed": BoundMethod(
        path="formulations.jobs.bounds.time_indexed:interval_indexed",
        proof="interval-indexed LP, multipliers checked in integers",
        distribution="highspy",
        max_jobs=2_000,
    ),
    "time-indexed": BoundMethod(
        path="formulations.jobs.bounds.time_indexed:jobs_time_indexed",
        proof="time-indexed LP, multipliers checked in integers",
        distribution="highspy",
        max_jobs=2_000,
    ),
}
"""Bounds for the jobs problem by name."""
