"""Tests of the rule first come, first served, under which a placement fixes the schedule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.first_come import FirstCome, first_come, first_come_search
from heuristics.dag.list_scheduling import heft
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.instance import DagInstance
from instances.dag.verify import verify_dag_schedule
from solvers.solve import solve
from tests.strategies import dag_instances


def test_who_asks_first_goes_first_by_hand() -> None:
    """Tests that the short task waits for the long one that asked before, and that equal times go by number."""
    durations = [[2, 2], [1, 1], [9, 9], [3, 3], [1, 1]]
    instance = DagInstance.from_lists(durations, edges=[(0, 2, 0), (1, 3, 4), (0, 4, 0)], latency=[[0, 2], [2, 0]])
    schedule = FirstCome(instance).schedule(np.array([0, 1, 0, 0, 0]))
    assert schedule.start.tolist() == [0, 0, 2, 12, 11]  # 2 and 4 ask at tick 2, 3 at tick 1 + 2 + 4 bytes = 7
    assert verify_dag_schedule(instance, schedule) == []


def plain_starts(instance: DagInstance, gpu: list[int]) -> list[int]:
    """Play the rule tick by tick: each idle GPU starts the waiting task that asked first."""
    n, finish, start = instance.num_tasks, dict[int, int](), dict[int, int]()
    asked: dict[int, int] = {}
    tick = 0
    while len(start) < n:
        for task in range(n):
            inputs = [edge for edge in range(instance.num_edges) if instance.edges[edge, 1] == task]
            tails = [int(instance.edges[edge, 0]) for edge in inputs]
            if task not in asked and all(finish.get(tail, tick + 1) <= tick for tail in tails):
                arrivals = [
                    finish[tail] + int(instance.transfer_delays(edge)[gpu[tail], gpu[task]])
                    for edge, tail in zip(inputs, tails, strict=True)
                ]
                asked[task] = max([int(instance.release[instance.job_of_task[task]]), *arrivals])
        began = False
        for k in range(instance.num_gpus):
            waiting = [(asked[task], task) for task in asked if gpu[task] == k and task not in start]
            is_idle = all(finish[task] <= tick for task in start if gpu[task] == k)
            if waiting and is_idle and min(waiting)[0] <= tick:
                task = min(waiting)[1]
                start[task], finish[task], began = tick, tick + int(instance.durations[task, k]), True
        tick += not began
    return [start[task] for task in range(n)]


@given(instance=dag_instances(max_tasks=6), data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_rule_is_that_of_a_plain_simulation(instance: DagInstance, data: st.DataObject) -> None:
    """Tests against a simulation tick by tick that everybody starts when it is served."""
    instance = replace(instance, durations=np.where(instance.durations >= 0, instance.durations + 1, -1))
    gpus = [data.draw(st.sampled_from(np.flatnonzero(row >= 0).tolist())) for row in instance.durations]
    assert FirstCome(instance).schedule(np.array(gpus, dtype=np.int64)).start.tolist() == plain_starts(instance, gpus)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_search_begins_with_the_placement_of_heft(example_e: DagInstance, seed: int) -> None:
    """Tests as methods of one's own that the search is no worse than HEFT's placement, and can be repeated."""
    placed = first_come(example_e)
    found = heft(example_e)
    assert placed is not None
    assert found is not None
    assert placed.gpu.tolist() == found.gpu.tolist()
    begun = solve(example_e, first_come, bounds=[])
    searched = solve(example_e, first_come_search, stop=MaxEvaluations(60), seed=seed, bounds=[])
    assert begun.objective is not None
    assert searched.objective is not None
    assert searched.objective <= begun.objective
    again = solve(example_e, first_come_search, stop=MaxEvaluations(60), seed=seed, bounds=[])
    assert again.objective == searched.objective


def test_memory_is_kept_or_nothing_is_found() -> None:
    """Tests that the search moves no task to a full GPU, and that both find nothing where HEFT does not."""
    tight = DagInstance.from_lists([[4, 1]] * 2, task_memory=[5, 5], gpu_memory=[5, 5])
    result = solve(tight, first_come_search, stop=MaxEvaluations(40), seed=1, bounds=[])
    assert result.objective == 4
    full = DagInstance.from_lists([[4, 1]] * 3, task_memory=[4, 4, 2], gpu_memory=[5, 5])
    assert first_come(full) is None
    assert solve(full, first_come_search, stop=MaxEvaluations(5), seed=1, bounds=[]).schedule is None
