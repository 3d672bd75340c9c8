"""Cuts from blocks of tasks between a fork and its join: what a block costs at least if its tasks are placed whole."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.placement_rows import forks_and_joins
from formulations.dag.bounds.placement_tree import Node, PlacementTree, Relaxation
from formulations.dag.interchangeable import number_of_class
from formulations.integer_lp import Domain, IntegerLp, RowBuilder, bound_and_possible
from formulations.multipliers import highs_answer
from formulations.time_left import without_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from formulations.dag.bounds.placed_paths import LeavingSets
    from instances.dag.instance import DagInstance

LEAST_BETWEEN, MOST_BETWEEN = 8, 40
"""Tasks between the fork and the join of a block. Smaller blocks gain less than branching does in their time, and
larger ones are not searched to the end (measured on PipeDream's graphs; docs/bounds.md, section 3.18)."""

MOST_ROUNDS, LEAST_RISE = 12, 1e-3
"""Rounds of cuts at most, and by which share two of them must raise the bound for another one."""

LEAST_SHARE = 0.5
"""Where a round ends and fewer of the blocks have a cut, no other follows, and branching does better without cuts
(measured on PipeDream's resnet50 and resnext50)."""

BLOCK_PROGRAMS = 200
"""Linear programs that are solved for a block in a round, at most."""

PRICE_BITS = 24
"""Prices are multiplied so that the largest has at least so many bits, and rounded."""

LEAST_BREACH = 1e-5
"""A cut that the solution breaks by a smaller share of the bound is left out."""

HIGHEST = 2**60
"""Above every value of a block; twice as much fits into 64 bits."""


def blocks(instance: DagInstance) -> Iterator[NDArray[np.int64]]:
    """Yield the tasks of each block with its fork and its join, shape (k,); the largest first, nothing between two."""
    n, found = instance.num_tasks, list[set[int]]()
    for fork, join, between in sorted(forks_and_joins(instance), key=lambda each: -np.count_nonzero(each[2])):
        tasks = set(np.flatnonzero(between).tolist())
        if LEAST_BETWEEN <= len(tasks) <= MOST_BETWEEN and all(tasks.isdisjoint(other) for other in found):
            found.append(tasks)
            yield np.array(sorted(tasks | {i for i in (fork, join) if 0 <= i < n}))


class BlockCuts:
    """Cuts that make the linear program of placement stronger, found in rounds.

    A round solves the program. The multipliers of the rows that reach beyond a block make prices of its columns, and a
    search over the block's placements proves that these cost v at least. So says the cut: it holds in every placement,
    and a solution that splits tasks may break it. (Lagrangean decomposition, textbook; the blocks, and that a search
    goes on from the cases of the round before, are ours: docs/bounds.md, section 3.18.)

    Parameters
    ----------
    lp
        Of `placed_program` for single GPUs, with more rows.
    leaving
        Its columns of what leaves sets of near GPUs.
    allowed
        Its pairs of task and GPU, shape (n, m).
    alike
        The GPUs in classes of which any two can be swapped in the instance.

    Attributes
    ----------
    lp
        The program with the cuts so far; at the end without any where they are not worth their time.
    bound
        What its multipliers have proved, at least 0.
    left
        GPUs on which tasks may be in a schedule shorter than the known one, shape (n, m).
    is_done
        Whether no further round is worth its time.
    """

    def __init__(
        self,
        instance: DagInstance,
        lp: IntegerLp,
        leaving: list[LeavingSets],
        allowed: NDArray[np.bool_],
        alike: list[NDArray[np.int64]],
    ) -> None:
        self.lp, self.bound, self.left = lp, 0, allowed
        self._allowed, self._without, self._is_minor = allowed, lp, False
        self._blocks = [_Block(instance, tasks, lp, leaving, allowed, alike) for tasks in blocks(instance)]
        self._solution: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self._bounds, self.is_done = [0], not self._blocks

    def solve(self, at_most: int, seconds_left: Callable[[], float] = without_limit) -> None:
        """Solve the program, unless that was done since the last cuts.

        Parameters
        ----------
        at_most
            The makespan of a known schedule, which must not rise from round to round.
        """
        if self._solution is not None:
            return
        answer = highs_answer(self.lp, seconds_left, at_most=math.inf, largest_cost=1.0)
        if answer is None:
            self.is_done = seconds_left() > 0
            return
        proved, possible = bound_and_possible(self.lp, answer[0], at_most - 1)
        self.bound = max(self.bound, proved)
        self.left = self.left.copy()
        self.left[self._allowed] &= possible
        if seconds_left() <= 0:  # the answer may be that of an interrupted run, which calls for no good cuts
            return
        self._solution = answer
        self._bounds.append(self.bound)
        is_flat = len(self._bounds) > 3 and self.bound < (1.0 + LEAST_RISE) * self._bounds[-3]
        self.is_done = is_flat or self.bound >= at_most or len(self._bounds) > MOST_ROUNDS
        if self._is_minor:
            self.lp, self.is_done = self._without, True

    def add_cuts(self, seconds_left: Callable[[], float] = without_limit) -> None:
        """Add the cuts that the solution breaks; those of some blocks, or none, if the time does not last."""
        if self._solution is None:
            return
        rows, least_breach = RowBuilder(), LEAST_BREACH * max(self.bound, 1)
        for block in self._blocks:
            block.add_cut(rows, self.lp, *self._solution, self.left, least_breach, seconds_left)
        if rows.num_rows:
            self.lp, self._solution = self.lp.with_rows(rows), None
            has_cut = sum(block.has_cut for block in self._blocks)
            self._is_minor = seconds_left() > 0 and has_cut < LEAST_SHARE * len(self._blocks)
        else:
            self.is_done = seconds_left() > 0


class _Block:
    """A block's columns, the rows that have no others, and the search over its placements.

    GPUs that can be swapped get the mean of their prices, so that the search need not tell them apart.
    """

    def __init__(
        self,
        instance: DagInstance,
        tasks: NDArray[np.int64],
        lp: IntegerLp,
        leaving: list[LeavingSets],
        allowed: NDArray[np.bool_],
        alike: list[NDArray[np.int64]],
    ) -> None:
        from scipy.sparse import csc_matrix

        self._tasks, num_pairs = tasks, np.count_nonzero(allowed)
        inside = np.zeros(instance.num_tasks, dtype=np.bool_)
        inside[tasks] = True
        within = [each for each in leaving if inside[instance.edges[each.edge]].all()]
        pairs = np.flatnonzero(inside[np.nonzero(allowed)[0]])
        self._columns = np.concatenate([pairs, num_pairs + tasks, *(each.columns for each in within)])
        used, is_own = lp.matrix != 0, np.zeros(len(lp.cost), dtype=np.bool_)
        is_own[self._columns] = True
        self._rows = np.flatnonzero((used @ is_own) & ~(used @ ~is_own))
        self._cuts: list[int] = []
        boxes = self._columns[len(pairs) :] - num_pairs
        domain = Domain(
            chain_starts=np.arange(len(pairs) + 1),
            group_starts=np.concatenate([[0], np.cumsum(allowed[tasks].sum(axis=1))]),
            lower=lp.domain.lower[boxes],
            upper=lp.domain.upper[boxes],
        )
        program = IntegerLp(
            cost=np.zeros(len(self._columns), dtype=np.int64),
            matrix=csc_matrix(lp.matrix[self._rows][:, self._columns]),
            limit=lp.limit[self._rows],
            is_equality=lp.is_equality[self._rows],
            domain=domain,
        )
        self._swapped = _swapped_columns(tasks, allowed[tasks], within, alike)
        self._tree = _BlockTree(instance, tasks, alike, Relaxation(program, allowed[tasks], 0))

    @property
    def has_cut(self) -> bool:
        """Whether it has made a cut."""
        return bool(self._cuts)

    def add_cut(
        self,
        rows: RowBuilder,
        lp: IntegerLp,
        multipliers: NDArray[np.float64],
        point: NDArray[np.float64],
        left: NDArray[np.bool_],
        least_breach: float,
        seconds_left: Callable[[], float],
    ) -> None:
        """Add a cut to the rows that come behind those of the program, if a solution breaks it.

        Parameters
        ----------
        multipliers, point
            The solution: one entry per row, one per column.
        left
            GPUs on which tasks may be, shape (n, m).
        least_breach
            By how many ticks the solution must break it.
        """
        prices = np.where(lp.is_equality, multipliers, np.maximum(multipliers, 0.0))
        prices[self._rows] = 0.0
        prices[self._cuts] = 0.0
        exact = lp.cost[self._columns] + lp.matrix[:, self._columns].T @ prices
        exact = (np.bincount(self._swapped, exact) / np.bincount(self._swapped))[self._swapped]
        scale = 2.0 ** max(0, PRICE_BITS - math.frexp(float(np.abs(exact).max()))[1])
        cost = np.rint(exact * scale).astype(np.int64)
        value = self._tree.least(cost, left[self._tasks], seconds_left)
        if value is not None and value - cost @ point[self._columns] > scale * least_breach:
            row = rows.add(1 - value)  # costs of starts need not be whole, and bounds are rounded up
            rows.put(row, self._columns, -cost)
            self._cuts.append(len(lp.limit) + int(row[0]))


def _swapped_columns(
    tasks: NDArray[np.int64], allowed: NDArray[np.bool_], within: list[LeavingSets], alike: list[NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Return the same number for columns that are swapped with GPUs, shape (columns,)."""
    group = number_of_class(alike)
    keys: list[tuple[int, ...]] = [(0, int(i), int(group[k])) for i, k in np.argwhere(allowed)]
    keys += [(1, int(i)) for i in tasks]
    keys += [(2, each.edge, *sorted(group[members].tolist())) for each in within for members in each.sets]
    number: dict[tuple[int, ...], int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys])


class _BlockTree(PlacementTree):
    """The placements of a block, whose columns have other costs in every round; the cases stay."""

    def __init__(
        self, instance: DagInstance, tasks: NDArray[np.int64], alike: list[NDArray[np.int64]], program: Relaxation
    ) -> None:
        super().__init__(instance.task_memory[tasks], instance.gpu_memory, alike, HIGHEST)
        self._made = program

    def least(self, cost: NDArray[np.int64], left: NDArray[np.bool_], seconds_left: Callable[[], float]) -> int | None:
        """Return a lower bound on the cost of all placements with the GPUs left, shape (k, m); None if there is none.

        The least case is split again and again; before, what the multipliers of a case prove with the new costs stands
        for its program.
        """
        program, largest = self._program, int(np.abs(cost).max())
        program.seconds_left, program.ran_out = seconds_left, False
        program.price(cost, 16 * largest)
        if self._nodes == 0 and not self._commit([self._side(left, None)], -HIGHEST):
            return None
        self._open = [node for each in self._open if (node := self._priced(each, left)) is not None]
        heapq.heapify(self._open)
        end = program.programs + BLOCK_PROGRAMS
        while self._open and not self._unsolved and program.programs < end and seconds_left() > 0:
            node = self._open[0]
            sides = self._split(node) if node.answer.is_whole else [self._side(node.left, node.answer.basis)]
            if not sides or not self._commit(sides, node.bound):
                break
        return self._least() if self._open and not self._unsolved else None

    def _priced(self, node: Node, left: NDArray[np.bool_]) -> Node | None:
        """Return a case with what its multipliers prove, marked as not solved; None if no placement is left."""
        left = node.left & left
        if not left.any(axis=1).all():
            return None
        bound, _ = self._program.proved(left, node.answer.multipliers, None)
        return node._replace(bound=bound, left=left, answer=node.answer._replace(is_whole=False))
