"""Refutes a limit on the objective by passes over pairs and a tree of cases, as steps that a checker can follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.bounds.assignment_lp import AssignmentLp, LoadRow
from formulations.dag.bounds.probing_proof import overlap
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails, job_path_bounds
from formulations.dag.join import INFINITE
from instances.dag.instance import NO_LIMIT
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance

MOST_CASES = 4_000
"""Cases that a proof may distinguish, in all attempts together, where nobody waits for it."""


ROUNDS, ROWS_PER_GPU, MOST_ENDS = 12, 3, 60
"""Rounds of separation, windows added per GPU and round, and beginnings and ends that are tried per GPU."""

FINE_TICKS = 2**16
"""Loads are whole numbers of shares of a tick of which a makespan has so many, so that bytes can be loads too."""

MOST_OVERLAPS = 2_000_000
"""Overlaps of windows and tasks on a GPU that are looked at in one round."""

SHORT_ROUNDS = 3
"""Rounds under an assumption."""

MOST_STEPS = 2_000_000
"""Cases of a proof times what one costs the checker: edges times pairs of GPUs, plus tasks times GPUs.

So many steps took the checker 6 seconds on 95 tasks and 8 GPUs.
"""


MOST_NESTED = 800
"""Cases within cases of a proof at most; Python allows about a thousand calls within calls."""


class _State(NamedTuple):
    """What holds for every schedule within the limit, under the choices of a case.

    `instance` has an edge without data for each order that was chosen, `reaches` says which task comes after which by
    edges, and `latest` by when each task finishes on each GPU.
    """

    instance: DagInstance
    around: HeadsAndTails
    latest: NDArray[np.int64]
    reaches: NDArray[np.bool_]

    @property
    def is_refuted(self) -> bool:
        """Whether some task has no GPU left."""
        return not bool(self.around.allowed.any(axis=1).all())


class RefutationProof:
    """Tries to prove that no schedule has an objective of at most a limit.

    A state is settled as the checker does it: join-aware heads and tails, and no pair of a task and a GPU that would
    end after the limit, for the weighted completion after the job is due if all others complete as early as they can.
    It is refuted if a task has no GPU left, or by windows of work and prices of bytes with multipliers. Otherwise cases
    are distinguished: a task is on a GPU or not, or one of two tasks on one GPU comes first (docs/bounds.md, section
    6.1; ours).

    Parameters
    ----------
    most_cases
        Number of cases that may be distinguished; `cases` holds how many are left.
    """

    def __init__(
        self,
        instance: DagInstance,
        objective: Objective,
        limit: int,
        seconds_left: Callable[[], float],
        *,
        most_cases: int = MOST_CASES,
    ) -> None:
        self._instance, self._limit, self._seconds_left = instance, limit, seconds_left
        self._is_makespan = objective == Objective.MAKESPAN
        self._without_limits = replace(instance, gpu_memory=np.full(instance.num_gpus, NO_LIMIT))
        self._windows: dict[tuple[int, int, int], None] = {}  # those that had a multiplier before
        steps = instance.num_edges * instance.num_gpus**2 + instance.num_tasks * instance.num_gpus
        self.cases, self._settlings = most_cases, MOST_STEPS // max(steps, 1)

    def lines(self, passes: int, *, by_cases: bool = False) -> list[str] | None:
        """Return the lines of a refutation, None where there is none: assumptions in passes over pairs, then cases."""
        reaches = np.zeros((self._instance.num_tasks,) * 2, dtype=np.bool_)
        for task in self._instance.topological_order[::-1].tolist() if by_cases else []:
            for head in self._instance.edges[self._instance.edges[:, 0] == task, 1].tolist():
                reaches[task] |= reaches[head]
                reaches[task, head] = True
        state, lines = self._settled(self._instance, self._instance.allowed, reaches), list[str]()
        last = self._contradiction(state, ROUNDS)
        for _ in range(passes):
            changed = False
            for task, gpu in np.argwhere(state.around.allowed).tolist():
                if last is not None or self._settlings <= 0 or self._seconds_left() <= 0:
                    break
                if not state.around.allowed[task, gpu] or state.around.allowed[task].sum() < 2:
                    continue
                contradiction = self._contradiction(self._on(state, task, gpu, holds=True), SHORT_ROUNDS)
                if contradiction is not None:
                    lines += [f"suppose {task} {gpu}", *contradiction]
                    self._settlings -= 1
                    state, changed = self._on(state, task, gpu, holds=False), True
                    if state.is_refuted:
                        last = ["contradiction"]
            last = last or self._contradiction(state, ROUNDS)
            if last is not None or not changed:
                break
        if last is None and by_cases:
            last = self._refuted(state)
        return None if last is None else [*lines, *last]

    def _refuted(self, state: _State, depth: int = 0) -> list[str] | None:
        """Return lines that refute a state by cases, None where a schedule is found or there are too many cases.

        `depth` is in how many other cases this one lies.
        """
        lines = list[str]()
        while True:
            self.cases, self._settlings = self.cases - 1, self._settlings - 1
            if min(self.cases, self._settlings) < 0 or self._seconds_left() <= 0:
                return None
            forced, state = self._with_forced_orders(state)
            lines += forced
            last = self._contradiction(state, SHORT_ROUNDS)
            if last is not None:
                return [*lines, *last]
            choice = _open_gpu(state) or _open_order(state)
            if choice is None or depth >= MOST_NESTED:
                return None  # without a choice, the earliest starts are a schedule
            word, first, second = choice
            with_choice = self._on if word == "suppose" else self._before
            inner = self._refuted(with_choice(state, first, second, holds=True), depth + 1)
            if inner is None:
                return None
            lines += [f"{word} {first} {second}", *inner]
            state = with_choice(state, first, second, holds=False)

    def _with_forced_orders(self, state: _State) -> tuple[list[str], _State]:
        """Return the lines of all orders of two tasks on one GPU that follow as the other order does not fit."""
        lines = list[str]()
        while not state.is_refuted:
            orders = _orders(state)
            telling = np.flatnonzero((orders.slack < 0) & orders.tells)
            if not len(telling):
                break
            i, j = (int(tasks[telling[orders.slack[telling].argmin()]]) for tasks in (orders.first, orders.second))
            lines += [f"before {i} {j}", "contradiction"]
            state = self._before(state, i, j, holds=False)
        return lines, state

    def _on(self, state: _State, task: int, gpu: int, *, holds: bool) -> _State:
        """Return the state in which a task is on a GPU, or is not."""
        among = state.around.allowed.copy()
        if holds:
            among[task] = False
        among[task, gpu] = holds
        return self._settled(state.instance, among, state.reaches)

    def _before(self, state: _State, i: int, j: int, *, holds: bool) -> _State:
        """Return the state in which one task comes before another on their GPU, or after it."""
        tail, head = (i, j) if holds else (j, i)
        instance, reaches = state.instance, state.reaches.copy()
        edges, sizes = np.vstack([instance.edges, [[tail, head]]]), np.append(instance.edge_bytes, 0)
        from_here, to_here = reaches[head].copy(), reaches[:, tail].copy()
        from_here[head] = to_here[tail] = True
        reaches |= to_here[:, None] & from_here
        return self._settled(replace(instance, edges=edges, edge_bytes=sizes), state.around.allowed, reaches)

    def _settled(self, instance: DagInstance, among: NDArray[np.bool_], reaches: NDArray[np.bool_]) -> _State:
        """Return the state with heads and tails, without pairs that cannot be."""
        if self._is_makespan:
            around = heads_and_tails(instance, makespan_at_most=self._limit, among=among)
            return _State(instance, around, self._limit - around.tails, reaches)
        while True:
            around = heads_and_tails(instance, among=among)
            least, weight = job_path_bounds(instance, around), instance.weight
            spare = self._limit - sum(w * time for w, time in zip(weight.tolist(), least.tolist(), strict=True))
            due = [t + spare // w if w else INFINITE for t, w in zip(least.tolist(), weight.tolist(), strict=True)]
            latest = np.array(due)[instance.job_of_task][:, None] - around.job_tails
            possible = around.allowed & (around.heads + instance.durations <= latest)
            if (possible == around.allowed).all():
                return _State(instance, around, latest, reaches)
            among = possible

    def _contradiction(self, state: _State, rounds: int) -> list[str] | None:
        """Return windows, prices and the word contradiction, None where the work fits in the time as far as tried."""
        if state.is_refuted:
            return ["contradiction"]
        instance, around = self._instance, state.around
        lp = AssignmentLp(self._without_limits, np.arange(instance.num_tasks), around.allowed, self._seconds_left)
        task, gpu = lp.task_of_pair, lp.gpu_of_pair
        head, latest = around.heads[task, gpu], state.latest[task, gpu]
        deadline = int(latest[latest < INFINITE // 2].max(initial=1))
        fineness = max(1, FINE_TICKS // max(deadline, 1))
        # A full memory counts like a window that is full: else the program has no solution where memory alone refutes.
        limited = [k for k in range(instance.num_gpus) if instance.gpu_memory[k] >= 0 and (gpu == k).any()]
        for k in limited:
            pairs, scale = np.flatnonzero(gpu == k), deadline * fineness / max(int(instance.gpu_memory[k]), 1)
            ticks = np.rint(instance.task_memory[task[pairs]] * scale).astype(np.int64)
            lp.rows.append(LoadRow(base=0, pairs=pairs, ticks=ticks))
        rows: list[tuple[int, int, int]] = []
        new = list(self._windows)
        for k in np.unique(gpu).tolist():
            here = gpu == k
            new.append((k, int(head[here].min()), min(int(latest[here].max()), deadline)))
        for _ in range(rounds):
            for k, begin, end in dict.fromkeys(new):
                if begin < end and (k, begin, end) not in rows:
                    pairs = np.flatnonzero(gpu == k)
                    ticks = overlap(head[pairs], lp.durations[pairs], latest[pairs], begin, end) * fineness
                    rows.append((k, begin, end))
                    lp.rows.append(LoadRow(base=(deadline - (end - begin)) * fineness, pairs=pairs, ticks=ticks))
            multipliers, share, _ = lp.solve()
            dual = np.maximum(multipliers.row, 0.0) * (2.0**60 / max(float(multipliers.row.sum()), 1e-200))
            row, memory = [int(u) for u in dual[len(limited) :]], [0] * instance.num_gpus
            for k, u in zip(limited, dual.tolist(), strict=False):
                memory[k] = int(u * deadline / max(int(instance.gpu_memory[k]), 1))
            if self._is_contradiction(lp, lp.rows[len(limited) :], rows, row, memory, fineness):
                used = [(window, u) for window, u in zip(rows, row, strict=True) if u]
                self._windows.update(dict.fromkeys(window for window, _ in used))
                lines = [f"window {k} {begin} {end} {u}" for (k, begin, end), u in used]
                return [*lines, *(f"memory {k} {y}" for k, y in enumerate(memory) if y > 0), "contradiction"]
            new = [window for k in np.unique(gpu).tolist() for window in _violated(lp, k, head, latest, share)]
            if not set(new) - set(rows) or self._seconds_left() <= 0:
                return None
        return None

    def _is_contradiction(
        self,
        lp: AssignmentLp,
        loads: list[LoadRow],
        rows: list[tuple[int, int, int]],
        row: list[int],
        memory: list[int],
        fineness: int,
    ) -> bool:
        """Say in exact integers whether the work by multipliers exceeds the time."""
        cost = np.array(memory, dtype=object)[lp.gpu_of_pair] * self._instance.task_memory[lp.task_of_pair].astype(
            object
        )
        for u, used in zip(row, loads, strict=True):
            if u:
                cost[used.pairs] += u * (used.ticks // fineness).astype(object)
        first = np.searchsorted(lp.task_of_pair, np.arange(self._instance.num_tasks))
        work = sum(np.minimum.reduceat(cost, first).tolist())
        limit = sum(u * (end - begin) for u, (_, begin, end) in zip(row, rows, strict=True))
        return bool(work > limit + sum(y * int(self._instance.gpu_memory[k]) for k, y in enumerate(memory) if y))


def _open_gpu(state: _State) -> tuple[str, int, int] | None:
    """Return a task with several GPUs left, the one with fewest, and its GPU with the least time to spare."""
    allowed = state.around.allowed
    count = allowed.sum(axis=1)
    tasks = np.flatnonzero(count > 1)
    if not len(tasks):
        return None
    spare = np.where(allowed, state.latest - state.around.heads - state.instance.durations, INFINITE)[tasks]
    size = state.instance.durations[tasks].max(axis=1)
    place = np.lexsort((-size, spare.min(axis=1), count[tasks]))[0]
    return "suppose", int(tasks[place]), int(spare[place].argmin())


class _Orders(NamedTuple):
    """Orders of two tasks on one GPU that no path decides: time to spare, and what the opposite order would tell.

    An opposite order that tells nothing is kept by all starts and finishes within the windows.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    slack: NDArray[np.int64]
    tells: NDArray[np.bool_]


def _orders(state: _State) -> _Orders:
    """Return all orders of two tasks that have the same one GPU left."""
    instance, around = state.instance, state.around
    gpu = np.where(around.allowed.sum(axis=1) == 1, around.allowed.argmax(axis=1), -1)
    tasks = np.arange(instance.num_tasks)
    duration = instance.durations[tasks, gpu]
    is_open = (gpu[:, None] == gpu) & (gpu >= 0) & (duration[:, None] > 0) & (duration > 0)
    is_open &= ~(state.reaches | state.reaches.T) & (tasks[:, None] != tasks)
    first, second = np.nonzero(is_open)
    head, latest = around.heads[tasks, gpu], state.latest[tasks, gpu]
    slack = latest[second] - duration[second] - duration[first] - head[first]
    tells = (head[second] + duration[second] > head[first]) | (latest[first] - duration[first] < latest[second])
    return _Orders(first, second, slack, tells)


def _open_order(state: _State) -> tuple[str, int, int] | None:
    """Return two tasks on one GPU of which either may come first as far as is known, those with least time to spare."""
    orders = _orders(state)
    size = state.instance.num_tasks
    fits = np.zeros((size, size), dtype=np.bool_)
    fits[orders.first, orders.second] = orders.slack >= 0
    both = np.flatnonzero(fits[orders.first, orders.second] & fits[orders.second, orders.first])
    if not len(both):
        return None
    place = both[orders.slack[both].argmin()]
    return "before", int(orders.first[place]), int(orders.second[place])


def _violated(
    lp: AssignmentLp, k: int, head: NDArray[np.int64], latest: NDArray[np.int64], share: NDArray[np.float64]
) -> list[tuple[int, int, int]]:
    """Return the windows on a GPU that the shares of tasks overfill most."""
    pairs = np.flatnonzero((lp.gpu_of_pair == k) & (share > 1e-9) & (latest < INFINITE // 2))
    if not len(pairs):
        return []
    most_ends = min(MOST_ENDS, 2 + int((MOST_OVERLAPS / len(pairs)) ** 0.5))
    begins, ends = (_some(np.unique(values[pairs]), most_ends) for values in (head, latest))
    grid = (head[pairs], lp.durations[pairs], latest[pairs], begins[:, None, None], ends[None, :, None])
    excess = overlap(*grid) @ share[pairs] - (ends[None, :] - begins[:, None])
    excess[begins[:, None] >= ends[None, :]] = -1.0
    most = np.argsort(-excess, axis=None)[:ROWS_PER_GPU]
    places = [np.unravel_index(int(index), excess.shape) for index in most if excess.flat[index] > 1e-6]
    return [(k, int(begins[a]), int(ends[b])) for a, b in places]


def _some(values: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return all values, or evenly chosen ones of many."""
    return values[np.unique(np.linspace(0, len(values) - 1, most).astype(np.int64))]
