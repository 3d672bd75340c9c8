"""Tests of list schedules with buffers and groups: they verify, and find a schedule wherever parts fit one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from heuristics.dag.buffer_lists import buffer_list
from heuristics.dag.pipeline_schedules import gpipe
from instances.dag.objective import Objective, objective_value
from instances.dag.pipeline import least_limit, pipeline_instance
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from tests.brute_force_buffers import buffered_optimum
from tests.buffered_instances import random_buffered, small_pipeline
from tests.strategies import buffered_dags, changed

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


@given(instance=buffered_dags(max_tasks=7))
def test_every_schedule_verifies(instance: DagInstance) -> None:
    """Tests that schedules keep memory, groups and precedence, whatever the instance."""
    for objective in Objective:
        schedule = buffer_list(instance, objective)
        assert schedule is None or verify_dag_schedule(instance, schedule) == []


def test_no_schedule_beats_the_optimum() -> None:
    """Tests against brute force that schedules are there where they should be, and none is below the optimum."""
    for seed in range(20):
        instance = small_pipeline(seed, tasks=9) if seed % 2 else random_buffered(seed, max_tasks=5)
        for objective in Objective:
            schedule, best = buffer_list(instance, objective), buffered_optimum(instance, objective)
            assert best is not None or schedule is None
            if seed % 2:  # with parts one after the other a pipeline never gets stuck
                assert schedule is not None
            if schedule is not None:
                assert objective_value(instance, schedule, objective) >= best


@pytest.mark.parametrize("layout", ["loop", "v"])
def test_least_memory_is_enough(layout: str) -> None:
    """Tests that chunks with the least memory neither deadlock nor overrun, and that ample memory takes less time."""
    costs = {"forward": [5] * 8, "backward": [6] * 8, "weight": [4] * 8, "gpus": 4, "layout": layout}
    loose = pipeline_instance(micro_batches=6, transfer=1, **costs)
    tight = changed(loose, gpu_memory=[least_limit(loose)] * 4)
    assert verify_dag_schedule(tight, buffer_list(tight)) == []
    assert objective_value(tight, buffer_list(tight), "makespan") > objective_value(
        loose, buffer_list(loose), "makespan"
    )


def test_one_stage_per_gpu_by_hand() -> None:
    """Tests that without limits a list by upward ranks is no worse than GPipe on two equal stages."""
    instance = pipeline_instance(micro_batches=4, forward=[2, 2], backward=[2, 2], weight=[2, 2])
    assert objective_value(instance, buffer_list(instance), "makespan") <= objective_value(
        instance, gpipe(instance), "makespan"
    )


def test_thousands_of_tasks() -> None:
    """Tests a pipeline of 2,016 passes with little memory."""
    instance = generate("pipeline", tasks=2_016, seed=1, chunks=2, layout="v", unequal=0.3, limit=3.0)
    assert instance.num_tasks == 2_016
    assert verify_dag_schedule(instance, buffer_list(instance)) == []
