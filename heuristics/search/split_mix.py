"""A small random number generator whose state is an array, so that a kernel can resume where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.kernels import inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@inner_kernel
def uniform(state: NDArray[np.uint64]) -> float:
    """Return a number in [0, 1) and advance the state, shape (1,).

    SplitMix64 of Steele, Lea and Flood (2014), Fast Splittable Pseudorandom Number Generators. The stream depends on
    the seed alone, not on the versions of NumPy and Numba or on other threads.
    """
    state[0] += _GOLDEN
    word = state[0]
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    word = word ^ (word >> _31)
    return np.float64(word >> _11) * (1.0 / 9007199254740992.0)  # 2**53


@inner_kernel
def below(state: NDArray[np.uint64], bound: int) -> int:
    """Return an integer in 0..bound - 1."""
    return int(uniform(state) * bound)
