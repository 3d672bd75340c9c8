"""Tests of transfers booked on network interfaces as tasks are placed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import heft
from heuristics.dag.network_interfaces import _first_gap, new_nics
from heuristics.dag.priorities import upward_ranks
from heuristics.dag.random_keys import DECODINGS, RandomKeys
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from tests.contended_instances import contended_instance
from tests.plain_contention import plain_list_schedule
from tests.strategies import changed, dag_instances

if TYPE_CHECKING:
    from instances.dag.schedule import DagSchedule

KEY_DECODINGS = [decoding for decoding in DECODINGS if decoding != "load"]
"""Desired loads are refused under contention, see test_random_keys.py."""


def places(schedule: DagSchedule | None) -> tuple[list[int], list[int], list[int]]:
    """Return GPUs, starts and starts of transfers."""
    assert schedule is not None
    assert schedule.transfer_start is not None
    return schedule.gpu.tolist(), schedule.start.tolist(), schedule.transfer_start.tolist()


def fork(widths: list[int]) -> DagInstance:
    """Return task 0, only on GPU 0, before tasks of 3, 4, .. ticks, each only on its own GPU; all GPUs on their own."""
    m = len(widths) + 1
    rows = [[2] + [None] * (m - 1)] + [[None] * k + [k + 2] + [None] * (m - 1 - k) for k in range(1, m)]
    edges = [(0, task, data) for task, data in enumerate(widths, start=1)]
    return DagInstance.from_lists(rows, edges, gpu_servers=[f"s{k}" for k in range(m)])


def test_transfers_leave_one_after_the_other() -> None:
    """Tests by hand that a fork's transfers queue on the outgoing side, the highest rank first."""
    instance = fork([4, 9, 6])
    assert places(heft(instance, contention=Contention.NIC)) == ([0, 1, 2, 3], [0, 21, 17, 8], [17, 8, 2])
    together = changed(instance, gpu_servers=("s",) * 4)
    assert places(heft(together, contention=Contention.NIC)) == ([0, 1, 2, 3], [0, 6, 11, 8], [-1, -1, -1])


def test_transfers_arrive_in_the_order_of_their_data() -> None:
    """Tests by hand that transfers into one server are booked by the finish of their predecessors, into gaps too."""
    instance = DagInstance.from_lists(
        [[5, None, None], [None, 3, None], [None, None, 1]],
        [(0, 2, 4), (1, 2, 6)],
        gpu_servers=["a", "b", "c"],
    )
    assert places(heft(instance, contention=Contention.NIC)) == ([0, 1, 2], [0, 0, 13], [9, 3])
    # Task 3 sends 2 bytes to task 4 on GPU 2 as well: ticks 3 to 5 of the incoming side are free before both.
    more = DagInstance.from_lists(
        [
            [5, None, None, None],
            [None, 3, None, None],
            [None, None, 1, None],
            [None, None, None, 1],
            [None, None, 1, None],
        ],
        [(0, 2, 4), (1, 2, 6), (3, 4, 2)],
        gpu_servers=["a", "b", "c", "d"],
    )
    assert places(heft(more, contention=Contention.NIC)) == ([0, 1, 2, 3, 2], [0, 0, 13, 0, 3], [9, 3, 1])


def test_earliest_finish_sees_the_queue() -> None:
    """Tests that a task avoids a server whose data would come late, which HEFT without contention does not see."""
    instance = DagInstance.from_lists([[4, None], [None, 9], [8, 3]], [(0, 1, 8), (0, 2, 4)], gpu_servers=["a", "b"])
    without = heft(instance)
    assert without is not None
    assert (without.gpu.tolist(), without.start.tolist()) == ([0, 1, 1], [0, 12, 8])
    assert places(heft(instance, contention=Contention.NIC)) == ([0, 1, 0], [0, 12, 4], [4, -1])


@given(instance=dag_instances(max_tasks=8, max_gpus=4, memory=False, servers=True))
@settings(max_examples=150, deadline=None)
def test_heft_tick_by_tick(instance: DagInstance) -> None:
    """Tests HEFT under contention, with insertion and without, against sets of busy ticks."""
    rank = upward_ranks(dag_arrays(instance))
    waiting, order = set(range(instance.num_tasks)), list[int]()
    while waiting:
        ready = [t for t in waiting if not any(a in waiting for a, b in instance.edges.tolist() if b == t)]
        order.append(min(ready, key=lambda task: (-rank[task], task)))
        waiting.remove(order[-1])
    for insertion in (True, False):
        schedule = heft(instance, insertion=insertion, contention=Contention.NIC)
        assert places(schedule) == plain_list_schedule(instance, order, insertion=insertion)


@pytest.mark.parametrize("decoding", KEY_DECODINGS)
def test_fitness_is_that_of_the_schedule(decoding: str) -> None:
    """Tests that points are judged by the schedules they mean, under contention, whatever was decoded before."""
    rng = np.random.default_rng(1)
    for seed in range(12):
        instance = changed(contended_instance(seed), gpu_memory=np.full(contended_instance(seed).num_gpus, -1))
        for objective in FINISH_OBJECTIVES:
            keys = RandomKeys(instance, objective, decoding, Contention.NIC)
            points = [rng.random(keys.num_keys) for _ in range(4)]
            fitness = [keys.evaluate(point) for point in points]
            for point, value in zip(points, fitness, strict=True):
                schedule = keys.schedule(point)
                assert schedule is not None
                assert verify_dag_schedule(instance, schedule, Contention.NIC) == []
                assert value == (0, objective_value(instance, schedule, objective))
                assert keys.evaluate(point) == value


@pytest.mark.parametrize("decoding", KEY_DECODINGS)
def test_heft_keys_decode_to_heft(decoding: str) -> None:
    """Tests that the first point of a search is HEFT's schedule under contention."""
    for seed in range(12):
        instance = changed(contended_instance(seed), gpu_memory=np.full(contended_instance(seed).num_gpus, -1))
        keys = RandomKeys(instance, Objective.MAKESPAN, decoding, Contention.NIC)
        assert places(keys.schedule(keys.heft_keys())) == places(heft(instance, contention=Contention.NIC))


def busy_slots(cuts: list[int]) -> list[tuple[int, int]]:
    """Return disjoint slots between sorted cuts."""
    ends = sorted(cuts)[: len(cuts) // 2 * 2]
    return list(zip(ends[::2], ends[1::2], strict=True))


CUTS = st.lists(st.integers(0, 30), unique=True, max_size=10)


@given(outgoing=CUTS, incoming=CUTS, planned=CUTS, ready=st.integers(0, 32), delay=st.integers(1, 6))
@example(outgoing=[6, 10], incoming=[0, 6], planned=[], ready=0, delay=3)  # free here, then there, then here again
@settings(max_examples=300, deadline=None)
def test_first_gap_tick_by_tick(
    outgoing: list[int], incoming: list[int], planned: list[int], ready: int, delay: int
) -> None:
    """Tests that a transfer takes the first ticks that are free on both sides and of all that is planned."""
    edges = [(0, task, 1) for task in range(1, 8)] + [(task, 8, 1) for task in range(1, 8)]
    nics = new_nics(DagInstance.from_lists([[1, 1]] * 9, edges, gpu_servers=["a", "b"]), Contention.NIC)
    assert nics is not None
    sides = ((nics.slot_start[0], nics.slot_finish[0]), (nics.slot_start[3], nics.slot_finish[3]))
    for (begins, ends), cuts in zip((*sides, (nics.planned_start, nics.planned_finish)), (outgoing, incoming, planned)):
        for slot, (begin, end) in enumerate(busy_slots(cuts)):
            begins[slot], ends[slot] = begin, end
    nics.num_slots[0], nics.num_slots[3] = len(busy_slots(outgoing)), len(busy_slots(incoming))
    taken = {tick for cuts in (outgoing, incoming, planned) for slot in busy_slots(cuts) for tick in range(*slot)}
    expected = next(begin for begin in range(ready, 99) if not taken & set(range(begin, begin + delay)))
    assert _first_gap(nics, 0, 3, len(busy_slots(planned)), ready, delay) == expected


def test_none_without_contention() -> None:
    """Tests that there are no interfaces without contention, by name too."""
    assert new_nics(fork([1]), Contention.NONE) is None
    assert new_nics(fork([1]), "none") is None
    with pytest.raises(ValueError, match="contention: expected one of none, nic, got 'port'"):
        new_nics(fork([1]), "port")
