"""Tests of schedules as files of torch.distributed.pipelining: written, read back, and public samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from instances.dag.json import read_dag_instance, read_dag_schedule
from instances.dag.objective import objective_value
from instances.dag.pipeline import pipeline_instance, pipeline_of
from instances.dag.verify import verify_dag_schedule
from instances.readers.dag.torch_csv import read_torch_csv
from solvers.solve import solve
from studies.export.exports import export
from studies.export.torch_csv import schedule_of_torch_csv, torch_csv
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

COSTS = {"forward": [5, 5], "backward": [6, 6], "weight": [4, 4]}


def test_1f1b_by_hand(tmp_path: Path) -> None:
    """Tests the cells of 1F1B on two ranks, fused and split, in the form that torch documents."""
    fused = pipeline_instance(micro_batches=3, fused=True, **COSTS)
    assert (
        torch_csv(fused, solve(fused, "1f1b", bounds=[]).schedule)
        == "0F0,0F1,0B0,0F2,0B1,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n"
    )
    split = pipeline_instance(micro_batches=2, **COSTS)
    schedule = solve(split, "zb-h1", bounds=[]).schedule
    assert torch_csv(split, schedule) == "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1\n"
    export(split, schedule, "torch-csv", tmp_path / "h1.csv")
    again = schedule_of_torch_csv(split, tmp_path / "h1.csv")
    assert again.start.tolist() == schedule.start.tolist()


@pytest.mark.parametrize("method", ["zb-v", "v-half", "pipeline-greedy"])
def test_chunks_are_read_back(tmp_path: Path, method: str) -> None:
    """Tests that a schedule of chunks in a V comes back with its makespan, on an instance made from the file alone."""
    instance = pipeline_instance(
        micro_batches=4, forward=[10] * 4, backward=[12] * 4, weight=[8] * 4, transfer=1, gpus=2, layout="v"
    )
    schedule = solve(instance, method, bounds=[]).schedule
    path = tmp_path / "v.csv"
    path.write_text(torch_csv(instance, schedule))
    made = read_torch_csv(path)
    assert pipeline_of(made).gpus_of_stage == ((0,), (1,), (1,), (0,))
    read = schedule_of_torch_csv(made, path)
    assert verify_dag_schedule(made, read) == []
    assert objective_value(made, read, "makespan") == objective_value(instance, schedule, "makespan")


def test_overlaps_and_full_passes(tmp_path: Path) -> None:
    """Tests that parts of an overlap follow each other, and that a full backward pass beside split ones is both."""
    path = tmp_path / "mixed.csv"
    path.write_text("0F0, 0F1,(0F2;0B0)OVERLAP_F_B,0I1,0W1,0B2\n")
    instance = read_torch_csv(path)
    assert (pipeline_of(instance).stages, pipeline_of(instance).micro_batches) == (1, 3)
    order = schedule_of_torch_csv(instance, path).start.argsort(kind="stable")
    names = [instance.task_names[task] for task in order]
    assert names == ["F0.0", "F0.1", "F0.2", "B0.0", "W0.0", "B0.1", "W0.1", "B0.2", "W0.2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0F0,2BW0\n", 'line 1, cell 2: expected a stage, one of F, I, W, B and a micro-batch, got "2BW0".'),
        ("0F0,0B0\n0F1,0B1\n", "line 2, cell 1: expected stage 0 on rank 0, got rank 1."),
        ("0F0,0F0,0B0\n", "line 1, cell 2: expected each pass once, got that of line 1, cell 1 again."),
        ("0F0,0F1,0B1\n", "stage 0: expected B of micro-batch 0, got none."),
        ("1F0,1B0\n", "stage 0: expected F of micro-batch 0, got none."),
        (",,\n", "line 1: expected passes, got none."),
    ],
)
def test_broken_files(tmp_path: Path, text: str, message: str) -> None:
    """Tests that a broken file is refused in one line with its place."""
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:
        read_torch_csv(path)
    assert str(caught.value) == message


def test_orders_that_cannot_run(tmp_path: Path) -> None:
    """Tests that a deadlock, too little memory and another pipeline are told apart."""
    path = tmp_path / "orders.csv"
    path.write_text("0B0,0F0\n1F0,1B0\n")
    with pytest.raises(ValueError, match="expected orders that can run"):
        schedule_of_torch_csv(read_torch_csv(path), path)
    path.write_text("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n")
    with pytest.raises(ValueError, match="expected orders that fit into the memory of every rank"):
        schedule_of_torch_csv(read_torch_csv(path, limit=3), path)
    with pytest.raises(ValueError, match="expected 2 stages, 3 micro-batches, split True, 2 ranks, got 2 stages, 2"):
        schedule_of_torch_csv(pipeline_instance(micro_batches=3, **COSTS), path)


@pytest.mark.parametrize("name", ["zb1p_2rank_2stagep_compute", "zb1p_2rank_2stagep_comms"])
def test_public_samples(name: str) -> None:
    """Tests that samples of torch are read and verify; both have the same passes, one with sends and merged passes."""
    path = real_data(f"torch-pipelining/{name}.csv")
    instance = read_torch_csv(path)
    assert pipeline_of(instance).gpus_of_stage == ((0,), (1,), (0,), (1,))
    schedule = schedule_of_torch_csv(instance, path)
    assert verify_dag_schedule(instance, schedule) == []
    load = solve(instance, "pipeline-greedy").lower_bound
    assert load <= objective_value(instance, schedule, "makespan") <= 1.3 * load


def test_gpus_without_a_stage_have_no_line(tmp_path: Path) -> None:
    """Tests that only GPUs with a stage are ranks, and that reading the file back asks for as many GPUs."""
    three = pipeline_instance(micro_batches=2, places=[2, 0], gpus=3, **COSTS)
    path = tmp_path / "two.csv"
    path.write_text(torch_csv(three, solve(three, "1f1b", bounds=[]).schedule))
    assert path.read_text() == "1F0,1I0,1W0,1F1,1I1,1W1\n0F0,0F1,0I0,0W0,0I1,0W1\n"
    with pytest.raises(ValueError, match="expected 2 stages, 2 micro-batches, split True, 3 ranks, got 2 stages"):
        schedule_of_torch_csv(three, path)


def test_command_line(tmp_path: Path, run: Run) -> None:
    """Tests that a file becomes an instance and a schedule that verifies, and goes back."""
    path = tmp_path / "a.csv"
    path.write_text("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n")
    instance, schedule = tmp_path / "i.json", tmp_path / "s.json"
    options = ("--set", "forward=3", "--schedule-out", str(schedule))
    assert run("convert", "--from", "torch-csv", str(path), "-o", str(instance), *options).status == 0
    made = read_dag_instance(instance)
    assert verify_dag_schedule(made, read_dag_schedule(schedule, made)) == []
    shown = run("verify", str(instance), str(schedule), "--against", "default", "--json").document
    found, expected = shown["gaps"]["makespan"], solve(made, "cp-sat", threads=1).objective
    assert 0 < found["lower_bound"] <= expected <= shown["objectives"]["makespan"]
    assert found["gap"] == shown["objectives"]["makespan"] / found["lower_bound"] - 1
    text = run("verify", str(instance), str(schedule), "--against", "ramp").out
    assert f"makespan: {shown['objectives']['makespan']} (lower bound " in text
    assert run("verify", str(instance), str(schedule), "--against", "rmap").err.endswith("(did you mean ramp?).\n")
    assert run("verify", str(instance), str(schedule), "--time-limit", "1").status == 2
    out = tmp_path / "b.csv"
    assert run("export", str(instance), str(schedule), "--to", "torch-csv", "-o", str(out)).status == 0
    assert out.read_text() == path.read_text()
    assert run("view", str(instance), "-o", str(tmp_path / "page.html")).status == 0  # a list keeps the memory limits
    ended = run("convert", "--from", "stg", str(path), "-o", str(instance), "--schedule-out", str(schedule))
    assert (ended.status, "--schedule-out: expected none for stg; only torch-csv has a schedule" in ended.err) == (
        2,
        True,
    )
