"""Tests of random keys: every decoding of example E by hand, and HEFT's keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.heft import heft
from heuristics.dag.random_keys import DECODINGS, RandomKeys, _placement_order
from instances import DagInstance, Objective, objective_value, verify_dag_schedule
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
    order = _placement_order(dag_arrays(example_e), np.array(PRIORITIES))
    assert order == [0, 1, 2, 4, 3]
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
    assert _placement_order(dag_arrays(example_e), np.zeros(5)) == [0, 1, 2, 3, 4]


def test_heft_keys(example_e: DagInstance) -> None:
    """Tests HEFT's keys number for number: order 0, 2, 1, 4, 3 and GPUs 0, 0, 0, 1, 0."""
    keys = {name: RandomKeys(example_e, Objective.MAKESPAN, name).heft_keys() for name in DECODINGS}
    assert keys["ranked"] == pytest.approx([*HEFT_PRIORITIES, 0, 0, 0, 0, 0])
    assert keys["eft"] == pytest.approx(HEFT_PRIORITIES)
    assert keys["direct"] == pytest.approx([*HEFT_PRIORITIES, 0.25, 0.25, 0.25, 0.75, 0.5])
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
    with pytest.raises(ValueError, match=r"^decoding: expected one of ranked, eft, direct, got 'best'\.$"):
        RandomKeys(example_e, Objective.MAKESPAN, "best")
