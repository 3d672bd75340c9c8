"""Files of named NumPy arrays with their format and hash: weights, networks and predictors."""

from __future__ import annotations

import hashlib
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.text_file import MAX_BYTES, check_readable, whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    from numpy.typing import NDArray


def read_arrays(path: str | PathLike[str], what: str) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file that `numpy.savez` wrote; nothing in the file is executed.

    Messages say that the content of the file is `what`.

    Raises a `ValueError` if the file is no such file, and an `OSError` if it cannot be read.
    """
    check_readable(path)
    with open(path, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as stored:
                if sum(entry.file_size for entry in stored.zip.infolist()) > MAX_BYTES:
                    raise ValueError(f"more than {MAX_BYTES:,} bytes")
                return dict(stored)
        except (ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path}: expected a file of {what}, got something else ({error}).") from error


_HASH = "sha256"


def save_arrays(path: str | PathLike[str], arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write arrays, one of them named ``format``; the same ones give the same bytes."""
    stored: dict[str, Any] = {**arrays, _HASH: np.array(arrays_sha256(arrays))}
    write_arrays(path, stored)


def write_arrays(path: str | PathLike[str], arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write arrays by `numpy.savez`, as a whole file or not at all."""
    named: dict[str, Any] = dict(arrays)
    with whole_file(path) as partial, open(partial, "wb") as file:
        np.savez(file, **named)


@contextmanager
def arrays_in(path: str | PathLike[str], what: str) -> Iterator[dict[str, NDArray[np.generic]]]:
    """Yield the arrays of a file, not yet checked, and put its path before the message of any error about them.

    Raises a `ValueError` if the file is no such file, or instead of a `ValueError` or `KeyError` that is raised about
    the arrays, and an `OSError` if it cannot be read.
    """
    arrays = read_arrays(path, f"a {what}")
    try:
        yield arrays
    except KeyError as error:
        raise ValueError(f"{path}: expected an array {error}, got none.") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def format_of(arrays: Mapping[str, NDArray[np.generic]]) -> str:
    """Return the format that arrays name; empty if they name none."""
    return str(arrays.get("format", ""))


def checked_arrays(arrays: Mapping[str, NDArray[np.generic]], file_format: str) -> dict[str, NDArray[np.generic]]:
    """Return arrays of a file without their hash; raises a `ValueError` if they have another format or hash."""
    if format_of(arrays) != file_format:
        raise ValueError(f"expected format {file_format!r}, got {format_of(arrays)!r}.")
    rest = {name: array for name, array in arrays.items() if name != _HASH}
    written, found = str(arrays.get(_HASH, "")), arrays_sha256(rest)
    if found != written:
        raise ValueError(f"expected content of SHA-256 {written}, got {found}.")
    return rest


def arrays_sha256(arrays: Mapping[str, NDArray[np.generic]]) -> str:
    """Return the SHA-256 of names, shapes and values, in order of the names; the same on every machine."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.kind} {array.shape}\n".encode())
        if array.dtype.kind == "U":
            digest.update("\n".join(array.ravel().tolist()).encode())
        else:
            digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()
