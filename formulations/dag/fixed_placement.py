"""Tasks whose GPUs are given: durations and delays are numbers, and paths between tasks of a GPU bound idle time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.dag.buffers import connected_parts, place_of_task, units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


NO_PATH = -1
"""Length of a path where there is none."""


class FixedPlacement:
    """An instance with a GPU for every task, and the longest paths that follow.

    Parameters
    ----------
    gpu
        GPU of every task, on which it may run.

    Attributes
    ----------
    duration
        Of every task on its GPU, in ticks.
    after
        For every task the tasks that follow it by an edge, each with the ticks from start to start at least.
    """

    def __init__(self, instance: DagInstance, gpu: Sequence[int]) -> None:
        self.instance, self.gpu = instance, list(gpu)
        self.duration = [int(instance.durations[task, k]) for task, k in enumerate(self.gpu)]
        self.after: list[list[tuple[int, int]]] = [[] for _ in range(instance.num_tasks)]
        for edge, (tail, head) in enumerate(instance.edges.tolist()):
            delay = instance.transfer_delay(edge, self.gpu[tail], self.gpu[head])
            self.after[tail].append((head, self.duration[tail] + delay))
        self.order = instance.topological_order.tolist()
        self.tasks_of_gpu = [[task for task in self.order if self.gpu[task] == k] for k in range(instance.num_gpus)]

    def longest(self, start: list[int], among: Iterable[int] | None = None) -> list[int]:
        """Return the latest of the given starts and what paths from them demand; `NO_PATH` where none leads to."""
        for task in self.order if among is None else among:
            begin = start[task]
            if begin > NO_PATH:
                for head, ticks in self.after[task]:
                    if begin + ticks > start[head]:
                        start[head] = begin + ticks
        return start

    def heads(self) -> list[int]:
        """Return the earliest start of every task that releases and paths allow."""
        return self.longest(self.instance.release[self.instance.job_of_task].tolist())

    def tails(self) -> list[int]:
        """Return the ticks from the finish of every task to that of the last one behind it, at least."""
        tail = [0] * len(self.gpu)
        for task in reversed(self.order):
            for head, ticks in self.after[task]:
                tail[task] = max(tail[task], ticks - self.duration[task] + self.duration[head] + tail[head])
        return tail

    def heads_on_gpu(self) -> list[int]:
        """Return for every task the ticks from the first start on its GPU to its start, at least."""
        head = [0] * len(self.gpu)
        for tasks in self.tasks_of_gpu:
            start = [NO_PATH] * len(self.gpu)
            for task in tasks:
                start[task] = 0
            start = self.longest(start)
            for task in tasks:
                head[task] = start[task]
        return head

    def tails_on_gpu(self) -> list[int]:
        """Return for every task the ticks from its finish to the last finish on its GPU, at least."""
        tail = [0] * len(self.gpu)
        for k, tasks in enumerate(self.tasks_of_gpu):
            reached = [NO_PATH] * len(self.gpu)  # from the start of a task to the last finish on the GPU behind it
            for task in reversed(self.order):
                behind = [ticks + reached[head] for head, ticks in self.after[task] if reached[head] > NO_PATH]
                reached[task] = max(behind + ([self.duration[task]] if self.gpu[task] == k else [NO_PATH]))
            for task in tasks:
                tail[task] = reached[task] - self.duration[task]
        return tail

    def path(self, task: int, other: int, among: Iterable[int]) -> int:
        """Return the ticks from the start of a task to that of another one behind it; `among` are the tasks between."""
        start = [NO_PATH] * len(self.gpu)
        start[task] = 0
        return self.longest(start, among)[other]


def like_parts(instance: DagInstance, *, same_job: bool = False) -> list[list[list[int]]]:
    """Return classes of connected parts that are copies of each other, such as the micro-batches of a pipeline.

    Parts of a class agree task by task, in the order of the tasks: durations where the task's group may run, edges and
    their bytes, buffers and release; and all copies of a task are on one GPU in any schedule, because they are in one
    group or have one GPU in common that alone may run them. Memory of tasks may differ: it is held by the same GPU for
    the whole schedule in any case. Some optimal schedule then starts the copies of every task in the order of the
    parts (docs/formulations.md, section 4.6; for the weighted completion with `same_job` only).

    Returns
    -------
    list[list[list[int]]]
        Classes of two parts or more; a part is a list of tasks.
    """
    place = place_of_task(instance)
    buffers: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in range(instance.num_tasks)]
    for buffer in instance.buffers:
        buffers[buffer.task].append((buffer.size, buffer.released_by))
    after: list[list[tuple[int, int]]] = [[] for _ in range(instance.num_tasks)]
    for (tail, head), data in zip(instance.edges.tolist(), instance.edge_bytes.tolist(), strict=True):
        after[tail].append((head, data))
    classes: dict[object, list[list[int]]] = {}
    for part in connected_parts(instance):
        number = {task: index for index, task in enumerate(part)}
        key = tuple(
            (
                _home(instance, place, task),
                tuple(np.where(place[task], instance.durations[task], -1).tolist()),
                int(instance.release[instance.job_of_task[task]]),
                int(instance.job_of_task[task]) if same_job else 0,
                tuple(sorted((number[head], data) for head, data in after[task])),
                tuple(sorted((size, *sorted(number[other] for other in tasks)) for size, tasks in buffers[task])),
            )
            for task in part
        )
        classes.setdefault(key if all(home is not None for home, *_ in key) else object(), []).append(part)
    return [parts for parts in classes.values() if len(parts) > 1]


def _home(instance: DagInstance, place: NDArray[np.bool_], task: int) -> tuple[str, int] | None:
    """Return what makes copies of a task share a GPU: its only GPU, or its group; None where nothing does."""
    gpus = np.flatnonzero(place[task])
    if len(gpus) == 1:
        return "gpu", int(gpus[0])
    group = int(instance.group_of_task[task])
    return ("group", group) if group >= 0 else None


def placements(instance: DagInstance, most: int) -> list[list[int]] | None:
    """Return the GPUs of all tasks in every placement that groups and the tasks' own memory allow.

    None where there are more than `most`. Placements that differ by swaps of GPUs that nothing tells apart count once.
    """
    members = units(instance)
    place = place_of_task(instance)
    choices = [np.flatnonzero(place[unit[0]]).tolist() for unit in members]
    held = [int(instance.task_memory[unit].sum()) for unit in members]
    twin = _twins(instance, place)
    found: list[list[int]] = []
    chosen: list[int] = []

    def extend(used: list[int]) -> bool:
        if len(chosen) == len(members):
            gpu = [0] * instance.num_tasks
            for unit, k in zip(members, chosen, strict=True):
                for task in unit:
                    gpu[task] = k
            found.append(gpu)
            return len(found) <= most
        for k in choices[len(chosen)]:
            if twin[k] >= 0 and twin[k] not in chosen:
                continue  # the twin before it is still unused
            limit = int(instance.gpu_memory[k])
            if limit >= 0 and used[k] + held[len(chosen)] > limit:
                continue
            used[k] += held[len(chosen)]
            chosen.append(k)
            goes_on = extend(used)
            used[k] -= held[len(chosen) - 1]
            chosen.pop()
            if not goes_on:
                return False
        return True

    return found if extend([0] * instance.num_gpus) else None


def _twins(instance: DagInstance, place: NDArray[np.bool_]) -> list[int]:
    """Return for every GPU the one before it that nothing tells apart from it, -1 where there is none."""
    m = instance.num_gpus
    twin = [-1] * m
    for k in range(m):
        for other in reversed(range(k)):
            swapped = np.arange(m)
            swapped[[k, other]] = other, k
            if (
                instance.gpu_memory[k] == instance.gpu_memory[other]
                and (place[:, k] == place[:, other]).all()
                and (instance.durations[:, k] == instance.durations[:, other]).all()
                and np.array_equal(instance.latency[np.ix_(swapped, swapped)], instance.latency)
                and np.array_equal(instance.bytes_per_tick[np.ix_(swapped, swapped)], instance.bytes_per_tick)
            ):
                twin[k] = other
                break
    return twin
