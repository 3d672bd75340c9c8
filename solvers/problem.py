"""What differs between the two problems: one record each, which everything that handles both of them asks."""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.dag.contention import Contention
from instances.dag.objective import Objective, is_for_smiths_rule, needs_buffers, objective_value
from instances.dag.pipeline import is_pipeline
from instances.dag.verify import verify_dag_schedule
from instances.frozen_array import frozen_integers
from instances.jobs.objective import (
    JobsObjective,
    job_durations,
    jobs_objective_value,
    objective_weights,
    placed_durations,
)
from instances.jobs.verify import verify_jobs_schedule
from instances.readers.optgap_json import CODECS, problem_name
from instances.spelling import did_you_mean
from instances.text_file import whole_file
from solvers.bound_methods import BOUND_METHODS, JOBS_BOUND_METHODS
from solvers.jobs_statistics import JobsStatistics, jobs_statistics
from solvers.methods import BUFFER_METHODS, JOBS_METHODS, METHODS, PIPELINE_METHODS, resolved

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import StrEnum
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule
    from instances.readers.optgap_json import Codec
    from solvers.bound_methods import BoundMethod
    from solvers.methods import Kind, Method


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Evaluation:
    """What follows from a schedule that verifies.

    Parameters
    ----------
    completion
        Completion time of every job in ticks, shape (jobs,); None for DAGs.
    statistics
        JCT, waiting and utilisation; None for DAGs, and without jobs.
    """

    objective: int
    completion: NDArray[np.int64] | None = None
    statistics: JobsStatistics | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Problem:
    """Everything that `solve`, `lower_bound`, results, commands and studies must know about one problem.

    Parameters
    ----------
    noun, unit
        What is scheduled, in messages and as a unit of size, such as "DAGs of tasks" and "tasks".
    codec
        Reads and writes instances and schedules.
    sizes
        Attributes of an instance that tables of bounds show.
    objectives
        What may be minimised; the first member is the default.
    objective_value
        Objective of an instance's schedule that verifies.
    verify
        Lists the violations of an instance's schedule under a rule of contention.
    evaluate
        Everything that follows from an instance's schedule and the objective.
    methods, bounds
        Registered methods and bounds without search, by name.
    options
        Arguments of `solve` that mean something for this problem but not for every other one.
    warm_starts
        Methods whose best schedule is where exact methods start.
    buffer_starts
        The same for instances with buffers or groups, and for `stage_span`.
    special
        Further methods and bounds to start from, for an instance and an objective of a kind of their own.
    start_bounds
        Bounds with which exact and improving methods begin: the best ones that cost next to nothing; the other bounds
        follow if need be. None for all bounds that are worth their time.
    result_sizes
        Attributes of the instance that results show.
    has_statistics
        Whether results show the statistics of a schedule of jobs.
    shows_parameters
        Whether the summary of a result shows the parameters of the method.
    parameter_value
        Makes a JSON value of a parameter.
    is_drawn
        Whether a notebook shows the Gantt chart of an instance's schedule.
    gantt_svg, plot_gantt
        ``module:function`` that draws a schedule, imported on first use.
    families, generate
        ``module:name`` of the table of families of instances, and of the function that makes one.
    readers, read
        The same for public formats.
    """

    name: str
    noun: str
    unit: str
    codec: Codec
    sizes: tuple[str, ...]
    objectives: Any  # a StrEnum
    objective_value: Callable[[Any, Any, Any], int]
    verify: Callable[[Any, Any, Contention], list[Any]]
    evaluate: Callable[[Any, Any, Any], Evaluation]
    methods: Mapping[str, Method]
    bounds: Mapping[str, BoundMethod]
    options: frozenset[str]
    warm_starts: tuple[str, ...]
    buffer_starts: tuple[str, ...]
    special: Callable[[Any, Any], tuple[tuple[str, ...], tuple[str, ...]]]
    start_bounds: tuple[str, ...] | None
    result_sizes: tuple[str, ...]
    has_statistics: bool
    shows_parameters: bool
    parameter_value: Callable[[object], object]
    is_drawn: Callable[[Any], bool]
    gantt_svg: str
    plot_gantt: str
    families: str
    generate: str
    readers: str
    read: str

    @property
    def default_objective(self) -> StrEnum:
        """What is minimised unless something else is asked for."""
        default: StrEnum = next(iter(self.objectives))
        return default

    def objectives_of(self, instance: Any) -> list[StrEnum]:
        """Return the objectives that a description of a schedule shows: the stage span only where there are buffers."""
        has_buffers = needs_buffers(instance, None)
        return [objective for objective in self.objectives if has_buffers or objective != Objective.STAGE_SPAN]

    @property
    def exact_methods(self) -> list[str]:
        """Names of the methods that prove optima."""
        return [name for name, method in self.methods.items() if method.kind == "exact"]

    @property
    def known_bounds(self) -> list[str]:
        """Names of all bounds and exact methods."""
        return [*self.bounds, *self.exact_methods]

    def sizes_of(self, instance: Any) -> dict[str, int]:
        """Return the sizes of an instance by name."""
        return {name: int(getattr(instance, name)) for name in self.sizes}

    def method_named(self, name: str) -> Method:
        """Return a registered method.

        Raises a `ValueError` if there is none of that name, or it is one for another problem only.
        """
        if name in self.methods:
            return self.methods[name]
        known = ", ".join(self.methods)
        for other in PROBLEMS.values():
            if name in other.methods:
                found = f"{name!r}, which schedules {other.noun}"
                raise ValueError(f"method: expected one for {self.noun} ({known}), got {found}.")
        everywhere = [name for problem in PROBLEMS.values() for name in problem.methods]
        hint = did_you_mean(name, self.methods) or did_you_mean(name, everywhere)
        raise ValueError(f"method: expected one of {known}, got {name!r}{hint}.")

    def resolve_method(self, method: str | Callable[..., Any]) -> tuple[Kind, Callable[..., Any]]:
        """Return kind and function of a registered method or of a function.

        A function is a policy for jobs; for DAGs it is a search if it takes `stop`, else a construction.

        Raises a `ValueError` if no method of that name is registered, and a `TypeError` if it is neither a name nor a
        function.
        """
        if isinstance(method, str):
            registered = self.method_named(method)
            return registered.kind, registered.resolve()
        if not callable(method):
            raise TypeError(f"method: expected a name or a function, got {method!r}.")
        if "stop" not in self.options:  # a problem without searches
            return "policy", method
        return ("search" if "stop" in inspect.signature(method).parameters else "construction"), method

    def default_bounds(
        self, instance: Any, objective: str | None = None, contention: Contention = Contention.NONE
    ) -> list[str]:
        """Return the names of the bounds that are worth their time on an instance of this size."""
        objective = self.default_objective if objective is None else self.objectives(objective)
        return [name for name, bound in self.bounds.items() if bound.is_worthwhile(instance, objective, contention)]

    def starting_methods(self, instance: Any, objective: object) -> list[str]:
        """Return the names of the methods whose best schedule is where exact methods start on an instance."""
        if needs_buffers(instance, objective):
            return [name for name in self.buffer_starts if name not in PIPELINE_METHODS or is_pipeline(instance)]
        return [*self.warm_starts, *self.special(instance, objective)[0]]

    def first_bounds(self, instance: Any, objective: object, contention: Contention) -> list[str] | None:
        """Return `start_bounds` with those that know the rule of contention, or those for this kind of instance."""
        if self.start_bounds is None:
            return None
        if needs_buffers(instance, objective):
            return self.default_bounds(instance, str(objective), contention)
        knowing = (name for name, bound in self.bounds.items() if bound.rule == contention)
        return [*self.start_bounds, *knowing, *self.special(instance, objective)[1]]

    def bounds_beside(self, kind: Kind, instance: Any, objective: str, contention: Contention) -> list[str]:
        """Return the names of the default bounds; for a construction those that take no longer than it."""
        names = self.default_bounds(instance, objective, contention)
        return [name for name in names if kind != "construction" or not self.bounds[name].is_costly]

    def listed_bounds(self, instance: Any, contention: str) -> list[str]:
        """Return the names of bounds that a table lists: for DAGs all without search, for jobs those worth it."""
        if self.start_bounds is None:
            return self.default_bounds(instance)
        rules, has_buffers = (None, contention), needs_buffers(instance, None)
        listed = {name: bound for name, bound in self.bounds.items() if has_buffers or not bound.knows_buffers}
        return [name for name, bound in listed.items() if bound.rule in rules and not bound.needs_search]

    def goal(self, instance: Any, objective: str | None, contention: Contention | str) -> Goal:
        """Return what a run works on, with the default objective for None.

        Raises a `ValueError` if there is no such objective or rule of contention.
        """
        wanted = self.default_objective if objective is None else self.objectives(objective)
        return Goal(self, instance, wanted, Contention(contention))

    def draw_svg(self, instance: Any, schedule: Any) -> str:
        """Return the Gantt chart of a schedule as SVG."""
        text: str = resolved(self.gantt_svg)(instance, schedule)
        return text

    def write_gantt(self, instance: Any, schedule: Any, path: Path) -> None:
        """Write the Gantt chart of a schedule, as SVG or PNG by the ending of the file's name."""
        with whole_file(path) as partial:
            if path.suffix.lower() == ".svg":
                partial.write_text(self.draw_svg(instance, schedule), encoding="utf-8", errors="xmlcharrefreplace")
                return
            figure = resolved(self.plot_gantt)(instance, schedule).get_figure(root=True)
            figure.savefig(partial, format="png", dpi=150)


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """What a run works on: an instance, what is minimised, and what transfers share."""

    problem: Problem
    instance: Any
    objective: Any
    contention: Contention

    def violations(self, schedule: Any) -> list[Any]:
        """Return the violations of a schedule."""
        return self.problem.verify(self.instance, schedule, self.contention)

    def value(self, schedule: Any) -> int:
        """Return the objective of a schedule that verifies."""
        return self.problem.objective_value(self.instance, schedule, self.objective)

    def verified_value(self, schedule: Any) -> int | None:
        """Return the objective of a schedule; None without one, and for one that does not verify."""
        return None if schedule is None or self.violations(schedule) else self.value(schedule)


def _evaluate_jobs(instance: JobsInstance, schedule: JobsSchedule, objective: JobsObjective) -> Evaluation:
    """Return objective, completion times and statistics of a schedule of jobs."""
    durations = job_durations(instance, schedule)
    completion = frozen_integers(schedule.start + durations, place="completion", shape=(instance.num_jobs,))
    weights = objective_weights(instance, objective).tolist()
    alone = durations if instance.interference is None else placed_durations(instance, schedule)
    return Evaluation(
        objective=sum(weight * ticks for weight, ticks in zip(weights, completion.tolist(), strict=True)),
        completion=completion,
        statistics=jobs_statistics(instance, schedule, durations, alone),
    )


def _json_value(value: object) -> object:
    """Return numbers and texts as they are, mappings entry by entry, anything else, such as a fraction, as text."""
    if isinstance(value, Mapping):
        return {str(key): _json_value(entry) for key, entry in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


MAX_DRAWN_JOBS = 400
"""Above this many jobs a notebook shows no Gantt chart by itself."""

DAG = Problem(
    name="dag",
    noun="DAGs of tasks",
    unit="tasks",
    codec=CODECS["dag"],
    sizes=("num_tasks", "num_edges", "num_gpus"),
    objectives=Objective,
    objective_value=objective_value,
    verify=verify_dag_schedule,
    evaluate=lambda *arguments: Evaluation(objective=objective_value(*arguments)),
    methods=ChainMap(PIPELINE_METHODS, BUFFER_METHODS, METHODS),  # methods for any DAG come first
    bounds=BOUND_METHODS,
    options=frozenset({"stop", "confirm", "confirm_time_limit", "contention"}),
    warm_starts=("heft", "cpop", "peft", "etf", "min-min", "max-min"),
    buffer_starts=("pipeline-greedy", "buffer-list"),
    special=lambda *kind: (("wspt",), ("smith-columns",)) if is_for_smiths_rule(*kind) else ((), ()),
    start_bounds=("join-aware-path", "area", "mean-busy-time"),
    result_sizes=(),
    has_statistics=False,
    shows_parameters=False,
    parameter_value=lambda value: value,
    is_drawn=lambda instance: True,
    gantt_svg="instances.dag.gantt:gantt_svg",
    plot_gantt="instances.dag.gantt:plot_gantt",
    families="instances.generators.dag.generate:ALL_FAMILIES",
    generate="instances.generators.dag.generate:generate",
    readers="instances.readers.dag.read:READERS",
    read="instances.readers.dag.read:read_instance",
)

JOBS = Problem(
    name="jobs",
    noun="jobs",
    unit="jobs",
    codec=CODECS["jobs"],
    sizes=("num_jobs", "num_servers", "num_gpus"),
    objectives=JobsObjective,
    objective_value=jobs_objective_value,
    verify=lambda instance, schedule, contention: verify_jobs_schedule(instance, schedule),
    evaluate=_evaluate_jobs,
    methods=JOBS_METHODS,
    bounds=JOBS_BOUND_METHODS,
    options=frozenset(),
    warm_starts=("wcs-duration", "srtf", "a-srpt"),  # they know the iterations: their predictor is an oracle
    buffer_starts=(),
    special=lambda *kind: ((), ()),
    start_bounds=None,
    result_sizes=("num_jobs", "num_servers", "num_gpus"),
    has_statistics=True,
    shows_parameters=True,
    parameter_value=_json_value,
    is_drawn=lambda instance: 0 < instance.num_jobs <= MAX_DRAWN_JOBS,
    gantt_svg="instances.jobs.gantt:jobs_gantt_svg",
    plot_gantt="instances.jobs.gantt:plot_jobs_gantt",
    families="instances.generators.jobs.generate:ALL_JOBS_FAMILIES",
    generate="instances.generators.jobs.generate:generate_jobs",
    readers="instances.readers.jobs.read:JOBS_READERS",
    read="instances.readers.jobs.read:read_jobs",
)

PROBLEMS = {problem.name: problem for problem in (DAG, JOBS)}
"""The problems by name."""


def problem_of(instance: object) -> Problem:
    """Return the problem that an instance is of; raises a `TypeError` if it is no instance."""
    return PROBLEMS[problem_name(instance)]
