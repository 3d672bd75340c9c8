"""Contracting tasks into others so that the graph stays free of cycles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from instances.readers.dag.measured_graph import MeasuredGraph


def zero_time_roots(is_zero: Sequence[bool], edges: Sequence[tuple[int, int, int]]) -> list[int]:
    """Say for each task into which task it is contracted, so that few tasks without a duration remain.

    A task of time 0 goes into its predecessor where it has only one, else into its successor where it has only one;
    others stay. Such a step closes no cycle, and every schedule of the contracted graph is one of the original graph in
    which the task sits with its neighbour, at the neighbour's finish or start.

    Parameters
    ----------
    is_zero
        Whether each task takes no time, on any GPU.
    edges
        ``(from, to, bytes)`` per edge, without cycles.

    Returns
    -------
    list[int]
        For each task the remaining task that it is part of, itself where it remains.
    """
    roots = list(range(len(is_zero)))
    before: list[set[int]] = [set() for _ in roots]
    after: list[set[int]] = [set() for _ in roots]
    for tail, head, _ in edges:
        before[head].add(tail)
        after[tail].add(head)
    waiting = [task for task in roots if is_zero[task]]
    changed = True
    while changed:
        changed, kept = False, []
        for task in waiting:
            if len(before[task]) != 1 and len(after[task]) != 1:
                kept.append(task)
                continue
            roots[task] = next(iter(before[task] if len(before[task]) == 1 else after[task]))
            _move_edges(task, roots[task], before, after)
            changed = True
        waiting = kept
    return [_find(roots, task) for task in range(len(roots))]


def class_roots(classes: Sequence[Hashable], edges: Sequence[tuple[int, int, int]]) -> tuple[list[int], list[Hashable]]:
    """Say for each task into which task it is contracted, so that each class is one task.

    A class stays apart if contracting it would close a cycle: if a path leaves it and comes back. Classes are taken in
    the order of their first tasks.

    Parameters
    ----------
    classes
        Class of each task.
    edges
        ``(from, to, bytes)`` per edge, without cycles.

    Returns
    -------
    list[int]
        For each task the first task of its class, or itself where the class stays apart.
    list[Hashable]
        Classes of several tasks that stay apart.
    """
    members: dict[Hashable, list[int]] = {}
    for task, name in enumerate(classes):
        members.setdefault(name, []).append(task)
    after: list[set[int]] = [set() for _ in classes]
    before: list[set[int]] = [set() for _ in classes]
    for tail, head, _ in edges:
        after[tail].add(head)
        before[head].add(tail)
    roots, apart = list(range(len(classes))), []
    for name, tasks in members.items():
        if _returns(set(tasks), after):
            apart.append(name)
            continue
        for task in tasks[1:]:
            roots[task] = tasks[0]
            _move_edges(task, tasks[0], before, after)
    return roots, apart


def contracted_edges(edges: Sequence[tuple[int, int, int]], roots: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the edges between the remaining tasks, numbered anew in their order.

    Of several edges between the same two tasks the largest counts: each has a transfer delay of its own, and the
    delays do not add up.
    """
    number_of_root = {root: number for number, root in enumerate(remaining(roots))}
    largest: dict[tuple[int, int], int] = {}
    for tail, head, data in edges:
        ends = number_of_root[roots[tail]], number_of_root[roots[head]]
        if ends[0] != ends[1]:
            largest[ends] = max(data, largest.get(ends, 0))
    return [(tail, head, data) for (tail, head), data in largest.items()]


def remaining(roots: Sequence[int]) -> list[int]:
    """Return the tasks that remain."""
    return [task for task, root in enumerate(roots) if task == root]


def contracted_sums(values: Sequence[float], roots: Sequence[int]) -> list[float]:
    """Return the sum over the parts of each remaining task."""
    total = [0 * value for value in values]
    for value, root in zip(values, roots, strict=True):
        total[root] += value
    return [total[task] for task in remaining(roots)]


def _move_edges(task: int, root: int, before: list[set[int]], after: list[set[int]]) -> None:
    """Give the edges of a task to another one; edges between the two vanish."""
    for neighbour in before[task]:
        after[neighbour].discard(task)
        if neighbour != root:
            after[neighbour].add(root)
            before[root].add(neighbour)
    for neighbour in after[task]:
        before[neighbour].discard(task)
        if neighbour != root:
            before[neighbour].add(root)
            after[root].add(neighbour)
    before[task], after[task] = set(), set()


def _returns(tasks: set[int], after: list[set[int]]) -> bool:
    """Say whether a path leaves a set of tasks and comes back to it."""
    waiting = [head for tail in tasks for head in after[tail] if head not in tasks]
    seen = set(waiting)
    while waiting:
        for head in after[waiting.pop()]:
            if head in tasks:
                return True
            if head not in seen:
                seen.add(head)
                waiting.append(head)
    return False


def _find(roots: list[int], task: int) -> int:
    """Follow the contractions to the task that remains."""
    while roots[task] != task:
        task = roots[task]
    return task


def contract_zero_time(graph: MeasuredGraph) -> MeasuredGraph:
    """Return the graph with tasks of time 0 made part of a neighbour where that closes no cycle.

    Memory adds up; name, balance and job are those of the neighbour. See `zero_time_roots` for which tasks and why a
    schedule of the result is one of the graph.
    """
    roots = zero_time_roots([seconds == 0 for seconds in graph.seconds], graph.edges)
    kept = remaining(roots)
    return replace(
        graph,
        task_names=[graph.task_names[task] for task in kept],
        seconds=contracted_sums(graph.seconds, roots),
        memory_bytes=[int(total) for total in contracted_sums(graph.memory_bytes, roots)],
        edges=contracted_edges(graph.edges, roots),
        balance_of_task=[graph.balance_of_task[task] for task in kept] if graph.balance_of_task else (),
        job_of_task=[graph.job_of_task[task] for task in kept] if graph.job_of_task else (),
    )
