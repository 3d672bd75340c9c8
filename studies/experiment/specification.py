"""What a study compares: problem, instances, methods, budgets, repetitions and reference bounds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from heuristics.search.stop_criteria import AnyOf, MaxEvaluations, MaxSeconds
from instances.dag.objective import Objective
from solvers.methods import resolved
from solvers.problem import PROBLEMS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heuristics.search.stop_criteria import StopCriterion
    from instances.jobs.objective import JobsObjective


DAG, JOBS = "dag", "jobs"
"""Names of the problems, as in ``[study] problem``."""

FAMILIES_OF = {name: tuple(resolved(problem.families)) for name, problem in PROBLEMS.items()}
"""Generator families by problem."""

FIELDS_OF = {
    DAG: ("tasks", "ccr", "heterogeneity", "cost", "name", "bundled"),
    JOBS: ("jobs", "load", "tick_seconds", "trace"),
}
"""Fields of ``[[instances]]`` that only one problem has."""

FILE_FAMILY = "file"
"""Family of instances from files that nobody named."""

NO_BUDGET = "-"
"""Text of the budget of what has none: constructions and bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBudget:
    """Evaluations, seconds or both, whichever ends first; neither for what builds one schedule.

    Parameters
    ----------
    evaluations
        Number of complete schedules that may be built; None for any number.
    seconds
        Wall time of the method; None for any time.
    """

    evaluations: int | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        """Return the text that tables show, such as ``2000 evaluations`` or ``1 s``."""
        parts = [] if self.evaluations is None else [f"{self.evaluations} evaluations"]
        parts += [] if self.seconds is None else [f"{self.seconds:g} s"]
        return ", ".join(parts) or NO_BUDGET

    def stop(self) -> StopCriterion:
        """Return the stop criterion of a search; raises a `ValueError` if there is no budget."""
        criteria: list[StopCriterion] = [] if self.evaluations is None else [MaxEvaluations(self.evaluations)]
        criteria += [] if self.seconds is None else [MaxSeconds(self.seconds)]
        if not criteria:
            raise ValueError("budget: expected evaluations or seconds for a search, got neither.")
        return criteria[0] if len(criteria) == 1 else AnyOf(criteria)


HETEROGENEITY = {"consistent": 1.0, "inconsistent": 0.0}
"""Names of `CostModel.consistency`: the kinds of GPU rank alike for all tasks, or as each task has it."""


NAME_FIELDS = ("family", "tasks", "cluster", "ccr", "heterogeneity", "seed")
"""What the name of a generated DAG instance may tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGrid:
    """Generated DAG instances: every combination of the lists.

    Parameters
    ----------
    families, tasks
        Names in `instances.generators.dag.generate`, and wished numbers of tasks.
    clusters
        As for `instances.clusters.cluster.parse_cluster`.
    ccr
        Communication-to-computation ratios; None leaves the modelled one.
    heterogeneity
        Keys of `HETEROGENEITY`.
    count, seed
        Replicates of every combination, with seeds `seed`, `seed` + 1, ...: one graph meets all clusters and costs.
    cost
        Further fields of `CostModel`.
    name
        Name of every instance, in which ``{family}``, ``{tasks}``, ``{cluster}``, ``{ccr}``, ``{heterogeneity}`` and
        ``{seed}`` are replaced; by default one that tells all of them.
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
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsGrid:
    """Generated jobs instances: every combination of the lists.

    Parameters
    ----------
    families, jobs
        Names in `instances.generators.jobs.generate`, and numbers of jobs.
    loads
        Loads as for `generate_jobs`, at least 0.
    clusters
        As for `instances.clusters.cluster.parse_cluster`; None for that of the family.
    count, seed
        Replicates of every combination, with seeds `seed`, `seed` + 1, ...: the jobs of a seed are the same at all
        loads, only their arrivals move.
    tick_seconds
        Length of a tick; None for that of the family.
    """

    families: tuple[str, ...]
    jobs: tuple[int, ...]
    loads: tuple[float, ...]
    clusters: tuple[str | None, ...] = (None,)
    count: int = 1
    seed: int = 0
    tick_seconds: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFiles:
    """Instances from files; patterns such as ``suite/*.json``, and the family that tables show.

    Patterns are relative to the specification, or to the folder of recorded data where nothing matches there. Files are
    JSON, or of a public format of `instances.readers.dag.read.READERS`, whose options are `parameters`. With
    `may_be_absent` a pattern that matches nothing is skipped with a warning.
    """

    patterns: tuple[str, ...]
    may_be_absent: bool = False
    family: str = FILE_FAMILY
    format: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceWindows:
    """Jobs of a recorded trace: windows of it, one instance each.

    Parameters
    ----------
    trace, file
        Format in `instances.readers.jobs.read.JOBS_READERS`, and the file: a path, or a name in `TRACE_FOLDER`.
    jobs
        Jobs of a window, after the filters.
    first_row, stride, count
        The windows begin at the rows first_row, first_row + stride, ... of the file.
    cluster, load
        As for the reader.
    seed
        Of the modelled networks, the same for all windows.
    parameters
        Further options of the reader, such as ``max_gpus``.
    """

    trace: str
    file: str
    jobs: int
    first_row: int = 0
    stride: int = 0
    count: int = 1
    cluster: str
    load: float | None = None
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledInstances:
    """Instances that come with the package: keys of `instances.readers.dag.bundled.BUNDLED`."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyMethod:
    """One contestant: a method with parameters, under a label of its own.

    Parameters
    ----------
    label
        Name in tables, such as "woa, no HEFT seed".
    method
        A registered name, or ``module:function`` of one's own. A run is known by that name, not by the text of the
        function: who changes the function gives it another name, or begins a new store.
    parameters
        Given parameters; all others keep their defaults.
    vary
        One more parameter and the values that it takes in turn, in the place of repetitions, such as several trainings
        of a network: means over repetitions are over these, and tests over instances are on those means.
    """

    label: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def variants(self) -> tuple[Mapping[str, Any], ...]:
        """Parameters of every repetition where one of them varies, else the given ones alone."""
        for name, values in self.vary.items():
            return tuple({**self.parameters, name: value} for value in values)
        return (self.parameters,)


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
    folder
        What patterns of files are relative to.
    text
        The specification as it was read, stored with the results.
    problem
        Name of the problem that all instances are of, see `PROBLEMS`.
    seed, repetitions
        Seed of the study, and number of paired runs of every method on every instance.
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
        Physical memory of a run with everything it starts, above which it is killed; None for no limit.
    """

    name: str
    folder: Path
    text: str
    problem: str = DAG
    seed: int = 0
    repetitions: int = 1
    objective: Objective | JobsObjective = Objective.MAKESPAN
    threads: int = 1
    instances: tuple[InstanceGrid | JobsGrid | TraceWindows | InstanceFiles | BundledInstances, ...]
    methods: tuple[StudyMethod, ...]
    budgets: tuple[SearchBudget, ...]
    bounds: tuple[str, ...] = ("default",)
    exact: tuple[ExactReference, ...] = ()
    run_seconds: float | None = None
    memory_gib: float | None = None

    def drawn_from(self, entropy: str) -> StudySpec:
        """Return the study with every seed drawn from a text: on instances and with random numbers that nobody chose.

        Equal seeds stay equal. Instances from files and the rows of traces stay what they are.
        """
        seeded = (InstanceGrid, JobsGrid, TraceWindows)
        sources = tuple(
            replace(each, seed=drawn_seed(entropy, each.seed)) if isinstance(each, seeded) else each
            for each in self.instances
        )
        text = f"# all seeds drawn from {entropy!r}\n{self.text}"
        return replace(self, seed=drawn_seed(entropy, self.seed), instances=sources, text=text)


def drawn_seed(entropy: str, seed: int) -> int:
    """Return what a text makes of a seed: the first bits of a SHA-256, in [2**31, 2**32), where no seed of ours is."""
    digest = hashlib.sha256(f"{entropy}\n{seed}".encode()).digest()
    return 2**31 + int.from_bytes(digest[:4]) // 2
