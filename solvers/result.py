"""What a run found, proved and cost, for either problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from instances.dag.contention import Contention
from instances.html import html_table
from instances.readers.optgap_json import Instance
from solvers.problem import problem_of
from solvers.run.outcome import ScheduleT, Status, Termination
from solvers.run.versions import hardware, versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from solvers.confirmation.claim import Confirmation
    from solvers.jobs_statistics import JobsStatistics
    from solvers.run.bound import Bound
    from solvers.run.recorder import TracePoint


InstanceT = TypeVar("InstanceT", bound=Instance)
"""Instances of the problem that was solved."""


class UnverifiedScheduleError(RuntimeError):
    """A method returned a schedule that breaks the problem's constraints."""


class AlteredInstanceError(UnverifiedScheduleError):
    """A method altered the instance that it was given, so that its schedule is one of another instance."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Result(Generic[InstanceT, ScheduleT]):
    """Result of one method on one instance; one with a schedule that does not verify cannot be made.

    Parameters
    ----------
    schedule
        Best schedule found; None without one.
    bound
        Best proven lower bound; None without one.
    is_infeasible
        Whether it was proved that no schedule exists. Never for jobs: each job fits on the empty servers.
    backend_seconds
        Time inside an external solver; None for methods without one.
    trace
        State of the run whenever the objective or the bound improved.
    confirmation
        What a second model said about the bound, or about there being no schedule; None where none was asked.
    contention
        What transfers share; the schedule is verified with this rule.
    failure
        Why the method gave up; None where it did not.

    Attributes
    ----------
    objective
        Objective of the verified schedule, recomputed from it, in ticks or weighted ticks; None without a schedule.
    completion
        Completion time of every job in ticks, shape (jobs,), recomputed; None without a schedule, and for DAGs.
    statistics
        JCT, waiting and utilisation of jobs; None without a schedule, without jobs, and for DAGs.

    Raises
    ------
    UnverifiedScheduleError
        If the schedule violates a constraint.
    ValueError
        If the bound is above the objective: a negative gap is an error in this software, never a result.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3], [3, 8]], [(0, 1, 6), (0, 2, 2)], latency=1, bytes_per_tick=2.0)
    >>> result = optgap.solve(instance, "round-robin", bounds=[optgap.solve(instance).bound])
    >>> result.objective, result.gap, str(result.gap_kind)
    (11, 0.1, 'optimality gap')
    """

    instance: InstanceT
    method: str
    objective_name: str
    schedule: ScheduleT | None
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
    failure: str | None = None
    objective: int | None = field(init=False, default=None)
    completion: NDArray[np.int64] | None = field(init=False, default=None)
    statistics: JobsStatistics | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Verify the schedule, compute what follows from it, and compare it with the bound."""
        problem = problem_of(self.instance)
        object.__setattr__(self, "objective_name", problem.objectives(self.objective_name))
        object.__setattr__(self, "termination", Termination(self.termination))
        object.__setattr__(self, "contention", Contention(self.contention))
        if self.schedule is None:
            return
        if violations := problem.verify(self.instance, self.schedule, self.contention):
            shown = " ".join(str(violation) for violation in violations[:3])
            raise UnverifiedScheduleError(f"{self.method}: schedule with {len(violations)} violations. {shown}")
        evaluation = problem.evaluate(self.instance, self.schedule, self.objective_name)
        for name in ("objective", "completion", "statistics"):
            object.__setattr__(self, name, getattr(evaluation, name))
        if self.lower_bound is not None and self.lower_bound > evaluation.objective:
            raise ValueError(f"bound: expected at most the objective {self.objective}, got {self.lower_bound}.")

    @property
    def lower_bound(self) -> int | None:
        """Value of the best proven lower bound."""
        return None if self.bound is None else self.bound.value

    @property
    def gap(self) -> float | None:
        """(objective - lower bound) / lower bound; None where it is not defined."""
        if self.objective is None or not self.lower_bound:
            return None
        return (self.objective - self.lower_bound) / self.lower_bound

    @property
    def gap_kind(self) -> str | None:
        """Whether the gap is an optimality gap proper, or one to a bound that may be below the optimum."""
        if self.gap is None or self.bound is None:
            return None
        proper = self.status is Status.OPTIMAL or self.bound.is_optimum
        return "optimality gap" if proper else "gap to lower bound"

    @property
    def status(self) -> Status:
        """What is known."""
        if self.schedule is not None:
            return Status.OPTIMAL if self.objective == self.lower_bound else Status.FEASIBLE
        return Status.INFEASIBLE if self.is_infeasible else Status.UNKNOWN

    @property
    def jct(self) -> NDArray[np.int64] | None:
        """JCT of every job, its completion minus its arrival, in ticks, shape (jobs,); None without `completion`."""
        return None if self.completion is None else self.completion - self.instance.release

    def to_dict(self) -> dict[str, object]:
        """Return everything but the schedule as JSON values."""
        problem = problem_of(self.instance)
        has_contention = "contention" in problem.options
        confirmation = None if self.confirmation is None else self.confirmation.to_dict()
        statistics = None if self.statistics is None else self.statistics.to_dict()
        return {
            "instance": self.instance.name,
            "instance_sha256": self.instance.sha256,
            **{name: getattr(self.instance, name) for name in problem.result_sizes},
            "objective_name": str(self.objective_name),
            **({"contention": str(self.contention)} if has_contention else {}),
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "lower_bound_from": None if self.bound is None else self.bound.to_dict(),
            **({"confirmation": confirmation} if has_contention else {}),
            "gap": self.gap,
            "gap_kind": self.gap_kind,
            "status": str(self.status),
            "termination": str(self.termination),
            **({} if self.failure is None else {"failure": self.failure}),
            **(
                {"statistics": statistics, "tick_seconds": self.instance.tick_seconds} if problem.has_statistics else {}
            ),
            "runtime_seconds": self.runtime_seconds,
            "backend_seconds": self.backend_seconds,
            "method": self.method,
            "parameters": {key: problem.parameter_value(value) for key, value in self.parameters.items()},
            "seed": self.seed,
            "threads": self.threads,
            "versions": versions(),
            "hardware": hardware(),
            "trace": [[point.seconds, point.objective, point.lower_bound] for point in self.trace],
        }

    def summary(self) -> dict[str, str]:
        """Return what a reader wants to know, as label and text."""
        problem = problem_of(self.instance)
        given = [f"{key}={value}" for key, value in self.parameters.items()] if problem.shows_parameters else []
        confirmed = None if self.confirmation is None else str(self.confirmation)
        if "confirm" in problem.options and confirmed is None and self.bound and self.bound.confirmed_by is not None:
            confirmed = f"by {self.bound.confirmed_by}"
        gap = "not defined" if self.gap is None else f"{100 * self.gap:.2f} % ({self.gap_kind})"
        bound = "none" if self.bound is None else f"{self.bound.value} ({self.bound.method}: {self.bound.proof})"
        return {
            "instance": self.instance.name,
            "method": f"{self.method} ({', '.join(given)})" if given else self.method,
            "minimised": str(self.objective_name),
            **({} if self.contention is Contention.NONE else {"contention": str(self.contention)}),
            "objective": "none" if self.objective is None else str(self.objective),
            "lower bound": bound,
            **({} if confirmed is None else {"confirmation": confirmed}),
            "gap": gap,
            "status": str(self.status),
            "termination": str(self.termination) + ("" if self.failure is None else f" ({self.failure.rstrip('.')})"),
            **({} if self.statistics is None else self.statistics.rows()),
            "run time": f"{self.runtime_seconds:.3f} s",
            "seed, threads": f"{self.seed}, {self.threads}",
        }

    def __str__(self) -> str:
        """Describe the result in aligned lines."""
        return "\n".join(f"{label:>14}: {text}" for label, text in self.summary().items())

    def __repr__(self) -> str:
        """Describe the result in one line."""
        return (
            f"Result(instance={self.instance.name!r}, method={self.method!r}, {self.objective_name}={self.objective}, "
            f"lower_bound={self.lower_bound}, status={str(self.status)!r}, termination={str(self.termination)!r})"
        )

    def _repr_html_(self) -> str:
        """Show the summary and, unless the schedule is too large, its Gantt chart in a notebook."""
        problem, table = problem_of(self.instance), html_table(self.summary())
        is_drawn = self.schedule is not None and problem.is_drawn(self.instance)
        return table + problem.draw_svg(self.instance, self.schedule) if is_drawn else table
