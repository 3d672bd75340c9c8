"""Memory that is released and tasks that stay together: the checks of an instance's buffers and groups, and who meets.

A buffer belongs to a task, is held on that task's GPU from its start, and is released when the last of certain tasks
finishes. Tasks of one group run on one GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from instances.dag.graph import successor_lists
from instances.frozen_array import MAX_INTEGER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


NO_GROUP = -1
"""Group of a task that is in none."""


class Buffer(NamedTuple):
    """Bytes on the GPU of `task`, held from its start until the last task of `released_by` finishes."""

    task: int
    size: int
    released_by: tuple[int, ...]


def check_buffers(instance: DagInstance) -> None:
    """Check buffers and groups of an instance whose tasks, edges and GPUs are right.

    Raises a `ValueError` if a value is out of range, a buffer is released by a task that does not follow its own, the
    tasks of a group have no GPU in common that holds them, or a task and the buffers that are surely live with it are
    larger than every GPU on which it may run.
    """
    for task in np.flatnonzero(instance.group_of_task < NO_GROUP):
        raise ValueError(f"tasks[{task}].group: expected at least 0, got {instance.group_of_task[task]}.")
    _check_values(instance)
    lines = Descendants(instance.num_tasks, instance.edges)
    for number, buffer in enumerate(instance.buffers):
        for releaser in buffer.released_by:
            if not lines.is_reached(buffer.task, releaser):
                raise ValueError(
                    f"buffers[{number}]: expected tasks that follow task {buffer.task}, or that task, to release it, "
                    f"got {releaser}."
                )
    _check_groups(instance)
    _check_least_memory(instance, lines)


def _check_values(instance: DagInstance) -> None:
    """Check sizes and references of every buffer."""
    last = instance.num_tasks - 1
    for number, buffer in enumerate(instance.buffers):
        place = f"buffers[{number}]"
        if not 0 <= buffer.task <= last:
            raise ValueError(f"{place}: expected a task in 0..{last}, got {buffer.task}.")
        if buffer.size < 0:
            raise ValueError(f"{place}: expected at least 0 bytes, got {buffer.size}.")
        if not buffer.released_by:
            raise ValueError(f"{place}: expected at least one task that releases it, got none.")
        for releaser in buffer.released_by:
            if not 0 <= releaser <= last:
                raise ValueError(f"{place}: expected tasks in 0..{last} to release it, got {releaser}.")
        if len(set(buffer.released_by)) < len(buffer.released_by):
            raise ValueError(f"{place}: expected each task that releases it once, got {list(buffer.released_by)}.")
    total = sum(instance.buffer_bytes.tolist()) + sum(instance.task_memory.tolist())
    if total > MAX_INTEGER:
        raise ValueError(f"buffers: expected at most 2**53 bytes together with the tasks' memory, got {total}.")


def _check_groups(instance: DagInstance) -> None:
    """Check that some GPU may run all tasks of a group and holds their memory."""
    for unit in units(instance):
        if len(unit) < 2:
            continue
        group, may_run = instance.group_of_task[unit[0]], (instance.durations[unit] >= 0).all(axis=0)
        if not may_run.any():
            raise ValueError(f"tasks[].group: expected a GPU that may run all tasks of group {group}, got none.")
        needed = int(instance.task_memory[unit].sum())
        if (may_run & ((instance.gpu_memory < 0) | (instance.gpu_memory >= needed))).any():
            continue
        most = int(instance.gpu_memory[may_run].max())
        raise ValueError(
            f"tasks[].group: expected at most {most} bytes for group {group}, the largest memory of a GPU that may run "
            f"it, got {needed}."
        )


def _check_least_memory(instance: DagInstance, lines: Descendants) -> None:
    """Check every task together with the buffers of tasks on its GPU that are live when it starts, in any schedule."""
    if not instance.num_buffers or (instance.gpu_memory < 0).all():
        return
    needed, place = least_memory(instance, lines), place_of_task(instance)
    for task in np.flatnonzero(needed > 0).tolist():
        may_run = place[task]
        most = int(instance.gpu_memory[may_run].max(initial=-1))
        if (instance.gpu_memory[may_run] < 0).any() or needed[task] <= most:
            continue
        raise ValueError(
            f"tasks[{task}]: expected a GPU with at least {needed[task]} bytes for it and what is held with it when it "
            f"starts in any schedule ({_surely_live(instance, lines, task)}), got at most {most}."
        )


def _surely_live(instance: DagInstance, lines: Descendants, task: int) -> str:
    """Name the buffers on the GPU of a task that are live when it starts in any schedule, at most five of them."""
    same = _known_places(instance)
    found = [
        number
        for number, buffer in enumerate(instance.buffers)
        if buffer.size and same[buffer.task] == same[task] and task in lines.between(buffer.task, buffer.released_by)
    ]
    names = ", ".join(map(str, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return f"buffer{'s' if len(found) > 1 else ''} {names}" if found else "no buffer"


def units(instance: DagInstance) -> list[list[int]]:
    """Return the tasks of every group, and every task without a group by itself, ordered by their first tasks."""
    members: dict[int, list[int]] = {}
    for task, group in enumerate(instance.group_of_task.tolist()):
        members.setdefault(group if group >= 0 else -1 - task, []).append(task)
    return list(members.values())


def place_of_task(instance: DagInstance) -> NDArray[np.bool_]:
    """Return where the whole group of each task may run and fits, shape (n, m)."""
    place = np.zeros((instance.num_tasks, instance.num_gpus), dtype=bool)
    for unit in units(instance):
        needed = int(instance.task_memory[unit].sum())
        fits = (instance.gpu_memory < 0) | (instance.gpu_memory >= needed)
        place[unit] = (instance.durations[unit] >= 0).all(axis=0) & fits
    return place


def memory_for_buffers(instance: DagInstance, gpu: Sequence[int]) -> list[int | None]:
    """Return the bytes that the tasks themselves leave on every GPU for buffers; None where there is no limit.

    Parameters
    ----------
    gpu
        GPU of every task.
    """
    held = np.bincount(gpu, weights=instance.task_memory, minlength=instance.num_gpus).astype(np.int64)
    return [None if limit < 0 else int(limit - held[k]) for k, limit in enumerate(instance.gpu_memory)]


def least_memory(instance: DagInstance, lines: Descendants | None = None) -> NDArray[np.int64]:
    """Return bytes that are held on the GPU of each task when it starts, in any schedule, shape (n,).

    These are the memory of the tasks that are on its GPU in any case, and their buffers that began with the task or one
    before it and are released by it or by one after it. 0 for tasks that may have duration 0.
    """
    lines = Descendants(instance.num_tasks, instance.edges) if lines is None else lines
    place, key = place_of_task(instance), _known_places(instance)
    held = np.bincount(key, weights=instance.task_memory).astype(np.int64)[key]
    for buffer in instance.buffers:
        for task in lines.between(buffer.task, buffer.released_by):
            if key[task] == key[buffer.task]:
                held[task] += buffer.size
    shortest = np.where(place, instance.durations, MAX_INTEGER).min(axis=1)
    return np.where(shortest > 0, held, 0)


def _known_places(instance: DagInstance) -> NDArray[np.int64]:
    """Return numbers from 0 on that are equal for tasks that are on one GPU in any schedule, shape (n,)."""
    place, key = place_of_task(instance), np.empty(instance.num_tasks, dtype=np.int64)
    for number, unit in enumerate(units(instance)):
        gpus = np.flatnonzero(place[unit[0]])
        key[unit] = -1 - gpus[0] if len(gpus) == 1 else number
    _, key = np.unique(key, return_inverse=True)
    return key.reshape(instance.num_tasks)


class Descendants:
    """Which tasks follow which, as sets of bits that are made for one connected part when first needed."""

    def __init__(self, num_tasks: int, edges: NDArray[np.int64]) -> None:
        self._after = successor_lists(num_tasks, edges)
        self._part, self._index = _parts(num_tasks, edges)
        self._known: dict[int, list[int]] = {}

    def _descendants(self, part: int) -> list[int]:
        """Return for each task of a part the set of itself and what follows it."""
        known = self._known.get(part)
        if known is None:
            tasks = self._part[part]
            known = self._known[part] = [0] * len(tasks)
            done: set[int] = set()
            for first in tasks:
                stack = [first]
                while stack:
                    task = stack[-1]
                    waiting = [head for head in self._after[task] if head not in done]
                    if waiting and task not in done:
                        stack += waiting
                        continue
                    stack.pop()
                    if task not in done:
                        done.add(task)
                        bits = 1 << self._index[task][1]
                        for head in self._after[task]:
                            bits |= known[self._index[head][1]]
                        known[self._index[task][1]] = bits
        return known

    def is_reached(self, task: int, other: int) -> bool:
        """Say whether a task is the other one or comes before it."""
        if task == other or other in self._after[task]:
            return True
        (part, index), (other_part, other_index) = self._index[task], self._index[other]
        return part == other_part and bool(self._descendants(part)[index] >> other_index & 1)

    def between(self, task: int, others: tuple[int, ...]) -> list[int]:
        """Return `task` and what follows it, as far as one of `others` is it or follows it."""
        part, index = self._index[task]
        known = self._descendants(part)
        wanted = sum(1 << self._index[other][1] for other in set(others))
        found, bits = list[int](), known[index]
        while bits:
            lowest = bits & -bits
            place = lowest.bit_length() - 1
            if known[place] & wanted:
                found.append(self._part[part][place])
            bits ^= lowest
        return found


def _parts(num_tasks: int, edges: NDArray[np.int64]) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Return the tasks of every connected part in ascending order, and the part and the place in it of every task."""
    parent = list(range(num_tasks))

    def root(task: int) -> int:
        while parent[task] != task:
            parent[task] = parent[parent[task]]
            task = parent[task]
        return task

    for tail, head in edges.tolist():
        one, other = root(tail), root(head)
        parent[max(one, other)] = min(one, other)
    members: dict[int, list[int]] = {}
    for task in range(num_tasks):
        members.setdefault(root(task), []).append(task)
    parts = list(members.values())
    index = [(0, 0)] * num_tasks
    for number, tasks in enumerate(parts):
        for place, task in enumerate(tasks):
            index[task] = (number, place)
    return parts, index


def connected_parts(instance: DagInstance) -> list[list[int]]:
    """Return the tasks of every connected part of the graph in ascending order, ordered by their first tasks."""
    return _parts(instance.num_tasks, instance.edges)[0]
