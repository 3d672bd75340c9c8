"""Text files: plain or compressed ones, files that are replaced in one step, and limits of what is read."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import stat
import threading
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike


MAX_BYTES = 10**9
"""Largest content that is read from one file, in bytes after decompression."""


def read_content(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file; a name that ends in ``.gz`` is decompressed, and never beyond `MAX_BYTES`.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it is a device or a pipe, holds more than
    `MAX_BYTES`, or is not compressed as its name says.
    """
    check_readable(path)
    try:
        with gzip.open(path) if Path(path).suffix == ".gz" else open(path, "rb") as file:
            content: bytes = file.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"byte 0: expected gzip data, got {error}.") from error
    if len(content) > MAX_BYTES:
        raise ValueError(f"byte {MAX_BYTES}: expected at most {MAX_BYTES:,} bytes of content, got more.")
    return content


def check_readable(path: str | PathLike[str]) -> None:
    """Refuse devices and pipes, which may never end, and files that would fill the memory.

    Raises an `OSError` if there is no such file, and a `ValueError` if it is a device or a pipe, or larger than
    `MAX_BYTES`. The system itself refuses to read a folder.
    """
    status = Path(path).stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise ValueError("expected a regular file, got a device or a pipe.")
    if status.st_size > MAX_BYTES:
        raise ValueError(f"expected at most {MAX_BYTES:,} bytes, got {status.st_size:,}.")


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a UTF-8 file; a name that ends in ``.gz`` is decompressed.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        As in `read_content`, or if it is not UTF-8 text.
    """
    content = read_content(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: expected UTF-8 text, got 0x{content[error.start]:02x}.") from error


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write text as UTF-8, as a whole file or not at all; a name that ends in ``.gz`` is compressed.

    Compressed files hold no time, so that the same text is the same bytes.

    Raises an `OSError` if the file cannot be written; it is then as it was.
    """
    content = text.encode("utf-8")
    with whole_file(path) as partial:
        partial.write_bytes(gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)


PARTIAL = ".part-"
"""Beginning of the names of files that are being written; a file that stays was left by a killed process."""

KEPT_LETTERS = 40
"""Letters of a file's name that its temporary name ends in: with more, a long name would become too long."""

STREAMS = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
"""Beginnings of names that stand for an open stream, which may lead to a regular file."""


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; at the end that file replaces the one at `path` in one step.

    If writing fails, the old file stays and the temporary one is removed. Several threads and processes may write the
    same file at once; the last one wins. The temporary path is in the same folder and has the same ending. A symbolic
    link stays, and its target is replaced; the permissions and the owner of a file that is replaced are kept. Devices,
    pipes and streams such as ``/dev/stdout`` cannot be replaced: there `path` itself is yielded.

    Raises an `OSError` if the file cannot be written.
    """
    path = Path(path)
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if old is not None and (not stat.S_ISREG(old.st_mode) or str(path).startswith(STREAMS)):
        yield path
        return
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    partial = target.with_name(f"{PARTIAL}{os.getpid()}-{threading.get_ident()}-{target.name[-KEPT_LETTERS:]}")
    try:
        partial.touch()
        if old is not None:
            _keep_owner(partial, old)
        yield partial
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _keep_owner(partial: Path, old: os.stat_result) -> None:
    """Give a new file the permissions of the old one, and its owner where the system lets us."""
    with contextlib.suppress(OSError):
        os.chown(partial, old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):
        partial.chmod(stat.S_IMODE(old.st_mode))
