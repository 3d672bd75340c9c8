"""Branch and bound on the GPUs of tasks, over the linear program of placement, memory and all paths."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.block_cuts import BlockCuts
from formulations.dag.bounds.placed_paths import is_placed_program_small, placed_program
from formulations.dag.bounds.placement_rows import with_crossings, with_work_between
from formulations.dag.bounds.placement_tree import WHOLE, BranchSide, Node, PlacementTree, Relaxation
from formulations.dag.heads_and_tails import heads_and_tails, path_bound
from formulations.dag.interchangeable import gpu_classes
from formulations.dag.windows import horizon
from formulations.time_left import without_limit
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance

MOST_PROGRAMS = 2_000
"""Linear programs that are solved at most where no time limit says otherwise; 12 seconds with 71 tasks on 6 GPUs."""

MOST_PLACEMENTS = 16
"""Placements that are kept."""


def branched_paths(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return the bound of a `PlacementSearch` of at most `MOST_PROGRAMS`; 0 for the weighted completion."""
    if Objective(objective) is not Objective.MAKESPAN:
        return 0
    search = PlacementSearch(instance)
    search.run(most_programs=MOST_PROGRAMS, seconds_left=seconds_left)
    return search.bound


class PlacementSearch(PlacementTree):
    """The least value of `placed_paths` over whole placements, or what is proved of it; a search that can go on.

    The program has a class of its own for every GPU, rows for the work between forks and joins and for crossings that
    memory forces, and `BlockCuts`. A node says which GPUs are left for each task; the node of least bound is split. A
    task leaves the GPUs where it does not fit beside those that are placed there, and where heads and tails or the
    multipliers prove that the schedule is not shorter than the known one (docs/bounds.md, section 3.18; ours).

    Attributes
    ----------
    bound
        On every makespan; at first that of the ancestor-aware paths.
    """

    def __init__(self, instance: DagInstance) -> None:
        super().__init__(instance.task_memory, instance.gpu_memory, gpu_classes(instance), horizon(instance))
        self._instance, self._latest = instance, self._at_most
        self._around = far_heads_and_tails(instance)
        self.bound = self._paths = path_bound(instance, Objective.MAKESPAN, self._around) if instance.num_tasks else 0
        self._root = self._around.allowed
        self._cuts: BlockCuts | None = None
        self._placements: list[tuple[int, int, NDArray[np.int64]]] = []

    @property
    def placements(self) -> list[NDArray[np.int64]]:
        """Whole placements that the program allowed, shape (n,) each, those of least value first."""
        found = sorted(self._placements, key=lambda entry: entry[:2])
        return [placement for _, _, placement in found[:MOST_PLACEMENTS]]

    def run(
        self,
        *,
        at_most: int | None = None,
        most_programs: float = math.inf,
        seconds_left: Callable[[], float] = without_limit,
    ) -> None:
        """Split the least open node until it is whole or reaches `at_most`, or no time or no program is left.

        Parameters
        ----------
        at_most
            The makespan of a known schedule: nodes that cannot have a shorter one stay closed.
        most_programs
            Linear programs that are solved at most, over all runs, beside those of the cuts.
        """
        is_small = is_placed_program_small(self._instance, self._instance.num_gpus)
        is_possible = bool(self._around.allowed.any(axis=1).all())
        if self._instance.num_tasks == 0 or not is_small or not is_possible or seconds_left() <= 0:
            return
        self._at_most = self._at_most if at_most is None else min(self._at_most, at_most)
        if self._made is None and not self._make(seconds_left):
            return
        program = self._program
        program.seconds_left, program.ran_out = seconds_left, False
        if self._nodes == 0:
            self._raise_bound([self._side(self._root, None)], self._paths)
        while self._open and self._open[0].bound < self._at_most and seconds_left() > 0:
            if program.programs >= most_programs:
                break
            sides = self._split(self._open[0])
            if not sides or not self._raise_bound(sides, self._open[0].bound):
                break

    def _make(self, seconds_left: Callable[[], float]) -> bool:
        """Make the program with its cuts; say whether the time lasted. Solving it for the cuts raises the bound."""
        self._cuts = self._cuts or self._begun(seconds_left)
        if self._cuts is None:
            return False
        while not self._cuts.is_done:
            if seconds_left() <= 0:
                return False
            self._cuts.solve(self._at_most, seconds_left)
            self.bound = max(self.bound, min(self._cuts.bound, self._at_most))
            if not self._cuts.is_done and seconds_left() > 0:
                self._cuts.add_cuts(seconds_left)
        self._root = self._cuts.left
        self._made = Relaxation(self._cuts.lp, self._around.allowed, 4 * self._latest)
        return True

    def _begun(self, seconds_left: Callable[[], float]) -> BlockCuts | None:
        """Return the program for single GPUs without cuts yet; None if the time does not last."""
        instance, allowed = self._instance, self._around.allowed
        classes = [np.array([k]) for k in range(instance.num_gpus)]
        made = placed_program(instance, self._around, classes, self._paths, self._latest, seconds_left)
        lp = None if made is None else with_work_between(made[0], instance, classes, allowed, seconds_left)
        if made is None or lp is None:
            return None
        leaving = made[1].leaving
        return BlockCuts(instance, with_crossings(lp, leaving, instance, allowed), leaving, allowed, self._alike)

    def _raise_bound(self, sides: list[BranchSide], least: int) -> bool:
        """Commit the sides of a branch, and take what is proved of all nodes; False if time ran out on one of them."""
        if not self._commit(sides, least):
            return False
        self.bound = max(self.bound, self._least())
        return True

    def _open_node(self, node: Node) -> None:
        """Keep whole placements, and no multipliers: they have proved what they can, and nodes are many."""
        super()._open_node(node._replace(answer=node.answer._replace(multipliers=np.zeros(0))))
        share = node.answer.share
        if share.max(axis=1).min() >= WHOLE:
            gpu = share.argmax(axis=1)
            if self._fitting(gpu[:, None] == np.arange(share.shape[1])) is not None:
                self._placements.append((node.bound, -node.number, gpu))

    def _narrowed(self, left: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return what is left of memory and of heads and tails below `at_most`; None where a task has no GPU."""
        while True:
            fitting = self._fitting(left)
            if fitting is None:
                return None
            left = heads_and_tails(self._instance, makespan_at_most=self._at_most - 1, among=fitting).allowed
            if not left.any(axis=1).all():
                return None
            if (left == fitting).all():
                return fitting
