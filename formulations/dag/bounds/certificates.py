"""Certificates of lower bounds: texts from which a checker that shares no code proves the bound again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.bounds.assignment_lp import AssignmentLp, LoadRow, Multipliers
from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.refuted_makespans import MAX_DELAYS, probing
from formulations.dag.bounds.smith_columns import priced_columns
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails
from formulations.dag.probing.refuter import largest_refuted
from formulations.time_left import without_limit
from instances.dag.instance import NO_LIMIT
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


class BoundCertificate(NamedTuple):
    """A bound, what kind of proof it has, and the lines of the proof."""

    bound: int
    kind: str
    lines: list[str]

    def text(self, objective: Objective) -> str:
        """Return the file that the checker reads."""
        head = ["optgap-certificate 1", f"objective {objective}", f"bound {self.bound}", f"proof {self.kind}"]
        return "\n".join([*head, *self.lines, "end", ""])


def bound_certificate(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> BoundCertificate:
    """Return the certificate of the largest bound that can be written as one, of three kinds for each objective.

    Makespan: paths, the area with its multipliers, and a refuted makespan, found as `destructive` and `probing` do by
    windows of work with multipliers, also under the assumption that a task sits on one of its GPUs. Weighted
    completion: paths, and `smith_columns` with its prices. When no seconds are left, what is proved so far is written
    (docs/bounds.md, section 6.1; ours).
    """
    found = [BoundCertificate(join_aware_path(instance, objective), "paths", [])]
    if instance.num_tasks and Objective(objective) is Objective.MAKESPAN:
        found.append(_area_certificate(instance, seconds_left))
        refuted = _refutation(instance, max(found).bound, seconds_left)
        found += [] if refuted is None else [refuted]
    elif instance.num_tasks:
        columns = priced_columns(instance, seconds_left=seconds_left)
        if columns is not None:
            rows = {"weight": columns.weight, "price": columns.price}
            lines = [f"fineness 0 {columns.fineness}"]
            lines += [f"{name} {i} {number}" for name, row in rows.items() for i, number in _above_zero(row)]
            found.append(BoundCertificate(columns.bound, "columns", lines))
    return max(found, key=lambda certificate: certificate.bound)


def _above_zero(values: Iterable[int]) -> list[tuple[int, int]]:
    """Return index and value of the entries above zero, as Python's integers."""
    return [(index, int(value)) for index, value in enumerate(values) if value > 0]


def _integers(multipliers: Multipliers) -> tuple[list[int], list[int]]:
    """Return multipliers of rows and prices of bytes in whole numbers of one size."""
    row, memory = np.maximum(multipliers.row, 0.0), np.maximum(multipliers.memory, 0.0)
    scale = (2.0**60 if memory.any() else 2.0**30) / max(float(row.sum()), 1e-200)
    return [int(entry) for entry in row * scale], [int(entry) for entry in memory * scale]


def _area_certificate(instance: DagInstance, seconds_left: Callable[[], float]) -> BoundCertificate:
    """Return the area bound by multipliers of GPUs, tasks and bytes."""
    tasks = np.arange(instance.num_tasks)
    lp = AssignmentLp(instance, tasks, instance.allowed, seconds_left)
    lp.add_area_rows()
    gpus = [int(lp.gpu_of_pair[row.pairs[0]]) for row in lp.rows]
    lp.add_task_rows(lp.durations)
    row, memory = _integers(lp.solve()[0])
    if not sum(row):
        row, memory = [1] * len(gpus) + [0] * instance.num_tasks, [0] * instance.num_gpus
    load = dict(zip(gpus, row[: len(gpus)], strict=True))
    value = -sum(y * int(instance.gpu_memory[k]) for k, y in enumerate(memory) if y)
    first = np.searchsorted(lp.task_of_pair, np.arange(instance.num_tasks + 1)).tolist()
    pairs = list(zip(lp.gpu_of_pair.tolist(), lp.durations.tolist(), strict=True))
    for task, memory_of_task in enumerate(instance.task_memory.tolist()):
        own = row[len(gpus) + task]
        value += min((load[k] + own) * p + memory[k] * memory_of_task for k, p in pairs[first[task] : first[task + 1]])
    lines = [f"load {k} {u}" for k, u in load.items() if u]
    lines += [f"task {i} {u}" for i, u in _above_zero(row[len(gpus) :])]
    lines += [f"memory {k} {y}" for k, y in _above_zero(memory)]
    release = int(instance.release[instance.job_of_task].min())
    return BoundCertificate(release + max(0, -(-value // sum(row))), "area", lines)


ROUNDS, ROWS_PER_GPU, MOST_ENDS = 12, 3, 60
"""Rounds of separation, windows added per GPU and round, and beginnings and ends that are tried per GPU."""

FINE_TICKS = 2**16
"""Loads are whole numbers of shares of a tick of which a makespan has so many, so that bytes can be loads too."""

MOST_OVERLAPS = 2_000_000
"""Overlaps of windows and tasks on a GPU that are looked at in one round."""

SHORT_ROUNDS, PASSES = 3, 2
"""Rounds under an assumption, and passes over all pairs of task and GPU for one makespan."""


def _refutation(instance: DagInstance, proven: int, seconds_left: Callable[[], float]) -> BoundCertificate | None:
    """Return the certificate of the largest makespan that is refuted, None where none above the proven bound is."""
    best: BoundCertificate | None = None
    ceiling = probing(instance, Objective.MAKESPAN, seconds_left=lambda: seconds_left() / 2)
    if instance.num_edges * instance.num_gpus**2 > MAX_DELAYS or ceiling <= proven:
        return None

    def is_refuted(makespan: int, passes: int) -> bool:
        nonlocal best
        if makespan >= ceiling or seconds_left() <= 0:
            return False
        lines = _Attempt(instance, makespan, seconds_left).lines(passes)
        if lines is not None:
            best = BoundCertificate(makespan + 1, "refuted", [f"deadline {makespan}", *lines])
        return lines is not None

    if is_refuted(ceiling - 1, 0):
        return best
    refuted = largest_refuted(proven - 1, lambda makespan: is_refuted(makespan, 0), latest=ceiling - 1)
    if not is_refuted(ceiling - 1, PASSES):
        largest_refuted(refuted, lambda makespan: is_refuted(makespan, PASSES), latest=ceiling - 1)
    return best


class _Attempt:
    """Tries to refute one makespan."""

    def __init__(self, instance: DagInstance, makespan: int, seconds_left: Callable[[], float]) -> None:
        self._instance, self._makespan, self._seconds_left = instance, makespan, seconds_left
        self._without_limits = replace(instance, gpu_memory=np.full(instance.num_gpus, NO_LIMIT))
        self._fineness = max(1, FINE_TICKS // max(makespan, 1))
        self._windows: dict[tuple[int, int, int], None] = {}  # those that had a multiplier before

    def lines(self, passes: int) -> list[str] | None:
        """Return the lines of a refutation, None where there is none."""
        around, lines = self._settled(self._instance.allowed), list[str]()
        last = self._contradiction(around, ROUNDS)
        for _ in range(passes):
            changed = False
            for task, gpu in np.argwhere(around.allowed).tolist():
                if last is not None or self._seconds_left() <= 0:
                    break
                if not around.allowed[task, gpu] or around.allowed[task].sum() < 2:
                    continue
                among = around.allowed.copy()
                among[task] = False
                among[task, gpu] = True
                contradiction = self._contradiction(self._settled(among), SHORT_ROUNDS)
                if contradiction is not None:
                    lines += [f"suppose {task} {gpu}", *contradiction]
                    among = around.allowed.copy()
                    among[task, gpu] = False
                    around, changed = self._settled(among), True
                    if not around.allowed.any(axis=1).all():
                        last = ["contradiction"]
            last = last or self._contradiction(around, ROUNDS)
            if last is not None or not changed:
                break
        return None if last is None else [*lines, *last]

    def _settled(self, among: NDArray[np.bool_]) -> HeadsAndTails:
        return heads_and_tails(self._instance, makespan_at_most=self._makespan, among=among)

    def _contradiction(self, around: HeadsAndTails, rounds: int) -> list[str] | None:
        """Return windows, prices and the word contradiction, None where the work fits in the time as far as tried."""
        instance, deadline = self._instance, self._makespan
        if not around.allowed.any(axis=1).all():
            return ["contradiction"]
        lp = AssignmentLp(self._without_limits, np.arange(instance.num_tasks), around.allowed, self._seconds_left)
        task, gpu, fineness = lp.task_of_pair, lp.gpu_of_pair, self._fineness
        head, latest = around.heads[task, gpu], deadline - around.tails[task, gpu]
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
            new.append((k, int(head[here].min()), int(latest[here].max())))
        for _ in range(rounds):
            for k, begin, end in dict.fromkeys(new):
                if begin < end and (k, begin, end) not in rows:
                    pairs = np.flatnonzero(gpu == k)
                    ticks = _overlap(head[pairs], lp.durations[pairs], latest[pairs], begin, end) * fineness
                    rows.append((k, begin, end))
                    lp.rows.append(LoadRow(base=(deadline - (end - begin)) * fineness, pairs=pairs, ticks=ticks))
            multipliers, share, _ = lp.solve()
            dual = np.maximum(multipliers.row, 0.0) * (2.0**60 / max(float(multipliers.row.sum()), 1e-200))
            row, memory = [int(u) for u in dual[len(limited) :]], [0] * instance.num_gpus
            for k, u in zip(limited, dual.tolist(), strict=False):
                memory[k] = int(u * deadline / max(int(instance.gpu_memory[k]), 1))
            if self._is_contradiction(lp, lp.rows[len(limited) :], rows, row, memory):
                used = [(window, u) for window, u in zip(rows, row, strict=True) if u]
                self._windows.update(dict.fromkeys(window for window, _ in used))
                lines = [f"window {k} {begin} {end} {u}" for (k, begin, end), u in used]
                return [*lines, *(f"memory {k} {y}" for k, y in _above_zero(memory)), "contradiction"]
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
    ) -> bool:
        """Say in exact integers whether the work by multipliers exceeds the time."""
        cost = np.array(memory, dtype=object)[lp.gpu_of_pair] * self._instance.task_memory[lp.task_of_pair].astype(
            object
        )
        for u, used in zip(row, loads, strict=True):
            if u:
                cost[used.pairs] += u * (used.ticks // self._fineness).astype(object)
        first = np.searchsorted(lp.task_of_pair, np.arange(self._instance.num_tasks))
        work = sum(np.minimum.reduceat(cost, first).tolist())
        limit = sum(u * (end - begin) for u, (_, begin, end) in zip(row, rows, strict=True))
        return bool(work > limit + sum(y * int(self._instance.gpu_memory[k]) for k, y in enumerate(memory) if y))


def _overlap(
    head: NDArray[np.int64],
    duration: NDArray[np.int64],
    latest: NDArray[np.int64],
    begin: NDArray[np.int64] | int,
    end: NDArray[np.int64] | int,
) -> NDArray[np.int64]:
    """Return the least time inside [begin, end] of runs between head and latest finish: that of the first or last."""
    early = np.minimum(head + duration, end) - np.maximum(head, begin)
    late = np.minimum(latest, end) - np.maximum(latest - duration, begin)
    least: NDArray[np.int64] = np.maximum(np.minimum(early, late), 0)
    return least


def _violated(
    lp: AssignmentLp, k: int, head: NDArray[np.int64], latest: NDArray[np.int64], share: NDArray[np.float64]
) -> list[tuple[int, int, int]]:
    """Return the windows on a GPU that the shares of tasks overfill most."""
    pairs = np.flatnonzero((lp.gpu_of_pair == k) & (share > 1e-9))
    if not len(pairs):
        return []
    most_ends = min(MOST_ENDS, 2 + int((MOST_OVERLAPS / len(pairs)) ** 0.5))
    begins, ends = (_some(np.unique(values[pairs]), most_ends) for values in (head, latest))
    grid = (head[pairs], lp.durations[pairs], latest[pairs], begins[:, None, None], ends[None, :, None])
    excess = _overlap(*grid) @ share[pairs] - (ends[None, :] - begins[:, None])
    excess[begins[:, None] >= ends[None, :]] = -1.0
    most = np.argsort(-excess, axis=None)[:ROWS_PER_GPU]
    places = [np.unravel_index(int(index), excess.shape) for index in most if excess.flat[index] > 1e-6]
    return [(k, int(begins[a]), int(ends[b])) for a, b in places]


def _some(values: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return all values, or evenly chosen ones of many."""
    return values[np.unique(np.linspace(0, len(values) - 1, most).astype(np.int64))]
