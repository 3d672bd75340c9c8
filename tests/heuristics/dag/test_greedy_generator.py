"""Tests of the greedy generator on instances with transfers, memory and forbidden GPUs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.greedy_generator import GreedyGenerator
from heuristics.dag.load_vector import final_loads, running_loads
from heuristics.dag.priorities import upward_ranks
from heuristics.dag.rtgs.population import population_of, uniform_placements
from instances.clusters.cluster import parse_cluster
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.generators.dag.generate import generate
from tests.plain_rtgs import plain_load_pick, plain_place
from tests.strategies import dag_instances

RNG = np.random.default_rng(0)  # the generator draws nothing


def generator_of(instance: DagInstance, *, running: bool = True, insertion: bool = True) -> GreedyGenerator:
    """Return the generator in rank order."""
    return GreedyGenerator(instance, Objective.MAKESPAN, upward_ranks(dag_arrays(instance)), insertion, running)


def test_wish_of_the_optimum_gives_the_optimum(example_e: DagInstance) -> None:
    """Tests that loads 4, 3, 7, 6, 13 (rho of the optimum in rank order) come back as GPUs (0,1,0,1,0), makespan 15."""
    population = generator_of(example_e).generate(np.array([[4.0, 3, 7, 6, 13]]), RNG, 0.0)
    assert population.gpu.tolist() == [[0, 1, 0, 1, 0]]
    assert population.position.tolist() == [[4, 3, 7, 6, 13]]
    assert (population.overflow.tolist(), population.objective.tolist()) == ([0], [15])


def test_forbidden_gpu_is_not_taken(example_e: DagInstance) -> None:
    """Tests that task 4 goes to GPU 0 although GPU 1 would suit its wish; the others go to GPU 1."""
    population = generator_of(example_e, running=False).generate(np.array([[99.0] * 4 + [0.0]]), RNG, 0.0)
    assert population.gpu.tolist()[0][4] == 0
    assert population.position.tolist() == final_loads(example_e.durations, population.gpu).tolist()


def test_memory_turns_tasks_away() -> None:
    """Tests that a full GPU is not taken whatever the wish, and that a dead end counts its bytes."""
    fits = DagInstance.from_lists([[5, 5]] * 3, task_memory=[2] * 3, gpu_memory=[4, 2])
    assert sorted(generator_of(fits).generate(np.array([[5.0, 10, 15]]), RNG, 0.0).gpu[0]) == [0, 0, 1]
    dead_end = DagInstance.from_lists([[9, 10], [1, 5], [1, 1]], task_memory=[2, 2, 3], gpu_memory=[4, 3])
    population = generator_of(dead_end).generate(np.array([[10.0, 0, 0]]), RNG, 0.0)
    assert population.gpu[0, 0] == 1  # then the task of 3 bytes has no room: GPU 0 has 4 - 2 left, GPU 1 has 1
    assert population.overflow.tolist() == [1]


@given(
    instance=dag_instances(max_tasks=7),
    data=st.data(),
    running=st.booleans(),
    insertion=st.booleans(),
    objective=st.sampled_from(FINISH_OBJECTIVES),
)
@settings(deadline=None, max_examples=60)
def test_generator_equals_plain_loops(
    instance: DagInstance, data: st.DataObject, running: bool, insertion: bool, objective: Objective
) -> None:
    """Tests placements, positions, bytes and objectives against lists, several rows of desired loads at once."""
    n = instance.num_tasks
    wish = st.lists(st.floats(-20, 60).map(lambda value: round(value, 2)), min_size=n, max_size=n)
    desired = [data.draw(wish) for _ in range(2)]
    generator = GreedyGenerator(instance, objective, upward_ranks(dag_arrays(instance)), insertion, running)
    population = generator.generate(np.array(desired), RNG, 1.0)
    for row, one in enumerate(desired):
        pick = plain_load_pick(instance, one)
        plain = plain_place(instance, generator.order.tolist(), insertion, pick, objective)
        assert population.gpu[row].tolist() == plain.gpu
        assert population.position[row].tolist() == (plain.running if running else plain.final)
        assert (population.overflow[row], population.objective[row]) == (plain.overflow, plain.objective)


@given(instance=dag_instances(max_tasks=8), seed=st.integers(0, 999))
@settings(deadline=None, max_examples=100)
def test_running_loads_come_back(instance: DagInstance, seed: int) -> None:
    """Tests C(rho(z)) = z for random z, wherever no other GPU would bring a task to the very same load."""
    generator = generator_of(instance)
    priority = upward_ranks(dag_arrays(instance))
    z = population_of(
        instance,
        Objective.MAKESPAN,
        uniform_placements(instance, np.random.default_rng(seed), 1, priority, insertion=True),
        generator.order,
        running=True,
    )
    assume(z.overflow[0] == 0)
    load = [0] * instance.num_gpus
    for task in generator.order.tolist():
        k = z.gpu[0, task]
        after = [load[l] + ticks if ticks >= 0 else None for l, ticks in enumerate(instance.durations[task].tolist())]
        assume(after.count(after[k]) == 1)
        load[k] = after[k]
    back = generator.generate(z.position, RNG, 0.0)
    assert back.gpu.tolist() == z.gpu.tolist()
    assert back.objective.tolist() == z.objective.tolist()


def test_running_loads_say_more_than_final_ones() -> None:
    """Tests on 400 placements on unlike GPUs that rho leads back to z far more often than r, whole and task by task.

    Like GPUs with equal loads tie, so that a placement may come back with two of them exchanged.
    """
    whole, tasks = {True: 0, False: 0}, {True: 0.0, False: 0.0}
    for seed in range(8):
        instance = generate("layered", tasks=15 + 5 * seed, seed=seed, cluster=parse_cluster("mixed-4"))
        priority = upward_ranks(dag_arrays(instance))
        placements = uniform_placements(instance, np.random.default_rng(seed), 50, priority, insertion=True)
        for running in (True, False):
            generator = generator_of(instance, running=running)
            z = population_of(instance, Objective.MAKESPAN, placements, generator.order, running=running)
            same = generator.generate(z.position, RNG, 0.0).gpu == z.gpu
            whole[running] += int(same.all(axis=1).sum())
            tasks[running] += float(same.mean()) / 8
    assert whole[True] > 300 > 20 > whole[False]
    assert tasks[True] > 0.95 > 0.6 > tasks[False]


def test_positions_of_first_whales(example_e: DagInstance) -> None:
    """Tests that the first whales are timed and positioned as the generator's own."""
    priority = upward_ranks(dag_arrays(example_e))
    generator = generator_of(example_e)
    placements = uniform_placements(example_e, np.random.default_rng(3), 6, priority, insertion=True)
    population = population_of(example_e, Objective.MAKESPAN, placements, generator.order, running=True)
    for row, gpu in enumerate(population.gpu.tolist()):
        plain = plain_place(example_e, generator.order.tolist(), True, lambda task, fits, load, gpu=gpu: gpu[task])
        assert (plain.running, plain.objective) == (population.position[row].tolist(), population.objective[row])
    assert population.position.tolist() == running_loads(example_e.durations, population.gpu, generator.order).tolist()
    assert len(np.unique(population.gpu, axis=0)) > 1


@pytest.mark.parametrize("count", [0, 3])
def test_no_tasks(count: int) -> None:
    """Tests that desired loads without coordinates give empty placements."""
    population = generator_of(DagInstance.from_lists([], num_gpus=2)).generate(np.empty((count, 0)), RNG, 0.0)
    assert population.gpu.shape == population.position.shape == (count, 0)
    assert population.objective.tolist() == [0] * count
