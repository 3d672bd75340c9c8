"""All paths at once with placement, memory, work and transfers: a linear program whose multipliers prove a bound."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.heads_and_tails import heads_and_tails, path_bound
from formulations.dag.interchangeable import gpu_classes, number_of_class
from formulations.dag.windows import horizon
from formulations.integer_lp import Domain, IntegerLp, RowBuilder, dual_bound
from formulations.multipliers import highs_answer
from formulations.time_left import without_limit
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag.instance import DagInstance

MOST_CROSSINGS = 200_000
"""Largest number of edges times twice the classes; above it the bound is that of the join-aware paths."""

UNITS = 100
"""Starts and makespans are counted in about so many units; any number is valid."""

LP_SECONDS = 60.0
"""Limit of the linear program; 1,251 tasks and 1,468 edges with four classes of GPUs need far less."""

DIGITS = (4, 6, 8, 10, 12, 15, 18)
"""Decimal places to which multipliers are rounded; prices of bytes are small, and need up to 18."""

TOLERANCE = 1e-7
"""Multipliers of single tasks up to this size come from the solver's tolerance and prove nothing."""


class PathMultipliers(NamedTuple):
    """Multipliers of the rows of the program, per tick of the makespan and not trusted.

    Shapes: `end` (n,), of paths that end at a task; `work` and `memory` (m,), of the ticks and bytes of each GPU;
    `edge` (edges,); `leaving` (edges, m), what the tail of an edge pays of its delay if it is on a GPU, and the head
    gets back there.
    """

    end: NDArray[np.float64]
    work: NDArray[np.float64]
    memory: NDArray[np.float64]
    edge: NDArray[np.float64]
    leaving: NDArray[np.float64]


class PlacedPaths(NamedTuple):
    """The bound of the program, and its solution and multipliers; both are None where no program was solved.

    `share` is that of each task on the class of each GPU, in 0 to 1, shape (n, m): a hint where tasks go, not trusted.
    """

    bound: int
    share: NDArray[np.float64] | None = None
    multipliers: PathMultipliers | None = None


def placed_paths(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return the bound of `solved_placed_paths`."""
    return solved_placed_paths(instance, objective, seconds_left=seconds_left).bound


def solved_placed_paths(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> PlacedPaths:
    """Return bound and solution of a program of placement, starts, work, memory and transfers; 0 for other objectives.

    GPUs that can be swapped make up a class. With shares x of every task on the classes, starts s, and for every edge
    what leaves each set L of near classes, z[L] >= sum over L of (x[h] - x[i]), the least C with

        sum of H x <= s[i],  s[i] + sum of (p + T) x <= C,  s[h] + sum of p x + sum of c z <= s[i] for an edge (h,i),
        sum of p x <= |class| (C - first release),  sum of a x <= memory of the class

    is at most every makespan (`near_classes` has the sets and the ticks c). Multipliers prove it in integers
    (`dual_bound`). Never below the join-aware paths. It is strong where memory forces tasks from fast GPUs onto slow
    ones, because every path then takes longer (docs/bounds.md, section 3.17; ours).
    """
    if Objective(objective) is not Objective.MAKESPAN or instance.num_tasks == 0:
        return PlacedPaths(0)
    around = heads_and_tails(instance)
    proven = path_bound(instance, objective, around)
    classes = gpu_classes(instance)
    is_possible = bool(around.allowed.any(axis=1).all())
    if not is_possible or not is_placed_program_small(instance, len(classes)) or seconds_left() <= 0:
        return PlacedPaths(proven)
    latest = horizon(instance)
    program = placed_program(instance, around, classes, proven, latest, seconds_left)
    if program is None:
        return PlacedPaths(proven)
    lp, rows = program
    answer = highs_answer(lp, seconds_left, at_most=LP_SECONDS, largest_cost=1.0)
    # With a largest cost of 100 HiGHS ends without an answer on PipeDream's resnet50 and densenet121.
    if answer is None:
        return PlacedPaths(proven)
    class_of_gpu, allowed = number_of_class(classes), allowed_classes(around.allowed, classes)
    of_class = np.zeros(allowed.shape)
    of_class[allowed] = answer[1][: np.count_nonzero(allowed)]
    share = of_class[:, class_of_gpu].clip(0.0, 1.0)
    multipliers = rows.multipliers(answer[0], class_of_gpu)
    return PlacedPaths(max(proven, min(dual_bound(lp, answer[0]), latest)), share, multipliers)


def is_placed_program_small(instance: DagInstance, num_classes: int) -> bool:
    """Say whether the program is small enough to be solved."""
    return int((instance.edge_bytes > 0).sum()) * 2 * num_classes <= MOST_CROSSINGS


def allowed_classes(allowed: NDArray[np.bool_], classes: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Return which classes have a GPU that is left for each task, shape (n, classes)."""
    return np.stack([allowed[:, members].any(axis=1) for members in classes], axis=1)


def near_classes(delays: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return sets of near classes, shape (sets, classes), and ticks, of which what leaves a set pays those of the set.

    From one class to another the sum of the ticks is the least, over all ways between them through other classes, of
    the largest delay on the way: never above the delay, and equal to it where GPUs are near or far by servers and
    links alone. (Single linkage; textbook.)

    Parameters
    ----------
    delays
        From class to class, shape (classes, classes), 0 within a class.
    """
    least = np.minimum(delays, delays.T)
    for between in range(len(least)):
        least = np.minimum(least, np.maximum(least[:, [between]], least[[between]]))
    ticks: Counter[tuple[bool, ...]] = Counter()
    for low, high in pairwise(np.unique(least).tolist()):
        ticks.update({tuple(members): high - low for members in (least <= low).tolist()})
    sets = np.array(list(ticks), dtype=np.bool_).reshape(-1, len(delays))
    return sets, np.array(list(ticks.values()), dtype=np.int64)


class LeavingSets(NamedTuple):
    """An edge with data, the classes of its sets, shape (sets, classes), and their rows and columns, shape (sets,)."""

    edge: int
    sets: NDArray[np.bool_]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


class PlacedRows(NamedTuple):
    """Numbers of rows, -1 where there is none; shapes (n,), (classes,), (classes,), (edges,)."""

    end: NDArray[np.int64]
    work: NDArray[np.int64]
    held: NDArray[np.int64]
    late: NDArray[np.int64]
    leaving: list[LeavingSets]

    def multipliers(self, dual: NDArray[np.float64], class_of_gpu: NDArray[np.int64]) -> PathMultipliers:
        """Return the multipliers by their meaning; `dual` has one entry per row."""
        dual = np.append(dual, 0.0)  # that of a row which does not exist
        positive = np.maximum(dual, 0.0)
        leaving = np.zeros((len(self.late), len(class_of_gpu)))
        for edge, sets, rows, _ in self.leaving:
            leaving[edge] += positive[rows] @ sets[:, class_of_gpu]
        return PathMultipliers(
            end=positive[self.end],
            work=positive[self.work[class_of_gpu]],
            memory=positive[self.held[class_of_gpu]],
            edge=positive[self.late],
            leaving=leaving,
        )


def placed_program(
    instance: DagInstance,
    around: HeadsAndTails,
    classes: list[NDArray[np.int64]],
    proven: int,
    latest: int,
    seconds_left: Callable[[], float] = without_limit,
) -> tuple[IntegerLp, PlacedRows] | None:
    """Return the program: a column per task and class, then starts, the makespan, and what leaves sets at every edge.

    None if the time does not last. Starts and makespan are columns in units of many ticks, because HiGHS fails where
    columns differ much in size.
    """
    unit = max(1, proven // UNITS)
    first_of_class = np.array([members[0] for members in classes])
    allowed = allowed_classes(around.allowed, classes)
    durations = instance.durations[:, first_of_class]

    def least(values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the least head or tail over the members of a class that are left."""
        known = np.where(around.allowed, values, latest)
        return np.stack([known[:, members].min(axis=1) for members in classes], axis=1)

    heads, tails = least(around.heads), least(around.tails)
    task, cls = np.nonzero(allowed)
    pairs, n = len(task), instance.num_tasks
    pair_of = np.full(allowed.shape, -1)
    pair_of[task, cls] = np.arange(pairs)
    start, makespan = pairs + np.arange(n), pairs + n
    rows = RowBuilder()
    begin = rows.add(np.zeros(n, dtype=np.int64))
    rows.put(begin[task], np.arange(pairs), heads[task, cls])
    rows.put(begin, start, -unit)
    end = rows.add(np.zeros(n, dtype=np.int64))
    rows.put(end[task], np.arange(pairs), (durations + tails)[task, cls])
    rows.put(end, start, unit)
    rows.put(end, makespan, -unit)
    first_release = int(instance.release[instance.job_of_task].min())
    work_of, held_of = np.full(len(classes), -1), np.full(len(classes), -1)
    late_of = np.full(instance.num_edges, -1)
    leaving_of: list[LeavingSets] = []
    for number, members in enumerate(classes):
        here = np.flatnonzero(cls == number)
        work = rows.add(-first_release * len(members))
        work_of[number] = work[0]
        rows.put(work, here, durations[task[here], number])
        rows.put(work, makespan, -len(members) * unit)
        if instance.gpu_memory[members[0]] >= 0:
            held = rows.add(len(members) * int(instance.gpu_memory[members[0]]))
            held_of[number] = held[0]
            rows.put(held, here, instance.task_memory[task[here]])
    columns = makespan + 1
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        if seconds_left() <= 0:
            return None
        before, after = np.flatnonzero(allowed[tail]), np.flatnonzero(allowed[head])
        late = rows.add(0)
        late_of[edge] = late[0]
        rows.put(late, [start[tail], start[head]], [unit, -unit])
        rows.put(late, pair_of[tail, before], durations[tail, before])
        if instance.edge_bytes[edge] == 0:
            continue
        delays = instance.transfer_delays(edge)[np.ix_(first_of_class, first_of_class)]
        np.fill_diagonal(delays, 0)  # members of a class may be one GPU
        sets, ticks = near_classes(delays)
        leaving, left = rows.add(np.zeros(len(ticks), dtype=np.int64)), columns + np.arange(len(ticks))
        leaving_of.append(LeavingSets(edge, sets, leaving, left))
        rows.put(late, left, ticks)
        rows.put(leaving, left, -1)
        for task_of, here, sign in ((tail, before, 1), (head, after, -1)):
            of_set, position = np.nonzero(sets[:, here])
            rows.put(leaving[of_set], pair_of[task_of, here[position]], sign)
        columns += len(ticks)
    lower, upper = np.zeros(columns - pairs, dtype=np.int64), np.ones(columns - pairs, dtype=np.int64)
    upper[: n + 1] = -(-latest // unit)
    lower[n] = proven // unit
    cost = np.zeros(columns, dtype=np.int64)
    cost[makespan] = unit
    domain = Domain(
        chain_starts=np.arange(pairs + 1),
        group_starts=np.searchsorted(task, np.arange(n + 1)),
        lower=lower,
        upper=upper,
    )
    return rows.program(cost, domain), PlacedRows(end, work_of, held_of, late_of, leaving_of)


def placed_paths_proof(
    instance: DagInstance, *, at_most: int | None = None, seconds_left: Callable[[], float] = without_limit
) -> tuple[int, list[str]] | None:
    """Return a bound on the makespan by `placed_paths` and its lines; None where no program was solved.

    Multipliers are rounded to as few digits as prove the most. The bound is computed in integers as the checker does,
    so that it holds whatever the multipliers are. It may differ from that of `placed_paths` by what rounding costs, and
    by the delays between GPUs of one class, which that program takes as 0 (docs/bounds.md, section 6.1; ours).

    Parameters
    ----------
    at_most
        A bound above this one is written as this one.
    """
    multipliers = solved_placed_paths(instance, Objective.MAKESPAN, seconds_left=seconds_left).multipliers
    if multipliers is None:
        return None
    around = heads_and_tails(instance)
    proofs = (_Proof(instance, around, multipliers, 10**digits, at_most) for digits in DIGITS)
    best = max(proofs, key=lambda proof: proof.bound)
    return best.bound, best.lines()


class _Proof:
    """Multipliers in whole numbers, so many to one tick of the makespan, and the bound that they prove."""

    def __init__(
        self,
        instance: DagInstance,
        around: HeadsAndTails,
        multipliers: PathMultipliers,
        scale: int,
        at_most: int | None,
    ) -> None:
        n, m = around.allowed.shape
        self._instance = instance
        self._release = int(instance.release[instance.job_of_task].min())
        arriving = np.zeros(n)
        np.add.at(arriving, instance.edges[:, 1], multipliers.edge)
        np.subtract.at(arriving, instance.edges[:, 0], multipliers.edge)
        alone = multipliers.end - np.maximum(arriving, 0.0)  # paths that start and end here, up to tolerances
        self._task, self._work, self._memory = (
            _integers(values, scale)
            for values in (np.where(alone > TOLERANCE, alone, 0.0), multipliers.work, multipliers.memory)
        )
        self._edges: list[tuple[int, int, list[int], int]] = []
        cost, flow = np.zeros((n, m), dtype=object), [0] * n
        durations = np.where(around.allowed, instance.durations, 0).astype(object)
        for edge, (tail, head) in enumerate(instance.edges.tolist()):
            u = int(float(multipliers.edge[edge]) * scale)
            if u <= 0:
                continue
            share = np.array([int(float(entry) * scale) for entry in multipliers.leaving[edge]], dtype=object)
            share = np.where(around.allowed[tail], share - min(share[around.allowed[tail]]), 0)
            left = instance.transfer_delays(edge).astype(object) * u - share[:, None]
            cost[head] += left[around.allowed[tail]].min(axis=0)
            cost[tail] += durations[tail] * u + share
            flow[tail], flow[head] = flow[tail] - u, flow[head] + u
            self._edges.append((tail, head, share.tolist(), u))
        starts = np.array([both + max(0, -u) for both, u in zip(self._task, flow, strict=True)], dtype=object)
        ends = np.array([both + max(0, u) for both, u in zip(self._task, flow, strict=True)], dtype=object)
        cost += starts[:, None] * np.where(around.allowed, around.heads, 0).astype(object)
        cost += ends[:, None] * (durations + np.where(around.allowed, around.tails, 0).astype(object))
        cost += np.array(self._work, dtype=object) * durations
        cost += np.array(self._memory, dtype=object) * instance.task_memory.astype(object)[:, None]
        value = sum(min(costs[allowed]) for costs, allowed in zip(cost, around.allowed, strict=True))
        value += sum(self._work) * self._release
        value -= sum(y * int(limit) for y, limit in zip(self._memory, instance.gpu_memory, strict=True) if y)
        total = sum(ends) + sum(self._work)
        self.bound = max(0, -(-value // total)) if total else 0
        self.bound = self.bound if at_most is None else min(self.bound, at_most)

    def lines(self) -> list[str]:
        """Return the lines that refute the bound less one, in the checker's words; a bound of 0 needs none."""
        if self.bound == 0:
            return []
        limit = self.bound - 1
        windows = [f"window {k} {self._release} {limit} {u}" for k, u in enumerate(self._work) if u]
        lines = [f"deadline {limit}", *(windows if self._release < limit else [])]
        lines += [f"memory {k} {y}" for k, y in enumerate(self._memory) if y]
        lines += [f"task {i} {u}" for i, u in enumerate(self._task) if u]
        lines += [f"edge {h} {i} {' '.join(map(str, share))} {u}" for h, i, share, u in self._edges]
        return [*lines, "contradiction"]


def _integers(values: NDArray[np.float64], scale: int) -> list[int]:
    """Return values of at least 0 times a scale, rounded down."""
    return [int(float(value) * scale) for value in values]
