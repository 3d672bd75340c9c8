"""Tests of load-time positions: example E by hand, HEFT's loads, and what ties do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.load_keys import LoadKeys
from heuristics.dag.random_keys import RandomKeys
from instances import Contention, DagInstance, Objective, objective_value, verify_dag_schedule
from tests.strategies import dag_instances


def test_wishes_of_the_optimum(example_e: DagInstance) -> None:
    """Tests rho of GPUs (0,1,0,1,0) in order 0, 2, 1, 4, 3: 4, 3, 7, 6, 13 of 18 ticks give the optimum 15."""
    decoder = RandomKeys(example_e, Objective.MAKESPAN, "load")
    point = np.array([4, 3, 7, 6, 13]) / 18
    assert decoder.num_keys == 5
    assert decoder.evaluate(point) == (0, 15)
    schedule = decoder.schedule(point)
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == ([0, 1, 0, 1, 0], [0, 8, 4, 12, 7])


def test_tie_of_loads() -> None:
    """Tests that HEFT's loads mean HEFT's schedule where no wish tells two GPUs apart: both come to 5 with task 1."""
    instance = DagInstance.from_lists([[9, 3], [5, 2]], [(0, 1, 9)], latency=4)
    decoder = RandomKeys(instance, Objective.MAKESPAN, "load")
    keys = decoder.heft_keys()
    assert (keys * 5).tolist() == [3.0, 5.0]
    assert (decoder.evaluate(keys), decoder.schedule(keys).gpu.tolist()) == ((0, 5), [1, 1])
    beside = keys * (1.0 - 1e-9)
    assert decoder.schedule(beside).gpu.tolist() == [1, 0]
    assert decoder.evaluate(beside) == (0, 3 + 4 + 9 + 5)


@given(instance=dag_instances(max_tasks=8), objective=st.sampled_from(list(Objective)), seed=st.integers(0, 999))
@settings(max_examples=100, deadline=None)
def test_fitness_is_that_of_the_schedule(instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests random points and HEFT's: without overflow a right schedule with that objective, else none."""
    decoder = RandomKeys(instance, objective, "load")
    points = decoder.sample(np.random.default_rng(seed), 4, heft_seed=True)
    assert points.max(initial=0.0) <= 1.0  # no load of HEFT's is beyond its makespan
    for point, (overflow, value) in zip(points, decoder.evaluate_many(points).tolist(), strict=True):
        schedule = decoder.schedule(point)
        assert (schedule is None) == (overflow > 0)
        if schedule is not None:
            assert verify_dag_schedule(instance, schedule) == []
            assert objective_value(instance, schedule, objective) == value


def test_no_tasks() -> None:
    """Tests that points without coordinates give the empty schedule."""
    decoder = LoadKeys(DagInstance.from_lists([], num_gpus=2), Objective.MAKESPAN)
    assert decoder.evaluate_many(np.empty((3, 0))).tolist() == [[0, 0]] * 3
    assert decoder.schedule(np.empty(0)).gpu.tolist() == []


def test_contention_is_refused(example_e: DagInstance) -> None:
    """Tests that loads are no decoding under contention, which the greedy generator does not know."""
    with pytest.raises(
        ValueError, match=r"^decoding: expected one of ranked, eft, direct under contention, got 'load'"
    ):
        RandomKeys(example_e, Objective.MAKESPAN, "load", Contention.NIC)
