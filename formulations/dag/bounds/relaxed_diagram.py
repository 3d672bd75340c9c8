"""A relaxed decision diagram of placements: task after task, with memory per stay; strong on narrow graphs."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.paths import ancestor_aware_path
from formulations.dag.heads_and_tails import path_bound
from formulations.dag.interchangeable import gpu_classes
from formulations.dag.join import INFINITE
from formulations.dag.probing.refuter import largest_refuted
from formulations.dag.windows import horizon
from formulations.time_left import without_limit
from instances.dag.graph import predecessors, successors
from instances.dag.instance import NO_LIMIT
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag.graph import Adjacency
    from instances.dag.instance import DagInstance


MOST_WIDTH = 6
"""Largest frontier: the placements of so many tasks at once are told apart."""

MOST_LABELS = 2_000
"""Largest number of labels in a layer; where there are more, similar ones are merged."""

SHIFTS = 16
"""A label is compared with so many of the same placement that sort before it, to see whether one dominates it."""

SHARE_OF_HEADS = 0.5
"""Largest share of the time for the heads and tails to begin with."""

RESOLUTION = 1_000
"""The largest refuted makespan is found to within this part of it."""


def relaxed_diagram(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return the largest bound on the makespan that a `RelaxedDiagram` proves, never below `ancestor_aware_path`.

    It is that path for weighted completion, and for graphs whose frontier is wider than `MOST_WIDTH`. Cost: at most
    `MOST_LABELS` labels times GPUs per task, for some 20 makespans where labels are merged (docs/bounds.md, section
    3.20; ours).
    """
    if Objective(objective) is not Objective.MAKESPAN:
        return ancestor_aware_path(instance, objective, seconds_left=seconds_left)
    return solved_diagram(instance, horizon(instance), seconds_left=seconds_left).bound


class SolvedDiagram(NamedTuple):
    """A lower bound on the makespan, and the GPU of every task in a placement that fits into memory, or None."""

    bound: int
    gpu: NDArray[np.int64] | None


def solved_diagram(
    instance: DagInstance, latest: int, *, seconds_left: Callable[[], float] = without_limit
) -> SolvedDiagram:
    """Return what diagrams prove of the makespan, and the placement of the least label that any of them left.

    Parameters
    ----------
    latest
        A time by which some optimal schedule ends, or one tick less than that of a known schedule.
    seconds_left
        Asked between tasks; when nothing is left, the largest bound so far counts.
    """
    around = far_heads_and_tails(instance, share=SHARE_OF_HEADS, seconds_left=seconds_left)
    proven, gpu, least = path_bound(instance, Objective.MAKESPAN, around), None, latest + 1
    is_possible = instance.num_tasks > 0 and bool(around.allowed.any(axis=1).all())
    if not is_possible or (diagram := RelaxedDiagram(instance, around)).width > MOST_WIDTH:
        return SolvedDiagram(proven, None)

    def is_refuted(makespan: int) -> bool:
        """Say whether the diagram proves more, and keep what it proves and places in any case."""
        nonlocal proven, gpu, least
        if proven <= makespan and not diagram.is_exact:
            proven = max(proven, diagram.least_makespan(makespan, seconds_left=seconds_left))
            if diagram.longest < least and (found := diagram.placement()) is not None:
                gpu, least = found, diagram.longest
        return proven > makespan

    largest_refuted(proven - 1, is_refuted, resolution=RESOLUTION, latest=latest)
    return SolvedDiagram(proven, gpu)


def is_narrow(instance: DagInstance) -> bool:
    """Say whether the frontier is narrow enough for a diagram."""
    return _steps(instance, narrow_order(instance))[1] <= MOST_WIDTH


def narrow_order(instance: DagInstance) -> list[int]:
    """Return a topological order with few tasks at any time that are placed and still have successors to come.

    The next task is one of those that leave the fewest such tasks, of these one whose predecessors came last.
    """
    before, behind = _neighbours(predecessors(instance)), _neighbours(successors(instance))
    waits, open_ends = [len(tasks) for tasks in before], [len(tasks) for tasks in behind]
    place = dict[int, int]()

    def cost(task: int) -> tuple[int, int, int]:
        closed = sum(open_ends[other] == 1 for other in before[task])
        return bool(behind[task]) - closed, -max((place[other] for other in before[task]), default=-1), task

    ready = [cost(task) for task in range(instance.num_tasks) if waits[task] == 0]
    heapq.heapify(ready)
    while ready:
        task = heapq.heappop(ready)[-1]
        if task in place:
            continue  # it was ready at a larger cost before
        place[task] = len(place)
        changed = []
        for other in before[task]:
            open_ends[other] -= 1
            if open_ends[other] == 1:
                changed += [last for last in behind[other] if last not in place and waits[last] == 0]
        for follower in behind[task]:
            waits[follower] -= 1
            if waits[follower] == 0:
                changed.append(follower)
        for other in changed:
            heapq.heappush(ready, cost(other))
    return list(place)


def _neighbours(adjacency: Adjacency) -> list[list[int]]:
    """Return the neighbours of every task."""
    return [tasks.tolist() for tasks in np.split(adjacency.tasks, adjacency.offsets[1:-1])]


class _Step(NamedTuple):
    """One task: the slot of its finish or None, slots and edges of its predecessors, slots freed."""

    task: int
    slot: int | None
    inputs: list[tuple[int, int]]
    freed: list[int]


class _Layer(NamedTuple):
    """Where labels come from: the label before, the GPU of the task, and which GPU came where by swaps."""

    parent: NDArray[np.int64]
    gpu: NDArray[np.int64]
    swaps: NDArray[np.int16]


NOTHING_LEFT = 2**62
"""Longest path where no label is left."""


class RelaxedDiagram:
    """Places the tasks of an instance one after the other and keeps a label per distinct future, within limits.

    A label holds, for every task of the frontier (placed, with successors to come) and every GPU, a time before which
    the task cannot finish on that GPU, infinite where it is not; and for every GPU the memory of its current *stay*:
    of the tasks put on it since it last held no task of the frontier. A label is dropped where a finish and the tail
    behind it exceed the makespan, or where a stay exceeds the memory. Labels that agree in all of this, once equal GPUs
    are swapped, are one; dominated ones are dropped; and where there are too many, similar ones are merged into their
    least entries. GPUs may run several tasks at once here, and the memory of past stays is forgotten, so that every
    schedule has a label (docs/bounds.md, section 3.20).

    Parameters
    ----------
    around
        Heads and tails that hold for every schedule.

    Attributes
    ----------
    width
        Largest number of tasks of a frontier.
    is_exact
        Whether the last bound is the least makespan of this relaxation, so that no other attempt proves more.
    longest
        Longest path of the least label that the last attempt left, 2**62 if it left none.

    References
    ----------
    Relaxed decision diagrams and merging: Andersen, Hadzic, Hooker and Tiedemann (2007), and Bergman, Cire, van Hoeve
    and Hooker (2016). Labels and stays are ours.
    """

    def __init__(self, instance: DagInstance, around: HeadsAndTails) -> None:
        self._instance, self._around = instance, around
        self._steps, self.width = _steps(instance, narrow_order(instance))
        self.is_exact, self.longest, self._layers = False, NOTHING_LEFT, list[_Layer]()
        self._last = 0
        classes = gpu_classes(instance, around.allowed)
        self._class_of = {int(k): members for members in classes for k in members}
        self._classes = [members for members in classes if len(members) > 1]
        everything = int(instance.task_memory.sum())
        limits = np.where(instance.gpu_memory == NO_LIMIT, everything, instance.gpu_memory)
        self._memory = np.minimum(limits, everything)
        rng = np.random.default_rng(0)
        self._factors = rng.integers(1, 2**63, size=(self.width + 1, instance.num_gpus), dtype=np.uint64) | np.uint64(1)

    def least_makespan(
        self, at_most: int, *, most_labels: int = MOST_LABELS, seconds_left: Callable[[], float] = without_limit
    ) -> int:
        """Return a lower bound on the makespan, at_most + 1 if no label is left; 0 if time or labels do not suffice."""
        durations, task_memory = self._instance.durations, self._instance.task_memory
        allowed, heads, tails = self._around.allowed, self._around.heads, self._around.tails
        width, level, has_merged = self.width, 0, False
        self.is_exact, self.longest, self._layers = False, NOTHING_LEFT, []
        labels = np.full((1, width + 1, self._instance.num_gpus), INFINITE, dtype=np.int64)
        labels[:, width] = 0
        longest = np.zeros(1, dtype=np.int64)  # longest path through a placed task
        for task, slot, inputs, freed in self._steps:
            if seconds_left() <= 0:
                return 0
            start = np.broadcast_to(heads[task], (len(labels), len(heads[task])))
            for used, edge in inputs:
                delays = self._instance.transfer_delays(edge)
                start = np.maximum(start, (labels[:, used, :, None] + delays).min(axis=1))
            finish, stay = start + durations[task], labels[:, width] + task_memory[task]
            fits = allowed[task] & (finish + tails[task] <= at_most) & (stay <= self._memory)
            label, gpu = np.nonzero(fits & ~self._repeats(labels))
            if not len(label):
                return at_most + 1
            made, rows = labels[label], np.arange(len(label))
            made[:, freed] = INFINITE
            made[rows, width, gpu] = stay[label, gpu]
            if slot is not None:
                made[rows, slot, gpu] = finish[label, gpu]
            is_there = made[:, :width] < INFINITE
            is_sure = is_there & (is_there.sum(axis=2, keepdims=True) == 1)
            made[:, width][~is_sure.any(axis=1)] = 0
            swaps = self._swap_equal_gpus(made)
            longest = np.maximum(longest[label], finish[label, gpu] + tails[task, gpu])
            labels, longest, kept, level = self._fewer(made, longest, at_most, most_labels, level)
            self._layers.append(_Layer(label[kept], gpu[kept], swaps[kept]))
            has_merged |= level > 0
            if not len(labels):
                return 0
        self.is_exact, self._last = not has_merged, int(longest.argmin())
        self.longest = int(longest[self._last])
        return min(self.longest, at_most)

    def placement(self) -> NDArray[np.int64] | None:
        """Return the GPUs of the tasks in the least label of the last attempt; None where its stays do not fit.

        Stays go, the largest first, to the GPU of their class that has most memory left. Of merged labels one stands
        for all.
        """
        entry, chosen = self._last, list[tuple[int, list[int]]]()
        for layer in reversed(self._layers):
            chosen.append((int(layer.gpu[entry]), layer.swaps[entry].tolist()))
            entry = int(layer.parent[entry])
        stays: list[tuple[int, list[int]]] = []  # a GPU of the class, and its tasks
        current: dict[int, list[int]] = {}  # by the GPU before swapping
        where: dict[int, int] = {}  # of a slot
        for (task, slot, _, freed), (gpu, swaps) in zip(self._steps, reversed(chosen), strict=True):
            for other in freed:
                del where[other]
            if gpu not in current:
                current[gpu] = []
                stays.append((gpu, current[gpu]))
            current[gpu].append(task)
            if slot is not None:
                where[slot] = gpu
            after = {old: new for new, old in enumerate(swaps)}
            where = {other: after[place] for other, place in where.items()}
            current = {after[place]: tasks for place, tasks in current.items() if after[place] in where.values()}
        return self._packed(stays)

    def _packed(self, stays: list[tuple[int, list[int]]]) -> NDArray[np.int64] | None:
        """Return GPUs of the classes of stays that have the memory for them, or None."""
        needs = [int(self._instance.task_memory[tasks].sum()) for _, tasks in stays]
        left, gpu = self._memory.copy(), np.zeros(self._instance.num_tasks, dtype=np.int64)
        for number in sorted(range(len(stays)), key=lambda number: -needs[number]):
            first, tasks = stays[number]
            like = self._class_of[first]
            best = like[left[like].argmax()]
            left[best] -= needs[number]
            gpu[tasks] = best
        return gpu if (left >= 0).all() else None

    def _repeats(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which GPUs of a label are as the one before them of their class, shape (labels, m)."""
        repeats = np.zeros((len(labels), labels.shape[2]), dtype=np.bool_)
        for members in self._classes:
            columns = labels[:, :, members]
            repeats[:, members[1:]] = (columns[:, :, 1:] == columns[:, :, :-1]).all(axis=1)
        return repeats

    def _swap_equal_gpus(self, labels: NDArray[np.int64]) -> NDArray[np.int16]:
        """Sort the GPUs of each class by what labels hold for them, in place; return which GPU came where."""
        swaps = np.tile(np.arange(labels.shape[2], dtype=np.int16), (len(labels), 1))
        for members in self._classes:
            columns = labels[:, :, members]
            key = (_finite(columns) * self._factors[:, :1]).sum(axis=1)
            order = np.argsort(key, axis=1)
            labels[:, :, members] = np.take_along_axis(columns, order[:, None, :], axis=2)
            swaps[:, members] = members[order]
        return swaps

    def _fewer(
        self, labels: NDArray[np.int64], longest: NDArray[np.int64], at_most: int, most_labels: int, level: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
        """Return at most so many labels, without equal and dominated ones, then merged; their numbers; and the level.

        No labels if even the coarsest level leaves too many. The level of the layer before says where to begin.
        """
        kept = _firsts(self._hash(labels), longest)[0]
        labels, longest = labels[kept], longest[kept]
        if len(labels) > 1:
            undominated = self._undominated(labels, longest, at_most)
            labels, longest, kept = labels[undominated], longest[undominated], kept[undominated]
        if len(labels) <= most_labels:
            return labels, longest, kept, 0
        for coarser in range(max(1, level - 1), len(LEVELS)):
            shift, forgotten = LEVELS[coarser]
            like = labels.copy()
            like[:, :forgotten] = 0
            times, stays = like[:, : self.width], like[:, self.width]
            times[times < INFINITE] //= max(1, at_most >> shift)
            stays //= np.maximum(1, self._memory >> max(0, shift - 3))
            first, order, begins = _firsts(self._hash(like), longest)
            if len(first) <= most_labels:
                return np.minimum.reduceat(labels[order], begins), longest[first], kept[first], coarser
        return labels[:0], longest[:0], kept[:0], 0

    def _hash(self, labels: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return a number for every label. That two have the same by chance only makes a bound smaller."""
        hashed: NDArray[np.uint64] = (_finite(labels) * self._factors).sum(axis=(1, 2))
        return hashed

    def _undominated(self, labels: NDArray[np.int64], longest: NDArray[np.int64], at_most: int) -> NDArray[np.int64]:
        """Return the labels but for some that another one is nowhere above."""
        times = labels[:, : self.width]
        is_there = times < INFINITE
        placement = (is_there * self._factors[:-1]).sum(axis=(1, 2))
        size = np.where(is_there, times / max(at_most, 1), 0.0).sum(axis=(1, 2))
        size += (labels[:, self.width] / np.maximum(self._memory, 1)).sum(axis=1)
        order = np.lexsort((longest, size, placement))
        sorted_labels, sorted_longest = labels[order], longest[order]
        is_dominated = np.zeros(len(order), dtype=np.bool_)
        for shift in range(1, min(SHIFTS, len(order) - 1) + 1):
            is_below = (sorted_labels[:-shift] <= sorted_labels[shift:]).all(axis=(1, 2))
            is_dominated[shift:] |= is_below & (sorted_longest[:-shift] <= sorted_longest[shift:])
        return order[~is_dominated]


def _finite(labels: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the entries as numbers to be hashed: a power of two would vanish in products."""
    return np.where(labels < INFINITE, labels, -1).astype(np.uint64)


LEVELS = [(shift, forgotten) for forgotten in range(MOST_WIDTH) for shift in range(15 - forgotten, -1, -1)]
"""Levels of merging, in this order: labels are alike if their times agree to within 1 / 2**shift of the makespan and
their stays to within 8 / 2**shift of the memory, but for the times of so many of the first slots of the frontier."""


def _firsts(
    key: NDArray[np.uint64], longest: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the label of least longest path of each key, an order of all by key, and where each key begins in it."""
    order = np.lexsort((longest, key))
    begins = np.flatnonzero(np.r_[True, np.diff(key[order]) != 0])
    return order[begins], order, begins


def _steps(instance: DagInstance, order: Sequence[int]) -> tuple[list[_Step], int]:
    """Return what happens to slots as tasks are placed in an order, and the number of slots."""
    successors_left = np.bincount(instance.edges[:, 0], minlength=instance.num_tasks)
    incoming: list[list[tuple[int, int]]] = [[] for _ in range(instance.num_tasks)]
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        incoming[head].append((tail, edge))
    slots, free, steps, width = dict[int, int](), list[int](), list[_Step](), 0
    for task in order:
        inputs = [(slots[other], edge) for other, edge in incoming[task]]
        freed = []
        for other, _ in incoming[task]:
            successors_left[other] -= 1
            if not successors_left[other]:
                freed.append(slots.pop(other))
        free += freed
        slot = None
        if successors_left[task]:
            if not free:
                free.append(width)
                width += 1
            slot = slots[task] = free.pop()
        steps.append(_Step(task, slot, inputs, freed))
    return steps, width
