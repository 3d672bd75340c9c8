"""Private, read-only arrays of what was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray


def read_only(values: ArrayLike, dtype: DTypeLike) -> NDArray[np.generic]:
    """Return a read-only copy of a type."""
    array: NDArray[np.generic] = np.array(values, dtype=dtype, order="C")
    array.flags.writeable = False
    return array
