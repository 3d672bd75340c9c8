"""What the ledger has of one instance and one objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instances.json_fields import JsonObject
from instances.library.known_bound import KnownBound
from instances.library.known_schedule import KnownSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """What is known of one instance and one objective, without contention.

    Parameters
    ----------
    instance
        Name in the catalogue.
    objective_name
        What is minimised.
    bound
        Best proven lower bound, None where there is none.
    schedule
        Best schedule, None where there is none.
    """

    instance: str
    objective_name: str
    bound: KnownBound | None = None
    schedule: KnownSchedule | None = None

    @property
    def status(self) -> str:
        """Say ``optimal`` where bound and objective meet, else ``feasible``, or ``unknown`` without a schedule."""
        if self.schedule is None:
            return "unknown"
        return "optimal" if self.bound is not None and self.bound.value == self.schedule.objective else "feasible"

    @property
    def is_confirmed_optimum(self) -> bool:
        """Say whether the optimum is proved and a second model confirms it."""
        return self.status == "optimal" and self.bound is not None and self.bound.confirmed_by is not None

    @property
    def is_independently_confirmed(self) -> bool:
        """Say whether the same holds and the second model shares nothing with the first but the instance."""
        return self.is_confirmed_optimum and self.bound is not None and not self.bound.shares_windows

    @property
    def gap(self) -> float | None:
        """Return (objective - bound) / bound, None where it is not defined."""
        if self.schedule is None or self.bound is None or self.bound.value <= 0:
            return None
        return (self.schedule.objective - self.bound.value) / self.bound.value

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "instance": self.instance,
            "objective_name": self.objective_name,
            "status": self.status,
            "bound": None if self.bound is None else self.bound.to_dict(),
            "schedule": None if self.schedule is None else self.schedule.to_dict(),
        }

    @classmethod
    def from_json(cls, value: object, place: str) -> LedgerEntry:
        """Take an entry from a parsed document.

        Raises
        ------
        ValueError
            If it is none, or its status is not what bound and objective say.
        """
        fields = JsonObject(value, place)
        status = fields.text("status")
        bound, schedule = fields.optional_mapping("bound"), fields.optional_mapping("schedule")
        entry = cls(
            instance=fields.text("instance"),
            objective_name=fields.text("objective_name"),
            bound=None if bound is None else KnownBound.from_json(bound, f"{place}.bound"),
            schedule=None if schedule is None else KnownSchedule.from_json(schedule, f"{place}.schedule"),
        )
        fields.close()
        if status != entry.status:
            raise ValueError(f"{place}.status: expected {entry.status}, as bound and objective say, got {status}.")
        return entry
