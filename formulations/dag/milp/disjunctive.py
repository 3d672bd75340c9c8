"""The pairwise disjunctive MILP: an order for every pair of tasks that may compete for a GPU."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pyomo.environ as pyo

from formulations.dag.incomparable_pairs import incomparable_pairs
from formulations.dag.milp.core_model import (
    CoreModel,
    add_load_rows,
    add_reduced_transfers,
    set_orders,
    set_reduced_transfers,
)
from formulations.dag.milp.interface import check_model_size

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


class DisjunctiveModel(CoreModel):
    """Binaries for placement and order, continuous starts; constants per pair and GPU from heads and tails.

    For incomparable tasks h < i that may compete, one binary y (1: h first), and for every GPU k where both take time,
    with off = 2 - x[h,k] - x[i,k]:

        s[i] >= f[h] - g(h,i,k) (1 - y) - G(h,i) off      g(h,i,k) = max(0, D[h,k] - H[i,k])
        s[h] >= f[i] - g(i,h,k) y       - G(i,h) off      G(h,i)   = max(0, max over l of D[h,l] - min over l of H[i,l])

    The form is that of the published program of Moirai (github.com/moirai-placement/moirai), which has one large
    constant throughout; constants per pair, heads and tails, reduced linearisation of transfers and load rows are ours
    (docs/formulations.md, section 6).

    Attributes
    ----------
    pyomo_model
        As in `CoreModel`, with ``both[e, k, l]`` (edge e goes from k to l) and ``first[h, i]`` (binary: h before i).

    Raises
    ------
    ModelTooLargeError
        If the horizon is so long that tolerances could switch rows off, or there are too many pairs.
    """

    def __init__(self, instance: DagInstance, objective: Objective, within: Windows, *, symmetry: bool = True) -> None:
        check_model_size(instance, within)
        super().__init__(instance, objective, within, symmetry=symmetry)
        self._pairs = incomparable_pairs(instance, within.around.allowed)
        add_reduced_transfers(self)
        self._add_orders()
        add_load_rows(self)

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, with nothing done, if it lies outside the windows."""
        schedule = self.in_index_order(schedule)
        if not super().set_start(schedule):
            return False
        set_reduced_transfers(self, schedule)
        set_orders(self, schedule)
        return True

    def _add_orders(self) -> None:
        """Let one of two tasks on a GPU go first; rows per GPU, with the least constants that switch them off."""
        model, around, latest = self.pyomo_model, self.within.around, self.within.latest_finish
        model.first = pyo.Var([(h, i) for h, i, _ in self._pairs], domain=pyo.Binary)
        for before, later in (pair for copies in self.copies for pair in combinations(copies, 2)):
            pair = (min(before, later), max(before, later))
            if pair in model.first:
                model.first[pair].fix(int(before < later))
        model.order = pyo.ConstraintList()
        for h, i, common in self._pairs:
            for before, later, switched in ((h, i, 1 - model.first[h, i]), (i, h, model.first[h, i])):
                anywhere = max(int(latest[before, k]) for k in self.gpus[before])
                anywhere = max(0, anywhere - min(int(around.heads[later, k]) for k in self.gpus[later]))
                for k in common:
                    here = max(0, int(latest[before, k] - around.heads[later, k]))
                    elsewhere = 2 - self.on[before, k] - self.on[later, k]
                    model.order.add(model.start[later] >= self.finish(before) - here * switched - anywhere * elsewhere)
