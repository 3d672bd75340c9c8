"""The linear Pyomo models by name, and what tests do with any of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.milp.disjunctive import DisjunctiveModel
from formulations.dag.milp.generalised_disjunctive import GeneralisedDisjunctiveModel
from formulations.dag.milp.linearised_nip import LinearisedNip
from solvers.backends.highs import HighsAnswer, compile_milp, run_highs
from solvers.backends.run_pyomo import answer_of

if TYPE_CHECKING:
    from formulations.dag.milp.interface import PyomoDagModel, PyomoDagModelFactory
    from solvers.backends.highs import CompiledMilp

LINEAR_MODELS: dict[str, PyomoDagModelFactory] = {
    "disjunctive": DisjunctiveModel,
    "linearised-nip": LinearisedNip,
    "gdp-bigm": partial(GeneralisedDisjunctiveModel, transformation="bigm"),
    "gdp-mbigm": partial(GeneralisedDisjunctiveModel, transformation="mbigm"),
    "gdp-hull": partial(GeneralisedDisjunctiveModel, transformation="hull"),
}


def violation(milp: CompiledMilp) -> float:
    """Return how far the start misses the worst of all rows and bounds."""
    assert milp.start is not None
    activity = np.zeros(len(milp.row_lower))
    for column in range(len(milp.cost)):
        entries = slice(milp.column_starts[column], milp.column_starts[column + 1])
        activity[milp.row_indices[entries]] += milp.entries[entries] * milp.start[column]
    misses = [milp.row_lower - activity, activity - milp.row_upper, milp.lower - milp.start, milp.start - milp.upper]
    return max(float(miss.max(initial=0.0)) for miss in misses)


def solved(model: PyomoDagModel) -> HighsAnswer:
    """Solve with HiGHS to the end, as the back end does, and load the solution, if there is one."""
    milp, columns = compile_milp(model.pyomo_model, has_start=False)
    answer = answer_of(run_highs, milp, absolute_gap=0.999, time_limit=60.0, threads=1, seed=1)
    if answer.solution is not None:
        for column, value in zip(columns, answer.solution, strict=True):
            column.set_value(value, skip_validation=True)
    return answer
