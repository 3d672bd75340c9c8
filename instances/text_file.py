"""Text files: plain or compressed ones, and files that are replaced in one step."""

from __future__ import annotations

import gzip
import os
import threading
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a UTF-8 file; a name that ends in ``.gz`` is decompressed.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not UTF-8 text, or not compressed as its name says.
    """
    content = Path(path).read_bytes()
    if Path(path).suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"byte 0: expected gzip data, got {error}.") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: expected UTF-8 text, got 0x{content[error.start]:02x}.") from error


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write text as UTF-8; a name that ends in ``.gz`` is compressed, without a time, so that bytes repeat.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    content = text.encode("utf-8")
    Path(path).write_bytes(gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)


PARTIAL = ".part-"
"""Beginning of the names of files that are being written; a file that stays was left by a killed process."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; at the end that file replaces the one at `path` in one step.

    If writing fails, the old file stays and the temporary one is removed. Several threads and processes may write the
    same file at once; the last one wins. The temporary path is in the same folder and has the same ending.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    partial = path.with_name(f"{PARTIAL}{os.getpid()}-{threading.get_ident()}-{path.name}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
