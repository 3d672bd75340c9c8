"""The command line in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heuristics.dag.packing import Packing
from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance
from studies.cli.main import main
from tests.studies.experiment.run_here import HereExecutor
from tests.studies.run_command import Ended, Run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in an empty folder, 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("studies.cli.progress.QUIET_SECONDS", 1e6)

    def run_command(*arguments: str) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            main(arguments)
        captured = capsys.readouterr()
        assert isinstance(ending.value.code, int)
        return Ended(ending.value.code, captured.out, captured.err)

    return run_command


@pytest.fixture
def runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the runs of studies in this process: other tests look at workers."""
    monkeypatch.setattr("studies.experiment.run_study.LocalExecutor", HereExecutor)


@pytest.fixture
def example_file(example_e: DagInstance, tmp_path: Path) -> str:
    """`example_e` as a file in the folder of `run`: HEFT 18, optimum 15."""
    write_dag_instance(example_e, tmp_path / "e.json")
    return "e.json"


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> DagInstance:
    """Four tasks in a row of 2, 3, 2 and 3 bytes on two GPUs of 5: round-robin puts the 2s together and is stuck.

    The search for an assignment, which would repair that, finds none in no time.
    """
    monkeypatch.setattr("heuristics.dag.packing.pack", lambda instance: Packing(None, is_infeasible=False))
    return DagInstance.from_lists(
        [[1, 1]] * 4,
        [(0, 1, 0), (1, 2, 0), (2, 3, 0)],
        task_memory=[2, 3, 2, 3],
        gpu_memory=[5, 5],
        name="no-room",
    )
