"""Tests of the script that trains with exported orders; what needs torch is skipped where it is absent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from instances.dag.objective import objective_value
from instances.dag.pipeline import pipeline_instance
from instances.dag.verify import verify_dag_schedule
from instances.readers.dag.torch_csv import read_torch_csv
from solvers.run.outcome import Status
from solvers.solve import solve
from studies.export.torch_csv import schedule_of_torch_csv, torch_csv
from studies.papers.outside import torch_pipelines
from tests.torch_python import run_with_torch

if TYPE_CHECKING:
    from pathlib import Path


def test_stages_of_the_ranks(tmp_path: Path) -> None:
    """Tests that stages, micro-batches and ranks are read off a file, and that a rank without a stage is refused."""
    path = tmp_path / "a.csv"
    path.write_text("0F0,,0F1,3F0,(3B0;0F2)OVERLAP_F_B\n1F0,2F0\n")
    assert torch_pipelines.shape_of(path) == (4, 3, [[0, 3], [1, 2]])
    path.write_text("0F0,0B0\n\n")
    with pytest.raises(SystemExit, match="expected a stage on every line"):
        torch_pipelines.shape_of(path)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["loop", "v", "fused"])
def test_an_exported_optimum_trains_as_1f1b_does(tmp_path: Path, layout: str) -> None:
    """Tests that torch runs an optimal schedule of four ranks, with the gradients of its own 1F1B to the last bit."""
    stages = 8 if layout == "v" else 4
    costs = {name: [ticks] * stages for name, ticks in (("forward", 10), ("backward", 12), ("weight", 8))}
    instance = pipeline_instance(
        micro_batches=4,
        transfer=1,
        limits=8,
        gpus=4,
        layout="v" if layout == "v" else "loop",
        fused=layout == "fused",
        **costs,
    )
    solved = solve(instance, "cp-sat", threads=1)
    assert solved.status is Status.OPTIMAL
    path = tmp_path / "optimum.csv"
    path.write_text(torch_csv(instance, solved.schedule))
    found = json.loads(run_with_torch(torch_pipelines.__file__, path))
    assert (found["ranks"], found["stages"], found["micro_batches"]) == (4, stages, 4)
    assert found["parameters"] == 2 * stages and found["largest_gradient"] > 0.01
    assert found["differences"]["torch 1F1B"] == {"gradient": 0.0, "loss": 0.0, "weight": 0.0}
    assert all(each < 1e-15 for each in found["differences"]["one process"].values())


@pytest.mark.slow
@pytest.mark.parametrize("name", torch_pipelines.CLASSES)
def test_a_schedule_of_torch_is_read_back(tmp_path: Path, name: str) -> None:
    """Tests that what torch's classes write becomes a schedule that verifies, not below the optimum's bound."""
    path = tmp_path / f"{name}.csv"
    run_with_torch(torch_pipelines.__file__, path, "--dump", name, "--ranks", "4", "--micro-batches", "8")
    instance = read_torch_csv(path)
    schedule = schedule_of_torch_csv(instance, path)
    assert verify_dag_schedule(instance, schedule) == []
    bound = solve(instance, "buffer-list").lower_bound
    assert bound <= objective_value(instance, schedule, "makespan") <= 1.3 * bound
