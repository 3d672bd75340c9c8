"""Tests of text files, plain and compressed."""

from __future__ import annotations

import errno
import gzip
from typing import TYPE_CHECKING

import pytest

from instances.text_file import read_text, whole_file, write_text

if TYPE_CHECKING:
    from pathlib import Path


TEXT = "tasks: é\n"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_plain_and_compressed(tmp_path: Path, name: str, mark: bytes) -> None:
    """Tests that text reads the same from a plain and a compressed file, with and without byte order mark."""
    content = mark + TEXT.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert read_text(tmp_path / name) == TEXT
    assert read_text(str(tmp_path / name)) == TEXT


def test_broken_utf8(tmp_path: Path) -> None:
    """Tests that a byte that is no UTF-8 is named with its position."""
    (tmp_path / "a.txt").write_bytes(b"abc\xff\xfe")
    with pytest.raises(ValueError, match=r"^byte 3: expected UTF-8 text, got 0xff\.$"):
        read_text(tmp_path / "a.txt")


def test_utf8_cut_short(tmp_path: Path) -> None:
    """Tests that a character that is cut off at the end is named, not an index error."""
    (tmp_path / "a.txt").write_bytes("é".encode()[:1])
    with pytest.raises(ValueError, match=r"^byte 0: expected UTF-8 text, got 0xc3\.$"):
        read_text(tmp_path / "a.txt")


@pytest.mark.parametrize(
    "content",
    [b"plain text", b"\x1f\x8b", gzip.compress(b"x" * 1000)[:-9], gzip.compress(b"x" * 1000)[:-4] + b"\0\0\0\0"],
    ids=["not compressed", "only the mark", "cut short", "wrong length"],
)
def test_broken_compression(tmp_path: Path, content: bytes) -> None:
    """Tests that a damaged compressed file is bad input, whatever is wrong with it."""
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"^byte 0: expected gzip data, got "):
        read_text(tmp_path / "a.gz")


def test_compression_damaged_inside(tmp_path: Path) -> None:
    """Tests that damage in the middle of the compressed data is bad input too."""
    content = bytearray(gzip.compress(bytes(range(256)) * 20))
    content[14:40] = b"\xff" * 26
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"^byte 0: expected gzip data, got "):
        read_text(tmp_path / "a.gz")


def test_missing_file(tmp_path: Path) -> None:
    """Tests that a missing file is an OSError."""
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "absent.json")


def test_written_text_reads_back(tmp_path: Path) -> None:
    """Tests that text is written plain or compressed, as the name says, and that the same text is the same bytes."""
    for name in ("a.txt", "a.txt.gz"):
        write_text(tmp_path / name, TEXT)
        assert read_text(tmp_path / name) == TEXT
    assert (tmp_path / "a.txt").read_bytes() == TEXT.encode()
    write_text(str(tmp_path / "b.gz"), TEXT)
    assert (tmp_path / "b.gz").read_bytes() == (tmp_path / "a.txt.gz").read_bytes()
    assert gzip.decompress((tmp_path / "b.gz").read_bytes()) == TEXT.encode()


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Tests that the old content stays until the end, that the ending is kept, and that nothing is left beside."""
    path = tmp_path / "a.json.gz"
    path.write_text("old")
    with whole_file(path) as partial:
        partial.write_text("new")
        assert path.read_text() == "old"
        assert partial.suffix == ".gz"
    assert path.read_text() == "new"
    assert [found.name for found in tmp_path.iterdir()] == ["a.json.gz"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    """Tests that a full disk or Ctrl-C in the middle leaves the old file as it was, and nothing beside it."""
    path = tmp_path / "ledger.json"
    path.write_text("old")
    with pytest.raises(type(error)), whole_file(path) as partial:
        partial.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["ledger.json"]
