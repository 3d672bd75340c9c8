"""From seconds to ticks, with a warning where rounding matters."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from instances.frozen_array import MAX_INTEGER

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

TOLERATED_CHANGE = 1e-3
"""Relative change of a duration by rounding above which a warning is due."""


class RoundingWarning(UserWarning):
    """Rounding to ticks changes a duration by more than 0.1 %."""


def ticks_from_seconds(
    seconds: NDArray[np.float64], tick_seconds: float, *, place: Callable[[tuple[int, ...]], str]
) -> NDArray[np.int64]:
    """Round times to the nearest tick, positive ones to at least one tick.

    Parameters
    ----------
    seconds
        Times of any shape, at least 0; NaN stays as -1 (not allowed).
    place
        Names an entry, by its index, for messages.

    Raises
    ------
    ValueError
        If a time is negative or longer than 2**53 ticks, or the tick is not positive.

    Warns
    -----
    RoundingWarning
        If rounding changes a time by more than 0.1 %; once, with the worst.
    """
    if not tick_seconds > 0:
        raise ValueError(f"tick_seconds: expected a positive number, got {tick_seconds}.")
    given = ~np.isnan(seconds)
    exact = np.where(given, seconds, 0.0) / tick_seconds
    for index in zip(*np.nonzero((exact < 0) | (exact > MAX_INTEGER)), strict=True):
        raise ValueError(f"{place(index)}: expected 0 to 2**53 ticks, got {seconds[index]:g} s.")
    ticks = np.rint(exact)
    ticks[(exact > 0) & (ticks == 0)] = 1.0
    change = np.divide(np.abs(ticks - exact), exact, out=np.zeros_like(exact), where=exact > 0)
    if change.size and change.max() > TOLERATED_CHANGE:
        worst = tuple(int(axis) for axis in np.unravel_index(int(change.argmax()), change.shape))
        count = int((change > TOLERATED_CHANGE).sum())
        warnings.warn(
            f"{count} of {int(given.sum())} durations change by more than 0.1 % when rounded to ticks of "
            f"{tick_seconds:g} s, {place(worst)} by {100 * change[worst]:.3g} %.",
            RoundingWarning,
            stacklevel=3,
        )
    return np.where(given, ticks, -1.0).astype(np.int64)
