"""What a study compares: instances, methods, budgets, repetitions and what the gaps are measured against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from instances.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from studies.experiment.budget import Budget

HETEROGENEITY = {"consistent": 1.0, "inconsistent": 0.0}
"""Names of `CostModel.consistency`: the kinds of GPU rank alike for all tasks, or as each task has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGrid:
    """Generated instances: every combination of the lists.

    Parameters
    ----------
    families, tasks
        Names in `instances.generators.families`, and wished numbers of tasks.
    clusters
        As for `instances.cluster.parse_cluster`.
    ccr
        Communication-to-computation ratios; None leaves the modelled one.
    heterogeneity
        Keys of `HETEROGENEITY`.
    count, seed
        Replicates of every combination, with seeds `seed`, `seed` + 1, ...: one graph meets all clusters and costs.
    cost
        Further fields of `CostModel`.
    parameters
        Of the family.
    """

    families: tuple[str, ...]
    tasks: tuple[int, ...]
    clusters: tuple[str, ...]
    ccr: tuple[float | None, ...] = (None,)
    heterogeneity: tuple[str, ...] = ("inconsistent",)
    count: int = 1
    seed: int = 0
    cost: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFiles:
    """Instances from JSON files; patterns such as ``suite/*.json``, relative to the specification."""

    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyMethod:
    """One contestant: a method with parameters, under a label of its own.

    Parameters
    ----------
    label
        Name in tables, such as "woa, no HEFT seed".
    method
        A registered name, or ``module:function`` of one's own.
    parameters
        Given ones; all others keep their defaults.
    """

    label: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactReference:
    """An exact method that bounds every instance once: seconds, threads and parameters."""

    method: str
    time_limit: float
    threads: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySpec:
    """A study.

    Parameters
    ----------
    name
        Free text.
    folder
        What patterns of files are relative to.
    text
        The specification as it was read, stored with the results.
    seed, repetitions
        Seed of the study, and number of paired runs of every method on every instance.
    objective
        What is minimised.
    threads
        Of every run of a method; heuristics use one whatever stands here.
    instances, methods, budgets
        What is run; every search runs once under every budget.
    bounds
        Bounds that are computed once per instance; "default" for those that are worth their time at its size.
    exact
        Exact methods that run once per instance, before the methods.
    run_seconds
        Wall time after which any run is killed and recorded as failed; None for a multiple of its budget.
    memory_gib
        Address space of every worker process, None for no limit.
    """

    name: str
    folder: Path
    text: str
    seed: int = 0
    repetitions: int = 1
    objective: Objective = Objective.MAKESPAN
    threads: int = 1
    instances: tuple[InstanceGrid | InstanceFiles, ...]
    methods: tuple[StudyMethod, ...]
    budgets: tuple[Budget, ...]
    bounds: tuple[str, ...] = ("default",)
    exact: tuple[ExactReference, ...] = ()
    run_seconds: float | None = None
    memory_gib: float | None = None
