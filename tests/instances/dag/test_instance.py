"""Tests of DAG instances: checks, copies, delays, orders and views."""

from __future__ import annotations

import numpy as np
import pytest

from instances.dag.instance import NO_LIMIT, NOT_ALLOWED, DagInstance
from tests.strategies import changed

NAN, INF = float("nan"), float("inf")


def base() -> DagInstance:
    """Return two tasks on two GPUs with one edge, the first GPU with a memory limit."""
    return DagInstance.from_lists(
        [[3, 4], [5, None]], [(0, 1, 5)], latency=1, bytes_per_tick=2.0, task_memory=[1, 2], gpu_memory=[4, None]
    )


VALUE_ERRORS = [
    ({"tick_seconds": 0.0}, "tick_seconds: expected a positive number, got 0.0."),
    ({"tick_seconds": -1}, "tick_seconds: expected a positive number, got -1.0."),
    ({"tick_seconds": NAN}, "tick_seconds: expected a positive number, got nan."),
    ({"tick_seconds": INF}, "tick_seconds: expected a positive number, got inf."),
    ({"gpu_memory": [-2, 4]}, "gpus[0].memory_bytes: expected at least 0 or no limit, got -2."),
    ({"gpu_memory": [4]}, "gpus[].memory_bytes: expected 2 entries, got 1 entries."),
    ({"gpu_kinds": ("A",)}, "gpus[].kind: expected 2 entries, got 1."),
    ({"gpu_servers": ("A", "B", "C")}, "gpus[].server: expected 2 entries, got 3."),
    ({"latency": [[0, -1], [1, 0]]}, "links.latency_ticks[0][1]: expected at least 0, got -1."),
    ({"latency": [[0, 1]]}, "links.latency_ticks: expected 2 x 2 entries, got 1 x 2 entries."),
    ({"latency": [[0, 1], [0]]}, "links.latency_ticks: expected 2 x 2 entries, got rows of different lengths."),
    ({"latency": [[0, 2**53 + 1], [0, 0]]}, f"links.latency_ticks: expected values up to 2**53, got {2**53 + 1}."),
    ({"bytes_per_tick": [[1, 1], [0, 1]]}, "links.bytes_per_tick[1][0]: expected above 0, got 0.0."),
    ({"bytes_per_tick": [[1, -2], [1, 1]]}, "links.bytes_per_tick[0][1]: expected above 0, got -2.0."),
    ({"bytes_per_tick": [[1, INF], [1, 1]]}, "links.bytes_per_tick[0][1]: expected a finite number, got inf."),
    ({"bytes_per_tick": [[1, 1], [NAN, 1]]}, "links.bytes_per_tick[1][0]: expected a finite number, got nan."),
    ({"bytes_per_tick": [1.0, 1.0]}, "links.bytes_per_tick: expected 2 x 2 entries, got 2 entries."),
    ({"release": [-1]}, "jobs[0].release: expected at least 0, got -1."),
    ({"release": [0, 1]}, "jobs[].release: expected 1 entries, got 2 entries."),
    ({"weight": [-1]}, "jobs[0].weight: expected at least 0, got -1."),
    ({"weight": []}, "jobs[].weight: expected 1 entries, got 0 entries."),
    ({"job_of_task": [0, 1]}, "tasks[1].job: expected a job in 0..0, got 1."),
    ({"job_of_task": [-1, 0]}, "tasks[0].job: expected a job in 0..0, got -1."),
    ({"job_of_task": [0]}, "tasks[].job: expected 2 entries, got 1 entries."),
    ({"durations": [[3, 4], [5, -2]]}, "tasks[1].durations[1]: expected at least 0 or not allowed, got -2."),
    ({"durations": [[3, 4], [-1, -1]]}, "tasks[1].durations: expected at least one allowed GPU, got none."),
    ({"durations": [[3], [4]]}, "tasks[].durations: expected 2 x 2 entries, got 2 x 1 entries."),
    ({"durations": [[3, 4], [5]]}, "tasks[].durations: expected 2 x 2 entries, got rows of different lengths."),
    ({"durations": [[3, 2**70], [5, 5]]}, f"tasks[].durations: expected values up to 2**53, got {2**70}."),
    ({"task_memory": [-1, 0]}, "tasks[0].memory_bytes: expected at least 0, got -1."),
    ({"task_memory": [0]}, "tasks[].memory_bytes: expected 2 entries, got 1 entries."),
    (
        {"task_memory": [1, 5]},
        "tasks[1].memory_bytes: expected at most 4, the largest memory of an allowed GPU, got 5.",
    ),
    (
        {"task_memory": [3, 4], "gpu_memory": [4, 2]},
        "tasks: expected at most 6 bytes, the memory of all GPUs together, got 7.",
    ),
    ({"edges": [[0, 2]]}, "edges[0]: expected tasks in 0..1, got 0 -> 2."),
    ({"edges": [[-1, 1]]}, "edges[0]: expected tasks in 0..1, got -1 -> 1."),
    ({"edges": [[1, 1]]}, "edges[0]: expected two different tasks, got 1 -> 1."),
    ({"edges": [[0, 1, 5]]}, "edges: expected any x 2 entries, got 1 x 3 entries."),
    ({"edge_bytes": [-1]}, "edges[0]: expected at least 0 bytes, got -1."),
    ({"edge_bytes": [1, 2]}, "edges[].bytes: expected 1 entries, got 2 entries."),
    (
        {"edges": [[0, 1], [0, 1]], "edge_bytes": [1, 2]},
        "edges[1]: expected each edge once, got 0 -> 1 as in edges[0].",
    ),
    ({"edges": [[0, 1], [1, 0]], "edge_bytes": [1, 2]}, "edges: expected no cycle, got 0 -> 1 -> 0."),
    (
        {"durations": [[2**53, 0], [2**53, 0]], "edges": np.zeros((0, 2), dtype=int), "edge_bytes": []},
        f"tasks: expected a horizon of at most 2**53 ticks, got {2**54}; use longer ticks.",
    ),
    (  # 3 + 5 ticks of work, one tick of latency
        {"edge_bytes": [2**53], "bytes_per_tick": [[1, 0.5], [1, 1]]},
        f"tasks: expected a horizon of at most 2**53 ticks, got {2**54 + 4 + 5 + 1}; use longer ticks.",
    ),
    (
        {"durations": [[2**52, 0], [0, 0]], "weight": [2**11], "edge_bytes": [0]},
        f"jobs: expected weights whose sum times the horizon of {2**52} ticks is below 2**62.",
    ),
    ({"task_names": ("a", "b", "c")}, "tasks[].durations: expected 3 x 2 entries, got 2 x 2 entries."),
]

TYPE_ERRORS = [
    ({"name": 3}, "name: expected text, got 3."),
    ({"tick_seconds": "1"}, "tick_seconds: expected a number, got '1'."),
    ({"tick_seconds": True}, "tick_seconds: expected a number, got True."),
    ({"task_names": ("a", 3)}, "tasks[1].name: expected text, got 3."),
    ({"gpu_names": ("a", None)}, "gpus[1].name: expected text, got None."),
    ({"job_names": (b"j",)}, "jobs[0].name: expected text, got b'j'."),
    ({"durations": [[3.5, 4.0], [5.0, 5.0]]}, "tasks[].durations: expected integers, got 3.5 at [0][0]."),
    ({"durations": [["x", 3], [5, 5]]}, "tasks[].durations: expected integers, got 'x' at [0][0]."),
    ({"durations": [[3, None], [5, 5]]}, "tasks[].durations: expected integers, got None at [0][1]."),
    ({"task_memory": [True, False]}, "tasks[].memory_bytes: expected integers, got True at [0]."),
    ({"weight": [0.5]}, "jobs[].weight: expected integers, got 0.5 at [0]."),
    ({"bytes_per_tick": [[1, None], [1, 1]]}, "links.bytes_per_tick: expected numbers, got None at [0][1]."),
]


@pytest.mark.parametrize(("fields", "message"), VALUE_ERRORS, ids=[text for _, text in VALUE_ERRORS])
def test_values_are_checked(fields: dict[str, object], message: str) -> None:
    """Tests that a wrong value is refused with the place, what was expected and what was there."""
    with pytest.raises(ValueError) as caught:
        changed(base(), **fields)
    assert str(caught.value) == message


@pytest.mark.parametrize(("fields", "message"), TYPE_ERRORS, ids=[text for _, text in TYPE_ERRORS])
def test_types_are_checked(fields: dict[str, object], message: str) -> None:
    """Tests that a value of a wrong kind is refused with the place, what was expected and what was there."""
    with pytest.raises(TypeError) as caught:
        changed(base(), **fields)
    assert str(caught.value) == message


def test_the_fraction_is_named_not_its_neighbour() -> None:
    """Tests that one fraction among integers is the value that the message shows."""
    with pytest.raises(TypeError) as caught:
        changed(base(), durations=[[3, 4], [5.5, 5]])
    assert str(caught.value) == "tasks[].durations: expected integers, got 5.5 at [1][0]."


@pytest.mark.parametrize("bandwidth", [1e-300, 5e-324])
def test_endless_transfer_is_refused(bandwidth: float) -> None:
    """Tests that a bandwidth so small that a delay is infinite in floating point is refused like any long delay."""
    with pytest.raises(ValueError, match=r"^tasks: expected a horizon of at most 2\*\*53 ticks, got "):
        changed(base(), bytes_per_tick=[[1, bandwidth], [1, 1]], edge_bytes=[2**53])


def test_tick_beyond_floating_point_is_refused() -> None:
    """Tests that an integer tick length that no float can hold is a bad value, not an overflow."""
    with pytest.raises(ValueError, match=r"^tick_seconds: expected a positive number, got "):
        changed(base(), tick_seconds=10**400)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 2], [3]],), "tasks[1].durations: expected 2 entries, one per GPU, got 1."),
        (([[1], [3]], [(0, 1)]), "edges[0]: expected [from, to, bytes], got [0, 1]."),
        (([[1, -1]],), "tasks[0].durations[1]: expected at least 0 or null, got -1."),
    ],
)
def test_lists_are_checked(arguments: tuple[object, ...], message: str) -> None:
    """Tests that lists of wrong length, and the integers that stand for None in arrays, are refused."""
    with pytest.raises(ValueError) as caught:
        DagInstance.from_lists(*arguments)
    assert str(caught.value) == message


def test_negative_memory_in_lists_is_refused() -> None:
    """Tests that no memory limit is None in lists, never -1."""
    with pytest.raises(ValueError, match=r"^gpus\[1\]\.memory_bytes: expected at least 0 or null, got -1\.$"):
        DagInstance.from_lists([[1, 1]], gpu_memory=[None, -1])


def test_no_gpus_and_edges_without_tasks() -> None:
    """Tests the messages for an instance without GPUs and for an edge without tasks."""
    with pytest.raises(ValueError, match=r"^gpus: expected at least one GPU, got none\.$"):
        DagInstance.from_lists([], num_gpus=0)
    with pytest.raises(ValueError, match=r"^edges\[0\]: expected no edge, as there are no tasks, got 0 -> 1\.$"):
        DagInstance.from_lists([], [(0, 1, 0)])


def test_arrays_are_private_and_read_only() -> None:
    """Tests that the caller's array stays as it was and writable, and that ours follows none of its changes."""
    durations = np.array([[3, 4], [5, 6]])
    bandwidth = np.array([[7.0, 2.0], [2.0, 7.0]])
    instance = changed(base(), durations=durations, bytes_per_tick=bandwidth)
    durations[0, 0] = 99
    bandwidth[0, 1] = 99.0
    assert instance.durations.tolist() == [[3, 4], [5, 6]]
    assert instance.bytes_per_tick.tolist() == [[1.0, 2.0], [2.0, 1.0]]
    assert bandwidth.tolist() == [[7.0, 99.0], [2.0, 7.0]]
    for array in (instance.durations, instance.bytes_per_tick, instance.edges, instance.topological_order):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_memory_layout_is_no_matter() -> None:
    """Tests that arrays in Fortran order and of other integer types give the same instance in C order."""
    wide = DagInstance.from_lists([[1, 2, 3], [4, 5, 6]], latency=[[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    other = changed(
        wide,
        durations=np.asfortranarray(wide.durations, dtype=np.uint8),
        latency=np.asfortranarray(wide.latency),
        bytes_per_tick=np.asfortranarray(wide.bytes_per_tick, dtype=np.float32),
    )
    assert other.sha256 == wide.sha256
    assert other.durations.flags.c_contiguous
    assert other.durations.dtype == np.int64
    assert other.latency.flags.c_contiguous
    assert other.bytes_per_tick.dtype == np.float64


def test_transfer_delays_by_hand() -> None:
    """Tests latency + ceil(bytes / bandwidth) per direction, 0 on the diagonal and 0 where no data flows."""
    instance = DagInstance.from_lists(
        [[1, 1, 1]] * 3,
        [(0, 1, 3), (0, 2, 0), (1, 2, 4)],
        latency=[[9, 1, 0], [2, 9, 5], [0, 7, 9]],
        bytes_per_tick=[[9, 2, 0.3], [0.5, 9, 4], [3, 100, 9]],
    )
    assert instance.transfer_delays(0).tolist() == [[0, 1 + 2, 0 + 10], [2 + 6, 0, 5 + 1], [0 + 1, 7 + 1, 0]]
    assert instance.transfer_delays(1).tolist() == [[0] * 3] * 3
    assert instance.transfer_delays(2).tolist() == [[0, 1 + 2, 0 + 14], [2 + 8, 0, 5 + 1], [0 + 2, 7 + 1, 0]]


def test_diagonal_of_links_is_ignored() -> None:
    """Tests that any numbers on the diagonal of the links, even wrong ones, give the same content."""
    plain = DagInstance.from_lists([[1, 1]], latency=[[0, 3], [4, 0]], bytes_per_tick=[[1, 5], [6, 1]])
    odd = DagInstance.from_lists([[1, 1]], latency=[[-8, 3], [4, 77]], bytes_per_tick=[[0, 5], [6, -3]])
    assert odd.sha256 == plain.sha256
    assert odd.latency.tolist() == [[0, 3], [4, 0]]
    assert odd.bytes_per_tick.tolist() == [[1.0, 5.0], [6.0, 1.0]]


def test_no_tasks() -> None:
    """Tests that an instance without tasks has arrays of the right shapes."""
    instance = DagInstance.from_lists([], num_gpus=3, release=[2, 5])
    assert (instance.num_tasks, instance.num_gpus, instance.num_jobs, instance.num_edges) == (0, 3, 2, 0)
    assert instance.durations.shape == instance.allowed.shape == (0, 3)
    assert instance.edges.shape == (0, 2)
    assert instance.topological_order.tolist() == []


def test_one_gpu() -> None:
    """Tests that one GPU has a 1 x 1 link matrix without delays."""
    instance = DagInstance.from_lists([[2], [3]], [(0, 1, 100)], latency=7)
    assert instance.transfer_delays(0).tolist() == [[0]]
    assert instance.latency.tolist() == [[0]]


def test_order_of_tasks_is_the_smallest() -> None:
    """Tests that among all topological orders the lexicographically smallest is kept."""
    instance = DagInstance.from_lists([[1]] * 5, [(3, 0, 0), (1, 2, 0), (4, 3, 0)])
    assert instance.topological_order.tolist() == [1, 2, 4, 3, 0]


def test_largest_numbers_are_exact() -> None:
    """Tests that a horizon of exactly 2**53 ticks, bytes of 2**53 and the largest weights are accepted and kept."""
    instance = DagInstance.from_lists(
        [[2**52, 2**52], [0, 0]],
        [(0, 1, 2**53)],
        bytes_per_tick=2.0,
        task_memory=[2**53, 0],
        gpu_memory=[2**53, None],
        weight=[2**9],
    )
    assert instance.durations[0].tolist() == [2**52, 2**52]
    assert instance.transfer_delays(0).tolist() == [[0, 2**52], [2**52, 0]]
    assert instance.task_memory[0] == 2**53


def test_allowed_wants_room_for_the_task_alone() -> None:
    """Tests that a pair is allowed where the duration is given and the task alone fits into the memory."""
    instance = DagInstance.from_lists(
        [[1, 2, 3], [0, None, 3]], task_memory=[5, 4], gpu_memory=[4, 9, None], bytes_per_tick=1
    )
    assert instance.allowed.tolist() == [[False, True, True], [True, False, True]]


def test_defaults_of_lists() -> None:
    """Tests every default of `from_lists`."""
    instance = DagInstance.from_lists([[1, None], [2, 3]])
    assert (instance.name, instance.tick_seconds) == ("instance", 1.0)
    assert instance.durations.tolist() == [[1, NOT_ALLOWED], [2, 3]]
    assert instance.task_memory.tolist() == [0, 0]
    assert instance.job_of_task.tolist() == [0, 0]
    assert instance.gpu_memory.tolist() == [NO_LIMIT, NO_LIMIT]
    assert instance.latency.tolist() == [[0, 0], [0, 0]]
    assert instance.bytes_per_tick.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert (instance.release.tolist(), instance.weight.tolist()) == ([0], [1])
    assert (instance.task_names, instance.gpu_names, instance.job_names) == (("t0", "t1"), ("g0", "g1"), ("j0",))
    assert (instance.gpu_kinds, instance.gpu_servers) == (("GPU", "GPU"), ("s0", "s0"))


def test_weights_follow_releases() -> None:
    """Tests that the number of jobs is the number of releases and that weights are 1 each where not given."""
    instance = DagInstance.from_lists([[1]], release=[4, 0, 7], job_of_task=[2])
    assert instance.weight.tolist() == [1, 1, 1]
    assert instance.job_names == ("j0", "j1", "j2")
    assert DagInstance.from_lists([[1]], release=[4, 0], weight=[3, 0]).weight.tolist() == [3, 0]


def test_equality_is_identity() -> None:
    """Tests that instances compare by identity, as their content is compared by hash."""
    first, second = base(), base()
    assert first != second
    assert first.sha256 == second.sha256
    assert len({first, second}) == 2


def test_views_agree() -> None:
    """Tests that text, summary and HTML show the same facts."""
    instance = changed(base(), gpu_kinds=("T4", "A100"), gpu_servers=("x", "y"), name="<small>")
    assert instance.summary() == {
        "instance": "<small>",
        "tasks": "2",
        "edges": "1",
        "GPUs": "2 (1 x A100, 1 x T4) on 2 server(s)",
        "jobs": "1",
        "memory limits": "4 bytes on 1 of 2 GPUs",
        "tick": "1 s",
        "content hash": instance.sha256[:16],
    }
    lines = str(instance).splitlines()
    assert lines == [f"{label:>14}: {text}" for label, text in instance.summary().items()]
    html = instance._repr_html_()
    assert html.count("<tr>") == 8
    assert "&lt;small&gt;" in html
    assert "<small>" not in html
    assert changed(instance, gpu_memory=[-1, -1]).summary()["memory limits"] == "none"


def test_repr_is_one_line() -> None:
    """Tests that the representation names the instance and its sizes instead of printing arrays."""
    assert repr(base()) == "DagInstance('instance': 2 tasks, 1 edges, 1 job(s), 2 GPUs)"
