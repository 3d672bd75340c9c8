"""List scheduling under contention once more, tick by tick in sets: an oracle that shares no code with any method.

Tasks are taken one after the other. The transfers to a task from other servers are booked in order of their
predecessors' finishes (ties by edge), each at the first ticks that are free on the outgoing and the incoming side.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.instance import DagInstance

Busy = dict[object, set[int]]


def plain_list_schedule(
    instance: DagInstance, order: Sequence[int], *, gpus: Sequence[int] | None = None, insertion: bool = True
) -> tuple[list[int], list[int], list[int]]:
    """Return GPU and start of every task and start of every transfer (-1 where none is contended).

    Parameters
    ----------
    instance
        Without memory limits.
    order
        Of the tasks; predecessors first.
    gpus
        GPU of every task; by default the one with the earliest finish, ties to the lowest index.
    insertion
        Whether a task may start in a gap before others.
    """
    busy: Busy = defaultdict(set)
    gpu, start, finish = [-1] * instance.num_tasks, [0] * instance.num_tasks, [0] * instance.num_tasks
    transfer_start = [-1] * instance.num_edges
    for task in order:
        best = None
        for k in range(instance.num_gpus):
            if instance.durations[task, k] < 0 or (gpus is not None and gpus[task] != k):
                continue
            length = int(instance.durations[task, k])
            ready, booked, _ = _transfers(instance, busy, gpu, finish, task, k)
            begin = ready
            if length:
                if not insertion:
                    begin = max([begin, *(tick + 1 for tick in busy[k])])
                while any(tick in busy[k] for tick in range(begin, begin + length)):
                    begin += 1
            if best is None or begin + length < best[0]:
                best = (begin + length, k, begin, booked)
        assert best is not None
        finish[task], k, start[task], booked = best
        busy[k] |= set(range(start[task], finish[task]))
        _, _, sides = _transfers(instance, busy, gpu, finish, task, k)
        for side, ticks in sides.items():
            busy[side] |= ticks
        gpu[task] = k
        for edge, begin in booked.items():
            transfer_start[edge] = begin
    return gpu, start, transfer_start


def _transfers(
    instance: DagInstance, busy: Busy, gpu: list[int], finish: list[int], task: int, k: int
) -> tuple[int, dict[int, int], Busy]:
    """Return when the task can start on GPU k, the starts of its contended transfers, and the ticks they take."""
    ready = int(instance.release[instance.job_of_task[task]])
    booked: dict[int, int] = {}
    sides: Busy = defaultdict(set)
    edges = [edge for edge in range(instance.num_edges) if instance.edges[edge, 1] == task]
    for edge in sorted(edges, key=lambda edge: (finish[instance.edges[edge, 0]], edge)):
        tail = int(instance.edges[edge, 0])
        source, data, begin, delay = gpu[tail], int(instance.edge_bytes[edge]), finish[tail], 0
        if data and source != k:
            delay = int(instance.latency[source, k]) + math.ceil(data / float(instance.bytes_per_tick[source, k]))
        if delay and instance.gpu_servers[source] != instance.gpu_servers[k]:
            out, into = ("out", instance.gpu_servers[source]), ("in", instance.gpu_servers[k])
            taken = busy[out] | busy[into] | sides[out] | sides[into]
            while any(tick in taken for tick in range(begin, begin + delay)):
                begin += 1
            for side in (out, into):
                sides[side] |= set(range(begin, begin + delay))
            booked[edge] = begin
        ready = max(ready, begin + delay)
    return ready, booked, sides
