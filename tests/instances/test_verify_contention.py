"""Tests of the verifier under contention: every violation alone with its amount, and what is no violation."""

from __future__ import annotations

import pytest

from instances import Contention, DagInstance, DagSchedule, verify_dag_schedule
from instances.dag_violations import (
    EarlyTransfer,
    LateArrival,
    LateTransfer,
    MissingTransferStart,
    NicOverlap,
    UnknownGpu,
    WrongTransferLength,
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
