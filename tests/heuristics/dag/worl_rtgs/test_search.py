"""Tests of the population search with the network as its generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import heft, place_by_list
from heuristics.dag.priorities import noisy_ranks, placement_order, upward_ranks
from heuristics.dag.rtgs.search import rtgs
from heuristics.dag.worl_rtgs.ddqn import ddqn
from heuristics.dag.worl_rtgs.generator import DdqnGenerator, EarliestGenerator, RedrawnOrders
from heuristics.dag.worl_rtgs.network import save_weights
from heuristics.dag.worl_rtgs.search import worl_rtgs
from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from tests.heuristics.dag.worl_rtgs.recorded_episode import WEIGHTS
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from pathlib import Path

    from heuristics.dag.greedy_generator import Population
    from heuristics.search.progress import Progress


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of untrained weights: what must hold does not hang on training."""
    path = tmp_path_factory.mktemp("weights") / "untrained.npz"
    save_weights(path, WEIGHTS)
    return str(path)


class _Trace(Callback):
    """Keeps the best objective after every evaluation."""

    def __init__(self) -> None:
        self.best: list[int | None] = []

    def on_evaluation(self, progress: Progress) -> None:
        """Note it."""
        self.best.append(progress.objective)


def _run(
    instance: DagInstance, evaluations: int, seed: int = 0, objective: Objective = Objective.MAKESPAN, **options: object
) -> tuple[DagSchedule | None, list[int | None]]:
    """Return schedule and trace of a run."""
    trace = _Trace()
    rng = np.random.default_rng(seed)
    return worl_rtgs(instance, objective, rng, MaxEvaluations(evaluations), trace, **options), trace.best


def test_first_whales(example_e: DagInstance, untrained: str) -> None:
    """Tests that the first evaluation is HEFT's 18 and the second the network's own, or what is left of the two."""
    own = objective_value(example_e, ddqn(example_e, weights=untrained), Objective.MAKESPAN)
    assert _run(example_e, 1, weights=untrained)[1] == [18]
    assert _run(example_e, 2, weights=untrained)[1] == [18, min(18, own)]
    assert _run(example_e, 1, weights=untrained, heft_seed=False)[1] == [own]


@pytest.mark.parametrize(("population", "rounds"), [(2, 3), (3, 4), (7, 2)])
@pytest.mark.parametrize("seeds", [(True, True), (False, True), (True, False), (False, False)])
def test_counts(
    monkeypatch: pytest.MonkeyPatch,
    example_e: DagInstance,
    untrained: str,
    population: int,
    rounds: int,
    seeds: tuple[bool, bool],
) -> None:
    """Tests that K rounds of H whales take H + K (H - 1) evaluations: the generator makes H - 1 placements K times."""
    made, generate_all = [], DdqnGenerator.generate

    def counting(self: DdqnGenerator, desired: np.ndarray, rng: np.random.Generator, a: float) -> Population:
        made.append((len(desired), a))
        return generate_all(self, desired, rng, a)

    monkeypatch.setattr(DdqnGenerator, "generate", counting)
    evaluations = population + rounds * (population - 1)
    options = {"population": population, "heft_seed": seeds[0], "ddqn_seed": seeds[1], "weights": untrained}
    _, trace = _run(example_e, evaluations, **options)
    assert len(trace) == evaluations
    seed_call = [(1, 0.0)] if seeds[1] else []
    share = [(population + k * (population - 1)) / evaluations for k in range(rounds)]
    expected = seed_call + [(population - 1, pytest.approx(2 * (1 - used))) for used in share]
    assert made == expected


@settings(deadline=None, max_examples=40)
@given(instance=dag_instances(max_tasks=7), objective=st.sampled_from(FINISH_OBJECTIVES), seed=st.integers(0, 2**32))
def test_never_worse_than_heft(instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that schedules verify, the trace never worsens, and HEFT's schedule is the worst that can come out."""
    schedule, trace = _run(instance, 60, seed, objective, population=8)
    assert len(trace) == 60
    known = [value for value in trace if value is not None]
    assert known == sorted(known, reverse=True)
    first = heft(instance)
    if first is not None:
        assert known[0] == objective_value(instance, first, objective)
    if schedule is None:
        assert not known
    else:
        assert verify_dag_schedule(instance, schedule) == []
        assert objective_value(instance, schedule, objective) == known[-1]


def test_same_seed_same_bytes(untrained: str) -> None:
    """Tests that the whole trace comes back with the seed, and another seed gives another."""
    instance = generate("layered", tasks=30, seed=4)
    options = {"heft_seed": False, "ddqn_seed": False, "weights": untrained}
    (first, trace), (again, same), (_, other) = (_run(instance, 120, seed, **options) for seed in (1, 1, 2))
    assert (first.gpu.tolist(), first.start.tolist()) == (again.gpu.tolist(), again.start.tolist())
    assert trace == same
    assert trace != other


@settings(deadline=None, max_examples=15)
@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 2**32))
def test_controls_verify_and_keep_their_promise(instance: DagInstance, seed: int) -> None:
    """Tests that controls give schedules with the objective of their trace, and that earliest finish is no search."""
    options = {"population": 4, "ddqn_seed": False}
    for generator in ("ddqn", "greedy", "earliest"):
        for order in ("rank", "rank-noise", "searched", "uniform"):
            schedule, trace = _run(instance, 20, seed, generator=generator, order=order, heft_seed=False, **options)
            if schedule is not None:
                assert verify_dag_schedule(instance, schedule) == []
                assert objective_value(instance, schedule, Objective.MAKESPAN) == trace[-1]
    first = heft(instance)
    _, trace = _run(instance, 40, seed, generator="earliest", order="rank", heft_seed=True, **options)
    random_whales = _run(instance, 4, seed, generator="earliest", order="rank", heft_seed=True, **options)[1]
    if first is not None:
        assert trace[-1] == random_whales[-1] <= objective_value(instance, first, Objective.MAKESPAN)


def test_orders_are_redrawn_or_searched(example_e: DagInstance) -> None:
    """Tests that redrawn orders do not depend on the orders before them, and that searched ones do."""
    rank = upward_ranks(dag_arrays(example_e))
    generator = EarliestGenerator(instance=example_e, objective=Objective.MAKESPAN, rank=rank, searches_order=True)
    redrawn = RedrawnOrders(generator=generator, rank=rank)
    n = example_e.num_tasks
    one, other = np.zeros((3, 2 * n)), np.random.default_rng(0).random((3, 2 * n))
    made = [redrawn.generate(desired, np.random.default_rng(1), 1.0) for desired in (one, other)]
    assert np.array_equal(made[0].position, made[1].position)
    assert np.array_equal(made[0].position[:, n:], noisy_ranks(rank, np.random.default_rng(1), 3))
    assert np.array_equal(generator.generate(other, np.random.default_rng(1), 1.0).position[:, n:], other[:, n:])


def test_greedy_generator_without_seeds_is_rtgs(untrained: str) -> None:
    """Tests the ablation: the greedy generator without seeds is RTGS, for both kinds of position."""
    instance = generate("layered", tasks=25, seed=4)
    for wish in ("running_load", "final_load"):
        trace, stop, rng = _Trace(), MaxEvaluations(150), np.random.default_rng(5)
        rtgs(instance, Objective.MAKESPAN, rng, stop, trace, wish=wish)
        options = {"generator": "greedy", "wish": wish, "heft_seed": False, "ddqn_seed": False, "weights": untrained}
        assert _run(instance, 150, 5, order="rank", **options)[1] == trace.best


def test_without_wish_and_noise_nothing_new_comes(untrained: str) -> None:
    """Tests the ablation lambda 0 and T 0: every child is the network's own placement, whatever the whales wish for."""
    instance = generate("layered", tasks=25, seed=4)
    options = {"heft_seed": False, "weights": untrained, "wish_weight": 0.0, "temperature": 0.0}
    _, trace = _run(instance, 200, order="rank", **options)
    assert len(set(trace[20:])) == 1
    _, searched = _run(instance, 200, order="searched", **options)
    assert searched[-1] < trace[-1]  # other orders give the same network other placements


def test_wish_and_temperature_matter(untrained: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that each of wish, its weight and temperature changes the run; no parameter is idle."""
    instance = generate("layered", tasks=25, seed=4)
    common = {"heft_seed": False, "ddqn_seed": False, "weights": untrained}
    changes = [{}, {"wish": "final_load"}, {"wish_weight": 1.0}, {"temperature": 0.3}, {"spiral": 3.0}]
    for order in ("rank", "searched"):
        made = {_placements_made(monkeypatch, instance, order=order, **common, **change) for change in changes}
        assert len(made) == len(changes)


def test_whales_search_the_order(untrained: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that seeds begin in rank order, others near it, and that a whale's schedule is built in its own order."""
    instance = generate("layered", tasks=25, seed=4)
    rank, populations = upward_ranks(dag_arrays(instance)), []
    generate_population = DdqnGenerator.generate

    def remember(self: DdqnGenerator, desired: np.ndarray, rng: np.random.Generator, a: float) -> Population:
        population = generate_population(self, desired, rng, a)
        populations.append((desired, population))
        return population

    monkeypatch.setattr(DdqnGenerator, "generate", remember)
    schedule, trace = _run(instance, 100, weights=untrained, population=10)
    for desired, population in populations[1:]:  # the first is the network's own start, in rank order
        assert np.array_equal(population.position[:, 25:], desired[:, 25:])  # priorities are the desired ones
        for row in range(len(population.gpu)):
            placed = place_by_list(dag_arrays(instance), population.position[row, 25:], pinned=population.gpu[row])
            again = DagSchedule(gpu=placed.gpu, start=placed.start)
            assert objective_value(instance, again, Objective.MAKESPAN) == population.objective[row]
    assert objective_value(instance, schedule, Objective.MAKESPAN) == trace[-1]
    orders = {
        tuple(placement_order(dag_arrays(instance), row[25:])) for desired, _ in populations[1:] for row in desired
    }
    assert len(orders) > 10
    assert tuple(placement_order(dag_arrays(instance), rank)) not in orders


def _placements_made(monkeypatch: pytest.MonkeyPatch, instance: DagInstance, **options: object) -> bytes:
    """Return all placements of a run of 200 evaluations."""
    made: list[bytes] = []
    with monkeypatch.context() as patch:
        generate_population = DdqnGenerator.generate

        def remember(self: DdqnGenerator, desired: np.ndarray, rng: np.random.Generator, a: float) -> Population:
            population = generate_population(self, desired, rng, a)
            made.append(population.gpu.tobytes())
            return population

        patch.setattr(DdqnGenerator, "generate", remember)
        _run(instance, 200, **options)
    return b"".join(made)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "population: expected at least 2, got 1"),
        ({"generator": "dqn"}, "generator: expected one of ddqn, greedy, earliest, got 'dqn'"),
        ({"order": "index"}, "order: expected one of searched, rank, rank-noise, uniform, got 'index'"),
        ({"wish": "load"}, "wish: expected running_load or final_load, got 'load'"),
        ({"wish_weight": 2.0}, r"wish_weight: expected a number in 0\.\.1, got 2.0"),
        ({"temperature": -1.0}, r"temperature: expected a number in 0\.\.1e\+06, got -1.0"),
        ({"spiral": float("nan")}, r"spiral: expected a number in -600\.\.600, got nan"),
    ],
)
def test_parameters_out_of_range(
    example_e: DagInstance, untrained: str, options: dict[str, object], message: str
) -> None:
    """Tests that each parameter is checked and named."""
    with pytest.raises(ValueError, match=message):
        _run(example_e, 5, **{"weights": untrained, **options})


def test_missing_weights(example_e: DagInstance, tmp_path: Path) -> None:
    """Tests that a file that is not there is named."""
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npz"):
        _run(example_e, 5, weights=str(tmp_path / "nowhere.npz"))


def test_all_exceed_memory() -> None:
    """Tests that a population in which every placement exceeds a memory limit has no schedule."""
    instance = DagInstance.from_lists([[3, 3]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    schedule, trace = _run(instance, 30)
    assert schedule is None
    assert trace == [None] * 30
