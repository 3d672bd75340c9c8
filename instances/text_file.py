"""Text files, plain or compressed."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
