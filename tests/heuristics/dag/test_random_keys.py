"""Tests of random keys: every decoding of example E by hand, and HEFT's keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.heft import heft
from heuristics.dag.placement_order import placement_order
from heuristics.dag.random_keys import DECODINGS, RandomKeys
from instances import DagInstance, Objective, objective_value, verify_dag_schedule
from tests.plain_keys import PlainKeys
from tests.strategies import dag_instances

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
    assert keys["direct"] == pytest.approx([*HEFT_PRIORITIES, 0.25, 0.25, 0.25, 0.75, 0.5])
    assert keys["load"] * 18 == pytest.approx([4, 10, 7, 3, 16])  # running loads in order 0, 2, 1, 4, 3
    assert decoded(example_e, keys["ranked"].tolist()) == ((0, 18), [0, 0, 0, 1, 0], [0, 7, 4, 15, 10])


@given(instance=dag_instances(max_tasks=10), decoding=st.sampled_from(sorted(DECODINGS)))
@settings(max_examples=150, deadline=None)
def test_heft_keys_decode_to_heft(instance: DagInstance, decoding: str) -> None:
    """Tests that HEFT's keys give exactly HEFT's schedule, or HEFT's dead end, with every decoding."""
    decoder = RandomKeys(instance, Objective.MAKESPAN, decoding)
    keys = decoder.heft_keys()
    expected, schedule = heft(instance), decoder.schedule(keys)
    assert (schedule is None) == (expected is None)
    if schedule is not None and expected is not None:
        assert schedule.gpu.tolist() == expected.gpu.tolist()
        assert schedule.start.tolist() == expected.start.tolist()


@given(
    data=st.data(),
    instance=dag_instances(max_tasks=7),
    decoding=st.sampled_from(sorted(DECODINGS)),
    objective=st.sampled_from(list(Objective)),
)
@settings(max_examples=150, deadline=None)
def test_fitness_is_that_of_the_schedule(
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
    objective=st.sampled_from(list(Objective)),
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
    instance=dag_instances(max_tasks=9), decoding=st.sampled_from(["ranked", "eft", "direct"]), seed=st.integers(0, 999)
)
@settings(max_examples=200, deadline=None)
def test_fitness_is_that_of_a_plain_decoder(instance: DagInstance, decoding: str, seed: int) -> None:
    """Tests random points, with keys on the bounds and ties among them, against lists and loops."""
    decoder, plain = RandomKeys(instance, Objective.MAKESPAN, decoding), PlainKeys(instance, decoding)
    rng = np.random.default_rng(seed)
    points = decoder.sample(rng, 4, heft_seed=True)
    points[2] = rng.integers(0, 3, size=decoder.num_keys) / 2
    assert [tuple(row) for row in decoder.evaluate_many(points).tolist()] == [
        plain.evaluate(point) for point in points.tolist()
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
    with pytest.raises(ValueError, match=r"^decoding: expected one of ranked, eft, direct, load, got 'best'\.$"):
        RandomKeys(example_e, Objective.MAKESPAN, "best")
