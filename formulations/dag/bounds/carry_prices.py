"""Prices of a time-indexed program on wide buckets as prices on narrow ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.bounds.completion_lp import CompletionLp


def carry_prices(wide: CompletionLp, prices: NDArray[np.float64], narrow: CompletionLp) -> NDArray[np.float64]:
    """Return multipliers of the rows of a program that mean what those of a coarser one mean (ours).

    The price of a bucket of a GPU is spread over the narrow ones inside it, smoothly. A transfer row at the end of a
    wide bucket follows from the narrow one at the same end, which gets its price; memory and jobs keep theirs.

    Parameters
    ----------
    wide, narrow
        Programs of the same instance and end; the width of `wide` is a multiple of that of `narrow`.
    prices
        Multipliers of the rows of `wide`.
    """
    ratio = wide.grid.width // narrow.grid.width
    carried = np.zeros(len(narrow.lp.limit))
    for k, block in narrow.capacity.items():
        if k in wide.capacity:
            known = wide.capacity[k]
            middles = (known.buckets + 0.5) * ratio - 0.5
            carried[block.rows] = np.interp(block.buckets, middles, prices[known.rows] / ratio)
    for pair, block in narrow.transfer.items():
        known = wide.transfer[pair]
        at_end = np.searchsorted(block.buckets, (known.buckets + 1) * ratio - 1)
        np.add.at(carried, block.rows[np.minimum(at_end, len(block.rows) - 1)], prices[known.rows])
    for k, row in narrow.memory.items():
        carried[row] = prices[wide.memory[k]]
    for (rows, _), (known_rows, _) in zip(narrow.job_rows, wide.job_rows, strict=True):
        carried[rows] = prices[known_rows]
    return carried
