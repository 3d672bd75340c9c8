"""Tests of text files, plain and compressed."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import pytest

from instances import text_file
from instances.text_file import read_content, read_text, whole_file, write_text

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


def test_what_users_expect_of_a_file_that_is_replaced(tmp_path: Path) -> None:
    """Tests permissions of new and old files, a symbolic link and where it leads, and a name of 255 letters."""
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "new", TEXT)
    finally:
        os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new").chmod(0o604)
    (tmp_path / "to new").symlink_to("new")
    (tmp_path / "to nothing yet").symlink_to("made")
    for link in ("to new", "to nothing yet"):
        write_text(tmp_path / link, "other")
        assert (tmp_path / link).is_symlink()
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o604
    assert [(tmp_path / name).read_text() for name in ("new", "made")] == ["other", "other"]
    write_text(tmp_path / ("n" * 250 + ".json"), TEXT)
    assert len(list(tmp_path.iterdir())) == 5


def test_streams_are_written_in_place(tmp_path: Path) -> None:
    """Tests a pipe and a device, which nothing can replace, and the name of an open stream that leads to a file."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", TEXT)
    assert os.read(reader, 100) == TEXT.encode()
    os.close(reader)
    write_text("/dev/null", TEXT)
    with open(tmp_path / "file", "w") as file:
        write_text(f"/dev/fd/{file.fileno()}", TEXT)
        assert os.fstat(file.fileno()).st_size == len(TEXT.encode())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "pipe"]


@pytest.mark.parametrize(
    ("prepare", "error"),
    [
        (lambda path: path.mkdir(), errno.EISDIR),
        (lambda path: path.symlink_to(path), errno.ELOOP),
        (lambda path: (path.write_text("old"), path.chmod(0o444)), errno.EACCES),
    ],
    ids=["a folder", "links in a circle", "write-protected"],
)
def test_what_cannot_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepare: object, error: int) -> None:
    """Tests that a folder, links in a circle and a protected file are refused, and that nothing is left beside them."""
    assert callable(prepare)
    prepare(tmp_path / "a")
    monkeypatch.setattr(os, "access", lambda path, mode: bool(Path(path).stat().st_mode & 0o200))  # also for root
    with pytest.raises(OSError) as refused:
        write_text(tmp_path / "a", TEXT)
    assert refused.value.errno == error
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("name", ["bomb.gz", "plain"])
def test_content_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Tests that what unpacks to too much is refused while it is read, and exactly as much as allowed is taken."""
    monkeypatch.setattr(text_file, "MAX_BYTES", 1000)
    write_text(tmp_path / name, "x" * 1000)
    assert len(read_content(tmp_path / name)) == 1000
    write_text(tmp_path / name, "x" * 10**7)
    with pytest.raises(ValueError, match=r"expected at most 1,000 bytes"):
        read_content(tmp_path / name)


@pytest.mark.parametrize("name", ["/dev/zero", "pipe"])
def test_endless_input_is_refused(tmp_path: Path, name: str) -> None:
    """Tests that a device and a pipe without a writer end at once."""
    if name == "pipe":
        os.mkfifo(tmp_path / name)
    with pytest.raises(ValueError, match=r"^expected a regular file, got a device or a pipe\.$"):
        read_text(tmp_path / name)
