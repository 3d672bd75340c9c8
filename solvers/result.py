"""What a run found, proved and cost, for either problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from instances.dag.contention import Contention
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.frozen_array import frozen_integers
from instances.html import html_table
from instances.jobs.objective import JobsObjective, job_durations, objective_weights, placed_durations
from instances.jobs.verify import verify_jobs_schedule
from solvers.jobs_statistics import JobsStatistics, jobs_statistics
from solvers.run.outcome import Status, Termination
from solvers.run.versions import hardware, versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule
    from solvers.confirmation.claim import Confirmation
    from solvers.run.bound import Bound
    from solvers.run.recorder import TracePoint


class UnverifiedScheduleError(RuntimeError):
    """A method returned a schedule that breaks the problem's constraints."""


class BoundedResult:
    """Gap, and the two alarms of a result; the fields are those of the classes below it."""

    __slots__ = ()

    method: str
    bound: Bound | None
    runtime_seconds: float

    if TYPE_CHECKING:  # a property of one class below and a field of the other

        @property
        def objective(self) -> int | None:
            """Objective of the verified schedule."""

        @property
        def status(self) -> Status:
            """What is known."""

        def summary(self) -> dict[str, str]:
            """Return what a reader wants to know, as label and text."""

    @property
    def lower_bound(self) -> int | None:
        """Value of the best proven lower bound."""
        return None if self.bound is None else self.bound.value

    @property
    def gap(self) -> float | None:
        """Return (objective - lower bound) / lower bound, None where it is not defined."""
        objective = self.objective
        if objective is None or not self.lower_bound:
            return None
        return (objective - self.lower_bound) / self.lower_bound

    @property
    def gap_kind(self) -> str | None:
        """Say whether the gap is an optimality gap proper or one to a bound that may be below the optimum."""
        if self.gap is None or self.bound is None:
            return None
        proper = self.status is Status.OPTIMAL or self.bound.is_optimum
        return "optimality gap" if proper else "gap to lower bound"

    def __str__(self) -> str:
        """Describe the result in aligned lines."""
        return "\n".join(f"{label:>14}: {text}" for label, text in self.summary().items())

    def _refuse_violations(self, violations: Sequence[object]) -> None:
        """Raise if the schedule violates a constraint."""
        if violations:
            shown = " ".join(str(violation) for violation in violations[:3])
            raise UnverifiedScheduleError(f"{self.method}: schedule with {len(violations)} violations. {shown}")

    def _refuse_negative_gap(self) -> None:
        """Raise if the bound is above the objective of the verified schedule."""
        if self.lower_bound is not None and self.objective is not None and self.lower_bound > self.objective:
            raise ValueError(f"bound: expected at most the objective {self.objective}, got {self.lower_bound}.")

    def _gap_text(self) -> str:
        """Return the gap in percent with its kind."""
        return "not defined" if self.gap is None else f"{100 * self.gap:.2f} % ({self.gap_kind})"

    def _bound_text(self) -> str:
        """Return the bound with what proves it."""
        return "none" if self.bound is None else f"{self.bound.value} ({self.bound.method}: {self.bound.proof})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Result(BoundedResult):
    """Result of one method on one instance; one with a schedule that does not verify cannot be made.

    Parameters
    ----------
    instance
        What was scheduled.
    method
        Name of the method.
    objective_name
        What was minimised.
    schedule
        Best found, None without one.
    bound
        Best proven lower bound, None where there is none.
    is_infeasible
        Whether it was proved that no schedule exists.
    termination
        Why the run ended.
    runtime_seconds
        Time of the method itself.
    backend_seconds
        Time inside an external solver, None for methods without one.
    trace
        (time, objective, bound) whenever one of the two became better.
    parameters
        Of the method, as given.
    seed, threads
        As given.
    confirmation
        What a second model said of the bound, or of there being no schedule; None where none was asked.
    contention
        What transfers share; the schedule is verified with it.

    Raises
    ------
    UnverifiedScheduleError
        If the schedule violates a constraint.
    ValueError
        If the bound is above the objective: a negative gap is an error in this software, never a result.
    """

    instance: DagInstance
    method: str
    objective_name: Objective
    schedule: DagSchedule | None
    bound: Bound | None
    termination: Termination
    is_infeasible: bool = False
    runtime_seconds: float
    backend_seconds: float | None = None
    trace: tuple[TracePoint, ...] = ()
    parameters: Mapping[str, object]
    seed: int
    threads: int
    confirmation: Confirmation | None = None
    contention: Contention = Contention.NONE

    def __post_init__(self) -> None:
        """Verify the schedule and hold it against the bound."""
        if self.schedule is None:
            return
        self._refuse_violations(verify_dag_schedule(self.instance, self.schedule, self.contention))
        self._refuse_negative_gap()

    @property
    def objective(self) -> int | None:
        """Objective of the verified schedule, recomputed from it."""
        if self.schedule is None:
            return None
        return objective_value(self.instance, self.schedule, self.objective_name)

    @property
    def status(self) -> Status:
        """What is known."""
        if self.schedule is not None:
            return Status.OPTIMAL if self.objective == self.lower_bound else Status.FEASIBLE
        return Status.INFEASIBLE if self.is_infeasible else Status.UNKNOWN

    def to_dict(self) -> dict[str, object]:
        """Return everything but the schedule as JSON values."""
        return {
            "instance": self.instance.name,
            "instance_sha256": self.instance.sha256,
            "objective_name": str(self.objective_name),
            "contention": str(self.contention),
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "lower_bound_from": None if self.bound is None else self.bound.to_dict(),
            "confirmation": None if self.confirmation is None else self.confirmation.to_dict(),
            "gap": self.gap,
            "gap_kind": self.gap_kind,
            "status": str(self.status),
            "termination": str(self.termination),
            "runtime_seconds": self.runtime_seconds,
            "backend_seconds": self.backend_seconds,
            "method": self.method,
            "parameters": dict(self.parameters),
            "seed": self.seed,
            "threads": self.threads,
            "versions": versions(),
            "hardware": hardware(),
            "trace": [[point.seconds, point.objective, point.lower_bound] for point in self.trace],
        }

    def summary(self) -> dict[str, str]:
        """Return what a reader wants to know, as label and text."""
        confirmed = self._confirmed()
        return {
            "instance": self.instance.name,
            "method": self.method,
            "minimised": str(self.objective_name),
            **({} if self.contention is Contention.NONE else {"contention": str(self.contention)}),
            "objective": "none" if self.objective is None else str(self.objective),
            "lower bound": self._bound_text(),
            **({} if confirmed is None else {"confirmation": confirmed}),
            "gap": self._gap_text(),
            "status": str(self.status),
            "termination": str(self.termination),
            "run time": f"{self.runtime_seconds:.3f} s",
            "seed, threads": f"{self.seed}, {self.threads}",
        }

    def _confirmed(self) -> str | None:
        """Say what a second model said, None where none was asked."""
        if self.confirmation is not None:
            return str(self.confirmation)
        if self.bound is not None and self.bound.confirmed_by is not None:
            return f"by {self.bound.confirmed_by}"
        return None

    def _repr_html_(self) -> str:
        """Show summary and Gantt chart in a notebook."""
        if self.schedule is None:
            return html_table(self.summary())
        from instances.dag.gantt import gantt_svg

        return html_table(self.summary()) + gantt_svg(self.instance, self.schedule)


MAX_DRAWN_JOBS = 400
"""Above this many jobs a notebook shows no Gantt chart by itself."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JobsResult(BoundedResult):
    """Result of one method on one jobs instance; one with a schedule that does not verify cannot be made.

    A jobs instance always has a schedule, as each of its jobs fits on the empty servers: nothing is ever infeasible.

    Parameters
    ----------
    instance
        What was scheduled.
    method
        Name of the method.
    objective_name
        What was minimised.
    schedule
        Best found, None without one.
    bound
        Best proven lower bound, None where there is none.
    termination
        Why the run ended.
    runtime_seconds
        Time of the method itself.
    backend_seconds
        Time inside an external solver, None for methods without one.
    trace
        (time, objective, bound) whenever one of the two became better.
    parameters
        Of the method, as given.
    seed, threads
        As given.

    Raises
    ------
    UnverifiedScheduleError
        If the schedule violates a constraint.
    ValueError
        If the bound is above the objective: a negative gap is an error in this software, never a result.
    """

    instance: JobsInstance
    method: str
    objective_name: JobsObjective
    schedule: JobsSchedule | None
    bound: Bound | None
    termination: Termination
    runtime_seconds: float
    backend_seconds: float | None = None
    trace: tuple[TracePoint, ...] = ()
    parameters: Mapping[str, object]
    seed: int
    threads: int
    objective: int | None = field(init=False, default=None)
    """Of the verified schedule, recomputed from it; ticks, or weighted ticks."""
    completion: NDArray[np.int64] | None = field(init=False, repr=False, default=None)
    """Completion time of every job in ticks, shape (jobs,), recomputed; None without a schedule."""
    statistics: JobsStatistics | None = field(init=False, repr=False, default=None)
    """JCT, waiting and utilisation; None without a schedule, and without jobs."""

    def __post_init__(self) -> None:
        """Verify the schedule, compute everything that follows from it, and hold it against the bound."""
        if self.schedule is None:
            return
        self._refuse_violations(verify_jobs_schedule(self.instance, self.schedule))
        durations = job_durations(self.instance, self.schedule)
        completion = frozen_integers(
            self.schedule.start + durations, place="completion", shape=(self.instance.num_jobs,)
        )
        weights = objective_weights(self.instance, self.objective_name).tolist()
        value = sum(weight * ticks for weight, ticks in zip(weights, completion.tolist(), strict=True))
        object.__setattr__(self, "completion", completion)
        object.__setattr__(self, "objective", value)
        alone = durations if self.instance.interference is None else placed_durations(self.instance, self.schedule)
        object.__setattr__(self, "statistics", jobs_statistics(self.instance, self.schedule, durations, alone))
        self._refuse_negative_gap()

    @property
    def jct(self) -> NDArray[np.int64] | None:
        """JCT of every job, its completion less its arrival, in ticks, shape (jobs,); None without a schedule."""
        return None if self.completion is None else self.completion - self.instance.release

    @property
    def status(self) -> Status:
        """What is known."""
        if self.schedule is None:
            return Status.UNKNOWN
        return Status.OPTIMAL if self.objective == self.lower_bound else Status.FEASIBLE

    def to_dict(self) -> dict[str, object]:
        """Return everything but the schedule as JSON values."""
        return {
            "instance": self.instance.name,
            "instance_sha256": self.instance.sha256,
            "num_jobs": self.instance.num_jobs,
            "num_servers": self.instance.num_servers,
            "num_gpus": self.instance.num_gpus,
            "objective_name": str(self.objective_name),
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "lower_bound_from": None if self.bound is None else self.bound.to_dict(),
            "gap": self.gap,
            "gap_kind": self.gap_kind,
            "status": str(self.status),
            "termination": str(self.termination),
            "statistics": None if self.statistics is None else self.statistics.to_dict(),
            "tick_seconds": self.instance.tick_seconds,
            "runtime_seconds": self.runtime_seconds,
            "backend_seconds": self.backend_seconds,
            "method": self.method,
            "parameters": {key: _json_value(value) for key, value in self.parameters.items()},
            "seed": self.seed,
            "threads": self.threads,
            "versions": versions(),
            "hardware": hardware(),
            "trace": [[point.seconds, point.objective, point.lower_bound] for point in self.trace],
        }

    def summary(self) -> dict[str, str]:
        """Return what a reader wants to know, as label and text."""
        parameters = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        rows = {
            "instance": self.instance.name,
            "method": f"{self.method} ({parameters})" if parameters else self.method,
            "minimised": str(self.objective_name),
            "objective": "none" if self.objective is None else str(self.objective),
            "lower bound": self._bound_text(),
            "gap": self._gap_text(),
            "status": str(self.status),
            "termination": str(self.termination),
        }
        figures = self.statistics
        if figures is not None:
            rows |= {
                "JCT": f"mean {figures.jct_mean:.1f}, p50 {figures.jct_p50}, p95 {figures.jct_p95}, "
                f"p99 {figures.jct_p99}, max {figures.jct_max} ticks",
                "queueing": f"mean {figures.queueing_mean:.1f}, max {figures.queueing_max} ticks",
                "stretch": f"mean {figures.stretch_mean:.3f}, max {figures.stretch_max:.3f}",
                "utilisation": f"{100 * figures.utilisation:.1f} %",
            }
            if figures.interference is not None:
                slowed = figures.interference
                rows["interference"] = (
                    f"mean speed {slowed.speed_mean:.3f}, 5 % of jobs at most {slowed.speed_p05:.3f}; "
                    f"mean {slowed.lost_mean:.1f}, max {slowed.lost_max} ticks lost"
                )
        return {
            **rows,
            "run time": f"{self.runtime_seconds:.3f} s",
            "seed, threads": f"{self.seed}, {self.threads}",
        }

    def _repr_html_(self) -> str:
        """Show summary and, of a schedule of few jobs, its Gantt chart in a notebook."""
        if self.schedule is None or not 0 < self.instance.num_jobs <= MAX_DRAWN_JOBS:
            return html_table(self.summary())
        from instances.jobs.gantt import jobs_gantt_svg

        return html_table(self.summary()) + jobs_gantt_svg(self.instance, self.schedule)


def _json_value(value: object) -> object:
    """Return numbers and texts as they are, mappings entry by entry, anything else, such as a fraction, as text."""
    if isinstance(value, Mapping):
        return {str(key): _json_value(entry) for key, entry in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
