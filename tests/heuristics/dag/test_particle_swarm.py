"""Tests of particle swarm optimisation: the equation by hand, and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.list_scheduling import heft
from heuristics.dag.particle_swarm import Flight, best_neighbours, fly, pso
from heuristics.dag.random_keys import DECODINGS, RandomKeys
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.objective import Objective, objective_value
from tests.heuristics.dag.watched_evaluations import watch_evaluations
from tests.search_trace import SearchTrace, search
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


def test_one_move_by_hand() -> None:
    """Tests v = 0.7298 (v + 2.05 u1 (own - x) + 2.05 u2 (informed - x)) in one coordinate that stays in the cube."""
    flight = Flight(np.array([[0.5]]), np.array([[0.1]]))
    after = fly(flight, np.array([[0.7]]), np.array([[0.4]]), np.array([[0.5]]), np.array([[0.2]]))
    speed = 0.7298 * (0.1 + 2.05 * 0.5 * 0.2 - 2.05 * 0.2 * 0.1)
    assert after.speed[0, 0] == pytest.approx(speed)
    assert speed == pytest.approx(0.1926672)
    assert after.position[0, 0] == pytest.approx(0.5 + speed)


def test_border_and_speed_limit() -> None:
    """Tests that who leaves the cube stops at its border, and that no speed is beyond the size of the cube."""
    flight = Flight(np.array([[0.9, 0.2, 0.0]]), np.array([[0.9, -0.9, 5.0]]))
    nothing = np.zeros((1, 3))
    after = fly(flight, flight.position, flight.position, nothing, nothing)
    assert after.position.tolist() == [[1.0, 0.0, 1.0]]
    assert after.speed.tolist() == [[0.0, 0.0, 1.0]]  # the last one ends exactly on the border


def test_who_informs() -> None:
    """Tests the ring, in which a particle prefers itself, and the global best, the first of several."""
    fitness = [(0, -5), (0, -3), (0, -3), (0, -9), (-4, -1)]  # as DEAP weighs them: overflow counts first
    assert best_neighbours(fitness, "ring").tolist() == [1, 1, 2, 2, 0]
    assert best_neighbours(fitness, "global").tolist() == [1] * 5
    assert best_neighbours(fitness[:2], "ring").tolist() == [1, 1]


@pytest.mark.parametrize("topology", ["ring", "global"])
def test_run_equals_a_plain_loop(topology: str, example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that all points, in order, are those of loops over particles and coordinates with the same numbers."""
    evaluated: list[list[float]] = []
    with monkeypatch.context() as patched:
        watch_evaluations(patched, lambda points: evaluated.extend(points.tolist()))
        search(pso, example_e, 9, 42, population=6, topology=topology)
    decoder, rng = RandomKeys(example_e, Objective.MAKESPAN), np.random.default_rng(9)
    here = [decoder.heft_keys().tolist(), *rng.random((5, 10)).tolist()]
    speed = [[(u - x) / 2 for u, x in zip(*rows, strict=True)] for rows in zip(rng.random((6, 10)), here, strict=True)]
    own: list[list[float]] = [[]] * 6
    best: list[tuple[int, int] | None] = [None] * 6
    expected = []
    for _ in range(7):
        expected += [list(point) for point in here]
        for i in range(6):
            fitness = decoder.evaluate(np.array(here[i]))
            if best[i] is None or fitness < best[i]:
                own[i], best[i] = list(here[i]), fitness
        u1, u2 = rng.random((6, 10)), rng.random((6, 10))
        for i in range(6):
            candidates = [i, (i - 1) % 6, (i + 1) % 6] if topology == "ring" else range(6)
            informer = min(candidates, key=lambda index: best[index])
            for j in range(10):
                v = speed[i][j] + 2.05 * u1[i, j] * (own[i][j] - here[i][j])
                v = 0.7298 * (v + 2.05 * u2[i, j] * (own[informer][j] - here[i][j]))
                v = max(-1.0, min(1.0, v))
                to = here[i][j] + v
                here[i][j] = max(0.0, min(1.0, to))
                speed[i][j] = v if 0.0 <= to <= 1.0 else 0.0
    np.testing.assert_allclose(evaluated, expected, rtol=0, atol=1e-9)


def test_result_is_the_best_evaluated(example_e: DagInstance) -> None:
    """Tests that the best never worsens, begins at HEFT, and is what is returned: the optimum of E."""
    schedule, trace = search(pso, example_e, 1, 400)
    assert trace.objectives[0] == 18
    assert trace.objectives == sorted(trace.objectives, reverse=True)
    assert trace.objectives[-1] == objective_value(example_e, schedule, Objective.MAKESPAN) == 15
    assert [row["evaluations"] for row in trace.rounds] == list(range(20, 401, 20))


@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 99), decoding=st.sampled_from(DECODINGS))
@settings(max_examples=40, deadline=None)
def test_never_worse_than_heft(instance: DagInstance, seed: int, decoding: str) -> None:
    """Tests that with HEFT's schedule as particle 0 the result is at most as long, and there where HEFT's is."""
    expected = heft(instance)
    schedule, _ = search(pso, instance, seed, 25, population=5, decoding=decoding)
    if expected is not None:
        assert schedule is not None
        makespans = [objective_value(instance, one, Objective.MAKESPAN) for one in (schedule, expected)]
        assert makespans[0] <= makespans[1]


def test_seed_decides(heft_example: DagInstance) -> None:
    """Tests that one seed gives one schedule and other seeds others."""
    starts = [search(pso, heft_example, seed, 60)[0].start.tolist() for seed in (1, 1, 2, 3, 4)]
    assert starts[0] == starts[1]
    assert len({tuple(entry) for entry in starts}) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "population: expected at least 2, got 1."),
        ({"topology": "star"}, "topology: expected global or ring, got 'star'."),
        ({"constriction": -0.1}, "constriction: expected a number in 0..10, got -0.1."),
        ({"cognitive": float("nan")}, "cognitive: expected a number in 0..10, got nan."),
        ({"social": 11.0}, "social: expected a number in 0..10, got 11.0."),
    ],
)
def test_parameters_are_checked(example_e: DagInstance, options: dict[str, object], message: str) -> None:
    """Tests that parameters out of range are refused before anything is evaluated."""
    trace = SearchTrace()
    with pytest.raises(ValueError) as caught:
        pso(example_e, Objective.MAKESPAN, np.random.default_rng(0), MaxEvaluations(5), trace, **options)
    assert str(caught.value) == message
    assert trace.objectives == []
