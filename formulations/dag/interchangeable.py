"""What may be swapped without changing the problem: like GPUs, like servers, like tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Interchangeable:
    """Classes of at least two members; the data decide, not the names of kinds.

    Parameters
    ----------
    gpus
        Classes of GPUs: any two of a class have the same durations, memory and links to all others, and the same link
        to each other in both directions.
    servers
        Classes of whole servers, each server as its GPUs: all GPUs of one can be swapped at once with those of the
        other, place by place.
    tasks
        Classes of tasks with the same durations, memory, job, predecessors, successors and bytes.
    """

    gpus: tuple[tuple[int, ...], ...] = ()
    servers: tuple[tuple[tuple[int, ...], ...], ...] = ()
    tasks: tuple[tuple[int, ...], ...] = ()


def gpu_classes(instance: DagInstance, allowed: NDArray[np.bool_] | None = None) -> list[NDArray[np.int64]]:
    """Return the GPUs in classes of which any two can be swapped; some have one member, and these come last.

    Parameters
    ----------
    allowed
        Pairs of task and GPU that are left, shape (n, m): GPUs that differ in these are alone. By default all are left.
    """
    like = [np.array(members) for members in interchangeable(instance).gpus]
    if allowed is not None:
        like = [members for members in like if (allowed[:, members] == allowed[:, members[:1]]).all()]
    alone = np.setdiff1d(np.arange(instance.num_gpus), np.concatenate([np.zeros(0, dtype=np.int64), *like]))
    return [*like, *(np.array([k]) for k in alone.tolist())]


def number_of_class(classes: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the number of the class of each GPU, shape (m,)."""
    numbers = np.zeros(sum(map(len, classes)), dtype=np.int64)
    for number, members in enumerate(classes):
        numbers[members] = number
    return numbers


def interchangeable(instance: DagInstance) -> Interchangeable:
    """Find GPUs within a server, and GPUs that each make up a server; then whole servers of several GPUs; then tasks.

    Swapping GPUs within classes, servers within classes and tasks within classes are symmetries that commute in this
    order: a schedule can be brought into a normal form for all of them (`normal_form`; docs/formulations.md, section
    4.3).
    """
    servers = [
        np.flatnonzero(np.array(instance.gpu_servers) == name).tolist() for name in dict.fromkeys(instance.gpu_servers)
    ]
    alone = [k for server in servers if len(server) == 1 for k in server]
    groups = [server for server in servers if len(server) > 1]
    gpus = [cls for group in [*groups, alone] for cls in _classes(group, lambda k, l: _can_swap(instance, [k], [l]))]
    whole = _classes(range(len(groups)), lambda a, b: _can_swap(instance, groups[a], groups[b]))
    return Interchangeable(
        gpus=tuple(tuple(cls) for cls in gpus),
        servers=tuple(tuple(tuple(groups[index]) for index in cls) for cls in whole),
        tasks=_like_tasks(instance),
    )


def first_use_order(instance: DagInstance) -> list[int]:
    """Return the order of tasks in which the GPUs of a class are used first: topological, from the narrower end.

    Any fixed order is valid; a graph with more sinks than sources is taken from its sources, a join from its sink.
    """
    order: list[int] = instance.topological_order.tolist()
    has_predecessor, has_successor = np.zeros((2, instance.num_tasks), dtype=np.bool_)
    has_predecessor[instance.edges[:, 1]] = has_successor[instance.edges[:, 0]] = True
    return order if (~has_predecessor).sum() <= (~has_successor).sum() else order[::-1]


def normal_form(instance: DagInstance, classes: Interchangeable, schedule: DagSchedule) -> DagSchedule:
    """Return the schedule with like tasks in order of start, and like servers and GPUs in order of first use."""
    gpu, start, role = schedule.gpu.copy(), schedule.start.copy(), np.arange(instance.num_tasks)
    for tasks in classes.tasks:
        members = np.array(tasks)
        by_start = members[np.argsort(start[members], kind="stable")]
        gpu[members], start[members], role[members] = gpu[by_start], start[by_start], by_start
    order = np.array(first_use_order(instance), dtype=np.int64)
    for servers in classes.servers:
        first = [first_use(gpu[order], server) for server in servers]
        renamed = gpu.copy()
        for new, old in enumerate(np.argsort(first, kind="stable")):
            for to, which in zip(servers[new], servers[old], strict=True):
                renamed[gpu == which] = to
        gpu = renamed
    for gpus in classes.gpus:
        first = [first_use(gpu[order], [k]) for k in gpus]
        renamed = gpu.copy()
        for new, old in enumerate(np.argsort(first, kind="stable")):
            renamed[gpu == gpus[old]] = gpus[new]
        gpu = renamed
    return DagSchedule(
        gpu=gpu, start=start, transfer_start=_transfer_start(instance, schedule, role), instance=instance
    )


def _transfer_start(instance: DagInstance, schedule: DagSchedule, role: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the starts of transfers if each task has the role of another one, whose edges have their roles too."""
    if schedule.transfer_start is None:
        return None
    edge_between = {(tail, head): edge for edge, (tail, head) in enumerate(instance.edges.tolist())}
    edges = [edge_between[tail, head] for tail, head in role[instance.edges].tolist()]
    return schedule.transfer_start[np.array(edges, dtype=np.int64)]


def first_use(gpus_in_order: NDArray[np.int64], wanted: Iterable[int]) -> int:
    """Return the first place where one of some GPUs occurs, or the length if none does."""
    places = np.flatnonzero(np.isin(gpus_in_order, list(wanted)))
    return int(places[0]) if len(places) else len(gpus_in_order)


def _classes(members: Iterable[int], alike: Callable[[int, int], bool]) -> list[list[int]]:
    """Group members by an equivalence relation; only groups of at least two."""
    groups: list[list[int]] = []
    for member in members:
        for group in groups:
            if alike(group[0], member):
                group.append(member)
                break
        else:
            groups.append([member])
    return [group for group in groups if len(group) > 1]


def _can_swap(instance: DagInstance, first: list[int], second: list[int]) -> bool:
    """Say whether swapping some GPUs with as many others, place by place, leaves all data unchanged."""
    if len(first) != len(second):
        return False
    swap = np.arange(instance.num_gpus)
    swap[first], swap[second] = second, first
    links = np.stack([instance.latency.astype(np.float64), instance.bytes_per_tick])
    off_diagonal = ~np.eye(instance.num_gpus, dtype=np.bool_)
    return bool(
        (instance.durations == instance.durations[:, swap]).all()
        and (instance.gpu_memory == instance.gpu_memory[swap]).all()
        and (links == links[:, swap][:, :, swap])[:, off_diagonal].all()
    )


def _like_tasks(instance: DagInstance) -> tuple[tuple[int, ...], ...]:
    """Return the classes of tasks that differ in nothing but their number."""
    before: list[list[tuple[int, int]]] = [[] for _ in range(instance.num_tasks)]
    after: list[list[tuple[int, int]]] = [[] for _ in range(instance.num_tasks)]
    for (tail, head), data in zip(instance.edges.tolist(), instance.edge_bytes.tolist(), strict=True):
        before[head].append((tail, data))
        after[tail].append((head, data))
    groups: dict[object, list[int]] = {}
    for task in range(instance.num_tasks):
        key = (
            tuple(instance.durations[task].tolist()),
            int(instance.task_memory[task]),
            int(instance.job_of_task[task]),
            tuple(sorted(before[task])),
            tuple(sorted(after[task])),
        )
        groups.setdefault(key, []).append(task)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
