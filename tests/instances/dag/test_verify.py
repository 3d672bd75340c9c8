"""Tests of the verifier under contention: every violation alone with its amount, and what is no violation."""

from __future__ import annotations

import pytest

from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from instances.dag.verify import (
    EarlyStart,
    EarlyTransfer,
    LateArrival,
    LateTransfer,
    MemoryOverflow,
    MissingTransferStart,
    NicOverlap,
    NotAllowed,
    Overlap,
    UnknownGpu,
    WrongLength,
    WrongTransferLength,
    verify_dag_schedule,
)


@pytest.fixture(scope="module")
def fork() -> DagInstance:
    """Task 0 before 1 and 2, which need 4 and 6 bytes of it; GPUs 0 and 1 on server a, 2 on b, 3 on c; all links equal.

    Every task takes 2 ticks, the transfers 1 + 4 / 2 = 3 and 1 + 6 / 2 = 4 ticks.
    """
    return DagInstance.from_lists(
        [[2] * 4] * 3,
        [(0, 1, 4), (0, 2, 6)],
        latency=1,
        bytes_per_tick=2.0,
        gpu_servers=["a", "a", "b", "c"],
    )


def violations(
    instance: DagInstance, gpu: list[int], start: list[int], transfer_start: list[int] | None
) -> list[object]:
    """Return the violations under contention of a schedule given as lists."""
    schedule = DagSchedule(gpu=gpu, start=start, transfer_start=transfer_start)
    return verify_dag_schedule(instance, schedule, Contention.NIC)


@pytest.mark.parametrize(
    ("gpu", "start", "transfer_start"),
    [
        ([0, 2, 3], [0, 5, 9], [2, 5]),  # one after the other out of server a
        ([0, 2, 3], [0, 9, 6], [6, 2]),  # the other way round
        ([0, 2, 3], [0, 50, 60], [20, 23]),  # waiting is no violation, nor is touching
        ([0, 1, 3], [0, 5, 6], [-1, 2]),  # within server a nothing is occupied, though it takes 3 ticks
        ([0, 1, 3], [0, 5, 6], [77, 2]),  # and whatever is written there is ignored
        ([0, 1, 0], [0, 5, 2], None),  # no transfer between servers at all
        ([2, 2, 2], [0, 2, 4], None),
    ],
)
def test_right_schedules(fork: DagInstance, gpu: list[int], start: list[int], transfer_start: list[int] | None) -> None:
    """Tests that schedules that keep the rule to the tick have no violation, with contention and without."""
    assert violations(fork, gpu, start, transfer_start) == []
    assert verify_dag_schedule(fork, DagSchedule(gpu=gpu, start=start, transfer_start=transfer_start)) == []


def test_two_transfers_out_of_one_server(fork: DagInstance) -> None:
    """Tests that transfers from one server at the same time overlap on its outgoing side, also from different GPUs."""
    assert violations(fork, [0, 2, 3], [0, 5, 6], [2, 2]) == [
        NicOverlap(server="a", side="outgoing", edges=(0, 1), ticks=3)
    ]
    assert violations(fork, [0, 2, 3], [0, 20, 20], [6, 4]) == [
        NicOverlap(server="a", side="outgoing", edges=(0, 1), ticks=2)
    ]
    apart = DagInstance.from_lists(
        [[2] * 4] * 4, [(0, 2, 4), (1, 3, 4)], bytes_per_tick=2.0, gpu_servers=["a", "a", "b", "c"]
    )
    assert violations(apart, [0, 1, 2, 3], [0, 0, 4, 5], [2, 3]) == [
        NicOverlap(server="a", side="outgoing", edges=(0, 1), ticks=1)
    ]


def test_two_transfers_into_one_server() -> None:
    """Tests that transfers into one server overlap on its incoming side, and that its outgoing side is another one."""
    join = DagInstance.from_lists(
        [[2] * 3] * 4, [(0, 2, 4), (1, 2, 6), (2, 3, 8)], bytes_per_tick=2.0, gpu_servers=["a", "b", "c"]
    )
    assert violations(join, [0, 1, 2, 0], [0, 0, 7, 13], [2, 4, 9]) == []
    assert violations(join, [0, 1, 2, 0], [0, 0, 6, 12], [2, 3, 8]) == [
        NicOverlap(server="c", side="incoming", edges=(0, 1), ticks=1)
    ]
    duplex = DagInstance.from_lists(
        [[2] * 3] * 4, [(0, 2, 4), (1, 3, 4)], bytes_per_tick=2.0, gpu_servers=["a", "b", "c"]
    )
    assert violations(duplex, [0, 2, 2, 0], [0, 0, 4, 4], [2, 2]) == []  # 0 to c while c sends to 0


def test_every_pair_is_listed_on_both_sides() -> None:
    """Tests that three transfers between two servers at once are three pairs on each side, with their common ticks."""
    wide = DagInstance.from_lists(
        [[1] * 2] * 4, [(0, 1, 3), (0, 2, 5), (0, 3, 9)], bytes_per_tick=1.0, gpu_servers=["a", "b"]
    )
    found = violations(wide, [0, 1, 1, 1], [0, 20, 21, 22], [1, 2, 2])
    assert found == [
        NicOverlap(server=server, side=side, edges=edges, ticks=ticks)
        for server, side in (("a", "outgoing"), ("b", "incoming"))
        for edges, ticks in (((0, 1), 2), ((0, 2), 2), ((1, 2), 5))
    ]


def test_early_transfer(fork: DagInstance) -> None:
    """Tests that a transfer may not start before its data exists."""
    assert violations(fork, [0, 2, 0], [0, 5, 2], [1, -1]) == [EarlyTransfer(edge=0, tail=0, ticks=1)]


def test_late_arrival(fork: DagInstance) -> None:
    """Tests that a transfer must end before its task starts, though the data could have come in time."""
    assert violations(fork, [0, 2, 0], [0, 5, 2], [4, -1]) == [LateArrival(edge=0, head=1, ticks=2)]


def test_task_before_its_data_is_listed_with_and_without_contention(fork: DagInstance) -> None:
    """Tests that what breaks the problem without contention is listed as such too."""
    assert violations(fork, [0, 2, 0], [0, 4, 2], [2, -1]) == [
        LateTransfer(edge=0, tail=0, head=1, ticks=1),
        LateArrival(edge=0, head=1, ticks=1),
    ]


def test_missing_starts(fork: DagInstance) -> None:
    """Tests that every contended transfer needs a start, and that without contention none does."""
    assert violations(fork, [0, 2, 3], [0, 5, 9], None) == [MissingTransferStart(edge=0), MissingTransferStart(edge=1)]
    assert violations(fork, [0, 2, 3], [0, 5, 9], [2, -1]) == [MissingTransferStart(edge=1)]
    assert verify_dag_schedule(fork, DagSchedule(gpu=[0, 2, 3], start=[0, 5, 9])) == []


def test_wrong_number_of_starts(fork: DagInstance) -> None:
    """Tests that starts of transfers are one per edge, where they count."""
    assert violations(fork, [0, 2, 3], [0, 5, 9], [2]) == [WrongTransferLength(expected=2, scheduled=1)]
    assert verify_dag_schedule(fork, DagSchedule(gpu=[0, 2, 3], start=[0, 5, 9], transfer_start=[2])) == []


def test_misplaced_tasks_hide_the_rest(fork: DagInstance) -> None:
    """Tests that transfers of tasks on unknown GPUs are not judged."""
    assert violations(fork, [0, 2, 9], [0, 5, 9], [0, 0]) == [UnknownGpu(task=2, gpu=9, num_gpus=4)]


def test_edges_without_data_occupy_nothing() -> None:
    """Tests that an edge of 0 bytes between servers needs no start and occupies no interface."""
    instance = DagInstance.from_lists([[1, 1]] * 3, [(0, 1, 0), (0, 2, 0)], latency=5, gpu_servers=["a", "b"])
    assert violations(instance, [0, 1, 1], [0, 1, 2], [-1, -1]) == []


def test_rule_may_be_given_by_name(fork: DagInstance) -> None:
    """Tests that the text "nic" is the rule, not silently no rule, and that another text is refused."""
    schedule = DagSchedule(gpu=[0, 2, 3], start=[0, 5, 9])
    assert len(verify_dag_schedule(fork, schedule, "nic")) == 2
    with pytest.raises(ValueError, match="contention: expected one of none, nic, got 'yes'"):
        verify_dag_schedule(fork, schedule, "yes")


@pytest.mark.parametrize(
    ("violation", "text"),
    [
        (WrongTransferLength(expected=3, scheduled=1), "transfer_start: expected 3 entries, one per edge, got 1."),
        (
            MissingTransferStart(edge=4),
            "transfer_start[4]: expected the start of a transfer between servers, got none.",
        ),
        (EarlyTransfer(edge=4, tail=2, ticks=3), "transfer_start[4]: 3 ticks before task 2 finishes."),
        (LateArrival(edge=4, head=2, ticks=3), "transfer_start[4]: ends 3 ticks after task 2 starts."),
        (
            NicOverlap(server="s0", side="incoming", edges=(1, 4), ticks=3),
            "edges 1 and 4: transfers overlap by 3 ticks on the incoming side of server 's0'.",
        ),
    ],
)
def test_violations_in_words(violation: object, text: str) -> None:
    """Tests that each violation names place and amount in one line."""
    assert str(violation) == text


@pytest.fixture(scope="module")
def instance() -> DagInstance:
    """Three tasks on two GPUs: 0 -> 1 carries 5 bytes, task 2 is a job of its own, released at 4."""
    return DagInstance.from_lists(
        [[3, 4], [5, 6], [2, None]],
        [(0, 1, 5)],
        latency=[[0, 1], [2, 0]],
        bytes_per_tick=[[1, 2.0], [0.5, 1]],
        task_memory=[4, 4, 4],
        gpu_memory=[8, None],
        job_of_task=[0, 0, 1],
        release=[0, 4],
    )


def violations_verify_dag_schedule(instance: DagInstance, gpu: list[int], start: list[int]) -> list[object]:
    """Return the violations of a schedule given as lists."""
    return verify_dag_schedule(instance, DagSchedule(gpu=gpu, start=start))


@pytest.mark.parametrize(
    ("gpu", "start"),
    [
        ([0, 1, 0], [0, 7, 4]),  # 3 + 1 + ceil(5 / 2)
        ([1, 0, 0], [0, 16, 4]),  # 4 + 2 + ceil(5 / 0.5)
        ([1, 1, 0], [0, 4, 4]),
    ],
)
def test_tight_schedules_are_right(instance: DagInstance, gpu: list[int], start: list[int]) -> None:
    """Tests that schedules without a tick to spare have no violation."""
    assert violations_verify_dag_schedule(instance, gpu, start) == []


@pytest.mark.parametrize(("gpu", "start", "ticks"), [([0, 1, 0], [0, 6, 4], 1), ([1, 0, 0], [0, 5, 10], 11)])
def test_late_transfer(instance: DagInstance, gpu: list[int], start: list[int], ticks: int) -> None:
    """Tests that data over a link in either direction is waited for, with the missing ticks."""
    assert violations_verify_dag_schedule(instance, gpu, start) == [LateTransfer(edge=0, tail=0, head=1, ticks=ticks)]


def test_precedence_on_one_gpu(instance: DagInstance) -> None:
    """Tests that on one GPU no data is waited for, but the predecessor is."""
    assert violations_verify_dag_schedule(instance, [1, 1, 0], [0, 3, 4]) == [
        Overlap(gpu=1, tasks=(0, 1), ticks=1),
        LateTransfer(edge=0, tail=0, head=1, ticks=1),
    ]


def test_early_start(instance: DagInstance) -> None:
    """Tests that a task before the release of its job is early by the difference, also below zero."""
    assert violations_verify_dag_schedule(instance, [1, 1, 0], [0, 4, 1]) == [EarlyStart(task=2, job=1, ticks=3)]
    assert violations_verify_dag_schedule(instance, [1, 1, 0], [-5, 4, 4]) == [EarlyStart(task=0, job=0, ticks=5)]


def test_overlap(instance: DagInstance) -> None:
    """Tests that an overlap has the GPU, both tasks in order of their numbers, and the common ticks."""
    wide = DagInstance.from_lists([[6], [3], [4]])
    assert violations_verify_dag_schedule(wide, [0, 0, 0], [4, 0, 20]) == []
    assert violations_verify_dag_schedule(wide, [0, 0, 0], [2, 0, 20]) == [Overlap(gpu=0, tasks=(0, 1), ticks=1)]
    assert violations_verify_dag_schedule(wide, [0, 0, 0], [0, 2, 20]) == [Overlap(gpu=0, tasks=(0, 1), ticks=3)]


def test_three_tasks_that_overlap_are_three_pairs() -> None:
    """Tests that every pair is listed, also those that are no neighbours in time."""
    instance = DagInstance.from_lists([[10], [2], [3], [1]])
    assert violations_verify_dag_schedule(instance, [0, 0, 0, 0], [0, 3, 4, 30]) == [
        Overlap(gpu=0, tasks=(0, 1), ticks=2),
        Overlap(gpu=0, tasks=(0, 2), ticks=3),
        Overlap(gpu=0, tasks=(1, 2), ticks=1),
    ]
    assert violations_verify_dag_schedule(instance, [0, 0, 0, 0], [0, 1, 5, 9]) == [
        Overlap(gpu=0, tasks=(0, 1), ticks=2),
        Overlap(gpu=0, tasks=(0, 2), ticks=3),
        Overlap(gpu=0, tasks=(0, 3), ticks=1),
    ]


def test_duration_zero_occupies_nothing() -> None:
    """Tests that a task of duration 0 may stand inside another one, at its start, or beside one of its kind."""
    instance = DagInstance.from_lists([[5, 5], [0, 1], [0, 1]])
    for start in (0, 2, 5):
        assert violations_verify_dag_schedule(instance, [0, 0, 0], [0, start, start]) == []
    assert violations_verify_dag_schedule(instance, [0, 1, 1], [0, 2, 2]) == [Overlap(gpu=1, tasks=(1, 2), ticks=1)]


def test_duration_zero_still_waits_for_data() -> None:
    """Tests that a task of duration 0 keeps release and transfers."""
    instance = DagInstance.from_lists([[2, 2], [0, 0]], [(0, 1, 3)], release=[1])
    assert violations_verify_dag_schedule(instance, [0, 1], [1, 6]) == []
    assert violations_verify_dag_schedule(instance, [0, 1], [1, 5]) == [LateTransfer(edge=0, tail=0, head=1, ticks=1)]
    assert violations_verify_dag_schedule(instance, [0, 0], [1, 0]) == [
        EarlyStart(task=1, job=0, ticks=1),
        LateTransfer(edge=0, tail=0, head=1, ticks=3),
    ]


def test_memory_exactly_full_and_one_beyond(instance: DagInstance) -> None:
    """Tests that a full GPU is right, that tasks far apart in time add up, and that null is no limit."""
    assert violations_verify_dag_schedule(instance, [0, 0, 0], [0, 3, 100]) == [MemoryOverflow(gpu=0, bytes=4)]
    assert violations_verify_dag_schedule(instance, [0, 1, 0], [0, 50, 100]) == []
    assert violations_verify_dag_schedule(instance, [1, 1, 0], [0, 50, 100]) == []


def test_edge_without_data_needs_no_transfer() -> None:
    """Tests that an edge of 0 bytes has no latency either."""
    instance = DagInstance.from_lists([[2, 2], [2, 2]], [(0, 1, 0)], latency=9)
    assert violations_verify_dag_schedule(instance, [0, 1], [0, 2]) == []
    assert violations_verify_dag_schedule(instance, [0, 1], [0, 1]) == [LateTransfer(edge=0, tail=0, head=1, ticks=1)]


def test_misplaced_tasks_hide_the_rest_verify_dag_schedule(instance: DagInstance) -> None:
    """Tests that wrong length, unknown GPUs and forbidden pairs are listed alone, as times mean nothing then."""
    assert violations_verify_dag_schedule(instance, [0], [0]) == [WrongLength(expected=3, scheduled=1)]
    assert violations_verify_dag_schedule(instance, [0, 2, -1], [0, 0, 0]) == [
        UnknownGpu(task=1, gpu=2, num_gpus=2),
        UnknownGpu(task=2, gpu=-1, num_gpus=2),
    ]
    assert violations_verify_dag_schedule(instance, [0, 0, 1], [0, 0, 0]) == [NotAllowed(task=2, gpu=1)]


def test_everything_at_once_is_listed(instance: DagInstance) -> None:
    """Tests that violations of all kinds are listed together, each once."""
    assert violations_verify_dag_schedule(instance, [0, 0, 0], [0, 1, 2]) == [
        EarlyStart(task=2, job=1, ticks=2),
        Overlap(gpu=0, tasks=(0, 1), ticks=2),
        Overlap(gpu=0, tasks=(0, 2), ticks=1),
        Overlap(gpu=0, tasks=(1, 2), ticks=2),
        LateTransfer(edge=0, tail=0, head=1, ticks=2),
        MemoryOverflow(gpu=0, bytes=4),
    ]


def test_no_tasks() -> None:
    """Tests that the empty schedule is right where there are no tasks, and only there."""
    empty = DagInstance.from_lists([], num_gpus=1)
    assert violations_verify_dag_schedule(empty, [], []) == []
    assert violations_verify_dag_schedule(empty, [0], [0]) == [WrongLength(expected=0, scheduled=1)]


def test_fractional_bandwidth_is_rounded_up_in_floating_point() -> None:
    """Tests that the verifier takes the same 64-bit quotient as the instance: 3 bytes at 0.1 per tick are 30 ticks."""
    instance = DagInstance.from_lists([[1, 1], [1, 1]], [(0, 1, 3)], bytes_per_tick=0.1)
    assert instance.transfer_delays(0)[0, 1] == 30
    assert violations_verify_dag_schedule(instance, [0, 1], [0, 31]) == []
    assert violations_verify_dag_schedule(instance, [0, 1], [0, 30]) == [LateTransfer(edge=0, tail=0, head=1, ticks=1)]


@pytest.mark.parametrize(
    ("violation", "text"),
    [
        (WrongLength(expected=3, scheduled=1), "schedule: expected 3 tasks, got 1."),
        (UnknownGpu(task=1, gpu=2, num_gpus=2), "gpu[1]: expected a GPU in 0..1, got 2."),
        (NotAllowed(task=2, gpu=1), "gpu[2]: expected a GPU that may run task 2, got 1."),
        (EarlyStart(task=2, job=1, ticks=3), "start[2]: 3 ticks before the release of job 1."),
        (Overlap(gpu=1, tasks=(0, 1), ticks=2), "tasks 0 and 1: overlap by 2 ticks on GPU 1."),
        (
            LateTransfer(edge=4, tail=0, head=1, ticks=2),
            "edges[4]: task 1 starts 2 ticks before the data of task 0.",
        ),
        (MemoryOverflow(gpu=0, bytes=4), "gpus[0]: its tasks need 4 bytes more than it has."),
    ],
)
def test_violations_in_words_verify_dag_schedule(violation: object, text: str) -> None:
    """Tests that each violation names place and amount in one line."""
    assert str(violation) == text
