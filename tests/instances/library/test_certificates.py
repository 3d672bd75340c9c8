"""Tests of the stored certificates: the list, the texts, and what replaces them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from instances.library.certificates import (
    CERTIFICATE_LIST,
    MAX_CERTIFICATE_BYTES,
    read_certificates,
    store_certificate,
    stored_certificate_text,
)
from instances.library.ledger import LibraryFileError
from instances.library.library import read_library

if TYPE_CHECKING:
    from pathlib import Path

KEY = ("dag-0", "makespan")


def test_only_a_larger_bound_replaces_a_certificate(tmp_path: Path) -> None:
    """Tests that the list and one text are kept, the one that proves more, and that long texts are left out."""
    assert read_certificates(tmp_path) == {}
    assert store_certificate(tmp_path, KEY, bound=5, kind="paths", text="five\n")
    assert not store_certificate(tmp_path, KEY, bound=5, kind="area", text="other\n")
    assert not store_certificate(tmp_path, KEY, bound=9, kind="area", text="x" * (MAX_CERTIFICATE_BYTES + 1))
    assert store_certificate(tmp_path, KEY, bound=7, kind="area", text="seven\n")
    assert store_certificate(tmp_path, ("a", "makespan"), bound=1, kind="paths", text="one\n")
    listed = read_certificates(tmp_path)
    assert list(listed) == [("a", "makespan"), KEY]
    assert (listed[KEY].bound, listed[KEY].kind) == (7, "area")
    assert stored_certificate_text(tmp_path, listed[KEY]) == "seven\n"
    assert len(list((tmp_path / "certificates").iterdir())) == 2


def test_another_text_and_a_damaged_list_are_refused(tmp_path: Path) -> None:
    """Tests that a text with another hash, and a list with an entry twice, give one line with the file."""
    store_certificate(tmp_path, KEY, bound=5, kind="paths", text="five\n")
    stored = read_certificates(tmp_path)[KEY]
    (tmp_path / "certificates" / "dag-0.makespan.5.txt.gz").write_bytes(b"five\n")
    with pytest.raises(LibraryFileError, match=r"5\.txt\.gz: byte 0: expected gzip data"):
        stored_certificate_text(tmp_path, stored)
    path = tmp_path / CERTIFICATE_LIST
    text = path.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if '"dag-0"' in line).removesuffix("]")
    path.write_text(text.replace(line, f"{line},{line}"), encoding="utf-8")
    with pytest.raises(LibraryFileError, match=r"certificates\[1\]: expected each once, got dag-0 makespan twice"):
        read_certificates(tmp_path)


def test_every_listed_text_has_its_hash_and_is_small() -> None:
    """Tests hashes of all certificates of the library, that each belongs to an entry, and that they are below 1 MB."""
    library = read_library()
    listed = read_certificates(library.folder)
    for stored in listed.values():
        entry = library.entry(*stored.key)
        text = stored_certificate_text(library.folder, stored)
        assert f"bound {stored.bound}\nproof {stored.kind}\n" in text
        assert entry.bound is not None
        assert stored.bound <= entry.bound.value
    files = [stored.path(library.folder) for stored in listed.values()]
    assert sorted(files) == sorted((library.folder / "certificates").iterdir())
    assert sum(path.stat().st_size for path in files) < 1_000_000
