"""What a run found, proved and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.contention import Contention
from instances.html import html_table
from instances.objective import Objective, objective_value
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.bounded_result import BoundedResult
from solvers.bounded_result import UnverifiedScheduleError as UnverifiedScheduleError
from solvers.status import Status, Termination
from solvers.versions import hardware, versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.bound import Bound
    from solvers.confirmation import Confirmation


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePoint:
    """State of a run at a time: seconds since it began, evaluations, best objective, best proven lower bound."""

    seconds: float
    evaluations: int
    objective: int | None
    lower_bound: int | None


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
        from instances.plot_gantt import gantt_svg

        return html_table(self.summary()) + gantt_svg(self.instance, self.schedule)
