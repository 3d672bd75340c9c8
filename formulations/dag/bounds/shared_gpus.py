"""Makespans that are refuted because tasks must share GPUs, and there are too few GPUs for all that must."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.heads_and_tails import path_bound
from formulations.dag.incomparable_pairs import reachable
from formulations.dag.join import INFINITE
from formulations.dag.probing.network import network
from formulations.dag.probing.refuter import NO_LIMIT, TIGHTEN, largest_refuted, new_workspace, settle_or_probe
from formulations.dag.probing.tighten import State, mark_due, new_state, remove_pair
from formulations.dag.windows import horizon
from formulations.time_left import without_limit
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag.instance import DagInstance

MOST_CASES = 120
"""Orders of two tasks that are assumed for one makespan."""

DEPTH = 2
"""Orders that are assumed at the same time."""

MOST_GROUPS, MOST_BEGINNINGS = 200, 6
"""Groups with most work of which some are looked for that exclude each other, and those with which a search begins."""

MOST_IN_GROUP = 100
"""Tasks of a group, those of most work, whose orders are assumed."""

MOST_DELAYS, MOST_TASKS = 4_000_000, 5_000
"""Above so many edges times pairs of GPUs, or tasks, the bound is the path: delays and pairs of tasks take memory."""

RESOLUTION = 1_000
"""The largest refuted makespan is found to within this part of it."""


def shared_gpus_bound(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return one more than a makespan that `SharedGpus` refutes, never below the path from all ancestors.

    It is that path for weighted completion. Cost: paths of `far_heads_and_tails` once, then for some 15 makespans at
    most `MOST_CASES` times heads and tails; next to nothing where no two tasks must share a GPU (docs/bounds.md,
    section 3.21; ours).
    """
    around = far_heads_and_tails(instance, seconds_left=seconds_left)
    proven = path_bound(instance, objective, around)
    is_possible = instance.num_tasks > 0 and bool(around.allowed.any(axis=1).all())
    is_small = 0 < instance.num_edges * instance.num_gpus**2 <= MOST_DELAYS and instance.num_tasks <= MOST_TASKS
    if Objective(objective) is not Objective.MAKESPAN or not is_possible or not is_small:
        return proven
    shared = SharedGpus(instance, around, seconds_left)
    return largest_refuted(proven - 1, shared.refutes, resolution=RESOLUTION, latest=horizon(instance)) + 1


class _Groups(NamedTuple):
    """Tasks that share a GPU, whichever it is."""

    of_task: NDArray[np.int64]  # (n,), numbers of groups
    on: NDArray[np.bool_]  # (groups, m), whether all its tasks fit on a GPU together
    work: NDArray[np.int64]  # (groups, m), ticks of all its tasks
    head: NDArray[np.int64]  # (groups, m), least head of its tasks
    tail: NDArray[np.int64]  # (groups, m), least tail of its tasks
    memory: NDArray[np.int64]  # (groups,), bytes of all its tasks


class _Case(NamedTuple):
    """What holds under assumed orders of tasks that share a GPU."""

    state: State
    orders: list[tuple[int, int]]
    groups: _Groups


class SharedGpus:
    """Refutes makespans by groups of tasks that must share a GPU.

    Within a makespan C the tasks h and i of an edge must share a GPU if H[h,k] + p[h,k] + c[h,i](k,l) + p[i,l] + T[i,l]
    > C for all k and l that differ. Chains of such edges make groups. Two groups exclude each other if on no GPU both
    fit into memory and into the time between their heads and tails. C is refuted if some groups exclude each other
    pairwise and have fewer GPUs than there are groups, or if both orders of two tasks of a group lead to that. If only
    one order does, the other one holds.

    Parameters
    ----------
    around
        Heads and tails of all schedules.
    """

    def __init__(
        self, instance: DagInstance, around: HeadsAndTails, seconds_left: Callable[[], float] = without_limit
    ) -> None:
        self._instance, self._around, self._seconds_left = instance, around, seconds_left
        self._network = network(instance)
        self._workspace = new_workspace(self._network)
        self._work = np.array([0, NO_LIMIT])
        reaches = reachable(instance)
        self._is_ordered = reaches | reaches.T
        self._makespan = self._cases = 0

    def refutes(self, makespan: int) -> bool:
        """Say whether no schedule ends by a makespan, as far as cases and seconds suffice."""
        self._makespan, self._cases = makespan, MOST_CASES
        case = self._settled(new_state(self._around.heads, self._around.tails, self._around.allowed), [])
        return case is None or self._contradicts(case, DEPTH, None)

    def _contradicts(self, case: _Case, depth: int, outer: _Case | None) -> bool:
        """Say whether both orders of some tasks are impossible; of tasks that differ from the outer case, if any."""
        while depth > 0:
            for first, second in self._open_pairs(case, outer):
                left = list[_Case]()
                for order in ((first, second), (second, first)):
                    if self._cases <= 0 or self._seconds_left() <= 0:
                        return False
                    inner = self._settled(case.state, [*case.orders, order])
                    if inner is not None and not self._contradicts(inner, depth - 1, case):
                        left.append(inner)
                if not left:
                    return True
                if len(left) == 1:
                    case = left[0]
                    break
            else:
                return False
        return False

    def _settled(self, known: State, orders: list[tuple[int, int]]) -> _Case | None:
        """Return what holds under orders, given what holds under all but the last; None if that is impossible."""
        self._cases -= 1
        state = new_state(known.heads, known.tails, known.allowed)
        state.heads_due[:] = state.tails_due[:] = not orders
        while True:
            if not self._keeps_orders(state, orders):
                return None
            groups = self._groups(state)
            if not groups.on.any(axis=1).all():
                return None
            allowed = state.allowed & groups.on[groups.of_task]
            changed = np.flatnonzero((allowed != state.allowed).any(axis=1)).tolist()
            if not changed:
                return None if self._is_crowded(groups) else _Case(state, orders, groups)
            for task in changed:
                self._keep_gpus(state, task, allowed[task])

    def _keeps_orders(self, state: State, orders: list[tuple[int, int]]) -> bool:
        """Raise heads and tails by orders on one GPU until nothing changes; say whether all tasks have a GPU left."""
        durations, changed = self._network.durations, True
        while changed:
            if settle_or_probe(TIGHTEN, self._network, state, self._makespan, self._workspace, self._work, NO_LIMIT)[0]:
                return False
            changed = False
            for first, second in orders:
                common = state.allowed[first] & state.allowed[second]
                for task in (first, second):
                    if (state.allowed[task] != common).any():
                        self._keep_gpus(state, task, common)
                        changed = True
                if not common.any():
                    return False
                head = np.maximum(state.heads[second], state.heads[first] + durations[first])
                tail = np.maximum(state.tails[first], state.tails[second] + durations[second])
                for task, rows, row in ((second, state.heads, head), (first, state.tails, tail)):
                    if (row > rows[task])[common].any():
                        rows[task] = np.where(common, row, INFINITE)
                        mark_due(self._network, state, [task])
                        changed = True
        return True

    def _keep_gpus(self, state: State, task: int, allowed: NDArray[np.bool_]) -> None:
        for gpu in np.flatnonzero(state.allowed[task] & ~allowed).tolist():
            remove_pair(self._network, state, task, gpu)

    def _groups(self, state: State) -> _Groups:
        """Return the groups of tasks that share a GPU."""
        n, m = state.allowed.shape
        after, durations = self._network.after, np.where(state.allowed, self._network.durations, 0)
        until, since = state.heads + durations, durations + state.tails
        tails, heads = np.repeat(np.arange(n), np.diff(after.offsets)), after.neighbours
        apart = (until[tails][:, :, None] + after.delay + since[heads][:, None, :]).min(axis=(1, 2))
        size, of_task = _components(n, tails[apart > self._makespan], heads[apart > self._makespan])
        on, work = np.ones((size, m), dtype=np.bool_), np.zeros((size, m), dtype=np.int64)
        head, tail = np.full_like(work, INFINITE), np.full_like(work, INFINITE)
        memory = np.zeros(size, dtype=np.int64)
        np.logical_and.at(on, of_task, state.allowed)
        np.add.at(work, of_task, durations)
        np.minimum.at(head, of_task, state.heads)
        np.minimum.at(tail, of_task, state.tails)
        np.add.at(memory, of_task, self._network.memory)
        on &= (memory[:, None] <= self._network.capacity) & (head + work + tail <= self._makespan)
        return _Groups(of_task, on, work, head, tail, memory)

    def _is_crowded(self, groups: _Groups) -> bool:
        """Say whether some groups that exclude each other have fewer GPUs than there are groups."""
        most = np.argsort(-groups.work.max(axis=1), kind="stable")[:MOST_GROUPS]
        on, work, head, tail, memory = (part[most] for part in groups[1:])
        fits = on[:, None] & on & (memory[:, None, None] + memory[:, None] <= self._network.capacity)
        window = np.minimum(head[:, None], head) + np.minimum(tail[:, None], tail)
        fits &= window + work[:, None] + work <= self._makespan
        excludes = np.asarray(~fits.any(axis=2))
        np.fill_diagonal(excludes, val=False)
        count = excludes.sum(axis=1)
        for begin in np.argsort(-count, kind="stable")[:MOST_BEGINNINGS].tolist():
            number, gpus, left = 1, on[begin].copy(), excludes[begin].copy()
            while left.any():  # invariant: all of `number` groups exclude each other, and those left exclude them
                chosen = int(np.where(left, (excludes & left).sum(axis=1), -1).argmax())
                number, gpus, left = number + 1, gpus | on[chosen], left & excludes[chosen]
                if number > gpus.sum():
                    return True
        return False

    def _open_pairs(self, case: _Case, outer: _Case | None) -> list[tuple[int, int]]:
        """Return pairs of tasks of a group whose order is open, those with least time to spare first.

        With an outer case, one of the two has another head or tail than there.
        """
        state, groups, found = case.state, case.groups, list[tuple[int, int, int]]()
        is_new = np.ones(len(state.allowed), dtype=np.bool_)
        if outer is not None:
            is_new = ((state.heads != outer.state.heads) | (state.tails != outer.state.tails)).any(axis=1)
        for group in np.flatnonzero(np.bincount(groups.of_task) > 1).tolist():
            gpus, tasks = np.flatnonzero(groups.on[group]), np.flatnonzero(groups.of_task == group)
            least = self._network.durations[np.ix_(tasks, gpus)].min(axis=1)
            tasks = tasks[np.lexsort((tasks, -least))[: np.count_nonzero(least > 0)][:MOST_IN_GROUP]]
            until = (state.heads + self._network.durations)[np.ix_(tasks, gpus)]
            since = (state.tails + self._network.durations)[np.ix_(tasks, gpus)]
            spare = self._makespan - (until[:, None] + since).min(axis=2)  # if the first one comes first
            is_open = (spare >= 0) & (spare.T >= 0) & ~self._is_ordered[np.ix_(tasks, tasks)]
            is_open &= is_new[tasks][:, None] | is_new[tasks]
            for a, b in np.argwhere(np.triu(is_open, 1)).tolist():
                found.append((int(max(spare[a, b], spare[b, a])), int(tasks[a]), int(tasks[b])))
        return [(first, second) for _, first, second in sorted(found) if not _has(case.orders, first, second)]


def _components(size: int, tails: NDArray[np.int64], heads: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """Return how many components some edges leave of so many tasks, and the component of each task."""
    if not len(tails):
        return size, np.arange(size)
    from scipy.sparse import coo_array  # takes a while to import
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(tails), dtype=np.bool_), (tails, heads)), shape=(size, size))
    count, of_task = connected_components(edges, directed=False)
    return int(count), of_task.astype(np.int64)


def _has(orders: list[tuple[int, int]], first: int, second: int) -> bool:
    return (first, second) in orders or (second, first) in orders
