"""What papers cite: an identifier that follows from the content of the instances."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.library.catalogue_entry import CatalogueEntry
    from instances.library.ledger_entry import LedgerEntry


def library_identifier(version: str, sha256_of: Mapping[str, str]) -> str:
    """Return ``optgap-library/VERSION:sha256:HASH``.

    HASH is the SHA-256, as 64 hexadecimal digits, of one line ``NAME HASH-OF-INSTANCE`` per instance, each ended by a
    line feed, in the order of the names' bytes, as UTF-8. The hash of an instance is that of its content
    (`instances.content_hash`), not of its file: it is the same on every machine and however the file is compressed.
    Bounds and schedules are not in it, for they become better; `ledger_revision` is of them.

    Parameters
    ----------
    version
        Counts the sets of instances that were published; another set has another version.
    sha256_of
        Content hash of each instance by name.
    """
    lines = sorted(f"{name} {sha256}\n".encode() for name, sha256 in sha256_of.items())
    return f"optgap-library/{version}:sha256:{hashlib.sha256(b''.join(lines)).hexdigest()}"


def ledger_revision(catalogue: Mapping[str, CatalogueEntry], ledger: Mapping[tuple[str, str], LedgerEntry]) -> str:
    """Return ``sha256:HASH`` of everything that catalogue and ledger say; any change of either is another revision.

    HASH is the SHA-256 over one line of canonical JSON (sorted keys, no white space, ASCII) per entry, each ended by a
    line feed: those of the catalogue in the order of the names, then those of the ledger in the order of the names of
    instance and objective. It does not depend on how the files are written. Schedules are not in it: their objectives
    are, and `optgap library check` computes these from them.

    Parameters
    ----------
    catalogue, ledger
        As in `Library`.
    """
    entries: list[CatalogueEntry | LedgerEntry] = [catalogue[name] for name in sorted(catalogue)]
    entries += [ledger[key] for key in sorted(ledger)]
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(json.dumps(entry.to_dict(), sort_keys=True, separators=(",", ":")).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"
