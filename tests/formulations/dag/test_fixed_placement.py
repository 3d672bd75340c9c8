"""Tests of paths between tasks of given GPUs, of copies, and of the list of placements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.fixed_placement import FixedPlacement, like_parts, placements
from instances.dag.pipeline import pipeline_instance
from tests.strategies import changed

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


def pipeline(**others: object) -> DagInstance:
    """Return three stages of (1, 4, 7), (2, 5, 8), (3, 6, 9) with transfers of 10 and two micro-batches."""
    costs = {"forward": [1, 2, 3], "backward": [4, 5, 6], "weight": [7, 8, 9]}
    return pipeline_instance(micro_batches=2, transfer=10, **costs, **others)


def test_paths_by_hand() -> None:
    """Tests heads and tails of the passes of the first micro-batch, on their own GPU and to the ends."""
    instance = pipeline()
    placed = FixedPlacement(instance, instance.durations.argmax(axis=1).tolist())
    named = dict(zip(instance.task_names, range(instance.num_tasks), strict=True))
    heads, tails = placed.heads(), placed.tails()
    assert [heads[named[name]] for name in ("F0.0", "F1.0", "F2.0", "B2.0", "B1.0", "B0.0", "W0.0")] == [
        *(0, 11, 23, 26, 42, 57, 61)
    ]
    assert [tails[named[name]] for name in ("W0.0", "B0.0", "B1.0", "F2.0", "W2.0")] == [0, 7, 21, 42, 0]
    on_gpu, behind = placed.heads_on_gpu(), placed.tails_on_gpu()
    assert [on_gpu[named[name]] for name in ("F1.0", "B1.0", "W1.0", "F1.1")] == [0, 31, 36, 0]
    assert [behind[named[name]] for name in ("F1.0", "B1.0", "W1.0")] == [42, 8, 0]
    assert placed.path(named["F0.0"], named["W0.0"], placed.order) == 61


def test_copies() -> None:
    """Tests that micro-batches are copies, and that a duration, a release or a missing group makes a difference."""
    instance = pipeline()
    assert like_parts(instance) == [[list(range(9)), list(range(9, 18))]]
    durations = np.array(instance.durations)
    durations[12, 2] += 1
    assert like_parts(changed(instance, durations=durations)) == []
    free = pipeline(is_free=True)
    assert len(like_parts(free)) == 1
    assert like_parts(changed(free, group_of_task=np.full(18, -1))) == []
    jobs = changed(instance, job_of_task=[0] * 9 + [1] * 9, release=[0, 0], weight=[1, 1], job_names=("a", "b"))
    assert len(like_parts(jobs)) == 1
    assert like_parts(jobs, same_job=True) == []
    assert like_parts(changed(jobs, release=[0, 1])) == []


def test_placements() -> None:
    """Tests how many placements groups, equal GPUs and the tasks' own memory leave."""
    equal = pipeline(is_free=True)
    found = placements(equal, 100)
    assert len(found) == 5  # partitions of three stages: all like GPUs count once
    assert all(len({gpu[task] for task in (0, 7, 8, 9)}) == 1 for gpu in found)
    different = pipeline(is_free=True, slowdown=[1.0, 2.0, 3.0])
    assert len(placements(different, 100)) == 27
    assert placements(different, 26) is None
    full = pipeline(is_free=True, slowdown=[1.0, 2.0, 3.0], stage_bytes=[5, 5, 5], limits=8)
    assert len(placements(full, 100)) == 6
    assert len(placements(pipeline(), 1)) == 1
