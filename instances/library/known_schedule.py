"""The best objective that the ledger has of an instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instances.json_fields import JsonObject
from instances.library.provenance import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSchedule:
    """The objective of a stored schedule.

    Parameters
    ----------
    objective
        Ticks, or weighted ticks; recomputed from the verified schedule.
    provenance
        How it was computed.
    """

    objective: int
    provenance: Provenance

    def is_better_than(self, other: KnownSchedule | None) -> bool:
        """Say whether it should take the place of another one."""
        return other is None or self.objective < other.objective

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {"objective": self.objective, **self.provenance.to_dict()}

    @classmethod
    def from_json(cls, value: object, place: str) -> KnownSchedule:
        """Take an objective from a parsed document."""
        fields = JsonObject(value, place)
        known = cls(objective=fields.integer("objective"), provenance=Provenance.taken_from(fields))
        fields.close()
        return known
