"""Search over down-sets with released memory: counts in the place of sets, for one placement.

Micro-batches that are copies of each other run in their order (docs/formulations.md, section 4.6), so that a down-set
says how many copies of every task have started. Where nothing is a copy, every count is 0 or 1: plain down-sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.fixed_placement import FixedPlacement, like_parts
from formulations.dag.windows import horizon
from instances.dag.buffers import memory_for_buffers
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from instances.dag.instance import DagInstance


Counts = tuple[int, ...]
"""How many tasks of every chain have started."""

NOT_YET = -1
"""First start on a GPU where nothing has started."""

LABELS_PER_QUESTION = 100
"""After so many labels of a down-set, and at its first one, a search asks whether to stop."""


@dataclass(slots=True)
class _Label:
    """A partial schedule in the order of starts: what the tasks that have started mean for those that have not."""

    clock: int  # last start
    free: tuple[int, ...]  # when every GPU is free
    ready: tuple[int, ...]  # when data, releases and copies allow every task to start
    ends: tuple[int, ...]  # last finish, so far, of the tasks that release every buffer
    first: tuple[int, ...]  # first start on every GPU
    completion: tuple[int, ...]  # last finish of every job so far, its release at least
    parent: _Label | None
    task: int
    start: int


_Layer = dict[Counts, dict[tuple[int, ...], _Label]]
"""Labels of equally many tasks, by counts and by what is compared between them."""


@dataclass(slots=True)
class _Place:
    """What all labels of a down-set have in common."""

    following: list[tuple[int, int]]  # tasks that may start next, each with its chain
    work: list[int]  # ticks that are left for every GPU
    waiting: list[int]  # tasks that have not started
    room: list[int | None]  # bytes that are left on every GPU by the buffers that some task has yet to release
    pending: list[int]  # buffers that some, but not all of their tasks have released
    over: list[list[int]]  # per GPU the buffers that all of their tasks have released


@dataclass(frozen=True, slots=True)
class Counted:
    """What one search found: a schedule, and whether it went through everything."""

    schedule: DagSchedule | None
    is_complete: bool


class InstantOwnerError(ValueError):
    """A placement lets a task that takes no time own a buffer on a GPU with a limit."""


class CountSearch:
    """Labels for one placement, layer by layer; ours.

    A label starts the next task of a chain as early as data, its GPU, memory and the last start allow, so that starts
    never decrease. Memory is part of the label: when each buffer ends. Of two labels with the same counts, one in which
    nothing is later dominates. For the stage span, which is not regular, the first task of a GPU may also start at
    certain later ticks: whenever a label needs a GPU for longer than the span, the first start that would have been
    late enough joins these ticks, and the search is made again until no tick is new (docs/formulations.md, section
    10.4).

    Parameters
    ----------
    gpu
        GPU of every task.

    Attributes
    ----------
    chains
        Copies of every task in their order; a task without copies is alone.
    known_counts
        What the labels of every down-set that was met have in common, by counts.

    Raises
    ------
    InstantOwnerError
        If a task that takes no time owns a buffer on a GPU with a limit: then starts do not say which came first.
    """

    def __init__(self, instance: DagInstance, objective: Objective, gpu: Sequence[int]) -> None:
        self._instance, self._objective = instance, Objective(objective)
        self._fixed = FixedPlacement(instance, gpu)
        self._gpu, self._ticks = list(gpu), self._fixed.duration
        self._memory = memory_for_buffers(instance, gpu)
        self._buffers = [
            buffer for buffer in instance.buffers if buffer.size > 0 and self._memory[gpu[buffer.task]] is not None
        ]
        self._owned: list[list[int]] = [[] for _ in gpu]
        self._released: list[list[int]] = [[] for _ in gpu]
        for number, buffer in enumerate(self._buffers):
            if self._ticks[buffer.task] == 0:
                raise InstantOwnerError(
                    f"buffers: expected tasks that take a tick at least to hold them, got task {buffer.task}."
                )
            self._owned[buffer.task].append(number)
            for other in buffer.released_by:
                self._released[other].append(number)
        self._takes = [sum(self._buffers[number].size for number in mine) for mine in self._owned]
        self.chains = self._copies()
        self._after: list[list[tuple[int, int]]] = [list(heads) for heads in self._fixed.after]
        for chain in self.chains:
            for one, other in pairwise(chain):
                self._after[one].append((other, self._ticks[one]))
        self._before: list[list[int]] = [[] for _ in gpu]
        for tail, heads in enumerate(self._after):
            for head, _ in heads:
                self._before[head].append(tail)
        self._tails, self._tails_on_gpu = self._fixed.tails(), self._fixed.tails_on_gpu()
        self._horizon = horizon(instance)
        self.known_counts: dict[Counts, _Place] = {}
        self._later: list[set[int]] = [set() for _ in range(instance.num_gpus)]
        self._at_most = 0

    def search(self, at_most: int | None, width: int, should_stop: Callable[[], bool]) -> Counted:
        """Look for a schedule with an objective up to a value, None for any, with so many labels per layer."""
        most = self._horizon if self._objective is not Objective.WEIGHTED_COMPLETION else 2**62
        self._at_most = most if at_most is None else min(at_most, most)
        self._later = [set() for _ in self._later]
        while True:
            known = sum(len(ticks) for ticks in self._later)
            found = self._search_once(width, should_stop)
            if found.schedule is not None or not found.is_complete:
                return found
            if sum(len(ticks) for ticks in self._later) == known:
                return found

    def _copies(self) -> list[list[int]]:
        """Return the copies of every task in their order; a task without copies is alone."""
        chains: list[list[int]] = []
        for parts in like_parts(self._instance, same_job=self._objective is Objective.WEIGHTED_COMPLETION):
            chains += [list(copies) for copies in zip(*parts, strict=True)]
        copied = {task for chain in chains for task in chain}
        return chains + [[task] for task in range(self._instance.num_tasks) if task not in copied]

    def _search_once(self, width: int, should_stop: Callable[[], bool]) -> Counted:
        """Search with the later first starts that are known."""
        instance, nothing = self._instance, (0,) * len(self.chains)
        root = _Label(
            clock=0,
            free=(0,) * instance.num_gpus,
            ready=tuple(instance.release[instance.job_of_task].tolist()),
            ends=(0,) * len(self._buffers),
            first=(NOT_YET,) * instance.num_gpus,
            completion=tuple(instance.release.tolist()),
            parent=None,
            task=0,
            start=0,
        )
        layer: _Layer = {nothing: {(): root}}
        is_complete = True
        for _ in range(instance.num_tasks):
            following: _Layer = {}
            size = 0
            for counts, labels in layer.items():
                for number, label in enumerate(labels.values()):
                    if number % LABELS_PER_QUESTION == 0 and should_stop():
                        return Counted(None, False)
                    for chain, child in self._children(counts, label):
                        reached = (*counts[:chain], counts[chain] + 1, *counts[chain + 1 :])
                        size += self._keep(following.setdefault(reached, {}), self._vector(reached, child), child)
                    if size > 2 * width:  # cut before all of it takes memory
                        is_complete, size, following = False, width, self._best(following, width)
            if size > width:
                is_complete, following = False, self._best(following, width)
            layer = following
        schedules = [self._schedule(label) for labels in layer.values() for label in labels.values()]
        best = min(schedules, key=lambda one: objective_value(instance, one, self._objective), default=None)
        return Counted(best, is_complete)

    def _place(self, counts: Counts) -> _Place:
        """Return what all labels of a down-set have in common."""
        place = self.known_counts.get(counts)
        if place is not None:
            return place
        started = {task for chain, count in zip(self.chains, counts, strict=True) for task in chain[:count]}
        waiting = [task for task in range(len(self._gpu)) if task not in started]
        work = [0] * self._instance.num_gpus
        for task in waiting:
            work[self._gpu[task]] += self._ticks[task]
        room, pending, over = list(self._memory), [], [list[int]() for _ in work]
        for number, buffer in enumerate(self._buffers):
            left = sum(other not in started for other in buffer.released_by)
            k = self._gpu[buffer.task]
            if buffer.task in started and left > 0:
                free = room[k]
                room[k] = None if free is None else free - buffer.size
                if left < len(buffer.released_by):
                    pending.append(number)
            elif left == 0:
                over[k].append(number)
        following = [
            (chain[count], number)
            for number, (chain, count) in enumerate(zip(self.chains, counts, strict=True))
            if count < len(chain) and all(tail in started for tail in self._before[chain[count]])
        ]
        place = self.known_counts[counts] = _Place(following, work, waiting, room, pending, over)
        return place

    def _children(self, counts: Counts, label: _Label) -> list[tuple[int, _Label]]:
        """Return the labels in which one task more has started, each with the chain of that task."""
        place = self._place(counts)
        begins = {task: self._begin(place, label, task) for task, _ in place.following}
        children = []
        for task, chain in place.following:
            begin, k = begins[task], self._gpu[task]
            if begin is None or self._fits_before(begins, task, begin):
                continue
            ticks = [begin]
            if self._objective is Objective.STAGE_SPAN and label.first[k] == NOT_YET:
                ticks += sorted(tick for tick in self._later[k] if tick > begin)
            for tick in ticks:
                child = self._child(place, label, task, tick)
                if child is not None:
                    children.append((chain, child))
        return children

    def _begin(self, place: _Place, label: _Label, task: int) -> int | None:
        """Return when a task can start; None where memory must be released by tasks that have not started."""
        k = self._gpu[task]
        begin = max(label.ready[task], label.clock, label.free[k] if self._ticks[task] else 0)
        room = place.room[k]
        if not self._takes[task] or room is None:
            return begin
        live = sorted((label.ends[number], self._buffers[number].size) for number in place.over[k])
        room -= self._takes[task] + sum(size for end, size in live if end > begin)
        for end, size in live:
            if room >= 0:
                break
            if end > begin:
                room, begin = room + size, end
        return begin if room >= 0 else None

    def _fits_before(self, begins: dict[int, int | None], task: int, begin: int) -> bool:
        """Say whether another task without buffers fits before this one, so that this one need not be next."""
        # not for the stage span: moving a task to the front can make the first start on the GPU earlier
        if self._objective is Objective.STAGE_SPAN or self._ticks[task] == 0:
            return False
        return any(
            other != task
            and tick is not None
            and self._gpu[other] == self._gpu[task]
            and not self._takes[other]
            and 0 < self._ticks[other] <= begin - tick
            for other, tick in begins.items()
        )

    def _child(self, place: _Place, label: _Label, task: int, start: int) -> _Label | None:
        """Start a task; None where no schedule within the objective can follow."""
        k, finish, job = self._gpu[task], start + self._ticks[task], int(self._instance.job_of_task[task])
        free, ready, ends, first = list(label.free), list(label.ready), list(label.ends), list(label.first)
        completion = list(label.completion)
        if self._ticks[task]:
            free[k] = finish
        for head, ticks in self._after[task]:
            ready[head] = max(ready[head], start + ticks)
        for number in self._released[task]:
            ends[number] = max(ends[number], finish)
        if first[k] == NOT_YET:
            first[k] = start
        completion[job] = max(completion[job], finish)
        child = _Label(
            clock=start,
            free=tuple(free),
            ready=tuple(ready),
            ends=tuple(ends),
            first=tuple(first),
            completion=tuple(completion),
            parent=label,
            task=task,
            start=start,
        )
        return child if self._is_possible(place, child, task, finish) else None

    def _is_possible(self, place: _Place, child: _Label, task: int, finish: int) -> bool:
        """Say whether a label may lead to a schedule within the objective; note later first starts that would help."""
        if finish + self._tails[task] > self._horizon:
            return False
        if self._objective is Objective.WEIGHTED_COMPLETION:
            completion = list(child.completion)
            for other in place.waiting:
                if other != task:
                    job = int(self._instance.job_of_task[other])
                    completion[job] = max(completion[job], max(child.ready[other], child.clock) + self._ticks[other])
            return int(np.dot(self._instance.weight, completion)) <= self._at_most
        left = list(place.work)
        left[self._gpu[task]] -= self._ticks[task]
        ends = [max(free, child.clock) + work if work else free for free, work in zip(child.free, left, strict=True)]
        if self._objective is Objective.MAKESPAN:
            return max(*ends, finish + self._tails[task]) <= self._at_most
        ends[self._gpu[task]] = max(ends[self._gpu[task]], finish + self._tails_on_gpu[task])
        is_possible = True
        for k, (first, end) in enumerate(zip(child.first, ends, strict=True)):
            if first != NOT_YET and end > first + self._at_most:
                is_possible = False
                if end - self._at_most <= self._horizon:
                    self._later[k].add(end - self._at_most)
        return is_possible

    def _vector(self, counts: Counts, label: _Label) -> tuple[int, ...]:
        """Return what is compared between labels of the same counts; smaller is better."""
        place, clock = self._place(counts), label.clock
        free = [max(tick, clock) for tick in label.free]
        values = [clock, *(tick for tick, work in zip(free, place.work, strict=True) if work)]
        values += [
            max(label.ready[task], free[self._gpu[task]] if self._ticks[task] else clock) for task in place.waiting
        ]
        values += [max(label.ends[number], clock) for number in place.pending]
        values += [max(label.ends[number], free[k]) for k, over in enumerate(place.over) for number in over]
        if self._objective is Objective.WEIGHTED_COMPLETION:
            values += label.completion
        elif self._objective is Objective.STAGE_SPAN:
            values += [-first for first in label.first]
        return tuple(values)

    @staticmethod
    def _keep(kept: dict[tuple[int, ...], _Label], vector: tuple[int, ...], label: _Label) -> int:
        """Keep a label unless one dominates it, drop those that it dominates, and return how many more there are."""
        if vector in kept:
            return 0
        worse = []
        for other in kept:
            if all(a <= b for a, b in zip(other, vector, strict=True)):
                return 0
            if all(a <= b for a, b in zip(vector, other, strict=True)):
                worse.append(other)
        for other in worse:
            del kept[other]
        kept[vector] = label
        return 1 - len(worse)

    def _best(self, layer: _Layer, width: int) -> _Layer:
        """Return the most promising labels of a layer: those whose GPUs can be done first."""

        def rank(row: tuple[Counts, tuple[int, ...], _Label]) -> tuple[int, int]:
            counts, _, label = row
            work = self._place(counts).work
            begun = [first if self._objective is Objective.STAGE_SPAN and first > 0 else 0 for first in label.first]
            ends = [max(free, label.clock) + more - b for free, more, b in zip(label.free, work, begun, strict=True)]
            return max(ends), sum(ends)

        rows = [(counts, vector, label) for counts, labels in layer.items() for vector, label in labels.items()]
        best: _Layer = {}
        for counts, vector, label in sorted(rows, key=rank)[:width]:
            best.setdefault(counts, {})[vector] = label
        return best

    def _schedule(self, label: _Label) -> DagSchedule:
        """Return the schedule of a label with all tasks."""
        start, step = np.zeros(len(self._gpu), dtype=np.int64), label
        while step.parent is not None:
            start[step.task] = step.start
            step = step.parent
        return DagSchedule(gpu=np.array(self._gpu, dtype=np.int64), start=start, instance=self._instance)
