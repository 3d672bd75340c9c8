"""Tests of the reader of pipeline profiles of Zero Bubble."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from instances.dag.pipeline import pipeline_of
from instances.readers.dag.zero_bubble import read_zero_bubble
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = {"stages": 2, "micro_batches": 3, "cost_f": [3, 4], "cost_b": 5, "cost_w": [2, 1], "cost_comm": 7}
PROFILE |= {"mem_f": [4, 6], "mem_b": [-3, -2], "mem_w": [-1, -4], "limit": [8, 12]}


def written(folder: Path, **changes: Any) -> Path:
    """Write the profile with changes; None takes a key away."""
    path = folder / "profile.json"
    path.write_text(json.dumps({key: value for key, value in {**PROFILE, **changes}.items() if value is not None}))
    return path


def test_profile_by_hand(tmp_path: Path) -> None:
    """Tests costs, transfers, memory and limits of a profile of two stages."""
    instance = read_zero_bubble(written(tmp_path, units={"time": "microseconds"}))
    pipeline = pipeline_of(instance)
    assert (pipeline.stages, pipeline.micro_batches, instance.tick_seconds) == (2, 3, 1e-6)
    assert [int(instance.durations[task].max()) for task in (0, 1)] == [3, 4]
    assert instance.gpu_memory.tolist() == [8, 12]
    assert instance.transfer_delays(0).tolist() == [[0, 7], [7, 0]]
    assert [(buffer.task, buffer.size) for buffer in instance.buffers[:4]] == [(1, 2), (1, 4), (0, 3), (0, 1)]
    assert read_zero_bubble(written(tmp_path), limit=20).gpu_memory.tolist() == [20, 20]
    assert read_zero_bubble(written(tmp_path), unlimited=True).gpu_memory.tolist() == [-1, -1]


def test_two_chunks_stand_in_a_v(tmp_path: Path) -> None:
    """Tests that chunks of one GPU have its costs, up and down again."""
    instance = read_zero_bubble(written(tmp_path, chunks_per_stage=2, limit=None, limit_zb2p=20))
    pipeline = pipeline_of(instance)
    assert pipeline.gpus_of_stage == ((0,), (1,), (1,), (0,))
    assert [int(instance.durations[task].max()) for task in pipeline.forward[:, 0]] == [3, 4, 4, 3]
    assert instance.gpu_memory.tolist() == [20, 20]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stages": 0}, "stages: expected 1 to 4096, got 0."),
        ({"cost_f": [1]}, "cost_f: expected an integer, or 2 of them, one per stage."),
        ({"cost_w": [1, -1]}, "cost_w[1]: expected at least 0."),
        ({"mem_w": [-1, -5]}, "mem_f[1]: expected 7, what B and W free, got 6."),
        ({"chunks_per_stage": 3}, "chunks_per_stage: expected 1 or 2, got 3."),
    ],
)
def test_broken_profiles(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """Tests that a broken profile is refused with its place."""
    with pytest.raises(ValueError) as caught:
        read_zero_bubble(written(tmp_path, **changes))
    assert str(caught.value) == message
    with pytest.raises(ValueError, match="profile: expected 0, as the file has one, got 2"):
        read_zero_bubble(written(tmp_path), profile=2)


@pytest.mark.parametrize(
    ("name", "profile", "sizes"),
    [
        ("measured_8x32_first", 0, (8, 32, 8)),
        ("unit_cost", 3, (32, 16, 32)),
        ("paper_profiles", 0, (8, 24, 8)),
    ],
)
def test_published_profiles(name: str, profile: int, sizes: tuple[int, int, int]) -> None:
    """Tests the sizes of published profiles."""
    instance = read_zero_bubble(real_data(f"zero-bubble/{name}.json"), profile=profile)
    pipeline = pipeline_of(instance)
    assert (pipeline.stages % sizes[0], pipeline.micro_batches, instance.num_gpus) == (0, *sizes[1:])
