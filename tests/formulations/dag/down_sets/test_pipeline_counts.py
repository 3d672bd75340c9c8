"""Tests of the search with counts for pipelines: optima, published and open values, and what it takes."""

from __future__ import annotations

import pytest

from formulations.dag.down_sets.counts import Counted, CountSearch
from formulations.dag.down_sets.pipeline_counts import PipelineCounts
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.pipeline import pipeline_instance
from instances.dag.verify import verify_dag_schedule
from instances.readers.dag.zero_bubble import read_zero_bubble
from tests.brute_force_buffers import buffered_optimum
from tests.buffered_instances import small_pipeline
from tests.real_data import real_data
from tests.strategies import changed

MAKESPAN, SPAN = Objective.MAKESPAN, Objective.STAGE_SPAN
NEVER = bool
"""A stop signal that is never given: False, whenever it is asked."""


def search_of(instance: DagInstance, objective: Objective) -> PipelineCounts | None:
    """Return the search for the one placement of an instance; None where it does not take it."""
    gpu = instance.durations.argmax(axis=1).tolist()
    return PipelineCounts(instance, objective, gpu) if PipelineCounts.takes(instance, objective, gpu) else None


def proved(instance: DagInstance, objective: Objective, width: int, at_most: int | None = None) -> int:
    """Return the optimum that the search proves, with all schedules verified."""
    search = search_of(instance, objective)
    assert search is not None
    while True:
        found = search.search(at_most, width, NEVER)
        if found.schedule is None:
            assert found.is_complete
            assert at_most is not None
            return at_most + 1
        assert verify_dag_schedule(instance, found.schedule) == []
        value = objective_value(instance, found.schedule, objective)
        assert at_most is None or value <= at_most
        at_most = value - 1


def check_many(seeds: range) -> int:
    """Assert that the search proves what brute force finds; return on how many instances."""
    count = 0
    for seed in seeds:
        instance = small_pipeline(seed, tasks=9)
        for objective in (MAKESPAN, SPAN):
            if search_of(instance, objective) is not None:
                count += 1
                assert proved(instance, objective, 10_000) == buffered_optimum(instance, objective), (seed, objective)
    return count


def test_optimum() -> None:
    """Tests both objectives against brute force."""
    assert check_many(range(20)) >= 8


@pytest.mark.slow
def test_optimum_of_many() -> None:
    """Tests the same on more instances."""
    assert check_many(range(9_000, 9_400)) >= 200


def equal(p: int, m: int, limit: int, c: int = 0, *, fused: bool = False) -> DagInstance:
    """Return p equal stages of (5, 6, 4)."""
    costs = {"forward": [5] * p, "backward": [6] * p, "weight": [4] * p}
    return pipeline_instance(micro_batches=m, transfer=c, limits=limit, fused=fused, **costs)


@pytest.mark.parametrize(
    ("size", "limit", "transfer", "makespan", "span"),
    [
        ((4, 12), 4, 0, 319, 319),
        ((4, 12), 6, 0, 236, 236),
        ((4, 12), 4, 1, 347, 347),
        ((4, 12), 6, 1, 254, 254),
        ((4, 12), 8, 1, 213, 213),
        ((4, 16), 6, 0, 309, 309),  # the span was open between 276 and 309
        ((8, 16), 8, 0, 427, 427),  # both were open between 413 and 427
    ],
)
def test_check_values(size: tuple[int, int], limit: int, transfer: int, makespan: int, span: int) -> None:
    """Tests optima of equal stages that another program proved, and some that it left open."""
    instance = equal(*size, limit, transfer)
    assert proved(instance, MAKESPAN, 10_000, makespan + 3) == makespan
    assert proved(instance, SPAN, 10_000, span + 3) == span


@pytest.mark.slow
def test_memory_for_ten_forward_passes() -> None:
    """Tests that eight stages with 16 micro-batches take 275 and have a span of 272, which was open until 276."""
    instance = equal(8, 16, 20)
    assert proved(instance, MAKESPAN, 4_000, 276) == 275
    assert proved(instance, SPAN, 4_000, 275) == 272


@pytest.mark.slow
def test_a_span_that_was_open() -> None:
    """Tests that eight stages with 16 micro-batches and memory for twelve halves have a span of 328, not of 327."""
    instance = equal(8, 16, 12)
    makespan, span = search_of(instance, MAKESPAN), search_of(instance, SPAN)
    assert makespan is not None
    assert span is not None
    assert span.search(327, 100_000, NEVER) == Counted(None, True)
    found = makespan.search(328, 100_000, NEVER).schedule
    assert found is not None
    assert verify_dag_schedule(instance, found) == []
    assert objective_value(instance, found, SPAN) == objective_value(instance, found, MAKESPAN) == 328


def test_fused_backward_passes() -> None:
    """Tests a pipeline without W, against the general search with counts."""
    instance = equal(2, 3, 4, 1, fused=True)
    gpu = instance.durations.argmax(axis=1).tolist()
    value = proved(instance, MAKESPAN, 1_000)
    general = CountSearch(instance, MAKESPAN, gpu)
    found = general.search(value, 1_000, NEVER)
    assert found.schedule is not None
    assert general.search(value - 1, 1_000, NEVER) == Counted(None, True)


@pytest.mark.parametrize(("multiple", "best"), [(2, 8_349_155), (3, 5_859_866)])
def test_measured_profile(multiple: int, best: int) -> None:
    """Tests the optima of the measured profile of eight stages and 32 micro-batches, in both objectives."""
    instance = read_zero_bubble(real_data("zero-bubble/measured_8x32_first.json"), limit=multiple * 1_240)
    for objective in (MAKESPAN, SPAN):
        assert proved(instance, objective, 2_000, best + 10_000) == best


def test_a_span_between_the_two_searches() -> None:
    """Tests the smallest known case in which the first pass must not begin at once: the general search decides."""
    instance = pipeline_instance(
        micro_batches=2, forward=[4, 1], backward=[2, 1], weight=[1, 7], transfer=2, limits=[4, 3]
    )
    search = search_of(instance, SPAN)
    assert search is not None
    assert search.search_fast(18, 100, NEVER).schedule is not None
    assert proved(instance, SPAN, 1_000) == 18


def test_dropping_labels_is_no_proof() -> None:
    """Tests that a search that drops labels, is stopped, or is asked for too many, proves nothing."""
    search = search_of(equal(4, 12, 6), MAKESPAN)
    assert search is not None
    assert not search.search(235, 1, NEVER).is_complete
    assert search.search(235, 100, lambda: True) == Counted(None, False)
    assert search.search(235, search.widest + 1, NEVER) == Counted(None, False)


def test_what_it_takes() -> None:
    """Tests that other instances are left to the general search."""
    plain = equal(2, 3, 4)
    assert search_of(plain, MAKESPAN) is not None
    assert search_of(plain, Objective.WEIGHTED_COMPLETION) is None
    late = changed(plain, release=plain.release + 1)
    two_chunks = pipeline_instance(micro_batches=2, forward=[1] * 4, backward=[1] * 4, weight=[1] * 4, gpus=2)
    instant = pipeline_instance(micro_batches=2, forward=[1, 1], backward=[1, 1], weight=[0, 1])
    for other in (late, two_chunks, instant, DagInstance.from_lists([[1], [2]])):
        assert search_of(other, MAKESPAN) is None
