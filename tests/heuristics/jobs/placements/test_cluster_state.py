"""Tests of the classes of jobs and of the free GPUs of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.jobs.placements.cluster_state import FitClasses
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.job_shapes import JobShapes
from tests.jobs_strategies import jobs_instances

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


@settings(deadline=None)
@given(instance=jobs_instances(max_jobs=6, kinds=("F", "S", "T")), data=st.data())
def test_classes_agree_with_heavy_edge(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests every job on any free GPUs, and the largest number of free GPUs on a server of each kind."""
    free = np.array([data.draw(st.integers(0, gpus)) for gpus in instance.num_gpus_of.tolist()])
    classes, arrays = FitClasses(instance.server_kind, instance.num_kinds), JobShapes(instance).arrays
    numbers = []
    for job in range(instance.num_jobs):
        rows = instance.stages_of(job)
        numbers.append(classes.add(arrays.allowed_kinds[rows].tolist(), arrays.replicas[rows].tolist()))
    classes.finish()
    classes.refresh(free)
    expected = [HeavyEdge(instance).place(job, free) is not None for job in range(instance.num_jobs)]
    assert [bool(classes.has_place[number]) for number in numbers] == expected
    most = [max(free[instance.server_kind == kind]) for kind in range(instance.num_kinds)]
    assert classes.most_free.tolist() == most


def test_equal_demands_are_one_class() -> None:
    """Tests that jobs that may use all kinds differ by their gangs only, and that a stage without kinds never fits."""
    classes = FitClasses(np.array([0, 1]), 2)
    assert classes.add([3, 3], [1, 2]) == classes.add([3], [3]) == 0
    assert classes.add([1, 3], [1, 2]) == 1
    assert classes.add([0, 3], [1, 1]) == 2
    classes.finish()
    classes.refresh(np.array([0, 4]))
    assert classes.has_place.tolist() == [True, False, False]


def test_pools_see_their_own_gpus() -> None:
    """Tests that a class fits by the free GPUs of its pool, and that the most free ones are those of any pool."""
    classes = FitClasses(np.array([0, 1]), 2, num_pools=2)
    assert [classes.add([3], [3]), classes.add([3], [3], 1), classes.add([1], [2], 1)] == [0, 1, 2]
    assert classes.add([3], [3], 1) == 1
    classes.finish()
    classes.refresh(np.array([[1, 1], [2, 1]]))
    assert classes.has_place.tolist() == [False, True, True]
    assert classes.most_free.tolist() == [2, 1]
