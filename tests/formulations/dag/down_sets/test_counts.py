"""Tests of the search with counts and released memory: optima, how few counts there are, and what is refused."""

from __future__ import annotations

import math

import pytest

from formulations.dag.down_sets import counts as module
from formulations.dag.down_sets.counts import CountSearch
from formulations.dag.down_sets.search_space import count_down_sets
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.pipeline import pipeline_instance
from instances.dag.verify import verify_dag_schedule
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.brute_force_buffers import buffered_optimum
from tests.buffered_instances import random_buffered, small_pipeline

NEVER = bool
"""A stop signal that is never given: False, whenever it is asked."""


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40))])
def test_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that without a schedule to begin with the method proves what brute force finds, for every objective."""
    monkeypatch.setattr("solvers.solve._warm_start", lambda goal, start: None)
    instance = random_buffered(seed, max_tasks=5) if seed % 2 else small_pipeline(seed, tasks=9)
    for objective in Objective:
        best = buffered_optimum(instance, objective)
        result = solve(instance, "down-sets", objective=objective, threads=1, bounds=[])
        expected = Status.INFEASIBLE if best is None else Status.OPTIMAL
        assert (result.status, result.objective, result.lower_bound) == (expected, best, best), objective


def test_copies_are_counted() -> None:
    """Tests that with four equal micro-batches there are far fewer counts than sets of tasks."""
    costs = {"forward": [2], "backward": [3], "weight": [1]}
    instance = pipeline_instance(micro_batches=4, limits=6, **costs)
    search = CountSearch(instance, Objective.MAKESPAN, [0] * instance.num_tasks)
    assert len(search.chains) == 3
    found = search.search(None, 10_000, NEVER)
    assert found.is_complete
    assert objective_value(instance, found.schedule, "makespan") == 24
    assert verify_dag_schedule(instance, found.schedule) == []
    counts = sum(1 for f in range(5) for b in range(f + 1) for _ in range(b + 1))
    assert counts == math.comb(7, 3)  # 0 <= W <= B <= F <= 4
    assert len(search.known_counts) <= counts < count_down_sets(instance, 10**6) == 4**4


def test_a_delayed_start_is_found() -> None:
    """Tests the smallest known case in which the first pass must not begin at once, and that 17 is refuted."""
    instance = pipeline_instance(
        micro_batches=2, forward=[4, 1], backward=[2, 1], weight=[1, 7], transfer=2, limits=[4, 3]
    )
    gpu = instance.durations.argmax(axis=1).tolist()
    search = CountSearch(instance, Objective.STAGE_SPAN, gpu)
    found = search.search(18, 10_000, NEVER)
    assert objective_value(instance, found.schedule, "stage_span") == 18
    below = search.search(17, 10_000, NEVER)
    assert (below.schedule, below.is_complete) == (None, True)


def test_dropping_labels_is_no_proof() -> None:
    """Tests that a search that drops labels says so."""
    instance = small_pipeline(4)
    gpu = instance.durations.argmax(axis=1).tolist()
    assert not CountSearch(instance, Objective.MAKESPAN, gpu).search(None, 1, NEVER).is_complete


def test_layers_are_cut_while_they_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a layer holds at most twice as many labels as it may, and the children of one more."""
    sizes, families = list[int](), list[int]()
    best, children = CountSearch._best, CountSearch._children

    def remember(search: CountSearch, layer: module._Layer, width: int) -> module._Layer:
        sizes.append(sum(map(len, layer.values())))
        return best(search, layer, width)

    def counted(search: CountSearch, counts: module.Counts, label: module._Label) -> list[tuple[int, module._Label]]:
        families.append(len(children(search, counts, label)))
        return children(search, counts, label)

    monkeypatch.setattr(CountSearch, "_best", remember)
    monkeypatch.setattr(CountSearch, "_children", counted)
    instance = pipeline_instance(micro_batches=4, forward=[5] * 3, backward=[6] * 3, weight=[4] * 3, limits=4)
    search = CountSearch(instance, Objective.STAGE_SPAN, instance.durations.argmax(axis=1).tolist())
    assert not search.search(80, 20, NEVER).is_complete
    assert 40 < max(sizes) <= 40 + max(families)


def test_asks_within_a_down_set_whether_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a down-set of many labels does not keep the search from hearing that it is to stop."""
    instance = pipeline_instance(micro_batches=2, forward=[4, 1], backward=[2, 1], weight=[1, 7], limits=[4, 3])
    asked = dict[int, int]()
    for labels in (1, 10**9):
        monkeypatch.setattr(module, "LABELS_PER_QUESTION", labels)
        search = CountSearch(instance, Objective.STAGE_SPAN, instance.durations.argmax(axis=1).tolist())
        asked[labels] = 0

        def count(labels: int = labels) -> bool:
            asked[labels] += 1
            return False

        assert search.search(None, 10_000, count).is_complete
    assert asked[1] > asked[10**9]


def test_owners_without_duration_are_refused() -> None:
    """Tests that a buffer of a task that takes no time ends the run as failed, with the reason, if no bound helps."""
    instance = DagInstance.from_lists([[0], [2]], [(0, 1, 0)], buffers=[(0, 1, [1])], gpu_memory=[2])
    assert solve(instance, "down-sets", threads=1, bounds=[]).status is Status.OPTIMAL  # 2 ticks of work
    result = solve(instance, "down-sets", objective="weighted_completion", threads=1, bounds=[])
    assert result.failure == "buffers: expected tasks that take a tick at least to hold them, got task 0."
    assert (result.status, result.lower_bound) == (Status.FEASIBLE, 0)


def test_a_placement_that_is_refused_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that others are searched, that the bound of the refused one decides, and that both may be refused."""
    monkeypatch.setattr("solvers.solve._warm_start", lambda goal, start: None)
    for first, second, gap in (([0, 1], [3, 1], False), ([0, 1], [1, 2], True)):
        groups = {"buffers": [(0, 1, [1])], "groups": [0, 0], "gpu_memory": [2, 2]}
        instance = DagInstance.from_lists([first, second], [(0, 1, 1)], **groups)
        result = solve(instance, "down-sets", threads=1, bounds=[])
        expected = (Status.FEASIBLE, 3, 1) if gap else (Status.OPTIMAL, 2, 2)
        assert (result.status, result.objective, result.lower_bound) == expected
        assert (result.failure is not None) == gap
    instance = DagInstance.from_lists([[0, 0], [3, 2]], [(0, 1, 1)], **groups)
    monkeypatch.undo()
    result = solve(instance, "down-sets", objective="stage_span", threads=1, bounds=[])
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 2, 2)
