"""Branch and bound on the classes of GPUs that tasks are on, below a deadline, over paths and work in windows."""

from __future__ import annotations

import heapq
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.placed_paths import allowed_classes, is_placed_program_small, placed_program
from formulations.dag.bounds.placement_rows import with_work_between
from formulations.dag.bounds.refuted_makespans import MAX_DELAYS, probing
from formulations.dag.heads_and_tails import HeadsAndTails
from formulations.dag.incomparable_pairs import reachable
from formulations.dag.interchangeable import gpu_classes, number_of_class
from formulations.dag.probing.refuter import Refuter
from formulations.dag.windows import horizon
from formulations.integer_lp import RowBuilder, bound_and_possible
from formulations.multipliers import scaled_problem
from formulations.time_left import solve_lp, without_limit
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from highspy import Highs
    from numpy.typing import NDArray

    from formulations.dag.bounds.placed_paths import PathMultipliers, PlacedRows
    from formulations.dag.probing.tighten import State
    from formulations.integer_lp import IntegerLp
    from formulations.multipliers import ScaledProblem
    from instances.dag.instance import DagInstance

MOST_PROGRAMS = 2_000
"""Linear programs that are solved at most where no time limit says otherwise."""

SMALL_STEP, LARGEST_STEP = 0.02, 0.1
"""Shares by which deadlines are above what is proved; large trees of cases hardly raise a bound below far ones."""

FIRST_PATIENCE, PATIENCE = 100, 5
"""A deadline is given up for a nearer one after so many linear programs, and so many for each case that it begins with.
"""

PROBING_WORK, SETTLING_WORK = 1_000_000_000, 30_000_000
"""Elementary steps for probing a deadline once, and for what follows from one more branch."""

TRIED = 2
"""Tasks that are tried for a branch, of those on the dearest paths and of those with most tasks before and behind."""

QUANTILES = 8
"""Windows begin at so many quantiles of the heads on a class, and end at so many of the tails."""

NEAR = 0.05
"""Rows for the work between forks and joins are left out where a first solution leaves this part of a deadline."""

FINE = 64
"""Rows of windows are counted in so many parts of a tick, because their slopes are rounded."""

LONGEST = 8
"""Starts in the program are at most so many times the deadline, so that it always has a solution."""

MEMORY_PARTS = 1_000
"""The memory of all tasks is divided into so many parts, of which the program may exceed some at a price."""

WHOLE = 1.0 - 1e-6
"""A share from which on a task counts as placed."""


def branched_classes(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return the bound of a `ClassClimb` of at most `MOST_PROGRAMS` from that of probing on; 0 for other objectives."""
    if Objective(objective) is not Objective.MAKESPAN or instance.num_tasks == 0:
        return 0
    climb = ClassClimb(instance, probing(instance, objective, seconds_left=seconds_left))
    climb.run(most_programs=MOST_PROGRAMS, seconds_left=seconds_left)
    return climb.bound


class ClassClimb:
    """A bound on the makespan that rises from one refuted deadline to the next; a climb that can go on.

    A `ClassSearch` looks for a schedule within each deadline. It begins with the cases that refuted the one before.

    Attributes
    ----------
    instance
        The instance.
    bound
        On every makespan; at first the one that is given.
    programs
        Linear programs that were solved.
    """

    def __init__(self, instance: DagInstance, proven: int) -> None:
        self.instance, self.bound, self.programs = instance, proven, 0
        self._search: ClassSearch | None = None
        self._step, self._cases = SMALL_STEP, [Case()]

    def run(
        self,
        *,
        at_most: int | None = None,
        most_programs: float = math.inf,
        seconds_left: Callable[[], float] = without_limit,
    ) -> None:
        """Refute deadlines until the nearest cannot be refuted, or no time or no program is left.

        A deadline is given up for one half as far where the patience ends, or where no task can be split.

        Parameters
        ----------
        at_most
            The makespan of a known schedule, which no bound exceeds; default one by which some schedule ends.
        most_programs
            Linear programs that are solved at most, over all runs.
        """
        instance = self.instance
        latest = (horizon(instance) if at_most is None else at_most) - 1
        is_small = is_placed_program_small(instance, len(gpu_classes(instance)))
        if not is_small or instance.num_edges * instance.num_gpus**2 > MAX_DELAYS:
            return
        while self.bound <= latest and seconds_left() > 0 and self.programs < most_programs:
            if self._search is None:
                deadline = min(latest, self.bound + max(1, int(self._step * self.bound)))
                around = far_heads_and_tails(instance, makespan_at_most=deadline, seconds_left=seconds_left)
                if not around.allowed.any(axis=1).all():  # paths refute it
                    self.bound = deadline + 1
                    continue
                self._search = ClassSearch(instance, around, deadline, self.bound, self._cases, seconds_left)
            search, before, is_nearest = self._search, self._search.programs, int(self._step * self.bound) < 2
            patience = math.inf if is_nearest else FIRST_PATIENCE + PATIENCE * len(self._cases)
            most = most_programs - self.programs
            search.run(min(most, max(1, patience - before)), seconds_left)
            self.programs += search.programs - before
            self.bound = max(self.bound, search.bound)
            if search.is_refuted:
                is_at_once = len(search.cases) == len(self._cases)
                self._step = min(LARGEST_STEP, 2.0 * self._step) if is_at_once else min(SMALL_STEP, self._step)
            elif seconds_left() <= 0 or search.programs - before >= most or is_nearest:
                return
            else:
                self._step /= 2.0
            self._search, self._cases = None, search.cases


class Case(NamedTuple):
    """Some tasks, and the number of the class of GPUs that each of them is on."""

    tasks: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()

    def and_also(self, task: int, number: int) -> Case:
        """Return the case in which one more task is on a class."""
        return Case((*self.tasks, task), (*self.classes, number))


class _Answer(NamedTuple):
    """What the program of a node proves, and its solution."""

    bound: int
    left: NDArray[np.bool_]  # (n, classes), where a schedule within the deadline may have a task
    share: NDArray[np.float64]  # (n, classes), of each task
    flow: NDArray[np.float64]  # (n,), of the multipliers of paths through each task
    basis: Any


class _Node(NamedTuple):
    """A bound, a number that no other node has, its case, what is known of its schedules, and the program's answer."""

    bound: int
    number: int
    case: Case
    state: State
    answer: _Answer


class ClassSearch:
    """A search for a schedule within a deadline, by which classes of equal GPUs tasks are on; it proves or refutes.

    GPUs that can be swapped make up a class. A node is a set of placements: it says which GPUs are left for each task,
    and holds heads and tails of all its schedules within the deadline. The node of least bound is split by the class of
    one task. What follows is settled as in probing (`Refuter`); then comes the program of `placed_paths` with these
    heads and tails and with rows for the work in windows (`_WindowProgram`). Multipliers checked in integers prove each
    bound, and also which classes a task leaves, so that neither HiGHS nor the choice of branches is trusted
    (docs/bounds.md, section 3.22; ours).

    Parameters
    ----------
    around
        Heads and tails of all schedules within the deadline; some GPU is left for every task.
    deadline
        Only schedules within it are looked at.
    proven
        A bound on every makespan.
    cases
        Cases of which each schedule is in one; the search begins with them.

    Attributes
    ----------
    bound
        On every makespan, at most the deadline plus 1.
    cases
        Cases of which each schedule is in one, those into which the search has split the first ones.
    programs
        Linear programs that were solved.
    """

    def __init__(
        self,
        instance: DagInstance,
        around: HeadsAndTails,
        deadline: int,
        proven: int,
        cases: Sequence[Case] = (Case(),),
        seconds_left: Callable[[], float] = without_limit,
    ) -> None:
        self._deadline, self._seconds_left = deadline, seconds_left
        self._classes = gpu_classes(instance)
        self._refuter = Refuter(instance, around, lambda: self._seconds_left())
        self._instance = instance
        self._program: _WindowProgram | None = None
        self._open: list[_Node] = []
        self.programs = 0
        self.cases, self._to_solve = list(cases), list(cases)[::-1]
        self.bound, self._basis = min(proven, deadline + 1), None
        root = self._refuter.refute(deadline, passes=1, most_work=PROBING_WORK)
        if root is None:
            self.bound = deadline + 1
            return
        self._root = root
        reaches = reachable(instance)
        self._relatives = reaches.sum(axis=0) + reaches.sum(axis=1)

    @property
    def is_refuted(self) -> bool:
        """Whether no schedule is within the deadline."""
        return self.bound > self._deadline

    def run(self, most_programs: float = math.inf, seconds_left: Callable[[], float] = without_limit) -> None:
        """Split the least open node until none is open or its tasks have a class each, or no time is left.

        Parameters
        ----------
        most_programs
            Linear programs of this run after which no further node is split.
        """
        self._seconds_left, before = seconds_left, self.programs
        if self._program is None and not self.is_refuted:
            self._program = _WindowProgram.of_root(
                self._instance, self._classes, self._root, self._deadline, self.bound, seconds_left
            )
        while self._program is not None and not self.is_refuted and seconds_left() > 0:
            if self.programs - before >= most_programs:
                return
            if self._to_solve:
                parts = self._parts_of(self._root, self._basis, self.bound, self._to_solve[-1:])
                if parts is not None:
                    self._to_solve.pop()
            else:
                parts = self._split(self._open[0])
            if parts is None:
                return
            for part in parts:
                heapq.heappush(self._open, part)
                self._basis = self._basis or part.answer.basis
            if not self._to_solve:
                self.bound = max(self.bound, self._open[0].bound if self._open else self._deadline + 1)

    def _split(self, node: _Node) -> list[_Node] | None:
        """Take the least open node and return its parts by the class of the task whose worst part gains most.

        None, and it stays open, where all of its tasks have a class, or time ran out.
        """
        best: tuple[tuple[int, int], int, list[_Node]] | None = None
        for task in self._candidates(node.answer):
            cases = self._split_by(node.case, task)
            parts = self._parts_of(node.state, node.answer.basis, node.bound, cases)
            if parts is None:
                return None
            short = [part.bound - self._deadline - 1 for part in parts]  # those left out are refuted
            score = (min(short, default=0), sum(short))
            if best is None or score > best[0]:
                best = (score, task, parts)
            if not parts:
                break
        if best is None:
            return None
        heapq.heappop(self._open)
        self.cases.remove(node.case)
        self.cases += self._split_by(node.case, best[1])
        return best[2]

    def _split_by(self, case: Case, task: int) -> list[Case]:
        """Return the cases by the class of a task, also those without a schedule within this deadline."""
        allowed = self._instance.allowed[task]
        return [case.and_also(task, c) for c, members in enumerate(self._classes) if allowed[members].any()]

    def _candidates(self, answer: _Answer) -> list[int]:
        """Return tasks that are split, those of dearest paths and those with most relatives, each task once."""
        split = 1.0 - answer.share.max(axis=1)
        tasks = np.flatnonzero(split > 1.0 - WHOLE)
        dear = sorted(tasks.tolist(), key=lambda i: (-split[i] * answer.flow[i], i))
        wide = sorted(tasks.tolist(), key=lambda i: (-split[i] * self._relatives[i], i))
        return list(dict.fromkeys(dear[:TRIED] + wide[:TRIED]))

    def _parts_of(self, state: State, basis: Any, least: int, cases: list[Case]) -> list[_Node] | None:
        """Return nodes for the cases of a state, without those that are refuted; None if time ran out."""
        parts = []
        for case in cases:
            allowed = state.allowed.copy()
            for task, number in zip(case.tasks, case.classes, strict=True):
                elsewhere = np.ones(allowed.shape[1], dtype=np.bool_)
                elsewhere[self._classes[number]] = False
                allowed[task, elsewhere] = False
            known = self._refuter.settled(self._deadline, state._replace(allowed=allowed), steps=SETTLING_WORK)
            if known is None:
                continue
            part = self._solved(case, known, basis, least)
            if part is None:
                return None
            if part.bound <= self._deadline:
                parts.append(part)
        return parts

    def _solved(self, case: Case, state: State, basis: Any, least: int) -> _Node | None:
        """Return the node of a state with what its program proves; None if time ran out."""
        answer = None if self._program is None else self._program.solve(state, basis, least, self._seconds_left)
        if answer is None:
            return None
        self.programs += 1
        allowed = state.allowed.copy()
        for number, members in enumerate(self._classes):
            allowed[:, members] &= answer.left[:, [number]]
        through = np.where(allowed, state.heads + self._instance.durations + state.tails, self._deadline + 1)
        bound = max(least, answer.bound, int(through.min(axis=1).max()))
        return _Node(bound, -self.programs, case, state._replace(allowed=allowed), answer)


class _WindowProgram:
    """The program of `placed_paths` for the schedules of a node within a deadline, with rows for work in windows.

    Let z be the makespan, at least the bound L of the node above and at most the deadline C, and S the tasks on a class
    A with heads of at least a and tails of at least b there. If any of S is on A, its work is done between a and z - b,
    so sum over S of p x <= |A| (z - a - b), and else it is 0. The larger of 0 and z - a - b is convex in z, so at most
    its chord from L to C, which makes a row. In L, a and b rows change from node to node, as heads and tails do.

    Memory may be exceeded at a high price, so that the program always has a solution.
    """

    def __init__(
        self,
        instance: DagInstance,
        classes: list[NDArray[np.int64]],
        root: State,
        deadline: int,
        made: tuple[IntegerLp, PlacedRows],
    ) -> None:
        self._classes, self._deadline, self._edges = classes, deadline, instance.edges
        self._class_of_gpu = number_of_class(classes)
        lp, self._rows = made
        self._lp, left = self._with_room(lp, instance), allowed_classes(root.allowed, self._classes)
        self._task, self._class = np.nonzero(left)
        self._shape, pairs = left.shape, len(self._task)
        self._unit = int(lp.cost[pairs + len(left)])  # of the makespan, whose column follows the starts
        self._makespan = pairs + len(left)
        self._durations = instance.durations[:, [members[0] for members in classes]][self._task, self._class]
        self._windows = list(self._windows_of(root))

    @classmethod
    def of_root(
        cls,
        instance: DagInstance,
        classes: list[NDArray[np.int64]],
        root: State,
        deadline: int,
        proven: int,
        seconds_left: Callable[[], float],
    ) -> _WindowProgram | None:
        """Return the program for a state and all that follow from it; None if time ran out."""
        nothing = np.zeros_like(root.heads)
        idle = HeadsAndTails(heads=nothing, tails=nothing, job_tails=nothing, allowed=root.allowed)
        made = placed_program(instance, idle, classes, proven, LONGEST * max(1, deadline), seconds_left)
        program = None if made is None else cls(instance, classes, root, deadline, made)
        return program if program is not None and program.add_forks(instance, root, proven, seconds_left) else None

    def add_forks(self, instance: DagInstance, root: State, proven: int, seconds_left: Callable[[], float]) -> bool:
        """Add the rows for work between forks and joins that are nearly full in a first solution; not if time ran out.

        On some graphs there are many, and most of them never matter.
        """
        more = with_work_between(
            self._lp, instance, self._classes, allowed_classes(root.allowed, self._classes), seconds_left
        )
        found = None if more is None else self._solved(*self._of_node(root, proven), None, seconds_left)
        if more is None or found is None:
            return False
        slack = more.limit - more.matrix @ np.array(found[0].getSolution().col_value)
        kept = np.flatnonzero((np.arange(len(slack)) < len(self._lp.limit)) | (slack <= NEAR * self._deadline))
        self._lp = replace(more, matrix=more.matrix[kept], limit=more.limit[kept], is_equality=more.is_equality[kept])
        return True

    def _with_room(self, lp: IntegerLp, instance: DagInstance) -> IntegerLp:
        """Return the program with a column for each limit of memory that pays for more of it."""
        from scipy.sparse import csc_matrix, hstack

        held = self._rows.held[self._rows.held >= 0]
        part = max(1, int(instance.task_memory.sum()) // MEMORY_PARTS)
        more = csc_matrix((np.full(len(held), -part), (held, np.arange(len(held)))), shape=(len(lp.limit), len(held)))
        lower, upper = lp.domain.lower, lp.domain.upper
        return replace(
            lp,
            matrix=csc_matrix(hstack([lp.matrix, more.astype(np.int64)])),
            cost=np.concatenate([lp.cost, np.full(len(held), 4 * self._deadline)]),
            domain=replace(
                lp.domain,
                lower=np.concatenate([lower, np.zeros(len(held), dtype=np.int64)]),
                upper=np.concatenate([upper, np.full(len(held), 2 * MEMORY_PARTS)]),
            ),
        )

    def _least(self, values: NDArray[np.int64], state: State) -> NDArray[np.int64]:
        """Return the least head or tail over the GPUs of a class that are left, one entry per pair; 0 if none is."""
        known = np.where(state.allowed, values, np.iinfo(np.int64).max)
        least = np.stack([known[:, members].min(axis=1) for members in self._classes], axis=1)
        return np.where(allowed_classes(state.allowed, self._classes), least, 0)[self._task, self._class]

    def _windows_of(self, root: State) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield classes and pairs that are far enough from both ends, where their work may fill what is between."""
        heads, tails = self._least(root.heads, root), self._least(root.tails, root)
        for number, members in enumerate(self._classes):
            here, seen = np.flatnonzero(self._class == number), set[tuple[int, int]]()
            if len(here) == 0:
                continue
            steps = np.linspace(0.0, 0.95, QUANTILES)
            begins, ends = (np.unique(np.quantile(of[here], steps, method="lower")) for of in (heads, tails))
            for begin in begins.tolist():
                for end in ends.tolist():
                    inside = here[(heads[here] >= begin) & (tails[here] >= end)]
                    if len(inside) == 0:
                        continue
                    window = int(heads[inside].min()), int(tails[inside].min())
                    room = len(members) * (self._deadline - sum(window))
                    if window not in seen and 3 * int(self._durations[inside].sum()) > room:
                        seen.add(window)
                        yield number, inside

    def _of_node(self, state: State, least: int) -> tuple[IntegerLp, NDArray[np.bool_]]:
        """Return the program with the heads, tails and windows of a node, and which pairs are left."""
        from scipy.sparse import csc_matrix

        left = allowed_classes(state.allowed, self._classes)[self._task, self._class]
        heads, tails = self._least(state.heads, state), self._least(state.tails, state)
        n, pairs = self._shape[0], np.arange(len(left))
        around = csc_matrix(
            (np.concatenate([heads, tails]), (np.concatenate([self._task, n + self._task]), np.tile(pairs, 2))),
            shape=self._lp.matrix.shape,
            dtype=np.int64,
        )
        rows = RowBuilder()
        for number, inside in self._windows:
            here = inside[left[inside]]
            if len(here):
                ends = int(heads[here].min()) + int(tails[here].min())
                slope, limit = self._chord(len(self._classes[number]), ends, least)
                row = rows.add(limit)
                rows.put(row, here, FINE * self._durations[here])
                rows.put(row, self._makespan, -slope * self._unit)
            else:
                rows.add(0)
        cost = self._lp.cost.copy()
        cost[: len(left)] = np.where(left, 0, 4 * self._deadline)
        return replace(self._lp, cost=cost, matrix=self._lp.matrix + around).with_rows(rows), left

    def _chord(self, size: int, ends: int, least: int) -> tuple[int, int]:
        """Return slope and limit of the row of a window on so many GPUs: work <= limit + slope z, in parts of ticks."""
        if ends <= least:
            return FINE * size, -FINE * size * ends
        slope = FINE * size * (self._deadline - ends) // max(1, self._deadline - least)
        return slope, FINE * size * (self._deadline - ends) - slope * self._deadline

    def solve(self, state: State, basis: Any, least: int, seconds_left: Callable[[], float]) -> _Answer | None:
        """Solve the program of a node whose schedules have at least a makespan; None if time ran out.

        From a basis at hand by the simplex method, else by an interior point method.
        """
        lp, left = self._of_node(state, least)
        found = self._solved(lp, left, basis, seconds_left)
        if found is None:
            return None
        highs, scaled = found
        solution = highs.getSolution()
        multipliers = scaled.multipliers(solution.row_dual)
        bound, possible = bound_and_possible(lp, multipliers, self._deadline)
        of_class, share = np.zeros(self._shape, dtype=np.bool_), np.zeros(self._shape)
        of_class[self._task, self._class] = left & possible
        share[self._task, self._class] = np.array(solution.col_value)[: len(left)]
        flow = self._flow(self._rows.multipliers(multipliers[: len(self._lp.limit)], self._class_of_gpu))
        return _Answer(bound, of_class, share, flow, highs.getBasis())

    def _solved(
        self, lp: IntegerLp, left: NDArray[np.bool_], basis: Any, seconds_left: Callable[[], float]
    ) -> tuple[Highs, ScaledProblem] | None:
        """Solve the program with the pairs that are left; None if time ran out."""
        import highspy

        scaled = scaled_problem(replace(lp, cost=self._lp.cost), 1.0)
        upper = np.array(scaled.problem.col_upper_)
        upper[: len(left)] = left
        scaled.problem.col_upper_ = upper
        options = {"solver": "ipm"} if basis is None else {"solver": "simplex", "presolve": "off"}
        highs = scaled.in_highs(**options)
        if basis is not None:
            highs.setBasis(basis)
        solve_lp(highs, seconds_left)
        stopped = (highspy.HighsModelStatus.kTimeLimit, highspy.HighsModelStatus.kInterrupt)
        return None if highs.getModelStatus() in stopped else (highs, scaled)

    def _flow(self, multipliers: PathMultipliers) -> NDArray[np.float64]:
        """Return the multipliers of all paths through each task, shape (n,)."""
        flow = multipliers.end.copy()
        np.add.at(flow, self._edges[:, 0], multipliers.edge)
        return flow
