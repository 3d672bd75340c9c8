"""Tests that a complete search finds a schedule exactly where there is one, in both directions of time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.down_sets import search as layers
from formulations.dag.down_sets.search import DownSetSearch, Found, predicted_width
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from tests.brute_force import optimum
from tests.strategies import changed, dag_instances

many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
objectives = st.sampled_from(FINISH_OBJECTIVES)


def searched(instance: DagInstance, objective: Objective, at_most: int, **options: object) -> Found:
    """Search within an objective; what is found is checked."""
    search = DownSetSearch(instance, objective)
    found = search.search(search.windows(at_most, 0), **{"width": 5_000, **options})  # type: ignore[arg-type]
    if found.schedule is not None:
        assert verify_dag_schedule(instance, found.schedule) == []
        assert objective_value(instance, found.schedule, objective) <= at_most
    return found


@given(
    instance=dag_instances(max_tasks=7, max_gpus=4),
    objective=objectives,
    slack=st.integers(0, 5),
    backwards=st.booleans(),
    settles=st.booleans(),
    threads=st.sampled_from([1, 2]),
)
@many
def test_finds_what_exists_and_nothing_else(
    instance: DagInstance, objective: Objective, slack: int, backwards: bool, settles: bool, threads: int
) -> None:
    """Tests searches from the optimum on and just below it, against enumeration."""
    backwards = backwards and objective is Objective.MAKESPAN
    ways = {"backwards": backwards, "settles": settles, "threads": threads}
    best = optimum(instance, objective)
    if best is None:
        found = searched(instance, objective, 500, **ways)
        assert (found.schedule, found.is_complete) == (None, True)
        return
    found = searched(instance, objective, best + slack, **ways)
    assert found.is_complete
    assert found.schedule is not None
    below = searched(instance, objective, best - 1, **ways)
    assert (below.schedule, below.is_complete) == (None, True)


@given(instance=dag_instances(max_tasks=7), objective=objectives, width=st.integers(1, 6), slack=st.integers(-1, 3))
@many
def test_narrow_layers_never_prove_too_much(
    instance: DagInstance, objective: Objective, width: int, slack: int
) -> None:
    """Tests that a search that drops labels says so: where it claims to be complete and finds nothing, nothing is."""
    best = optimum(instance, objective)
    if best is None:
        return
    found = searched(instance, objective, best + slack, width=width)
    if found.is_complete and found.schedule is None:
        assert slack < 0


@pytest.mark.parametrize("settles", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    "family", ["layered", pytest.param("in-tree", marks=pytest.mark.slow), "series-parallel", "gaussian-elimination"]
)
def test_refutes_one_tick_below_on_twenty_tasks(family: str, backwards: bool, settles: bool) -> None:
    """Tests graphs of about twenty tasks: the optimum that one direction proves the other one proves too."""
    cost = CostModel(ccr=1.0)
    instance = generate(family, tasks=20, seed=4, cluster=parse_cluster("mixed-2"), cost=cost)
    at_most, found = None, None
    search = DownSetSearch(instance, Objective.MAKESPAN)
    while found is None or found.schedule is not None:
        found = search.search(search.windows(at_most, 0), width=2_000 if at_most is None else 20_000, backwards=True)
        if found.schedule is not None:
            at_most = objective_value(instance, found.schedule, Objective.MAKESPAN) - 1
    assert found.is_complete
    assert at_most is not None
    ways = {"width": 20_000, "backwards": backwards, "settles": settles}
    assert searched(instance, Objective.MAKESPAN, at_most + 1, **ways).schedule is not None
    below = searched(instance, Objective.MAKESPAN, at_most, **ways)
    assert (below.schedule, below.is_complete) == (None, True)


def test_parts_are_as_good_as_the_whole() -> None:
    """Tests that three threads keep as many labels as one: a down-set falls to one of them."""
    instance = generate("cholesky", tasks=20, seed=1, cluster=parse_cluster("mixed-3"), cost=CostModel(ccr=1.0))
    search = DownSetSearch(instance, Objective.MAKESPAN)
    within = search.windows(None, 0)
    alone, shared = (search.search(within, width=3_000, until_dropped=True, threads=threads) for threads in (1, 3))
    assert alone.exact_depth > 3
    assert shared.exact_depth in range(alone.exact_depth - 1, alone.exact_depth + 2)


def test_labels_that_differ_in_the_names_of_like_gpus_are_one() -> None:
    """Tests that two like GPUs take as many labels as if the first task could only be on one of them."""
    durations = np.array([[3, 3], [5, 5], [4, 4], [7, 7], [2, 2]])
    instance = DagInstance.from_lists(durations.tolist())
    alone = changed(instance, durations=durations + np.array([[0, 1], [0, 0], [0, 0], [0, 0], [0, 0]]))
    like = searched(instance, Objective.MAKESPAN, 11)
    assert like.schedule is not None
    assert like.num_labels < searched(alone, Objective.MAKESPAN, 11).num_labels


def test_a_task_that_could_begin_before_is_not_the_next_elsewhere() -> None:
    """Tests two tasks on GPUs of their own: in order of starts only the one that may start at 0 can be the first."""
    durations = [[4, None], [None, 7]]
    instance = DagInstance.from_lists(durations, job_of_task=[1, 0], release=[0, 5])
    found = searched(instance, Objective.MAKESPAN, 12)  # the second task could start at 5, and end in time
    assert found.schedule is not None
    assert found.num_labels == 2
    other = DagInstance.from_lists([*durations, [None, 2]], [(0, 2, 0)], job_of_task=[1, 0, 1], release=[0, 5])
    after = searched(other, Objective.MAKESPAN, 18)  # but it may wait for the third one, which follows the first
    assert after.schedule is not None
    assert after.num_labels == 5  # either can be the first; the first two and the last two to start; and all


def test_prices_that_nearly_refute_a_label_refute_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that linear programs that are solved further leave fewer labels, and the same answer."""
    instance = generate("stencil", tasks=25, seed=1, cluster=parse_cluster("mixed-3"), cost=CostModel(ccr=0.3))
    search = DownSetSearch(instance, Objective.MAKESPAN)
    at_most, found = None, search.search(search.windows(None, 0), width=100)
    while found.schedule is not None:
        at_most = objective_value(instance, found.schedule, Objective.MAKESPAN) - 1
        found = search.search(search.windows(at_most, 0), width=20_000)
    monkeypatch.setattr(layers, "BRIEF", layers.BRIEF._replace(enough=1.0))
    others = search.search(search.windows(at_most, 0), width=20_000)
    assert found.is_complete
    assert (others.schedule, others.is_complete) == (None, True)
    assert 0 < found.num_labels < others.num_labels


def test_settled_labels_are_fewer() -> None:
    """Tests a graph where a complete search with settled labels takes a quarter of the labels that others take."""
    instance = generate("cholesky", tasks=35, seed=3, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    search = DownSetSearch(instance, Objective.MAKESPAN)
    found = search.search(search.windows(None, 0), width=500)
    while found.schedule is not None:
        at_most = objective_value(instance, found.schedule, Objective.MAKESPAN) - 1
        found = search.search(search.windows(at_most, 0), width=20_000, backwards=True, settles=True)
    assert found.is_complete
    others = search.search(search.windows(at_most, 0), width=200_000, backwards=True)
    assert (others.schedule, others.is_complete) == (None, True)
    assert 0 < 4 * found.num_labels < others.num_labels


def test_like_gpus_and_tasks_are_tried_once() -> None:
    """Tests that eight like tasks on four like GPUs take a label per distribution, up to the numbers of the GPUs."""
    instance = DagInstance.from_lists([[5] * 4] * 8)
    found = searched(instance, Objective.MAKESPAN, 10)
    assert found.schedule is not None
    assert found.num_labels < 30  # of 65,536 placements
    unlike = changed(instance, durations=instance.durations + np.arange(8)[:, None])
    assert searched(unlike, Objective.MAKESPAN, 40).num_labels > 100


def test_a_gpu_is_not_free_while_a_last_task_runs() -> None:
    """Tests that a task without successors keeps its GPU, and its own end within the makespan."""
    instance = DagInstance.from_lists([[9, 20], [3, 4]])
    assert searched(instance, Objective.MAKESPAN, 8).schedule is None
    found = searched(instance, Objective.MAKESPAN, 9)
    assert found.schedule is not None
    assert found.schedule.gpu.tolist() == [0, 1]


def test_stops_when_asked_and_claims_nothing() -> None:
    """Tests that a search that is stopped neither finds nor proves, and that one until the first drop ends there."""
    instance = generate("layered", tasks=40, seed=1, cluster=parse_cluster("mixed-4"), cost=CostModel(ccr=1.0))
    search = DownSetSearch(instance, Objective.MAKESPAN)
    within = search.windows(None, 0)
    stopped = search.search(within, width=5_000, should_stop=lambda: True)
    assert (stopped.schedule, stopped.is_complete) == (None, False)
    dropped = search.search(within, width=50, until_dropped=True)
    assert (dropped.schedule, dropped.is_complete) == (None, False)
    assert 0 < dropped.exact_depth < 40
    beam = search.search(within, width=50)
    assert beam.schedule is not None
    assert not beam.is_complete


def test_memory_limits_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that labels that find no place count as dropped."""
    instance = generate("cholesky", tasks=20, seed=1, cluster=parse_cluster("mixed-3"), cost=CostModel(ccr=1.0))
    monkeypatch.setattr(layers, "MOST_BYTES", 40_000)
    search = DownSetSearch(instance, Objective.MAKESPAN)
    found = search.search(search.windows(None, 0), width=100_000)
    assert found.width < 100
    assert not found.is_complete


def test_numbers_beyond_the_range_are_left_alone() -> None:
    """Tests that an instance whose makespan may not fit into the labels is neither searched nor judged."""
    instance = DagInstance.from_lists([[2**29]])
    search = DownSetSearch(instance, Objective.MAKESPAN)
    found = search.search(search.windows(None, 0), width=10)
    assert (found.schedule, found.is_complete) == (None, False)


def test_transfers_beyond_the_range_only_keep_tasks_together() -> None:
    """Tests that a delay that no label could hold rules out a split, and nothing else."""
    instance = DagInstance.from_lists([[2, 3], [2, 1]], [(0, 1, 2**40)], latency=[[0, 1], [1, 0]])
    found = searched(instance, Objective.MAKESPAN, 4)
    assert found.schedule is not None
    assert found.schedule.gpu.tolist() in ([0, 0], [1, 1])


def test_foresees_the_widest_layer() -> None:
    """Tests the growth that falls evenly up to the middle layer, and what is known without it."""
    assert predicted_width([2, 4, 8, 16], 20) == 16 * 2**3
    assert predicted_width([2, 4], 20) == pytest.approx(4 * 2**4)
    assert predicted_width([2, 4, 8, 7, 6, 5], 20) == 8
    assert predicted_width([2, 4, 8, 16], 6) == 16
    assert predicted_width([2, 4, 0], 20) == 4
    assert predicted_width([], 20) == math.inf
