"""How a bound or a schedule of the ledger was computed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.json_fields import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a bound or a schedule was computed.

    Parameters
    ----------
    method
        Name of the method.
    budget
        What the run was given, such as ``20 s`` or ``2000 evaluations``; None where it ran to its end.
    seconds
        Time of the run that gave it.
    threads, seed
        Of the run; the seed is None where nothing is random.
    date
        Day of the run in UTC, as in ISO 8601.
    hardware
        Processor, cores and system.
    versions
        Of Python, optgap and what computed.
    """

    method: str
    budget: str | None
    seconds: float
    threads: int
    seed: int | None
    date: str
    hardware: str
    versions: Mapping[str, str | None]

    @classmethod
    def taken_from(cls, fields: JsonObject) -> Provenance:
        """Take the fields from a JSON object."""
        return cls(
            method=fields.text("method"),
            budget=fields.optional_text("budget"),
            seconds=fields.number("seconds"),
            threads=fields.integer("threads"),
            seed=fields.optional_integer("seed"),
            date=fields.text("date"),
            hardware=fields.text("hardware"),
            versions=fields.mapping("versions"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self)
