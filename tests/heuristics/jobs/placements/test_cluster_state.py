"""Tests of the classes of jobs and of the free GPUs of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.jobs.placements.cluster_state import ClusterState, FitClasses
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.placements.running_jobs import running_jobs
from tests.jobs_strategies import jobs_instances
from tests.placement_instances import worked_example

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


def test_answers_are_asked_for_again_after_every_change() -> None:
    """Tests versions, fits and placements over starts and completions against the rule on the free GPUs of the time."""
    instance = worked_example()
    cluster = ClusterState(JobShapes(instance), HeavyEdge(instance), running_jobs(instance))
    free, versions, changes = [], [], []
    for job, is_start in ((0, True), (0, False), (1, True), (2, True), (1, False), (2, False)):
        if is_start:
            placement = cluster.place(job)
            assert placement is not None
            cluster.start(job, placement, 7)
        else:
            cluster.complete(job)
        free.append(cluster.free.tolist())
        versions.append(cluster.version)
        changes.append(cluster.changes[-1].tolist())
        for other in range(3):
            expected, found = HeavyEdge(instance).place(other, cluster.free), cluster.place(other)
            assert cluster.fits(other) == (expected is not None)
            assert (found and found.server.tolist()) == (expected and expected.server.tolist())
        asked = cluster.num_placements
        cluster.place(job)
        assert cluster.num_placements == asked
    assert free == [[0, 2], [2, 2], [0, 1], [0, 0], [2, 1], [2, 2]]
    assert versions == [1, 2, 3, 4, 5, 6]
    assert changes == [[0], [0], [0, 1, 0], [1], [0, 1, 0], [1]]
    assert cluster.started == {0: 7, 1: 7, 2: 7}
