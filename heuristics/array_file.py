"""Files of named NumPy arrays: weights and networks."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray


def read_arrays(path: str | PathLike[str], what: str) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file that `numpy.savez` wrote; nothing in the file is executed.

    Parameters
    ----------
    path
        Of the file.
    what
        It is of, for messages.

    Raises
    ------
    ValueError
        If the file is no such file.
    OSError
        If it cannot be read.
    """
    with open(path, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as stored:
                return dict(stored)
        except (ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path}: expected a file of {what}, got something else ({error}).") from error
