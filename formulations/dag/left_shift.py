"""From a solver's solution to the schedule that it describes."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.dag.graph import predecessors, successors
from instances.dag.schedule import NO_TRANSFER, DagSchedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


def left_shift(
    instance: DagInstance, gpu: NDArray[np.int64], start: NDArray[Any], transfer_start: NDArray[Any] | None = None
) -> DagSchedule:
    """Keep GPUs and orders, and start every task as early as these allow.

    Tasks are taken by (start, rounded to 1e-4 if it is no integer, topological position); each gets the least integer
    start that its release, its predecessors with transfer delays, and the last finish on its GPU allow (ignored by a
    task of duration 0). This repairs a MILP solver's tolerances and never makes a feasible schedule worse.

    With starts of transfers the schedule keeps the rule of `Contention.NIC`: transfers between servers are taken in one
    sequence with the tasks, by their starts, each as soon as its data is there and both sides have finished the
    transfers before it; a task waits for them instead of their delays. The order on every GPU and side stays, so again
    a feasible schedule never gets worse.

    Parameters
    ----------
    gpu
        GPU of each task, shape (n,).
    start
        Start of each task in ticks, not necessarily integer, shape (n,).
    transfer_start
        Start of the transfer along each edge in ticks, not necessarily integer, shape (edges,); entries of edges within
        a server are ignored. None if transfers do not contend.
    """
    instance.refuse_buffers("left shifts")
    if transfer_start is not None:
        return _left_shift_with_transfers(instance, gpu, start, transfer_start)
    position = np.empty(instance.num_tasks, dtype=np.int64)
    position[instance.topological_order] = np.arange(instance.num_tasks)
    before = predecessors(instance)
    release = instance.release[instance.job_of_task].tolist()
    free_at = [0] * instance.num_gpus
    starts, finish, gpus = [0] * instance.num_tasks, [0] * instance.num_tasks, gpu.tolist()
    for task in np.lexsort((position, _rounded(start))).tolist():
        k = gpus[task]
        duration = int(instance.durations[task, k])
        earliest = max(release[task], free_at[k] if duration else 0)
        for entry in range(before.offsets[task], before.offsets[task + 1]):
            predecessor, data = int(before.tasks[entry]), int(instance.edge_bytes[before.edges[entry]])
            delay = _delay(instance, data, gpus[predecessor], k)
            earliest = max(earliest, finish[predecessor] + delay)
        starts[task], finish[task] = earliest, earliest + duration
        if duration:
            free_at[k] = finish[task]
    return DagSchedule(gpu=gpu, start=np.array(starts, dtype=np.int64), instance=instance)


def _left_shift_with_transfers(
    instance: DagInstance, gpu: NDArray[np.int64], start: NDArray[Any], transfer_start: NDArray[Any]
) -> DagSchedule:
    """Shift tasks and contended transfers, numbered n + edge, in order of start; each follows all that it needs."""
    n, gpus, servers = instance.num_tasks, gpu.tolist(), instance.gpu_servers
    before, after = predecessors(instance), successors(instance)
    tail_of, head_of = instance.edges[:, 0].tolist(), instance.edges[:, 1].tolist()
    delay = [
        _delay(instance, data, gpus[tail], gpus[head])
        for data, tail, head in zip(instance.edge_bytes.tolist(), tail_of, head_of, strict=True)
    ]
    contends = [
        delay[edge] > 0 and servers[gpus[tail]] != servers[gpus[head]]
        for edge, (tail, head) in enumerate(zip(tail_of, head_of, strict=True))
    ]
    rank = np.empty(n, dtype=np.int64)  # where starts are equal: tasks by topological position, then transfers by edge
    rank[instance.topological_order] = np.arange(n)
    key = list(zip(_rounded(start).tolist(), rank.tolist(), strict=True))
    key += [(begin, n + edge) for edge, begin in enumerate(_rounded(transfer_start).tolist())]
    missing = np.diff(before.offsets).tolist()
    release = instance.release[instance.job_of_task].tolist()
    starts, ready = [0] * n, release.copy()  # ready: earliest start by release and the data that has arrived
    begins, data_at = [NO_TRANSFER] * instance.num_edges, [0] * instance.num_edges
    free_at: dict[object, int] = {}  # GPUs, and (server, side)
    heap = [(key[task], task) for task in range(n) if missing[task] == 0]
    heapq.heapify(heap)

    def arrive(edge: int, at: int) -> None:
        head = head_of[edge]
        ready[head] = max(ready[head], at)
        missing[head] -= 1
        if missing[head] == 0:
            heapq.heappush(heap, (key[head], head))

    while heap:
        activity = heapq.heappop(heap)[1]
        if activity >= n:
            edge = activity - n
            sides = ((servers[gpus[tail_of[edge]]], "outgoing"), (servers[gpus[head_of[edge]]], "incoming"))
            begins[edge] = max(data_at[edge], *(free_at.get(side, 0) for side in sides))
            for side in sides:
                free_at[side] = begins[edge] + delay[edge]
            arrive(edge, begins[edge] + delay[edge])
            continue
        k = gpus[activity]
        duration = int(instance.durations[activity, k])
        starts[activity] = max(ready[activity], free_at.get(k, 0) if duration else 0)
        finish = starts[activity] + duration
        if duration:
            free_at[k] = finish
        for edge in after.edges[after.offsets[activity] : after.offsets[activity + 1]].tolist():
            if contends[edge]:
                data_at[edge] = finish
                heapq.heappush(heap, (key[n + edge], n + edge))
            else:
                arrive(edge, finish + delay[edge])
    return DagSchedule(
        gpu=gpu,
        start=np.array(starts, dtype=np.int64),
        transfer_start=np.array(begins, dtype=np.int64),
        instance=instance,
    )


def _rounded(start: NDArray[Any]) -> NDArray[Any]:
    """Return starts for comparison: those of a solver with tolerances to 1e-4."""
    order = np.asarray(start)
    return np.round(order, 4) if order.dtype.kind == "f" else order


def _delay(instance: DagInstance, data: int, source: int, target: int) -> int:
    """Return the transfer delay of some bytes from one GPU to another."""
    if data == 0 or source == target:
        return 0
    return int(instance.latency[source, target]) + math.ceil(data / float(instance.bytes_per_tick[source, target]))
