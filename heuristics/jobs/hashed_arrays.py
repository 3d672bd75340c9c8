"""Files of named NumPy arrays with their format and hash."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.array_file import read_arrays

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import NDArray

_HASH = "sha256"


def save_arrays(path: str | PathLike[str], arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write arrays, one of them named ``format``; the same ones give the same bytes."""
    stored: dict[str, Any] = {**arrays, _HASH: np.array(arrays_sha256(arrays))}
    with open(path, "wb") as file:
        np.savez(file, **stored)


def load_arrays(path: str | PathLike[str], what: str, file_format: str) -> dict[str, NDArray[np.generic]]:
    """Read arrays that `save_arrays` wrote; nothing in the file is executed.

    Parameters
    ----------
    path
        Of the file.
    what
        It is of, for messages.
    file_format
        That it must have.

    Raises
    ------
    ValueError
        If the file is no such file, or its hash is another.
    OSError
        If it cannot be read.
    """
    arrays = read_arrays(path, f"a {what}")
    written = str(arrays.pop(_HASH, ""))
    if str(arrays.get("format", "")) != file_format:
        raise ValueError(f"{path}: expected format {file_format!r}, got {str(arrays.get('format', ''))!r}.")
    if arrays_sha256(arrays) != written:
        raise ValueError(f"{path}: expected content of SHA-256 {written}, got {arrays_sha256(arrays)}.")
    return arrays


def arrays_sha256(arrays: Mapping[str, NDArray[np.generic]]) -> str:
    """Return the SHA-256 of names, shapes and values in order of the names, the same on every machine."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.kind} {array.shape}\n".encode())
        if array.dtype.kind == "U":
            digest.update("\n".join(array.ravel().tolist()).encode())
        else:
            digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()
