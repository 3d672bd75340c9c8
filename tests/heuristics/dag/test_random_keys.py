"""Tests of load-time positions: example E by hand, HEFT's loads, and what ties do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag import random_keys as point_evaluator
from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import heft, peft
from heuristics.dag.priorities import optimistic_costs, placement_order
from heuristics.dag.random_keys import DECODINGS, MOST_POINTS, LoadKeys, PointEvaluator, RandomKeys, weight_levels
from heuristics.search.progress import Callback
from heuristics.search.run import SearchRun
from heuristics.search.stop_criteria import MaxEvaluations, MaxSeconds
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from tests.heuristics.dag.watched_evaluations import watch_evaluations
from tests.plain_keys import PlainKeys
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from numpy.typing import NDArray


def test_loads_of_the_optimum(example_e: DagInstance) -> None:
    """Tests rho of GPUs (0,1,0,1,0) in order 0, 2, 1, 4, 3: 4, 3, 7, 6, 13 of 18 ticks give the optimum 15."""
    decoder = RandomKeys(example_e, Objective.MAKESPAN, "load")
    point = np.array([4, 3, 7, 6, 13]) / 18
    assert decoder.num_keys == 5
    assert decoder.evaluate(point) == (0, 15)
    schedule = decoder.schedule(point)
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == ([0, 1, 0, 1, 0], [0, 8, 4, 12, 7])


def test_tie_of_loads() -> None:
    """Tests that HEFT's loads mean HEFT's schedule where two GPUs come to the same load: 5 with task 1."""
    instance = DagInstance.from_lists([[9, 3], [5, 2]], [(0, 1, 9)], latency=4)
    decoder = RandomKeys(instance, Objective.MAKESPAN, "load")
    keys = decoder.heft_keys()
    assert (keys * 5).tolist() == [3.0, 5.0]
    assert (decoder.evaluate(keys), decoder.schedule(keys).gpu.tolist()) == ((0, 5), [1, 1])
    nearby = keys * (1.0 - 1e-9)
    assert decoder.schedule(nearby).gpu.tolist() == [1, 0]
    assert decoder.evaluate(nearby) == (0, 3 + 4 + 9 + 5)


@given(instance=dag_instances(max_tasks=8), objective=st.sampled_from(FINISH_OBJECTIVES), seed=st.integers(0, 999))
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
        ValueError, match=r"^decoding: expected one of ranked, eft, direct, look-ahead under contention, got 'load'"
    ):
        RandomKeys(example_e, Objective.MAKESPAN, "load", Contention.NIC)


class Clock:
    """Says that each point takes so many seconds; stands for the stopwatch and the kernel together."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds_per_point: float) -> None:
        self.now = 0.0
        self.calls: list[int] = []
        clock = self

        class Watch:
            def __init__(self) -> None:
                self._begin = clock.now

            @property
            def seconds(self) -> float:
                return clock.now - self._begin

        def take_time(points: NDArray[np.float64]) -> None:
            clock.calls.append(len(points))
            clock.now += seconds_per_point * len(points)

        monkeypatch.setattr(point_evaluator, "Stopwatch", Watch)
        monkeypatch.setattr("heuristics.search.run.Stopwatch", Watch)
        watch_evaluations(monkeypatch, take_time)


def test_fast_points_go_together(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a population that takes no time is one call, and that fitness comes in order."""
    keys = RandomKeys(example_e, Objective.MAKESPAN)
    points = keys.sample(np.random.default_rng(0), 50, heft_seed=True)
    expected = keys.evaluate_many(points).tolist()
    clock = Clock(monkeypatch, 1e-6)
    run: SearchRun[NDArray[np.float64]] = SearchRun(MaxEvaluations(1000), Callback())
    evaluate = PointEvaluator(keys, run)
    assert evaluate(points).tolist() == expected
    assert evaluate(points[:7]).tolist() == expected[:7]
    assert clock.calls == [50, 7]
    assert evaluate.batch == MOST_POINTS
    assert run.progress.evaluations == 57


def test_slow_points_go_one_by_one(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that with 8 ms a point calls become pairs, and that a time budget is overrun by no more than one."""
    clock = Clock(monkeypatch, 0.008)
    keys = RandomKeys(example_e, Objective.MAKESPAN)
    run: SearchRun[NDArray[np.float64]] = SearchRun(MaxSeconds(0.1), Callback())
    evaluate = PointEvaluator(keys, run)
    evaluate.batch = 1
    fitness = evaluate(keys.sample(np.random.default_rng(0), 50, heft_seed=False))
    assert clock.calls == [1, *[2] * 6]
    assert clock.now == pytest.approx(0.104)
    assert len(fitness) == run.progress.evaluations == 12  # the clock stops the run at the first of the last pair
    assert run.stopped


def test_huge_instances_begin_with_one_point() -> None:
    """Tests that the first call of 20,000 tasks on 16 GPUs is one point, that of 100 on 8 a whole population."""
    for tasks, gpus, batch in ((20_000, 16, 1), (100, 8, 250)):
        instance = DagInstance.from_lists([[1] * gpus] * tasks)
        run: SearchRun[NDArray[np.float64]] = SearchRun(MaxEvaluations(1), Callback())
        assert PointEvaluator(RandomKeys(instance, Objective.MAKESPAN), run).batch == batch


@pytest.mark.parametrize("budget", [1, 4, 5, 6, 49])
def test_budgets_hold_to_the_unit(example_e: DagInstance, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that points after the stop are neither counted nor returned nor kept as best."""
    clock = Clock(monkeypatch, 0.004)
    keys = RandomKeys(example_e, Objective.MAKESPAN)
    points = np.concatenate(
        [
            keys.sample(np.random.default_rng(0), 49, heft_seed=False),
            np.array([[0.2, 0.9, 0.5, 0.4, 0.6, 0, 0.8, 0, 0, 0]]),
        ]
    )
    run: SearchRun[NDArray[np.float64]] = SearchRun(MaxEvaluations(budget), Callback())
    fitness = PointEvaluator(keys, run)(points)
    assert len(fitness) == run.progress.evaluations == budget
    assert run.best_fitness == min(keys.evaluate(point) for point in points[:budget])
    assert len(clock.calls) > budget // MOST_POINTS


PRIORITIES = [0.2, 0.9, 0.5, 0.4, 0.6]
HEFT_PRIORITIES = [0.9, 0.5, 0.7, 0.1, 0.3]


def decoded(
    instance: DagInstance, keys: list[float], decoding: str = "ranked"
) -> tuple[tuple[int, int], list[int], list[int]]:
    """Return fitness, GPUs and starts of a point."""
    point, decoder = np.array(keys), RandomKeys(instance, Objective.MAKESPAN, decoding)
    schedule = decoder.schedule(point)
    return decoder.evaluate(point), schedule.gpu.tolist(), schedule.start.tolist()


def test_direct_keys(example_e: DagInstance) -> None:
    """Tests the sequence 0, 1, 2, 4, 3 and the optimum 15 from direct keys."""
    order = placement_order(dag_arrays(example_e), np.array(PRIORITIES))
    assert order.tolist() == [0, 1, 2, 4, 3]
    keys = [*PRIORITIES, 0.1, 0.7, 0.3, 0.9, 0.5]
    assert decoded(example_e, keys, "direct") == ((0, 15), [0, 1, 0, 1, 0], [0, 8, 4, 12, 7])


@pytest.mark.parametrize(
    ("key", "makespan", "gpus"),
    [
        (0.8, 15, [0, 1, 0, 1, 0]),  # 2 x 0.8^2 = 1.28: the second GPU
        (0.7, 18, [0, 0, 0, 1, 0]),  # 2 x 0.7^2 = 0.98: the first one
    ],
)
def test_ranked_keys(example_e: DagInstance, key: float, makespan: int, gpus: list[int]) -> None:
    """Tests that the square of the key decides between the two best GPUs of task 1."""
    fitness, gpu, _ = decoded(example_e, [*PRIORITIES, 0.0, key, 0.0, 0.0, 0.0])
    assert (fitness, gpu) == ((0, makespan), gpus)


def test_key_of_one_takes_the_last_gpu(example_e: DagInstance) -> None:
    """Tests that a key of exactly 1 is the last position, not one beyond it."""
    for decoding in ("ranked", "direct"):
        _, gpu, _ = decoded(example_e, [*PRIORITIES, 1.0, 1.0, 1.0, 1.0, 1.0], decoding)
        assert gpu[0] == 1
        assert gpu[4] == 0


def test_eft_needs_no_gpu_keys(example_e: DagInstance) -> None:
    """Tests that with decoding "eft" n priorities make a schedule, HEFT's ones HEFT's."""
    assert RandomKeys(example_e, Objective.MAKESPAN, "eft").num_keys == 5
    assert RandomKeys(example_e, Objective.MAKESPAN, "ranked").num_keys == 10
    assert decoded(example_e, HEFT_PRIORITIES, "eft") == ((0, 18), [0, 0, 0, 1, 0], [0, 7, 4, 15, 10])


def test_ties_go_to_the_lowest_task(example_e: DagInstance) -> None:
    """Tests that equal priorities give the order by index."""
    assert placement_order(dag_arrays(example_e), np.zeros(5)).tolist() == [0, 1, 2, 3, 4]


def test_heft_keys(example_e: DagInstance) -> None:
    """Tests HEFT's keys number for number: order 0, 2, 1, 4, 3 and GPUs 0, 0, 0, 1, 0."""
    keys = {name: RandomKeys(example_e, Objective.MAKESPAN, name).heft_keys() for name in DECODINGS}
    assert keys["ranked"] == pytest.approx([*HEFT_PRIORITIES, 0, 0, 0, 0, 0])
    assert keys["eft"] == pytest.approx(HEFT_PRIORITIES)
    assert keys["look-ahead"] == pytest.approx([*HEFT_PRIORITIES, 0])
    assert keys["direct"] == pytest.approx([*HEFT_PRIORITIES, 0.25, 0.25, 0.25, 0.75, 0.5])
    assert keys["load"] * 18 == pytest.approx([4, 10, 7, 3, 16])  # running loads in order 0, 2, 1, 4, 3
    assert decoded(example_e, keys["ranked"].tolist()) == ((0, 18), [0, 0, 0, 1, 0], [0, 7, 4, 15, 10])


@given(instance=dag_instances(max_tasks=10), decoding=st.sampled_from(sorted(DECODINGS)))
@settings(max_examples=150, deadline=None)
def test_heft_keys_decode_to_heft(instance: DagInstance, decoding: str) -> None:
    """Tests that HEFT's keys give exactly HEFT's schedule, or none where that was repaired, with every decoding."""
    decoder = RandomKeys(instance, Objective.MAKESPAN, decoding)
    keys = decoder.heft_keys()
    expected, schedule = heft(instance), decoder.schedule(keys)
    if schedule is not None:
        assert expected is not None
        assert schedule.gpu.tolist() == expected.gpu.tolist()
        assert schedule.start.tolist() == expected.start.tolist()


@given(
    data=st.data(),
    instance=dag_instances(max_tasks=7),
    decoding=st.sampled_from(sorted(DECODINGS)),
    objective=st.sampled_from(FINISH_OBJECTIVES),
)
@settings(max_examples=150, deadline=None)
def test_fitness_is_that_of_the_schedule_random_keys(
    data: st.DataObject, instance: DagInstance, decoding: str, objective: Objective
) -> None:
    """Tests that a point without overflow is a right schedule with that objective, and one with overflow is none."""
    decoder = RandomKeys(instance, objective, decoding)
    size = decoder.num_keys
    keys = np.array(data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size)))
    overflow, value = decoder.evaluate(keys)
    schedule = decoder.schedule(keys)
    assert (schedule is None) == (overflow > 0)
    if schedule is not None:
        assert verify_dag_schedule(instance, schedule) == []
        assert objective_value(instance, schedule, objective) == value


@given(
    data=st.data(),
    instance=dag_instances(max_tasks=7),
    decoding=st.sampled_from(DECODINGS),
    objective=st.sampled_from(FINISH_OBJECTIVES),
)
@settings(max_examples=80, deadline=None)
def test_many_at_once_are_as_one_by_one(
    data: st.DataObject, instance: DagInstance, decoding: str, objective: Objective
) -> None:
    """Tests that points evaluated together, HEFT's among them, in any layout, have the fitness of each alone."""
    decoder = RandomKeys(instance, objective, decoding)
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    points = decoder.sample(rng, data.draw(st.integers(1, 6)), heft_seed=data.draw(st.booleans()))
    expected = [list(decoder.evaluate(point)) for point in points]
    assert decoder.evaluate_many(points).tolist() == expected
    assert decoder.evaluate_many(np.asfortranarray(points)).tolist() == expected
    assert decoder.evaluate_many(points[::-1]).tolist() == expected[::-1]


@given(
    instance=dag_instances(max_tasks=9),
    decoding=st.sampled_from(["ranked", "eft", "direct", "look-ahead"]),
    seed=st.integers(0, 999),
)
@settings(max_examples=200, deadline=None)
def test_fitness_is_that_of_a_plain_decoder(instance: DagInstance, decoding: str, seed: int) -> None:
    """Tests random points, with keys on the bounds and ties among them, against lists and loops.

    Where memory needs HEFT's repair, HEFT's point stands for the repaired schedule, and no other point does.
    """
    decoder, plain = RandomKeys(instance, Objective.MAKESPAN, decoding), PlainKeys(instance, decoding)
    rng = np.random.default_rng(seed)
    points = decoder.sample(rng, 4, heft_seed=True)
    points[2] = rng.integers(0, 3, size=decoder.num_keys) / 2
    expected = [plain.evaluate(point) for point in points.tolist()]
    if decoder.repairs_heft:
        assert expected[0][0] > 0
        expected[0] = (0, objective_value(instance, heft(instance), Objective.MAKESPAN))
    assert [tuple(row) for row in decoder.evaluate_many(points).tolist()] == expected


@given(instance=dag_instances(max_tasks=9))
@settings(max_examples=50, deadline=None)
def test_look_ahead_is_peft_with_its_priorities(instance: DagInstance) -> None:
    """Tests that PEFT's priorities with a last key of 1, the full weight of the table, are PEFT's first schedule."""
    arrays = dag_arrays(instance)
    table = np.where(arrays.allowed, optimistic_costs(arrays), 0.0)
    priorities = table.sum(axis=1) / np.maximum(arrays.allowed.sum(axis=1), 1)
    decoder, point = RandomKeys(instance, Objective.MAKESPAN, "look-ahead"), np.append(priorities, 1.0)
    found, expected = decoder.schedule(point), peft(instance)
    if found is None:
        assert expected is None or decoder.evaluate(point)[0] > 0  # PEFT's schedule is a repaired one
    else:
        assert (found.gpu.tolist(), found.start.tolist()) == (expected.gpu.tolist(), expected.start.tolist())


def test_weight_levels() -> None:
    """Tests that thirds of the last key choose the weight, and that 1 is the last of them."""
    assert weight_levels(np.array([[0.5, 0.0], [0.5, 0.33], [0.5, 0.34], [0.5, 0.67], [0.5, 1.0]])).tolist() == [
        0,
        0,
        1,
        2,
        2,
    ]


def test_no_points(example_e: DagInstance) -> None:
    """Tests that nothing is evaluated where there are no points."""
    for decoding in DECODINGS:
        decoder = RandomKeys(example_e, Objective.MAKESPAN, decoding)
        assert decoder.evaluate_many(np.empty((0, decoder.num_keys))).shape == (0, 2)


def test_sample(example_e: DagInstance) -> None:
    """Tests that points come row by row from the generator, HEFT's first where it is wanted."""
    decoder, rng = RandomKeys(example_e, Objective.MAKESPAN), np.random.default_rng(4)
    rows = [rng.random(10).tolist() for _ in range(3)]
    assert decoder.sample(np.random.default_rng(4), 3, heft_seed=False).tolist() == rows
    seeded = decoder.sample(np.random.default_rng(4), 3, heft_seed=True)
    assert seeded.tolist() == [decoder.heft_keys().tolist(), *rows[:2]]


def test_full_gpu_falls_back_to_earliest_finish() -> None:
    """Tests that a direct key that points to a full GPU takes the earliest finish among the others."""
    instance = DagInstance.from_lists([[1, 9, 9], [1, 8, 7]], task_memory=[3, 3], gpu_memory=[4, None, None])
    assert decoded(instance, [0.9, 0.1, 0.0, 0.0], "direct") == ((0, 7), [0, 2], [0, 0])


def test_overflow_bytes_are_counted() -> None:
    """Tests that a point that exceeds a limit tells by how many bytes."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    decoder = RandomKeys(instance, Objective.MAKESPAN)
    assert decoder.evaluate(np.zeros(6))[0] == 1
    assert decoder.schedule(np.zeros(6)) is None


def test_unknown_decoding(example_e: DagInstance) -> None:
    """Tests that an unknown decoding lists the known ones."""
    with pytest.raises(
        ValueError, match=r"^decoding: expected one of ranked, eft, direct, look-ahead, load, got 'best'\.$"
    ):
        RandomKeys(example_e, Objective.MAKESPAN, "best")
