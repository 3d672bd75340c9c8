"""A tree of cases of which GPUs tasks are on, over a linear program with a column for every task and GPU."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formulations.integer_lp import bound_and_possible, dual_bound
from formulations.multipliers import scaled_problem
from formulations.time_left import solve_lp, without_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.integer_lp import IntegerLp

WHOLE = 1.0 - 1e-6
"""A share from which on a task counts as placed."""

RELIABLE = 2
"""What a branch gains is estimated from so many earlier ones on the same task and GPU; before, it is tried."""

MOST_TRIED, MOST_LOOKED_AT = 5, 40
"""A node is branched where the best of so many tasks in a row was not beaten, or after so many in all."""

TRIAL_ITERATIONS, ALL_ITERATIONS = 40, 2**31 - 1
"""Iterations of the simplex method by which a branch is tried, and by which the one that is chosen is solved."""

LEAST_GAIN = 1e-3
"""Ticks that a branch gains at least when branches are compared by the product of both gains."""


class ProgramAnswer(NamedTuple):
    """The value of a linear program, the share of each task on each GPU, shape (n, m), multipliers and basis."""

    value: float
    share: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    basis: Any
    is_whole: bool
    """Whether it is solved to the end."""


class Relaxation:
    """The linear program, solved again and again with fewer GPUs left; by the simplex method, from a basis at hand.

    Parameters
    ----------
    lp
        Its first columns are the pairs of task and GPU in `allowed`, shape (n, m), by task and then by GPU.
    dear
        What a pair that is not left costs, in ticks.
    """

    def __init__(self, lp: IntegerLp, allowed: NDArray[np.bool_], dear: int) -> None:
        import highspy

        self._lp, self._allowed, self._dear = lp, allowed, dear
        self.seconds_left: Callable[[], float] = without_limit
        self._scaled = scaled_problem(lp, 1.0)
        self._highs = self._scaled.in_highs(presolve="off")
        self._pairs = np.arange(np.count_nonzero(allowed), dtype=np.int32)
        self._solved = highspy.HighsModelStatus.kOptimal
        self._infeasible, self._cut = highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kIterationLimit
        self._stopped = (highspy.HighsModelStatus.kTimeLimit, highspy.HighsModelStatus.kInterrupt)
        self.ran_out = False  # whether a program was stopped because no time was left
        self.programs = 0

    def price(self, cost: NDArray[np.int64], dear: int) -> None:
        """Replace the costs of all columns, and of a pair that is not left."""
        self._lp, self._dear = replace(self._lp, cost=cost), dear
        cost_scale = 1.0 / max(float(np.abs(cost).max(initial=1)), 1.0)
        self._scaled = self._scaled._replace(cost_scale=cost_scale)
        self._highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost * cost_scale)

    def solve(
        self, left: NDArray[np.bool_], basis: Any = None, iterations: int = ALL_ITERATIONS
    ) -> ProgramAnswer | None:
        """Solve with the GPUs that are left, shape (n, m); None where the program has no solution, or time ran out.

        The simplex method stops after some iterations; the answer is then what it has so far.
        """
        highs = self._highs
        self.programs += 1
        upper = left[self._allowed].astype(np.float64)
        highs.changeColsBounds(len(self._pairs), self._pairs, np.zeros(len(self._pairs)), upper)
        highs.setOptionValue("solver", "ipm" if basis is None else "simplex")
        if basis is not None:
            highs.setBasis(basis)
        highs.setOptionValue("simplex_iteration_limit", iterations)
        solve_lp(highs, self.seconds_left)
        status = highs.getModelStatus()
        self.ran_out = self.ran_out or status in self._stopped
        if status not in (self._solved, self._cut):
            return None
        solution = highs.getSolution()
        share = np.zeros(left.shape)
        share[self._allowed] = np.array(solution.col_value)[: len(self._pairs)]
        value = highs.getInfo().objective_function_value / self._scaled.cost_scale
        multipliers = self._scaled.multipliers(solution.row_dual)
        return ProgramAnswer(value, share, multipliers, highs.getBasis(), status == self._solved)

    def proved(
        self, left: NDArray[np.bool_], multipliers: NDArray[np.float64], at_most: int | None
    ) -> tuple[int, NDArray[np.bool_]]:
        """Return what multipliers prove where these GPUs are left, and the GPUs on which it may be below `at_most`."""
        lp = replace(self._lp, cost=self._lp.cost + self._forbidden(left))
        if at_most is None:
            return dual_bound(lp, multipliers), left
        bound, possible = bound_and_possible(lp, multipliers, at_most - 1)
        shorter = left.copy()
        shorter[self._allowed] &= possible
        return bound, shorter

    def is_refuted(self, left: NDArray[np.bool_]) -> bool:
        """Say whether the program that was just solved has no solution, by its ray checked in integers."""
        if self._highs.getModelStatus() != self._infeasible:
            return False
        has_ray, ray = self._highs.getDualRay()[1:]
        if not has_ray:
            return False
        prices = self._scaled.multipliers(ray)
        forbidden = replace(self._lp, cost=self._forbidden(left))
        scale = self._dear / 4 / max(float((np.abs(prices) * self._lp.row_sizes()).max(initial=0.0)), 1e-300)
        return any(dual_bound(forbidden, sign * scale * prices) > 0 for sign in (1, -1))

    def _forbidden(self, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return costs of pairs that are not left, which no placement of the node pays."""
        cost = np.zeros(len(self._lp.cost), dtype=np.int64)
        cost[self._pairs] = np.where(left[self._allowed], 0, self._dear)
        return cost


class Node(NamedTuple):
    """A bound, a number that no other node has, the GPUs that are left, shape (n, m), and the program's answer."""

    bound: int
    number: int
    left: NDArray[np.bool_]
    answer: ProgramAnswer


class BranchSide(NamedTuple):
    """One side of a branch: the GPUs that are left, the program's answer, and whether it is proved to have none."""

    left: NDArray[np.bool_]
    answer: ProgramAnswer | None
    is_refuted: bool


class PlacementTree:
    """Open cases that cover all placements of some tasks, each a node with what its linear program proves.

    A node is split in two: a task on one GPU, or on none like it. GPUs are alike if they can be swapped and no task is
    told apart on them. Branches are chosen by what both sides gain, tried first by some iterations and then estimated
    (pseudo-costs). Each node's bound is that of multipliers checked in integers, so that neither HiGHS nor the choice
    of branches is trusted.

    Parameters
    ----------
    memory, capacity
        Memory of each task, shape (n,), and of each GPU, shape (m,), negative where there is no limit.
    alike
        The GPUs in classes of which any two can be swapped.
    at_most
        Nodes that reach it stay closed.
    """

    def __init__(
        self, memory: NDArray[np.int64], capacity: NDArray[np.int64], alike: list[NDArray[np.int64]], at_most: int
    ) -> None:
        self._memory, self._capacity, self._alike, self._at_most = memory, capacity, alike, at_most
        shape = (2, len(memory), len(capacity))
        self._gain, self._seen = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        self._open: list[Node] = []
        self._unsolved: list[int] = []
        self._nodes = 0
        self._made: Relaxation | None = None

    @property
    def _program(self) -> Relaxation:
        assert self._made is not None
        return self._made

    def _least(self) -> int:
        """Return what is proved of all placements: the least bound of a node, at most the value of closed ones."""
        return min([self._at_most, *self._unsolved, *(node.bound for node in self._open[:1])])

    def _commit(self, sides: list[BranchSide], least: int) -> bool:
        """Put the sides of a branch into the place of the least open node; not if time ran out on one of them."""
        if any(side.answer is None and not side.is_refuted for side in sides) and self._program.ran_out:
            return False
        if self._open:
            heapq.heappop(self._open)
        for side in sides:
            self._add(side, least)
        return True

    def _add(self, side: BranchSide, least: int) -> None:
        """Open a node with at least the bound of the one above it; of two with equal bounds the newer one is first."""
        self._nodes += 1
        if side.answer is None:
            if not side.is_refuted:
                self._unsolved.append(least)
            return
        bound, left = self._program.proved(side.left, side.answer.multipliers, self._at_most)
        self._open_node(Node(max(least, bound), -self._nodes, left, side.answer))

    def _open_node(self, node: Node) -> None:
        """Put a node among the open ones."""
        heapq.heappush(self._open, node)

    def _narrowed(self, left: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return what is left without placements that do not count; None where none does."""
        return self._fitting(left)

    def _side(self, left: NDArray[np.bool_], basis: Any, iterations: int = ALL_ITERATIONS) -> BranchSide:
        """Solve the program with these GPUs left, less those that do not count."""
        fitting = self._narrowed(left)
        if fitting is None:
            return BranchSide(left, None, is_refuted=True)
        answer = self._program.solve(fitting, basis, iterations)
        return BranchSide(fitting, answer, answer is None and self._program.is_refuted(fitting))

    def _fitting(self, left: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return what is left without tasks that do not fit beside those with no other GPU; None where one has none."""
        left = left.copy()
        while True:
            count = left.sum(axis=1)
            placed = left & (count == 1)[:, None]
            free = np.where(self._capacity < 0, np.inf, self._capacity - self._memory @ placed)
            too_large = left & ~placed & (self._memory[:, None] > free)
            if (count == 0).any() or (free < 0).any():
                return None
            if not too_large.any():
                return left
            left &= ~too_large

    def _split(self, node: Node) -> list[BranchSide]:
        """Return both sides of the branch that gains most; no sides where all tasks are placed."""
        best: tuple[float, int, NDArray[np.int64]] | None = None
        best_sides: list[BranchSide] = []
        beaten = 0
        for estimate, task, alike in self._branches(node)[:MOST_LOOKED_AT]:
            sides, score = [], estimate
            if self._seen[:, task, alike[0]].min() < RELIABLE:
                sides = self._sides(node, task, alike, TRIAL_ITERATIONS)
                score = self._score(*(self._gained(node, side) for side in sides))
            if best is None or score > best[0]:
                best, best_sides, beaten = (score, task, alike), sides, 0
            else:
                beaten += 1
            if beaten >= MOST_TRIED or self._program.ran_out or self._program.seconds_left() <= 0:
                break
        is_whole = best_sides and all(side.answer is None or side.answer.is_whole for side in best_sides)
        return best_sides if best is None or is_whole else self._sides(node, *best[1:])

    def _branches(self, node: Node) -> list[tuple[float, int, NDArray[np.int64]]]:
        """Return estimate, task, and its GPU of largest share with those like it, of all that are split, best first."""
        share = node.answer.share
        mean = self._gain / np.maximum(self._seen, 1)
        known = [float(values[seen > 0].mean()) if seen.any() else 1.0 for values, seen in zip(mean, self._seen)]
        branches = []
        for task in np.flatnonzero(share.max(axis=1) < WHOLE).tolist():
            k = int(share[task].argmax())
            alike = self._like(node.left, k)
            gains = (
                (mean[side, task, k] if self._seen[side, task, k] else known[side]) * part
                for side, part in enumerate(_parts(share[task], alike))
            )
            branches.append((self._score(*gains), task, alike))
        return sorted(branches, key=lambda branch: (-branch[0], branch[1]))

    def _like(self, left: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
        """Return a GPU and those that can still be swapped with it: equal ones on which the same tasks are left."""
        members = next(members for members in self._alike if k in members)
        same = members[(left[:, members] == left[:, [k]]).all(axis=0)]
        return np.append(k, same[same != k])

    def _sides(
        self, node: Node, task: int, alike: NDArray[np.int64], iterations: int = ALL_ITERATIONS
    ) -> list[BranchSide]:
        """Solve both sides: the task on the first of some GPUs that are alike, or on none of them.

        What they gain counts in later estimates; a branch that is tried and then chosen counts twice.
        """
        on, off = node.left.copy(), node.left.copy()
        on[task] = False
        on[task, alike[0]] = True
        off[task, alike] = False
        sides = [self._side(left, node.answer.basis, iterations) for left in (on, off)]
        for number, (side, part) in enumerate(zip(sides, _parts(node.answer.share[task], alike), strict=True)):
            if side.answer is not None:
                self._gain[number, task, alike[0]] += self._gained(node, side) / max(part, LEAST_GAIN)
                self._seen[number, task, alike[0]] += 1
        return sides

    def _gained(self, node: Node, side: BranchSide) -> float:
        """Return by how much the value rises, in ticks; to `at_most` where the side has no solution."""
        most = self._at_most - node.answer.value
        return max(0.0, most if side.answer is None else min(most, side.answer.value - node.answer.value))

    @staticmethod
    def _score(on: float, off: float) -> float:
        return max(on, LEAST_GAIN) * max(off, LEAST_GAIN)


def _parts(share: NDArray[np.float64], alike: NDArray[np.int64]) -> tuple[float, float]:
    """Return how much of a task must move to be on the first of some GPUs, and on none of them."""
    return 1.0 - float(share[alike[0]]), float(share[alike].sum())
