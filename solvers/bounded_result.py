"""What results of both problems share: a verified objective held against a proven bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.status import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.bound import Bound


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
