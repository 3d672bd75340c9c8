"""The training rows in the leaves of a fitted forest, and the median that they give a new row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LeafMembers(NamedTuple):
    """Training rows by leaf, as ranks of their targets; nodes are numbered over all trees as in `ForestArrays`."""

    targets: NDArray[np.float64]  # (rows,), ascending
    offsets: NDArray[np.int64]  # (nodes + 1,), where the members of a node begin
    ranks: NDArray[np.int64]  # (trees * rows,), positions in `targets`


def leaf_members(
    forest: Any, roots: NDArray[np.int64], rows: NDArray[np.float32], targets: NDArray[np.float64]
) -> LeafMembers:
    """Drop all training rows down all trees of a fitted forest of scikit-learn."""
    order = np.argsort(targets, kind="stable")
    leaves = forest.apply(rows[order]) + roots  # (rows, trees)
    num_nodes = int(roots[-1]) + forest.estimators_[-1].tree_.node_count
    ranks = np.repeat(np.arange(len(order), dtype=np.int64), len(roots))
    by_leaf = np.argsort(leaves.ravel(), kind="stable")
    sizes = np.bincount(leaves.ravel(), minlength=num_nodes)
    return LeafMembers(targets[order], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), ranks[by_leaf])


@njit(cache=True)
def conditional_median(
    roots: NDArray[np.int64],
    feature: NDArray[np.int64],
    threshold: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    targets: NDArray[np.float64],
    offsets: NDArray[np.int64],
    ranks: NDArray[np.int64],
    row: NDArray[np.float32],
) -> float:
    """Return the weighted median of the training targets: the smallest with at least half of the weight up to it.

    Every tree gives weight 1, in equal parts to the training rows in the leaf of the new row.
    """
    weights = np.zeros(len(targets))
    for root in roots:
        node = root
        while feature[node] >= 0:
            node = left[node] if row[feature[node]] <= threshold[node] else right[node]
        share = 1.0 / (offsets[node + 1] - offsets[node])
        for member in range(offsets[node], offsets[node + 1]):
            weights[ranks[member]] += share
    half = weights.sum() / 2
    total = 0.0
    for rank in range(len(targets)):
        total += weights[rank]
        if total >= half * (1 - 1e-12):  # the sum of shares may miss the half by rounding
            return targets[rank]
    return targets[-1]
