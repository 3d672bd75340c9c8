"""The nonlinear integer program, with products of placement binaries as they are."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal, get_args

import pyomo.environ as pyo

from formulations.dag.incomparable_pairs import incomparable_pairs
from formulations.dag.milp.core_model import CoreModel, add_load_rows, set_orders
from formulations.dag.milp.interface import check_model_size

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


Form = Literal["order", "product"]
"""How non-overlap is stated: with one order binary per pair, or with a product of two differences and none."""

MAX_PAIR_ROWS = 8_000
"""Pairs of tasks times GPUs; far more than can be solved to proof, and still built, also linearised, in seconds."""


class Nip(CoreModel):
    """The DAG problem with products: transfers by x[h,k] x[i,l], non-overlap by "both on one GPU" times a difference.

        s[i] >= f[h] + sum over k != l of c[h,i](k,l) x[h,k] x[i,l]                          for every edge (h, i)
        both[h,i] = sum over GPUs k where both take time of x[h,k] x[i,k]                    0 or 1
        form "order":    both y (f[h] - s[i]) <= 0,   both (1 - y) (f[i] - s[h]) <= 0        y binary, 1: h before i
        form "product":  both (s[i] - f[h]) (s[h] - f[i]) <= 0                               no y at all

    for every incomparable pair h < i that may compete. Product form: two tasks overlap exactly if s[i] < f[h] and s[h]
    < f[i], that is if both factors are negative, and they cannot both be positive. A task of duration 0 on k occupies
    nothing, so k takes no part in its pairs. The rows of `CoreModel` tighten the program by heads and tails, load rows
    by the work that a GPU can take; delays that the windows leave no time for are cut to the least that still excludes
    their pair of GPUs (docs/formulations.md, section 9.1; ours).

    Parameters
    ----------
    form
        How non-overlap is stated.

    Attributes
    ----------
    pyomo_model
        As in `CoreModel`, with the expressions ``both[h, i]`` and, in the order form, ``first[h, i]`` (y).

    Raises
    ------
    ModelTooLargeError
        If there are too many pairs, or the horizon is too long for a solver's tolerances.
    ValueError
        If there is no such form.
    """

    def __init__(self, instance: DagInstance, objective: Objective, within: Windows, *, form: Form = "order") -> None:
        if form not in get_args(Form):
            raise ValueError(f"form: expected one of {', '.join(get_args(Form))}, got {form!r}.")
        check_model_size(instance, within, max_pair_rows=MAX_PAIR_ROWS)
        super().__init__(instance, objective, within)
        self._add_transfers()
        self._add_non_overlap(form)
        add_load_rows(self)

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, with nothing done, if it lies outside the windows."""
        schedule = self.in_index_order(schedule)
        if not super().set_start(schedule):
            return False
        set_orders(self, schedule)
        return True

    def _add_transfers(self) -> None:
        """Let data arrive before a task starts."""
        ends = self.instance.edges.tolist()

        def after(m: pyo.ConcreteModel, edge: int) -> object:
            h, i = ends[edge]
            delays = self._delays(edge)
            transfer = sum(ticks * self.on[h, k] * self.on[i, l] for (k, l), ticks in delays.items() if ticks)
            return m.start[i] >= self.finish(h) + transfer

        self.pyomo_model.after = pyo.Constraint(range(self.instance.num_edges), rule=after)

    def _delays(self, edge: int) -> dict[tuple[int, int], int]:
        """Return the delays of an edge by pair of GPUs, cut to what still excludes a pair without time for it."""
        h, i = self.instance.edges[edge].tolist()
        delays, durations = self.instance.transfer_delays(edge), self.instance.durations
        leaves = self.within.around.heads[h] + durations[h]
        due = self.within.latest_finish[i] - durations[i]
        pairs = product(self.gpus[h], self.gpus[i])
        return {(k, l): max(0, min(int(delays[k, l]), int(due[l] - leaves[k]) + 1)) for k, l in pairs}

    def _add_non_overlap(self, form: Form) -> None:
        """Let no two tasks overlap on a GPU."""
        model = self.pyomo_model
        common = {(h, i): gpus for h, i, gpus in incomparable_pairs(self.instance, self.within.around.allowed)}
        pairs = list(common)
        model.both = pyo.Expression(
            pairs, rule=lambda _, h, i: sum(self.on[h, k] * self.on[i, k] for k in common[h, i])
        )
        model.first = pyo.Var(pairs if form == "order" else [], domain=pyo.Binary)
        if form == "product":
            model.apart = pyo.Constraint(
                pairs,
                rule=lambda m, h, i: m.both[h, i] * (m.start[i] - self.finish(h)) * (m.start[h] - self.finish(i)) <= 0,
            )
            return
        model.h_first = pyo.Constraint(
            pairs, rule=lambda m, h, i: m.both[h, i] * m.first[h, i] * (self.finish(h) - m.start[i]) <= 0
        )
        model.i_first = pyo.Constraint(
            pairs, rule=lambda m, h, i: m.both[h, i] * (1 - m.first[h, i]) * (self.finish(i) - m.start[h]) <= 0
        )
