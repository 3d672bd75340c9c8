"""Tests of training graphs with memory that is released."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import optgap
from instances.dag.buffers import Buffer
from instances.dag.instance import DagInstance
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from instances.generators.dag.training import training_step_of
from solvers.run.outcome import Status

FORK = DagInstance.from_lists(
    [[3, None], [4, 5], [2, 2]],
    [(0, 1, 10), (0, 2, 6)],
    task_memory=[12, 7, 5],
    gpu_memory=[None, 90],
    task_names=["a", "b", "c"],
    name="fork",
)


def test_a_fork_by_hand() -> None:
    """Tests tasks, edges, buffers and groups of a task with two readers; readers at the end keep their memory."""
    made = training_step_of(FORK, backward_factor=1.5)
    assert made.task_names == ("F a", "F b", "F c", "B a", "B b", "B c")
    assert made.durations.tolist() == [[3, -1], [4, 5], [2, 2], [5, -1], [6, 8], [3, 3]]
    edges = dict(zip(map(tuple, made.edges.tolist()), made.edge_bytes.tolist(), strict=True))
    assert edges == {(0, 1): 10, (0, 2): 6, (4, 3): 10, (5, 3): 6, (0, 3): 0, (1, 4): 0, (2, 5): 0}
    assert made.task_memory.tolist() == [2, 7, 5, 0, 0, 0]
    assert made.buffers == [Buffer(0, 10, (3, 4, 5)), Buffer(4, 10, (3,)), Buffer(5, 6, (3,))]
    assert made.group_of_task.tolist() == [0, 1, 2, 0, 1, 2]
    assert made.gpu_memory.tolist() == [-1, 90]


def test_micro_batches() -> None:
    """Tests that every micro-batch has its tasks and buffers in the same groups, and the first one the weights."""
    made = training_step_of(FORK, micro_batches=3)
    assert (made.num_tasks, made.num_buffers, len(made.edges)) == (18, 9, 21)
    assert made.task_names[6] == "F a #1"
    assert made.buffers[3] == Buffer(6, 10, (9, 10, 11))
    assert (made.group_of_task == np.tile([0, 1, 2], 6)).all()
    assert made.task_memory.sum() == FORK.task_memory.sum() - 10
    with pytest.raises(ValueError, match="forward: expected a graph without buffers and groups"):
        training_step_of(made)


def test_memory_for_one_micro_batch() -> None:
    """Tests that an optimum under a tight limit holds outputs no longer than it must: one micro-batch at a time."""
    chain = DagInstance.from_lists([[2], [2], [2]], [(0, 1, 10), (1, 2, 10)], gpu_memory=[40], name="chain")
    made = training_step_of(chain, micro_batches=2, backward_factor=1.0)
    result = optgap.solve(made, "cp-sat", threads=1)
    assert (result.status, result.objective) == (Status.OPTIMAL, 24)
    assert verify_dag_schedule(made, result.schedule) == []
    begin = [result.schedule.start[[6 * batch, 6 * batch + 4]].tolist() for batch in (0, 1)]
    first, second = sorted(begin)
    assert second[0] > first[1]  # while B 1 runs, two outputs and two gradients are held: 40 bytes
    with pytest.raises(ValueError, match="expected a GPU with at least 40 bytes for it and what is held with it"):
        training_step_of(replace(chain, gpu_memory=np.array([39])), backward_factor=1.0)


@pytest.mark.parametrize("of", ["transformer", "layered", "independent", "in-tree"])
def test_a_family(of: str) -> None:
    """Tests that the family follows the number of tasks, and that a list method schedules it under a limit."""
    instance = generate("training", tasks=48, seed=2, of=of, micro_batches=2, limit=3.0)
    assert instance.num_tasks % 4 == 0 and 24 <= instance.num_tasks <= 96
    assert instance.name == f"training-n{instance.num_tasks}-s2"
    assert instance.sha256 == generate("training", tasks=48, seed=2, of=of, micro_batches=2, limit=3.0).sha256
    result = optgap.solve(instance, "buffer-list", bounds=[])
    assert result.schedule is None or verify_dag_schedule(instance, result.schedule) == []
    assert generate("training", tasks=48, seed=2, of=of).gpu_memory.min() > 0


def test_refusals() -> None:
    """Tests parameters out of range."""
    with pytest.raises(ValueError, match="family: expected one of layered"):
        generate("training", tasks=8, seed=0, of="training")
    with pytest.raises(ValueError, match="limit: expected"):
        generate("training", tasks=8, seed=0, limit=0.5)
    with pytest.raises(ValueError, match="micro_batches: expected"):
        generate("training", tasks=8, seed=0, micro_batches=0)
