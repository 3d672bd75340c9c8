"""Tests that a group keeps the labels that nothing dominates, whatever their order, and counts what it drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.down_sets.labels import DIGEST, DROPPED, GROUPS, Labels, clear, hash_of, keep, new_labels
from formulations.dag.down_sets.search_space import SearchSpace, search_space
from formulations.dag.probing.network import network
from formulations.dag.probing.windows import windows
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def add(
    labels: Labels,
    started: NDArray[np.uint64],
    heads: NDArray[np.int32],
    completion: NDArray[np.int32],
    used: NDArray[np.int64],
    waiting: NDArray[np.int64],
) -> None:
    """Call the kernel, which Python cannot."""
    digest = np.empty(DIGEST, dtype=np.int32)
    keep(labels, started, hash_of(started), heads, completion, used, waiting, -1, digest)


def space_of(tasks: int, gpus: int) -> SearchSpace:
    """Return the space of independent tasks, one job each."""
    instance = DagInstance.from_lists([[3] * gpus] * tasks, job_of_task=[0] * tasks, gpu_memory=[None] * gpus)
    objective = Objective.WEIGHTED_COMPLETION
    return search_space(
        instance, objective, windows(instance, objective, lower_bound=0, objective_at_most=None), network(instance)
    )


def kept(labels: Labels) -> list[tuple[int, ...]]:
    """Return heads and completion times of all labels that are there, sorted."""
    found = []
    for first, size, _ in labels.group[: labels.counts[GROUPS]]:
        for place in labels.entry[first : first + size]:
            found.append((*labels.started[place], *labels.heads[place].ravel(), *labels.completion[place]))
    return sorted(tuple(int(value) for value in label) for label in found)


def undominated(candidates: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return what is left by comparing each with each, by definition."""
    left = set(candidates)
    return sorted(
        label
        for label in left
        if not any(
            other != label and other[0] == label[0] and all(low <= high for low, high in zip(other, label, strict=True))
            for other in left
        )
    )


@pytest.mark.parametrize("tasks", [3, 9])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_keeps_what_nothing_dominates(tasks: int, data: st.DataObject) -> None:
    """Tests up to sixty labels of three down-sets, with heads that fit into the digest and that do not."""
    space = space_of(tasks, 2)
    labels = new_labels(space, 100)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    count, largest = data.draw(st.integers(0, 60)), data.draw(st.integers(1, 4))
    candidates = []
    for _ in range(count):
        heads = np.zeros((1, tasks, 2), dtype=np.int32)
        heads[0, rng.integers(tasks, size=4), rng.integers(2, size=4)] = rng.integers(largest + 1, size=4)
        completion = rng.integers(2, size=(1, 1)).astype(np.int32)
        started = rng.integers(3, size=1).astype(np.uint64)
        add(labels, started, heads, completion, np.zeros((1, 0), dtype=np.int64), np.arange(tasks))
        candidates.append((int(started[0]), *heads.ravel().tolist(), *completion.ravel().tolist()))
    assert kept(labels) == undominated(candidates)
    assert labels.counts[DROPPED] == 0
    clear(labels)
    assert kept(labels) == []


def test_counts_what_finds_no_place() -> None:
    """Tests that a label without a place is counted, and that a dominated one needs none."""
    labels = new_labels(space_of(2, 2), 3)

    def add_heads(heads: list[int]) -> None:
        nothing = np.zeros((1, 1), dtype=np.int32), np.zeros((1, 0), dtype=np.int64)
        one = np.array([[heads, [0, 0]]], dtype=np.int32)
        add(labels, np.zeros(1, dtype=np.uint64), one, *nothing, np.arange(2))

    for first in range(4):
        add_heads([first, 5 - first])
    assert labels.counts[DROPPED] == 1
    add_heads([9, 9])
    assert labels.counts[DROPPED] == 1
    assert len(kept(labels)) == 3
