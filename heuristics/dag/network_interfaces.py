"""Network interfaces under contention: transfers between servers are booked when tasks are placed (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.dag.timeline import earliest_free_start
from instances.dag.contention import Contention, server_of_gpu
from instances.dag.graph import predecessors
from instances.dag.schedule import NO_TRANSFER
from instances.kernels import inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from heuristics.dag.timeline import Timeline
    from instances.dag.instance import DagInstance


class Nics(NamedTuple):
    """The interfaces of all servers and their bookings, changed in place; s servers.

    Side u is the outgoing side of server u, side s + u the incoming one.
    """

    server_of_gpu: NDArray[np.int64]  # (m,)
    pred_edges: NDArray[np.int64]  # (edges,), edge of each predecessor entry of `DagArrays`
    slot_start: NDArray[np.int64]  # (2 s, most transfers per side), booked slots of each side in order of time
    slot_finish: NDArray[np.int64]  # the same shape
    num_slots: NDArray[np.int64]  # (2 s,)
    transfer_start: NDArray[np.int64]  # (edges,), NO_TRANSFER where none is booked
    order: NDArray[np.int64]  # (most predecessors,), scratch: predecessor entries in the order of booking
    planned_start: NDArray[np.int64]  # (most predecessors,), scratch: transfers to the current task in order of time
    planned_finish: NDArray[np.int64]  # the same shape


def new_nics(instance: DagInstance, contention: Contention) -> Nics | None:
    """Return idle interfaces, None without contention; kernels may use them again and again."""
    if Contention(contention) is Contention.NONE:
        return None
    before, servers = predecessors(instance), server_of_gpu(instance)
    num_servers, num_edges = int(servers.max()) + 1, instance.num_edges
    most = int(np.diff(before.offsets).max(initial=0))
    return Nics(
        server_of_gpu=servers,
        pred_edges=before.edges,
        slot_start=np.empty((2 * num_servers, num_edges), dtype=np.int64),
        slot_finish=np.empty((2 * num_servers, num_edges), dtype=np.int64),
        num_slots=np.zeros(2 * num_servers, dtype=np.int64),
        transfer_start=np.full(num_edges, NO_TRANSFER, dtype=np.int64),
        order=np.empty(most, dtype=np.int64),
        planned_start=np.empty(most, dtype=np.int64),
        planned_finish=np.empty(most, dtype=np.int64),
    )


@inner_kernel
def clear_nics(nics: Nics) -> None:
    """Remove all bookings."""
    nics.num_slots[:] = 0
    nics.transfer_start[:] = NO_TRANSFER


@inner_kernel
def nic_ready_times(arrays: DagArrays, timeline: Timeline, nics: Nics, task: int, ready: NDArray[np.int64]) -> None:
    """Write when all data and the release allow a task to start on each GPU that it may use, shape (m,).

    For each GPU the transfers from other servers are timed as `book_transfers` would book them, without booking.
    """
    _order_of_booking(arrays, timeline, nics, task)
    for k in range(len(ready)):
        ready[k] = arrays.release[task]
        if arrays.allowed[task, k]:
            ready[k] = _plan(arrays, timeline, nics, task, k, False)


@inner_kernel
def book_transfers(arrays: DagArrays, timeline: Timeline, nics: Nics, task: int, k: int) -> None:
    """Book the transfers from other servers to a task that is placed on GPU k.

    The order is the same for all GPUs: predecessors that finish first go first, ties by edge. Each transfer takes the
    first gap that is long enough and free on both sides (insertion); bookings are never moved.
    """
    _order_of_booking(arrays, timeline, nics, task)
    _plan(arrays, timeline, nics, task, k, True)


@inner_kernel
def _order_of_booking(arrays: DagArrays, timeline: Timeline, nics: Nics, task: int) -> None:
    """Sort the predecessor entries of a task by finish; they were in order of their edges before."""
    first = arrays.pred_offsets[task]
    for position in range(arrays.pred_offsets[task + 1] - first):
        finish = timeline.finish[arrays.pred_tasks[first + position]]
        place = position
        while place > 0 and timeline.finish[arrays.pred_tasks[nics.order[place - 1]]] > finish:
            nics.order[place] = nics.order[place - 1]
            place -= 1
        nics.order[place] = first + position


@inner_kernel
def _plan(arrays: DagArrays, timeline: Timeline, nics: Nics, task: int, k: int, book: bool) -> int:
    """Return when data and release allow a task to start on GPU k; book its transfers or only time them."""
    ready = arrays.release[task]
    incoming = len(nics.num_slots) // 2 + nics.server_of_gpu[k]
    planned = 0
    for position in range(arrays.pred_offsets[task + 1] - arrays.pred_offsets[task]):
        entry = nics.order[position]
        predecessor, data = arrays.pred_tasks[entry], arrays.pred_bytes[entry]
        arrival, source = timeline.finish[predecessor], timeline.gpu[predecessor]
        if data > 0 and source != k:
            link = arrays.link_class[source, k]
            delay = arrays.class_latency[source, link]
            delay += np.int64(math.ceil(data / arrays.class_bytes_per_tick[source, link]))
            outgoing = nics.server_of_gpu[source]
            if delay > 0 and outgoing != nics.server_of_gpu[k]:
                arrival = _first_gap(nics, outgoing, incoming, planned, arrival, delay)
                if book:
                    _book(nics, outgoing, arrival, delay)
                    _book(nics, incoming, arrival, delay)
                    nics.transfer_start[nics.pred_edges[entry]] = arrival
                else:
                    _insert(nics.planned_start, nics.planned_finish, planned, arrival, delay)
                    planned += 1
            arrival += delay
        ready = max(ready, arrival)
    return ready


@inner_kernel
def _first_gap(nics: Nics, outgoing: int, incoming: int, planned: int, ready: int, delay: int) -> int:
    """Return the first time, not before `ready`, at which both sides are free for the whole delay.

    All planned transfers enter the server of the current task, so no two of them may overlap, wherever they come from.
    """
    start = ready
    while True:
        free = _free_from(nics.slot_start[outgoing], nics.slot_finish[outgoing], nics.num_slots[outgoing], start, delay)
        free = _free_from(nics.slot_start[incoming], nics.slot_finish[incoming], nics.num_slots[incoming], free, delay)
        free = _free_from(nics.planned_start, nics.planned_finish, planned, free, delay)
        if free == start:
            return start
        start = free


@inner_kernel
def _free_from(
    slot_start: NDArray[np.int64], slot_finish: NDArray[np.int64], count: int, ready: int, delay: int
) -> int:
    """Return the first time, not before `ready`, at which one side is free for the whole delay."""
    return earliest_free_start(slot_start, slot_finish, count, ready, delay, True)


@inner_kernel
def _book(nics: Nics, side: int, start: int, delay: int) -> None:
    """Put a transfer on a side."""
    _insert(nics.slot_start[side], nics.slot_finish[side], nics.num_slots[side], start, delay)
    nics.num_slots[side] += 1


@inner_kernel
def _insert(slot_start: NDArray[np.int64], slot_finish: NDArray[np.int64], count: int, start: int, delay: int) -> None:
    """Put a transfer among `count` slots in order of time."""
    slot = count
    while slot > 0 and slot_start[slot - 1] > start:
        slot_start[slot], slot_finish[slot] = slot_start[slot - 1], slot_finish[slot - 1]
        slot -= 1
    slot_start[slot], slot_finish[slot] = start, start + delay
