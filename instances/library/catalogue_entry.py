"""What the catalogue of the reference library says of an instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.json_fields import JsonObject, check_entries

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBLEMS = ("dag", "jobs")
"""Problems that instances of the library are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """An instance of the library: what it is, and how its file was made.

    Parameters
    ----------
    name
        Of the instance and of its file; tells the coordinates of the design.
    problem
        ``dag`` or ``jobs``.
    sha256
        Content hash of the instance.
    family
        Family that generated it.
    size
        Number of tasks, of jobs where the problem is ``jobs``.
    gpus
        Number of GPUs.
    objectives
        What the ledger has entries of.
    coordinates
        Every argument of the generator, as JSON values: seed, cluster, cost model, parameters of the family.
    """

    name: str
    problem: str
    sha256: str
    family: str
    size: int
    gpus: int
    objectives: tuple[str, ...]
    coordinates: Mapping[str, Any]

    @property
    def file_name(self) -> str:
        """Name of the file that holds the instance."""
        return f"{self.name}.json.gz"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "name": self.name,
            "problem": self.problem,
            "sha256": self.sha256,
            "family": self.family,
            "size": self.size,
            "gpus": self.gpus,
            "objectives": list(self.objectives),
            "coordinates": dict(self.coordinates),
        }

    @classmethod
    def from_json(cls, value: object, place: str) -> CatalogueEntry:
        """Take an entry from a parsed document.

        Raises
        ------
        ValueError
            If it is none; the message gives the place and what was expected.
        """
        fields = JsonObject(value, place)
        problem, objectives = fields.text("problem"), fields.list("objectives")
        if problem not in PROBLEMS:
            raise ValueError(f"{place}.problem: expected one of {', '.join(PROBLEMS)}, got {problem!r}.")
        check_entries(objectives, lambda entry: isinstance(entry, str), "text", f"{place}.objectives")
        entry = cls(
            name=fields.text("name"),
            problem=problem,
            sha256=fields.text("sha256"),
            family=fields.text("family"),
            size=fields.integer("size"),
            gpus=fields.integer("gpus"),
            objectives=tuple(objectives),
            coordinates=fields.mapping("coordinates"),
        )
        fields.close()
        return entry
