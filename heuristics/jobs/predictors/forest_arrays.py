"""A fitted forest as flat arrays, and its prediction for one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ForestArrays(NamedTuple):
    """The trees of a forest one after the other; children are numbered over all of them."""

    roots: NDArray[np.int64]  # (trees,)
    feature: NDArray[np.int64]  # (nodes,); -1 at leaves
    threshold: NDArray[np.float64]  # (nodes,)
    left: NDArray[np.int64]  # (nodes,), where the feature is at most the threshold
    right: NDArray[np.int64]  # (nodes,)
    value: NDArray[np.float64]  # (nodes,)


def forest_arrays(forest: Any) -> ForestArrays:
    """Return the trees of a fitted random forest regressor of scikit-learn with one output."""
    trees = [estimator.tree_ for estimator in forest.estimators_]
    roots = np.cumsum([0, *(tree.node_count for tree in trees)])
    is_leaf = np.concatenate([tree.children_left for tree in trees]) < 0
    return ForestArrays(
        roots=roots[:-1].astype(np.int64),
        feature=np.where(is_leaf, -1, np.concatenate([tree.feature for tree in trees])).astype(np.int64),
        threshold=np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
        left=np.concatenate([tree.children_left + root for tree, root in zip(trees, roots, strict=False)]),
        right=np.concatenate([tree.children_right + root for tree, root in zip(trees, roots, strict=False)]),
        value=np.concatenate([tree.value[:, 0, 0] for tree in trees]).astype(np.float64),
    )


@njit(cache=True)
def forest_prediction(
    roots: NDArray[np.int64],
    feature: NDArray[np.int64],
    threshold: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    value: NDArray[np.float64],
    row: NDArray[np.float32],
) -> float:
    """Return the mean over the trees for one row without NaN: to the bit what scikit-learn predicts on one thread.

    scikit-learn compares features of 32 bits with thresholds of 64, adds up the trees in order and divides at the end.
    Its own call costs milliseconds, however small the forest.
    """
    total = 0.0
    for root in roots:
        node = root
        while feature[node] >= 0:
            node = left[node] if row[feature[node]] <= threshold[node] else right[node]
        total += value[node]
    return total / len(roots)
