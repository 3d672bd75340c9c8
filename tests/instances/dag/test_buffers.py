"""Tests of buffers and groups: what is refused and where, files, the verifier, and who says that it knows none."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formulations.dag.left_shift import left_shift
from heuristics.dag.list_scheduling import heft
from instances.dag.buffers import Buffer, Descendants, connected_parts, least_memory
from instances.dag.instance import DagInstance
from instances.dag.json import dag_instance_document, dag_instance_from_json, dag_instance_to_json
from instances.dag.schedule import DagSchedule
from instances.dag.verify import BufferOverflow, MemoryOverflow, SplitGroup, verify_dag_schedule
from solvers.lower_bound import lower_bound
from solvers.methods import METHODS
from solvers.solve import solve
from tests.strategies import buffered_dags, changed

STAGE = {
    "durations": [[2], [3], [1], [2], [3], [1]],
    "edges": [(0, 1, 0), (1, 2, 0), (3, 4, 0), (4, 5, 0)],
    "buffers": [(0, 2, [1]), (0, 1, [2]), (3, 2, [4]), (3, 1, [5])],
    "groups": [0] * 6,
    "gpu_memory": [4],
}
"""F, B, W of two micro-batches on one GPU; a forward pass holds 3 bytes, of which B frees 2 and W 1."""


def stage(**fields: Any) -> DagInstance:
    """Return one stage with two micro-batches, with other fields."""
    return DagInstance.from_lists(**{**STAGE, **fields})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"buffers": [(6, 1, [1])]}, "buffers[0]: expected a task in 0..5, got 6."),
        ({"buffers": [(0, 1, [1]), (0, -1, [1])]}, "buffers[1]: expected at least 0 bytes, got -1."),
        ({"buffers": [(0, 1, [])]}, "buffers[0]: expected at least one task that releases it, got none."),
        ({"buffers": [(0, 1, [9])]}, "buffers[0]: expected tasks in 0..5 to release it, got 9."),
        ({"buffers": [(0, 1, [1, 1])]}, "buffers[0]: expected each task that releases it once, got [1, 1]."),
        (
            {"buffers": [(1, 1, [0])]},
            "buffers[0]: expected tasks that follow task 1, or that task, to release it, got 0.",
        ),
        (
            {"buffers": [(0, 1, [2, 5])]},
            "buffers[0]: expected tasks that follow task 0, or that task, to release it, got 5.",
        ),
        ({"groups": [-2] * 6}, "tasks[0].group: expected at least 0 or null, got -2."),
        (
            {"gpu_memory": [2]},
            "tasks[0]: expected a GPU with at least 3 bytes for it and what is held with it when it starts in any "
            "schedule (buffers 0, 1), got at most 2.",
        ),
        (
            {"buffers": [(0, 1, [2]), (1, 3, [2])], "gpu_memory": [3]},
            "tasks[1]: expected a GPU with at least 4 bytes for it and what is held with it when it starts in any "
            "schedule (buffers 0, 1), got at most 3.",
        ),
        (
            {"buffers": [(0, 2**52, [1]), (0, 2**52 + 1, [1])]},
            "buffers: expected at most 2**53 bytes together with the tasks' memory, got 9007199254740993.",
        ),
    ],
)
def test_bad_input(fields: dict[str, Any], message: str) -> None:
    """Tests that every broken buffer is refused in one line that names its place."""
    with pytest.raises(ValueError) as caught:
        stage(**fields)
    assert str(caught.value) == message


def test_group_that_fits_nowhere() -> None:
    """Tests that tasks of a group need one GPU that may run all of them and holds their memory together."""
    durations = [[1, None], [None, 1]]
    with pytest.raises(
        ValueError, match=r"tasks\[\].group: expected a GPU that may run all tasks of group 4, got none"
    ):
        DagInstance.from_lists(durations, groups=[4, 4])
    expected = r"expected at most 5 bytes for group 0, the largest memory of a GPU that may run it, got 6\."
    with pytest.raises(ValueError, match=expected):
        DagInstance.from_lists([[1, 1]] * 2, groups=[0, 0], task_memory=[3, 3], gpu_memory=[4, 5])


def test_least_memory_counts_what_surely_meets() -> None:
    """Tests that a task is counted with buffers around it on its GPU, and that nothing is where it may take no time."""
    assert least_memory(stage()).tolist() == [3, 3, 1, 3, 3, 1]
    assert least_memory(stage(durations=[[2], [0], [1], [2], [3], [1]])).tolist() == [3, 0, 1, 3, 3, 1]
    free = DagInstance.from_lists([[1, 1]] * 3, [(0, 1, 0), (1, 2, 0)], buffers=[(0, 5, [2])])
    assert least_memory(free).tolist() == [5, 0, 0]  # the others may be on the other GPU
    together = changed(free, group_of_task=[0, -1, 0], task_memory=[1, 7, 2])
    assert least_memory(together).tolist() == [8, 7, 8]


@given(instance=buffered_dags(max_tasks=6))
def test_descent_is_reachability(instance: DagInstance) -> None:
    """Tests that sets of bits say what powers of the adjacency matrix say, within parts and between them."""
    n = instance.num_tasks
    step = np.eye(n, dtype=np.int64)
    step[instance.edges[:, 0], instance.edges[:, 1]] = 1
    reached = np.linalg.matrix_power(step, n) > 0
    lines = Descendants(n, instance.edges)
    assert [[lines.is_reached(a, b) for b in range(n)] for a in range(n)] == reached.tolist()
    around = reached | reached.T
    for part in connected_parts(instance):
        outside = [task for task in range(n) if task not in part]
        assert not around[np.ix_(part, outside)].any()


def test_without_buffers_nothing_changes() -> None:
    """Tests that an instance without buffers and groups is a document of version 1, with the hash it always had."""
    plain = stage(buffers=(), groups=None)
    assert not plain.has_buffers
    assert dag_instance_document(plain)["version"] == 1
    assert set(dag_instance_document(plain)) == {
        "format",
        "version",
        "name",
        "tick_seconds",
        "gpus",
        "links",
        "jobs",
    } | {
        "tasks",
        "edges",
    }
    assert stage().without_buffers().sha256 == plain.sha256
    assert plain.without_buffers() is plain
    assert "buffers" not in plain.summary()


def test_version_2_by_hand() -> None:
    """Tests how buffers and groups stand in a file, and that they come back as they were."""
    instance = stage(groups=[0, 0, 0, None, 2, 2])
    document = json.loads(dag_instance_to_json(instance))
    assert document["version"] == 2
    assert document["buffers"] == [[0, 2, [1]], [0, 1, [2]], [3, 2, [4]], [3, 1, [5]]]
    assert [task.get("group") for task in document["tasks"]] == [0, 0, 0, None, 2, 2]
    assert instance.buffers[1] == Buffer(task=0, size=1, released_by=(2,))
    assert instance.summary()["buffers"] == "4 (6 bytes), 2 group(s)"
    document["version"] = 1
    with pytest.raises(ValueError, match=r"tasks\[0\]\.group|buffers"):
        dag_instance_from_json(json.dumps(document))


@given(instance=buffered_dags(max_tasks=6))
def test_round_trip_is_exact(instance: DagInstance) -> None:
    """Tests that writing and reading keeps text and hash, and that buffers are part of the hash."""
    again = dag_instance_from_json(dag_instance_to_json(instance))
    assert (again.sha256, dag_instance_to_json(again)) == (instance.sha256, dag_instance_to_json(instance))
    if instance.has_buffers:
        assert instance.without_buffers().sha256 != instance.sha256


def test_violations_by_hand() -> None:
    """Tests that an overflow names GPU, worst tick, bytes, time and live buffers, and a split group its tasks."""
    instance = stage()
    right = DagSchedule(gpu=[0] * 6, start=[0, 2, 5, 6, 8, 11])
    assert verify_dag_schedule(instance, right) == []
    # both forward passes first: 6 bytes from tick 2 until the first B ends at 7, then 4, at 8 (W) 3
    late = DagSchedule(gpu=[0] * 6, start=[0, 4, 7, 2, 8, 11])
    found = verify_dag_schedule(instance, late)
    assert found == [BufferOverflow(gpu=0, tick=2, bytes=2, buffers=(0, 1, 2, 3), start=2, end=7)]
    assert str(found[0]) == (
        "gpus[0]: its tasks and live buffers need 2 bytes more than it has at tick 2 (ticks 2 to 7); live are buffers "
        "0, 1, 2, 3."
    )
    held = changed(instance, task_memory=[1, 0, 0, 0, 0, 0])
    assert verify_dag_schedule(held, right) == []  # 3 + 1 bytes fit exactly
    assert [violation.bytes for violation in verify_dag_schedule(held, late)] == [3]
    # what ends at a tick is free for what begins there: W at 5 gives its byte back at 6, when F begins
    tight = changed(instance, gpu_memory=[3])
    assert verify_dag_schedule(tight, right) == []
    wide = DagInstance.from_lists([[1, 1]] * 3, groups=[0, 0, None], task_memory=[2, 2, 2], gpu_memory=[4, 3])
    assert verify_dag_schedule(wide, DagSchedule(gpu=[0, 1, 1], start=[0, 0, 1])) == [
        MemoryOverflow(gpu=1, bytes=1),
        SplitGroup(task=1, first=0, group=0, gpu=1, expected=0),
    ]


@given(data=st.data(), instance=buffered_dags(max_tasks=5))
def test_verifier_agrees_with_a_replay_tick_by_tick(data: st.DataObject, instance: DagInstance) -> None:
    """Tests that memory and groups are reported exactly where a replay of every tick finds too much or a split."""
    n, m = instance.num_tasks, instance.num_gpus
    gpu = [data.draw(st.sampled_from(np.flatnonzero(instance.durations[task] >= 0).tolist())) for task in range(n)]
    start = [data.draw(st.integers(0, 12)) for _ in range(n)]
    found = verify_dag_schedule(instance, DagSchedule(gpu=gpu, start=start))
    finish = [start[task] + int(instance.durations[task, gpu[task]]) for task in range(n)]
    worst = dict[int, int]()
    for tick in range(max(finish) + 1):
        used = np.bincount(gpu, weights=instance.task_memory, minlength=m)
        for task, size, released_by in instance.buffers:
            if start[task] <= tick < max(finish[other] for other in released_by):
                used[gpu[task]] += size
        for k in range(m):
            if instance.gpu_memory[k] >= 0 and used[k] > instance.gpu_memory[k]:
                worst[k] = max(worst.get(k, 0), int(used[k] - instance.gpu_memory[k]))
    alone = {found.gpu: found.bytes for found in found if isinstance(found, MemoryOverflow)}
    reported = dict(alone)
    for violation in found:
        if isinstance(violation, BufferOverflow):
            total = violation.bytes + alone.get(violation.gpu, 0)
            reported[violation.gpu] = max(reported.get(violation.gpu, 0), total)
            assert violation.start <= violation.tick < violation.end
    assert reported == worst
    splits = {
        task
        for task in range(n)
        for other in range(task)
        if instance.group_of_task[task] == instance.group_of_task[other] >= 0 and gpu[task] != gpu[other]
    }
    assert {violation.task for violation in found if isinstance(violation, SplitGroup)} <= splits
    assert any(isinstance(violation, SplitGroup) for violation in found) == bool(splits)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.knows_buffers])
def test_methods_refuse_what_they_do_not_know(name: str) -> None:
    """Tests that a method without buffers refuses an instance with them, or the stage span, in one line."""
    with pytest.raises(ValueError, match=f"^method: expected one that knows buffers and groups .*, got {name!r}"):
        solve(stage(), name)
    with pytest.raises(ValueError, match=f"^method: expected one that knows the objective stage_span .*, got {name!r}"):
        solve(stage().without_buffers(), name, objective="stage_span")


def test_who_knows_buffers() -> None:
    """Tests that all exact methods, the improving one and the searches on random keys know them."""
    for name, method in METHODS.items():
        is_by_keys = name in ("random-search", "woa", "ga", "pso", "sa")
        assert method.knows_buffers == (method.kind in ("exact", "improvement") or is_by_keys), name


def test_building_blocks_refuse_too() -> None:
    """Tests that models, left shifts and list schedulers refuse buffers also where nobody stands before them."""
    with pytest.raises(ValueError, match="expected one without buffers and groups for left shifts"):
        left_shift(stage(), np.zeros(6, dtype=np.int64), np.arange(6))
    with pytest.raises(ValueError, match="expected one without buffers and groups for a method that keeps memory"):
        heft(stage())


def test_contention_is_refused() -> None:
    """Tests that nothing is promised that no model knows."""
    with pytest.raises(ValueError, match=r"^contention: expected none with buffers, groups or stage_span"):
        lower_bound(stage(), methods=["area"], contention="nic")


def test_bounds_without_buffers_stay() -> None:
    """Tests that bounds that know no buffers hold with them, as they leave constraints out, and are 0 for the span."""
    with_buffers, without = (
        lower_bound(one, methods=["critical-path", "area"]) for one in (stage(), stage().without_buffers())
    )
    assert [bound.value for bound in with_buffers] == [bound.value for bound in without] == [6, 12]
    assert [bound.value for bound in lower_bound(stage(), methods=["area"], objective="stage_span")] == [0]


def test_own_function_is_verified() -> None:
    """Tests that a function of one's own may schedule buffers, and that its schedule is verified with them."""
    result = solve(
        stage(), lambda instance: DagSchedule(gpu=[0] * 6, start=[0, 2, 5, 6, 8, 11]), objective="stage_span"
    )
    assert result.objective == 12
