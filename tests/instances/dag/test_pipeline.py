"""Tests of pipelines: made from costs, recognised again, and refused where the shape is another one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from instances.dag.instance import DagInstance
from instances.dag.pipeline import gpu_of_stage, least_limit, pipeline_instance, pipeline_of
from tests.strategies import changed, reordered


def pipeline(**changes: Any) -> DagInstance:
    """Return a pipeline of three stages and two micro-batches with other arguments."""
    costs: dict[str, Any] = {"forward": [1, 2, 3], "backward": [4, 5, 6], "weight": [7, 8, 9]}
    return pipeline_instance(micro_batches=2, **{**costs, **changes})


def test_layouts() -> None:
    """Tests that chunks go round or up and down."""
    assert gpu_of_stage(7, 3, "loop") == [0, 1, 2, 0, 1, 2, 0]
    assert gpu_of_stage(7, 3, "v") == [0, 1, 2, 2, 1, 0, 0]


def test_made_by_hand() -> None:
    """Tests names, durations, edges and buffers of a small pipeline."""
    instance = pipeline(transfer=2, limits=9)
    assert instance.task_names[:9] == ("F0.0", "F1.0", "F2.0", "B2.0", "W2.0", "B1.0", "W1.0", "B0.0", "W0.0")
    assert instance.durations[:9].max(axis=1).tolist() == [1, 2, 3, 6, 9, 5, 8, 4, 7]
    assert instance.edges[:10].tolist() == [
        *([0, 1], [1, 2], [2, 3], [3, 4], [1, 5], [3, 5], [5, 6], [0, 7], [5, 7], [7, 8])
    ]
    assert [tuple(buffer) for buffer in instance.buffers[:2]] == [(2, 1, (3,)), (2, 1, (4,))]
    assert instance.group_of_task[:9].tolist() == [0, 1, 2, 2, 2, 1, 1, 0, 0]
    assert instance.gpu_memory.tolist() == [9, 9, 9]


@pytest.mark.parametrize("changes", [{}, {"fused": True}, {"gpus": 2}, {"gpus": 1}, {"is_free": True}])
def test_recognised_in_any_order(changes: dict[str, Any]) -> None:
    """Tests that passes are found again, also when tasks stand in another order, and that a limit can be told."""
    instance = pipeline(**changes)
    found = pipeline_of(instance)
    assert (found.stages, found.micro_batches, found.weight is None) == (3, 2, changes == {"fused": True})
    assert [instance.task_names[task] for task in found.tasks_of_stage(1)][:4] == ["F1.0", "F1.1", "B1.0", "B1.1"]
    tasks = np.random.default_rng(1).permutation(instance.num_tasks)
    place = np.argsort(tasks)
    other = changed(
        reordered(instance.without_buffers(), tasks.tolist(), list(range(instance.num_gpus))),
        buffer_task=place[instance.buffer_task],
        buffer_bytes=instance.buffer_bytes,
        buffer_releases=np.column_stack([instance.buffer_releases[:, 0], place[instance.buffer_releases[:, 1]]]),
        group_of_task=instance.group_of_task[tasks],
    )
    again = pipeline_of(other)
    names = {frozenset(other.task_names[task] for task in again.tasks_of_stage(stage)) for stage in range(3)}
    assert names == {frozenset(instance.task_names[task] for task in found.tasks_of_stage(s)) for s in range(3)}
    assert least_limit(instance) == {1: 6, 2: 4}.get(instance.num_gpus, 2)


def test_other_shapes_are_refused() -> None:
    """Tests that no other graph, buffer or group passes for a pipeline."""
    instance = pipeline()
    for edges in (instance.edges[:-1], np.vstack([instance.edges, [0, 4]])):
        data = np.zeros(len(edges), dtype=np.int64)
        with pytest.raises(ValueError, match=r"tasks\[.*\]: expected a micro-batch of a pipeline|buffers"):
            pipeline_of(changed(instance, edges=edges, edge_bytes=data))
    with pytest.raises(ValueError, match=r"tasks\[0\].group: expected one group for the passes of stage 0"):
        pipeline_of(changed(pipeline(is_free=True), group_of_task=np.full(18, -1)))
    with pytest.raises(ValueError, match=r"buffers\[0\]: expected one from F to B or W, or from B to W, of one stage"):
        pipeline_of(changed(instance, buffer_task=[0], buffer_bytes=[1], buffer_releases=[[0, 3]]))
    with pytest.raises(ValueError, match="expected a pipeline, got no tasks"):
        pipeline_of(DagInstance.from_lists([], num_gpus=1))
    with pytest.raises(ValueError, match="tasks of another shape"):
        pipeline_of(DagInstance.from_lists([[1]] * 3, [(0, 1, 0), (0, 2, 0)]))
