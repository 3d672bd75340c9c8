"""The catalogue of the reference library, and the library's identifier for citation."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.fields import Fields
    from instances.library.ledger import LedgerEntry


PROBLEMS = ("dag", "jobs")
"""Problems that instances of the library are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """An instance of the library, and how its file was made.

    Parameters
    ----------
    name
        Name of the instance and of its file; it states the coordinates of the design.
    problem
        ``dag`` or ``jobs``.
    sha256
        Content hash of the instance.
    size
        Number of tasks, or of jobs if the problem is ``jobs``.
    objectives
        Objectives for which the ledger has entries.
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
    def from_json(cls, fields: Fields) -> CatalogueEntry:
        """Take an entry from a parsed document, which closes it.

        Raises a `ValueError` if a field is missing or wrong; the message gives the place and what was expected.
        """
        return cls(
            name=fields.text("name"),
            problem=fields.text("problem", choices=PROBLEMS),
            sha256=fields.text("sha256"),
            family=fields.text("family"),
            size=fields.integer("size"),
            gpus=fields.integer("gpus"),
            objectives=tuple(fields.text_entries("objectives")),
            coordinates=fields.mapping("coordinates"),
        )


def library_identifier(version: str, sha256_of: Mapping[str, str]) -> str:
    """Return ``optgap-library/VERSION:sha256:HASH``.

    HASH is the SHA-256, as 64 hexadecimal digits, of one line ``NAME HASH-OF-INSTANCE`` per instance, each ended by a
    line feed, in the order of the names' bytes, as UTF-8. The hash of an instance is that of its content
    (`instances.json_document`), not of its file: it is the same on every machine and however the file is compressed.
    Bounds and schedules are not part of it, because they become better; `ledger_revision` covers them.

    Parameters
    ----------
    version
        Number of the published set of instances; another set has another version.
    sha256_of
        Content hash of each instance by name.
    """
    lines = sorted(f"{name} {sha256}\n".encode() for name, sha256 in sha256_of.items())
    return f"optgap-library/{version}:sha256:{hashlib.sha256(b''.join(lines)).hexdigest()}"


def ledger_revision(catalogue: Mapping[str, CatalogueEntry], ledger: Mapping[tuple[str, str], LedgerEntry]) -> str:
    """Return ``sha256:HASH`` of the whole catalogue and ledger; any change of either gives another revision.

    HASH is the SHA-256 over one line of canonical JSON (sorted keys, no white space, ASCII) per entry, each ended by a
    line feed: those of the catalogue in the order of the names, then those of the ledger in the order of the names of
    instance and objective. It does not depend on the layout of the files. Of schedules it covers the objectives, which
    `optgap library check` recomputes.
    """
    entries: list[CatalogueEntry | LedgerEntry] = [catalogue[name] for name in sorted(catalogue)]
    entries += [ledger[key] for key in sorted(ledger)]
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(json.dumps(entry.to_dict(), sort_keys=True, separators=(",", ":")).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"
