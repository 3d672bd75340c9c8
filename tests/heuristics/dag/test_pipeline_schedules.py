"""Tests of the named schedules of pipelines: published check values, bubbles, peaks, and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heuristics.dag.pipeline_orders import fits_memory
from heuristics.dag.pipeline_schedules import best_greedy, gpipe, interleaved, one_f_one_b, v_half, zb_h1, zb_h2, zb_v
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.pipeline import pipeline_instance, pipeline_of
from instances.dag.verify import verify_dag_schedule
from solvers.methods import PIPELINE_METHODS
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.strategies import changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.schedule import DagSchedule

MAKESPAN, SPAN = Objective.MAKESPAN, Objective.STAGE_SPAN


def equal(p: int, m: int, f: int, b: int, w: int, c: int = 0, **others: Any) -> DagInstance:
    """Return a pipeline of p equal stages (chunks with `gpus`)."""
    return pipeline_instance(micro_batches=m, forward=[f] * p, backward=[b] * p, weight=[w] * p, transfer=c, **others)


def both(method: Callable[..., DagSchedule | None], instance: DagInstance) -> tuple[int, int]:
    """Return makespan and span of a method's schedules for either, which verify."""
    values = []
    for objective in (MAKESPAN, SPAN):
        schedule = method(instance, objective)
        assert schedule is not None
        assert verify_dag_schedule(instance, schedule) == []
        values.append(objective_value(instance, schedule, objective))
    return values[0], values[1]


@pytest.mark.parametrize(
    ("costs", "fused", "split", "h1", "h2"),
    [
        ((4, 8, 1, 1, 1, 0), 33, 30, 27, (27, 24)),
        ((4, 8, 5, 6, 4, 0), 165, 153, 141, (135, 129)),
        ((4, 12, 5, 6, 4, 0), 225, 213, 201, (195, 189)),
        ((4, 8, 5, 6, 4, 1), 181, 159, 153, (138, 135)),
        ((4, 12, 5, 6, 4, 1), 247, 219, 213, (198, 195)),
        ((8, 16, 1, 1, 1, 0), 69, 62, 55, (55, 48)),
        ((8, 16, 5, 6, 4, 0), 345, 317, 289, (275, 261)),
        ((3, 2, 5, 6, 4, 0), 60, 52, 48, (48, 48)),
    ],
)
def test_check_values(
    costs: tuple[int, int, int, int, int, int], fused: int, split: int, h1: int, h2: tuple[int, int]
) -> None:
    """Tests makespan and span of 1F1B, ZB-H1 and ZB-H2 against values that another program computed."""
    instance = equal(*costs)
    assert both(one_f_one_b, equal(*costs, fused=True)) == (fused, fused)
    assert both(one_f_one_b, instance) == (split, split)
    assert both(zb_h1, instance) == (h1, h1)
    assert both(zb_h2, instance) == h2


def check_bubbles(p: int, m: int, f: int, b: int, w: int) -> None:
    """Assert the closed forms where they hold."""
    instance, work = equal(p, m, f, b, w), m * (f + b + w)
    makespan, span = both(one_f_one_b, instance)
    assert makespan == work + (p - 1) * (f + b)
    assert both(one_f_one_b, equal(p, m, f, b, w, fused=True))[0] == work + (p - 1) * (f + b + w)
    makespan, span = both(zb_h1, instance)
    if m >= p and w <= f:
        assert span == work + (p - 1) * (f + b - w)
        assert (makespan == span) == (w <= b or p == 1)
    makespan, span = both(zb_h2, instance)
    if m >= 2 * p - 1 and w <= f and w <= b:
        assert span == work + (p - 1) * (f + b - 2 * w)
    if m >= 2 * p - 1 and w <= f and b <= 2 * w:
        assert makespan == work + (p - 1) * f
    gpipe_makespan, _ = both(gpipe, instance)
    assert gpipe_makespan == work + (p - 1) * (f + b) if m >= 1 else True


def test_bubbles() -> None:
    """Tests the bubbles under their conditions on random equal stages."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        p, m = int(rng.integers(2, 5)), int(rng.integers(1, 9))
        check_bubbles(p, m, *rng.integers(1, 10, size=3).tolist())


@pytest.mark.slow
def test_bubbles_of_all_sizes() -> None:
    """Tests the same for all p and m up to 8 and 32."""
    rng = np.random.default_rng(1)
    for p in range(2, 9):
        for m in range(1, 33):
            check_bubbles(p, m, *rng.integers(1, 10, size=3).tolist())


def peaks(method: Callable[..., DagSchedule | None], instance: DagInstance) -> list[int]:
    """Return the smallest memory of every GPU that holds a method's schedule."""
    schedule = method(instance)
    assert schedule is not None
    found = []
    for k in range(instance.num_gpus):
        limit = 1
        while True:
            memory = np.full(instance.num_gpus, 10**6)
            memory[k] = limit
            try:
                if fits_memory(changed(instance, gpu_memory=memory), schedule.gpu, schedule.start):
                    break
            except ValueError:  # below the least
                pass
            limit += 1
        found.append(limit)
    return found


def test_peaks() -> None:
    """Tests how much memory the named schedules need, in halves of the activations of a micro-batch."""
    instance = equal(4, 8, 5, 6, 4)
    assert peaks(one_f_one_b, instance) == [8, 6, 4, 2]
    assert peaks(zb_h1, instance) == [8, 7, 6, 5]
    assert peaks(zb_h2, instance) == [14, 12, 10, 8]
    assert peaks(gpipe, instance) == [16] * 4
    chunks = equal(8, 8, 1, 1, 1, gpus=4, layout="v")
    assert max(peaks(zb_v, chunks)) <= 16  # 4 micro-batches of two chunks, as 1F1B
    assert max(peaks(v_half, chunks)) <= 12


def test_too_little_memory_is_said() -> None:
    """Tests that every named schedule returns nothing below its peak, and a schedule at it."""
    for name, peak in (("gpipe", 16), ("1f1b", 8), ("zb-h1", 8), ("zb-h2", 14)):
        assert solve(equal(4, 8, 5, 6, 4, limits=peak), name, bounds=[]).status is not Status.UNKNOWN
        assert solve(equal(4, 8, 5, 6, 4, limits=peak - 1), name, bounds=[]).schedule is None


def test_greedy() -> None:
    """Tests the best of greedy schedules against values that another program computed, and at the least memory."""
    for limit, values in ((4, (319, 319)), (10, (195, 194)), (14, (195, 183))):
        assert both(best_greedy, equal(4, 12, 5, 6, 4, limits=limit)) == values
    least = equal(8, 3, 5, 6, 4, gpus=4, layout="v", limits=4)
    assert both(best_greedy, least)[0] > 0


def test_interleaved() -> None:
    """Tests that v chunks divide the bubble by v, and that odd numbers of micro-batches are refused."""
    for chunks in (1, 2, 3):
        instance = equal(4 * chunks, 8, 1, 2, 0, gpus=4, fused=True)
        assert both(interleaved, instance)[0] == 8 * 3 * chunks + 3 * 3
    with pytest.raises(ValueError, match="micro-batches: expected a multiple of 4 for interleaved, got 6"):
        interleaved(equal(8, 6, 1, 1, 1, gpus=4))


def test_v_schedules_leave_little_idle_time() -> None:
    """Tests that ZB-V on equal passes wastes p - 1 units at most, and that V-Half pays for its half of the memory."""
    instance = equal(8, 12, 1, 1, 1, gpus=4, layout="v")
    assert both(zb_v, instance)[1] <= 72 + 3
    assert both(zb_v, instance)[1] < both(v_half, instance)[1] <= 72 + 12


def test_free_placement_takes_the_best() -> None:
    """Tests that stages of free pipelines are placed as the best of all ways to place them."""
    costs = {"micro_batches": 3, "forward": [2, 9], "backward": [2, 9], "weight": [2, 9]}
    slow = {"slowdown": [1.0, 4.0]}
    fixed = both(one_f_one_b, pipeline_instance(**costs, **slow))[0]
    free = pipeline_instance(**costs, **slow, is_free=True, gpu_kinds=["A", "B"])
    assert both(one_f_one_b, free)[0] < fixed
    swapped = solve(free, "1f1b", bounds=[])
    assert swapped.schedule.gpu[pipeline_of(free).forward[:, 0]].tolist() == [1, 0]
    assert both(best_greedy, free)[0] <= both(one_f_one_b, free)[0]


@pytest.mark.parametrize("name", PIPELINE_METHODS)
def test_other_graphs_are_refused(name: str) -> None:
    """Tests that an instance that is no pipeline, or one that the schedule is not made for, is refused in one line."""
    with pytest.raises(ValueError, match=r"^tasks.*: expected "):
        solve(DagInstance.from_lists([[1, 1]] * 3, [(0, 1, 0), (0, 2, 0)]), name)
    if name.startswith(("zb", "v")):
        with pytest.raises(ValueError, match="expected backward passes that are split into B and W"):
            solve(equal(2, 2, 1, 1, 1, fused=True), name)
    if name in ("zb-v", "v-half", "interleaved-1f1b"):
        with pytest.raises(ValueError, match=r"stages on each GPU in a|multiple"):
            solve(equal(3, 2, 1, 1, 1, gpus=2), name)


def test_span_with_releases() -> None:
    """Tests that starts of the least span keep releases."""
    instance = equal(3, 4, 5, 6, 4)
    late = changed(instance, release=[9])
    for method in (one_f_one_b, zb_h1):
        assert both(method, late)[1] == both(method, instance)[1]
