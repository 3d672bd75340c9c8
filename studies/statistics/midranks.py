"""Ranks in which ties share the mean of their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def midranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of every value within its row, from 1; ties share the mean of their ranks.

    The same as ``scipy.stats.rankdata``, without the half second that importing it takes.

    Parameters
    ----------
    values
        Shape (..., n), without NaN.
    """
    rows = np.asarray(values, dtype=np.float64)
    if not rows.size:
        return np.zeros(rows.shape)
    order = np.argsort(rows, axis=-1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=-1)
    place = np.broadcast_to(np.arange(rows.shape[-1]), rows.shape)
    is_new = np.ones(rows.shape, dtype=bool)  # the first one of its ties
    is_new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    is_last = np.ones(rows.shape, dtype=bool)
    is_last[..., :-1] = is_new[..., 1:]
    first = np.maximum.accumulate(np.where(is_new, place, 0), axis=-1)
    last = np.minimum.accumulate(np.where(is_last, place, rows.shape[-1])[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks
