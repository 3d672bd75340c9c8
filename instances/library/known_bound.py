"""The best lower bound that the ledger has of an instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instances.json_fields import JsonObject
from instances.library.provenance import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBound:
    """A proven lower bound.

    Parameters
    ----------
    value
        Ticks, or weighted ticks.
    proof
        What proves it, in a few words.
    solver
        Solver and version behind it, None where none was asked.
    provenance
        How it was computed.
    confirmed_by
        The second model that confirms it, None where none does.
    confirmed_seconds, confirmed_date
        Time that this took, and the day; None where it is not confirmed.
    """

    value: int
    proof: str
    solver: str | None
    provenance: Provenance
    confirmed_by: str | None = None
    confirmed_seconds: float | None = None
    confirmed_date: str | None = None

    @property
    def shares_windows(self) -> bool:
        """Whether what confirms it had the windows of the first model: then the search is confirmed, not the windows.

        "heads and tails" are these windows themselves, empty below the bound.
        """
        return self.confirmed_by is not None and self.confirmed_by.endswith(("windows shared", "heads and tails"))

    def is_better_than(self, other: KnownBound | None) -> bool:
        """Say whether it should take the place of another one: larger, or better confirmed."""
        if other is None or self.value != other.value:
            return other is None or self.value > other.value
        if self.confirmed_by is None or other.confirmed_by is None:
            return self.confirmed_by is not None and other.confirmed_by is None
        return other.shares_windows and not self.shares_windows

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "value": self.value,
            "method": self.provenance.method,  # here for the reader's eye
            "proof": self.proof,
            "solver": self.solver,
            "confirmed_by": self.confirmed_by,
            "confirmed_seconds": self.confirmed_seconds,
            "confirmed_date": self.confirmed_date,
            **self.provenance.to_dict(),
        }

    @classmethod
    def from_json(cls, value: object, place: str) -> KnownBound:
        """Take a bound from a parsed document."""
        fields = JsonObject(value, place)
        bound = cls(
            value=fields.integer("value"),
            proof=fields.text("proof"),
            solver=fields.optional_text("solver"),
            confirmed_by=fields.optional_text("confirmed_by"),
            confirmed_seconds=fields.optional_number("confirmed_seconds"),
            confirmed_date=fields.optional_text("confirmed_date"),
            provenance=Provenance.taken_from(fields),
        )
        fields.close()
        return bound
