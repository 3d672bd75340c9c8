"""Bounds on makespan and stage span from memory that is released: load, ramps and chains on single GPUs.

They need to know which tasks are on a GPU. Where groups leave several placements, a bound is the smallest over all of
them, and 0 where there are too many. Statements and proofs: docs/bounds.md, sections 3.13 to 3.15.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING

from formulations.dag.fixed_placement import FixedPlacement, like_parts, placements
from instances.dag.buffers import Descendants, connected_parts, memory_for_buffers
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from instances.dag.instance import DagInstance


MAX_PLACEMENTS = 256
"""With more placements than that the bounds are 0."""

MAX_OPTIONS = 64
"""Up to so many closed sets of the tasks of one part are told apart; above, every task is taken by itself."""

MAX_STATES = 3_000
"""Above so many pairs of bytes and ticks, bytes are rounded down, which leaves the bound valid."""

Option = tuple[int, int]
"""Bytes that a set of tasks holds or frees, and the ticks that it takes."""


def gpu_load(instance: DagInstance, objective: Objective) -> int:
    """Bound by the work of one GPU, with the least time before its first and behind its last task; 0 for others."""
    return _least(instance, objective, lambda placed: placed.loads())


def ramp(instance: DagInstance, objective: Objective) -> int:
    """Bound by the work of one GPU and what must be idle at its beginning and at its end, as memory is limited.

    Before the first task that frees memory can begin, only so much work fits as memory holds; behind the last task that
    takes memory, only what was held can still run. Ours; docs/bounds.md, section 3.14.
    """
    return _least(instance, objective, lambda placed: placed.ramps())


def memory_chain(instance: DagInstance, objective: Objective) -> int:
    """Bound by the copies of a task on one GPU of which memory holds only q at a time: copy j + q waits for copy j.

    Ours; docs/bounds.md, section 3.15.
    """
    return _least(instance, objective, lambda placed: placed.chains())


def _least(instance: DagInstance, objective: Objective, spans: Callable[[PlacedBounds], Sequence[int]]) -> int:
    """Return the smallest bound over all placements; 0 where there are too many, none, or for another objective."""
    if Objective(objective) is Objective.WEIGHTED_COMPLETION or instance.num_tasks == 0:
        return 0
    ways = placements(instance, MAX_PLACEMENTS)
    found = [PlacedBounds(instance, way) for way in ways or ()]
    return min((placed.of_spans(objective, spans(placed)) for placed in found), default=0)


class PlacedBounds:
    """Bounds of one placement.

    Parameters
    ----------
    gpu
        GPU of every task.
    """

    def __init__(self, instance: DagInstance, gpu: Sequence[int]) -> None:
        self._instance, self._fixed = instance, FixedPlacement(instance, gpu)
        self._parts = connected_parts(instance)
        self._memory = memory_for_buffers(instance, gpu)

    @cached_property
    def _lines(self) -> Descendants:
        return Descendants(self._instance.num_tasks, self._instance.edges)

    @cached_property
    def _heads_on_gpu(self) -> list[int]:
        return self._fixed.heads_on_gpu()

    @cached_property
    def _tails_on_gpu(self) -> list[int]:
        return self._fixed.tails_on_gpu()

    @cached_property
    def _ends(self) -> list[int]:
        """Return for every GPU the least time before its first task plus that behind its last one."""
        heads, tails = self._fixed.heads(), self._fixed.tails()
        return [
            min((heads[task] for task in tasks), default=0) + min((tails[task] for task in tasks), default=0)
            for tasks in self._fixed.tasks_of_gpu
        ]

    def best(self, objective: Objective) -> int:
        """Return the largest of the bounds; 0 for the weighted completion."""
        if Objective(objective) is Objective.WEIGHTED_COMPLETION:
            return 0
        return max(self.of_spans(objective, spans) for spans in (self.loads(), self.ramps(), self.chains()))

    def of_spans(self, objective: Objective, spans: Sequence[int]) -> int:
        """Return the bound on an objective that follows from bounds on the time between the ends of every GPU."""
        if Objective(objective) is Objective.STAGE_SPAN:
            return max(spans, default=0)
        return max((span + end for span, end in zip(spans, self._ends, strict=True)), default=0)

    def loads(self) -> list[int]:
        """Return the work of every GPU, or the longest path between two of its tasks if that is longer."""
        head, tail, ticks = self._heads_on_gpu, self._tails_on_gpu, self._fixed.duration
        return [
            max(sum(ticks[task] for task in tasks), max((head[i] + ticks[i] + tail[i] for i in tasks), default=0))
            for tasks in self._fixed.tasks_of_gpu
        ]

    def chains(self) -> list[int]:
        """Return for every GPU what copies of a task demand of which few fit into memory together."""
        instance, fixed = self._instance, self._fixed
        spans = self.loads()
        owned: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in range(instance.num_tasks)]
        for buffer in instance.buffers:
            owned[buffer.task].append((buffer.size, buffer.released_by))
        for parts in like_parts(instance):
            for place, task in enumerate(parts[0]):
                k = fixed.gpu[task]
                memory = self._memory[k]
                needed = sum(size for size, _ in owned[task])
                if memory is None or needed == 0 or fixed.duration[task] == 0:
                    continue
                frees = {other for _, others in owned[task] for other in others}
                first = [one for one in frees if all(self._lines.is_reached(one, other) for other in frees)]
                if len(first) != 1 or any(fixed.gpu[other] != k for other in frees) or fixed.duration[first[0]] == 0:
                    continue
                copies = [part[place] for part in parts]
                spans[k] = max(spans[k], self._chain(copies, parts[0], first[0], owned[task], memory // needed, memory))
        return spans

    def _chain(
        self,
        copies: Sequence[int],
        part: Sequence[int],
        gate: int,
        owned: Sequence[tuple[int, tuple[int, ...]]],
        most: int,
        memory: int,
    ) -> int:
        """Return the time of copies of a task of which at most `most` are between their start and the end of `gate`."""
        fixed, task, count = self._fixed, copies[0], len(copies)
        if most >= count or most == 0:
            return 0
        order = [each for each in fixed.order if each in set(part)]
        through = fixed.path(task, gate, order) + fixed.duration[gate]
        again = through
        kept = sum(size for size, others in owned if gate not in others)
        later = {other for _, others in owned for other in others if gate not in others}
        if most == 1 and kept + sum(size for size, _ in owned) > memory and len(later) == 1:
            last = later.pop()  # it frees all that is kept behind the gate
            again = max(through, fixed.path(task, last, order) + fixed.duration[last])
        rounds = -(-count // most) - 1
        rest = (count - 1 - rounds * most) * fixed.duration[gate]
        return self._heads_on_gpu[task] + rounds * again + through + rest + self._tails_on_gpu[gate]

    def ramps(self) -> list[int]:
        """Return for every GPU its work and the idle time at both ends."""
        fixed, spans = self._fixed, self.loads()
        for k, tasks in enumerate(fixed.tasks_of_gpu):
            memory = self._memory[k]
            if memory is None or not tasks:
                continue
            buffers = [buffer for buffer in self._instance.buffers if fixed.gpu[buffer.task] == k]
            work = sum(fixed.duration[task] for task in tasks)
            ups = [
                self._window(k, memory, self._heads_on_gpu, level, buffers, forwards=True)
                for level in sorted({self._heads_on_gpu[task] for task in tasks} - {0})
            ]
            downs = [
                self._window(k, memory, self._tails_on_gpu, level, buffers, forwards=False)
                for level in sorted({self._tails_on_gpu[task] for task in tasks} - {0})
            ]
            for up, late in [(0, frozenset[int]()), *ups]:
                for down, early in [(0, frozenset[int]()), *downs]:
                    meet = sum(
                        size
                        for task, size, others in buffers
                        if task in early and fixed.duration[task] > 0 and late & set(others)
                    )
                    idle = up + down if meet > memory else max(up, down)
                    spans[k] = max(spans[k], work + idle)
        return spans

    def _window(
        self,
        k: int,
        memory: int,
        lags: Sequence[int],
        level: int,
        buffers: Sequence[tuple[int, int, tuple[int, ...]]],
        *,
        forwards: bool,
    ) -> tuple[int, frozenset[int]]:
        """Return the least idle time before the first task of a set begins, or behind the last one's end; and the set.

        The set are the tasks of the GPU that begin `level` ticks behind the first start, or end as long before the last
        finish, at least. The other tasks that run in that window hold memory together: forwards what they took and the
        set frees, backwards what the set took and they free.
        """
        ticks = self._fixed.duration
        chosen = frozenset(task for task in self._fixed.tasks_of_gpu[k] if lags[task] >= level)
        outside = set(self._fixed.tasks_of_gpu[k]) - chosen
        if level <= 0 or not chosen:
            return 0, chosen
        weigh = []
        for task, size, others in buffers:
            if forwards and task in outside and ticks[task] > 0 and chosen & set(others):
                weigh.append((size, frozenset([task])))
            elif not forwards and task in chosen:
                freeing = frozenset(other for other in others if other in outside and ticks[other] > 0)
                if freeing:
                    weigh.append((size, freeing))
        items: Counter[tuple[Option, ...]] = Counter()
        forced: set[tuple[tuple[Option, ...], tuple[Option, ...]]] = set()
        for part in self._parts:
            inside = [task for task in part if task in outside]
            edge = [task for task in part if task in chosen]
            sets = self._closed(inside, forwards=forwards)
            if sets is None:  # any of them may run, and hold nothing
                options: tuple[Option, ...] = ((0, sum(ticks[task] for task in inside)),)
                forced |= {(options, options)} if edge else set()
                items[options] += 1
                continue
            options = _undominated(self._weighed(sets, weigh))
            items[options] += 1
            for task in edge:
                must = {other for other in inside if self._is_before(other, task, forwards=forwards)}
                forced.add((options, _undominated(self._weighed([one for one in sets if must <= one], weigh))))
        most = -1
        for options, narrowed in forced:
            rest = items - Counter([options])
            most = max(most, _most_work(memory, [(narrowed, 1), *rest.items()]))
        return max(0, level - most) if most >= 0 else 0, chosen

    def _is_before(self, task: int, other: int, *, forwards: bool) -> bool:
        """Say whether a task comes before another one, or behind it where time runs backwards."""
        return self._lines.is_reached(task, other) if forwards else self._lines.is_reached(other, task)

    @cached_property
    def _position(self) -> list[int]:
        position = [0] * self._instance.num_tasks
        for number, task in enumerate(self._fixed.order):
            position[task] = number
        return position

    def _closed(self, tasks: Sequence[int], *, forwards: bool) -> list[frozenset[int]] | None:
        """Return the sets of tasks that hold with each task all that are before it; None if there are too many."""
        sets = [frozenset[int]()]
        order = sorted(tasks, key=self._position.__getitem__, reverse=not forwards)
        for number, task in enumerate(order):
            before = {other for other in order[:number] if self._is_before(other, task, forwards=forwards)}
            sets += [one | {task} for one in sets if before <= one]
            if len(sets) > MAX_OPTIONS:
                return None
        return sets

    def _weighed(self, sets: Iterable[frozenset[int]], weigh: Sequence[tuple[int, frozenset[int]]]) -> list[Option]:
        """Return bytes and ticks of sets of tasks."""
        return [
            (sum(size for size, tasks in weigh if tasks & one), sum(self._fixed.duration[task] for task in one))
            for one in sets
        ]


def _undominated(options: Iterable[Option]) -> tuple[Option, ...]:
    """Return the options that no other one beats in bytes and ticks, by bytes."""
    best: list[Option] = []
    for size, ticks in sorted(options, key=lambda option: (option[0], -option[1])):
        if not best or ticks > best[-1][1]:
            best.append((size, ticks))
    return tuple(best)


def _most_work(memory: int, items: Sequence[tuple[tuple[Option, ...], int]]) -> int:
    """Return the most ticks of one option per item whose bytes fit together; -1 where not even the smallest do."""
    unit = gcd(memory, *(size for options, _ in items for size, _ in options)) or 1
    states: tuple[Option, ...] = ((0, 0),)
    for options, count in items:
        for _ in range(count):
            made = [
                (held + size, done + ticks) for held, done in states for size, ticks in options if held + size <= memory
            ]
            states = _undominated(made)
            while len(states) > MAX_STATES:
                unit *= 2
                states = _undominated([(held // unit * unit, done) for held, done in states])
    return states[-1][1] if states else -1
