"""Tests of what models are not built for."""

from __future__ import annotations

from functools import partial

import pytest

from formulations.dag.milp.beyond_reach import MAX_HORIZON, BeyondReachError, check_reach
from formulations.dag.milp.generalised_disjunctive import GeneralisedDisjunctiveModel
from formulations.dag.milp.linearised_nip import LinearisedNip
from formulations.dag.nip import Nip
from formulations.dag.windows import windows
from instances import DagInstance, Objective


def test_horizon() -> None:
    """Tests that a horizon of exactly the limit passes and one tick more does not."""
    for ticks, passes in ((MAX_HORIZON, True), (MAX_HORIZON + 1, False)):
        instance = DagInstance.from_lists([[ticks]])
        within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
        if passes:
            check_reach(instance, within)
        else:
            with pytest.raises(BeyondReachError, match=f"horizon: expected at most {MAX_HORIZON} ticks, got {ticks}"):
                check_reach(instance, within)


def test_pairs() -> None:
    """Tests that pairs of tasks times GPUs are counted."""
    instance = DagInstance.from_lists([[1, 1]] * 4)
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    check_reach(instance, within, max_pair_rows=12)
    with pytest.raises(BeyondReachError, match="expected at most 11 pairs of tasks times GPUs, got 12"):
        check_reach(instance, within, max_pair_rows=11)


@pytest.mark.parametrize(
    "build", [Nip, partial(Nip, form="product"), LinearisedNip, GeneralisedDisjunctiveModel], ids=str
)
def test_models_for_small_instances_refuse_large_ones(build: type[Nip]) -> None:
    """Tests that 200 tasks on 3 GPUs are refused before anything is built."""
    instance = DagInstance.from_lists([[1, 1, 1]] * 200)
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    with pytest.raises(BeyondReachError):
        build(instance, Objective.MAKESPAN, within)
