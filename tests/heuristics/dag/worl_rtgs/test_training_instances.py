"""Tests of the instances that the network learns on, and of the stored ones."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.dag.list_scheduling import heft
from heuristics.dag.worl_rtgs.features import episode_data
from heuristics.dag.worl_rtgs.train import training_loads
from heuristics.dag.worl_rtgs.training_instances import (
    dag_instances_sha256,
    fine_tuning_stream,
    held_out_instances,
    read_instances,
    training_stream,
    validation_instances,
    write_instances,
)

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance


@pytest.fixture(scope="module")
def streamed() -> list[DagInstance]:
    """Return the first instances of a stream."""
    return list(islice(training_stream(np.random.default_rng(1)), 120))


def test_sizes_and_costs_are_in_range(streamed: list[DagInstance]) -> None:
    """Tests sizes, kinds, forbidden pairs, limits of memory, and that transfers range from cheap to dear."""
    sizes = np.array([(instance.num_tasks, instance.num_gpus) for instance in streamed])
    assert (sizes.min(axis=0) >= [10, 2]).all()
    assert (sizes.max(axis=0) <= [60, 8]).all()
    assert (sizes.max(axis=0) >= [50, 8]).all()
    assert all(len(set(instance.gpu_kinds)) >= 2 for instance in streamed)
    assert all(instance.num_jobs == 1 and (instance.release == 0).all() for instance in streamed)
    forbidden = np.mean([1 - instance.allowed.mean() for instance in streamed])
    assert 0.02 < forbidden < 0.06
    limited = [instance for instance in streamed if (instance.gpu_memory >= 0).any()]
    assert 0.2 < len(limited) / len(streamed) < 0.47  # a third, three standard deviations
    tightness = [instance.task_memory.sum() / instance.gpu_memory.sum() for instance in limited]
    assert all((instance.gpu_memory >= instance.task_memory.max()).all() for instance in limited)
    assert 0.4 < np.median(tightness) < max(tightness) <= 0.951  # capacities are never below the largest task


def test_stream_is_seeded(streamed: list[DagInstance]) -> None:
    """Tests that a seed always gives the same instances, another one others, and none twice."""
    again = [instance.sha256 for instance in islice(training_stream(np.random.default_rng(1)), 20)]
    assert again == [instance.sha256 for instance in streamed[:20]]
    other = {instance.sha256 for instance in islice(training_stream(np.random.default_rng(2)), 20)}
    everything = {instance.sha256 for instance in streamed}
    assert len(everything) == len(streamed)
    assert not other & everything


def test_memory_leaves_room_for_a_schedule(streamed: list[DagInstance]) -> None:
    """Tests that limited instances can be packed: each task, largest first, on the allowed GPU with most room."""
    for instance in streamed:
        if (instance.gpu_memory < 0).any():
            continue
        room = instance.gpu_memory.copy()
        for task in np.argsort(-instance.task_memory, kind="stable"):
            room[np.where(instance.allowed[task], room, -1).argmax()] -= instance.task_memory[task]
        assert (room >= 0).all()


def test_stored_instances_are_apart_and_feasible() -> None:
    """Tests counts and hashes of both stored sets, that no instance is in both, and that HEFT schedules all."""
    validation, held_out = validation_instances(), held_out_instances()
    assert (len(validation), len(held_out)) == (64, 200)
    hashes = {instance.sha256 for instance in [*validation, *held_out]}
    assert len(hashes) == 264
    assert dag_instances_sha256(validation) == "c4c97ba6971231a4bfd806de20d9e4579b6366b67f217d0a21d48a4ae268fe57"
    assert dag_instances_sha256(held_out) == "0575b1536efc99e629c662dda9971d1e2824a021b13fa3b36eed548001ee3403"
    assert all(heft(instance) is not None for instance in [*validation, *held_out])


def test_stored_instances_survive_writing(streamed: list[DagInstance], tmp_path: Path) -> None:
    """Tests that writing and reading keeps every instance, and that the same instances give the same bytes."""
    first, second = tmp_path / "a.gz", tmp_path / "b.gz"
    write_instances(first, streamed[:5])
    write_instances(second, read_instances(first))
    assert dag_instances_sha256(read_instances(second)) == dag_instances_sha256(streamed[:5])
    assert first.read_bytes() == second.read_bytes()
    assert dag_instances_sha256(streamed[:5]) != dag_instances_sha256(streamed[4::-1])


def test_wishes_are_moves_around_heft(example_e: DagInstance) -> None:
    """Tests shape and seed of desired loads for training."""
    desired = training_loads(example_e, np.random.default_rng(1), 4)
    assert desired.shape == (4, 5)
    assert np.isfinite(desired).all()
    assert np.array_equal(desired, training_loads(example_e, np.random.default_rng(1), 4))
    assert not np.array_equal(desired, training_loads(example_e, np.random.default_rng(2), 4))


def test_fine_tuning_stream_keeps_the_structure(example_e: DagInstance) -> None:
    """Tests that every second instance is the given one and the others differ in durations and bytes only."""
    first, second, third, fourth = islice(fine_tuning_stream(example_e, 0.5)(np.random.default_rng(0)), 4)
    assert first is third is example_e
    assert second.sha256 != fourth.sha256
    for instance in (second, fourth):
        assert np.array_equal(instance.edges, example_e.edges)
        assert np.array_equal(instance.allowed, example_e.allowed)
        assert (instance.durations[instance.allowed] >= 1).all()
        assert not np.array_equal(instance.durations, example_e.durations)
        assert episode_data(instance).order[0] == 0
    alone = list(islice(fine_tuning_stream(example_e, 0.0)(np.random.default_rng(0)), 3))
    assert all(instance is example_e for instance in alone)
    with pytest.raises(ValueError, match=r"spread: expected a number in 0\.\.10, got -1"):
        fine_tuning_stream(example_e, -1.0)
