"""Certificates of the reference library: texts that prove bounds, one file each, and their list with hashes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from instances.fields import Fields
from instances.json_document import parse_json
from instances.library.ledger import Key, LibraryFileError, locked
from instances.text_file import read_text, write_text

if TYPE_CHECKING:
    from pathlib import Path


CERTIFICATE_LIST, CERTIFICATES = "certificates.json", "certificates"
"""The list, and the folder of the texts; both may be absent."""

LIST_FORMAT, LIST_VERSION = "optgap/library-certificates", 1

MAX_CERTIFICATE_BYTES = 1_000_000
"""Longest text that is stored; what is longer would make the library large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCertificate:
    """A certificate: of which entry, the bound that it proves, how, and the SHA-256 of its text.

    The bound is a bound whatever the ledger says; it may be below that of the ledger, which may rest on a search.
    """

    instance: str
    objective_name: str
    bound: int
    kind: str
    sha256: str

    @property
    def key(self) -> Key:
        """Names of instance and objective."""
        return self.instance, self.objective_name

    def path(self, folder: Path) -> Path:
        """Return where the text is stored in the folder of a library."""
        return folder / CERTIFICATES / f"{self.instance}.{self.objective_name}.{self.bound}.txt.gz"


def read_certificates(folder: Path) -> dict[Key, StoredCertificate]:
    """Read the list of certificates in the folder of a library; a library may have none.

    Raises an `OSError` if it cannot be read, and a `LibraryFileError` if it is no such list or an entry is there twice.
    """
    path = folder / CERTIFICATE_LIST
    if not path.exists():
        return {}
    try:
        document = Fields(parse_json(read_text(path)))
        document.check_format(LIST_FORMAT, LIST_VERSION)
        listed: dict[Key, StoredCertificate] = {}
        for index, fields in enumerate(document.each("certificates")):
            stored = StoredCertificate(
                instance=fields.text("instance"),
                objective_name=fields.text("objective_name"),
                bound=fields.integer("bound"),
                kind=fields.text("kind"),
                sha256=fields.text("sha256"),
            )
            fields.close()
            if stored.key in listed:
                raise ValueError(f"certificates[{index}]: expected each once, got {' '.join(stored.key)} twice.")
            listed[stored.key] = stored
        document.close()
    except ValueError as error:
        raise LibraryFileError(f"{path}: {error}") from error
    return listed


def store_certificate(folder: Path, key: Key, *, bound: int, kind: str, text: str) -> bool:
    """Store a certificate that proves more than the stored one; say whether it was stored.

    The caller has had it checked. A text above `MAX_CERTIFICATE_BYTES` is left out. Raises an `OSError` if the folder
    cannot be written, and a `LibraryFileError` if the list is damaged.
    """
    content = text.encode()
    new = StoredCertificate(
        instance=key[0], objective_name=key[1], bound=bound, kind=kind, sha256=sha256(content).hexdigest()
    )
    with locked(folder):
        listed = read_certificates(folder)
        old = listed.get(key)
        if len(content) > MAX_CERTIFICATE_BYTES or (old is not None and old.bound >= bound):
            return False
        (folder / CERTIFICATES).mkdir(exist_ok=True)
        write_text(new.path(folder), text)
        listed[key] = new
        lines = ",\n  ".join(json.dumps(asdict(listed[key])) for key in sorted(listed))
        head = f'"format": "{LIST_FORMAT}",\n "version": {LIST_VERSION}'
        write_text(folder / CERTIFICATE_LIST, f'{{\n {head},\n "certificates": [\n  {lines}]\n}}\n')
        if old is not None:
            old.path(folder).unlink(missing_ok=True)
    return True


def stored_certificate_text(folder: Path, stored: StoredCertificate) -> str:
    """Read the text of a certificate.

    Raises an `OSError` if its file cannot be read, and a `LibraryFileError` if it is damaged or another text.
    """
    path = stored.path(folder)
    try:
        text = read_text(path)
        found = sha256(text.encode()).hexdigest()
        if found != stored.sha256:
            raise ValueError(f"sha256: expected {stored.sha256[:16]}... of the list, got {found[:16]}...")
    except ValueError as error:
        raise LibraryFileError(f"{path}: {error}") from error
    return text
