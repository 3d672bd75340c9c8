"""Redundant rows of a MILP: how much work a GPU can take in between heads and tails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyomo.environ as pyo

from formulations.dag.bounds.window_load import window_load_lp
from instances.objective import Objective

if TYPE_CHECKING:
    from formulations.dag.milp.core_model import CoreModel


def add_load_rows(core: CoreModel) -> None:
    """Add the rows of the window-load LP, which are redundant, for the makespan only.

    Parameters
    ----------
    core
        Gets the rows ``window_load``.
    """
    if core.objective is not Objective.MAKESPAN or not core.instance.num_tasks:
        return
    model = core.pyomo_model
    lp = window_load_lp(core.instance, core.within.around, core.within.at_least)[1]
    pair = list(zip(lp.task_of_pair.tolist(), lp.gpu_of_pair.tolist(), strict=True))
    model.window_load = pyo.ConstraintList()
    for row in lp.rows:
        terms = zip(row.pairs.tolist(), row.ticks.tolist(), strict=True)
        model.window_load.add(
            sum(ticks * core.on[pair[index]] for index, ticks in terms) + row.base <= model.completion[0]
        )
