from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from instances.compilation import Compilation
from instances.dag.json import write_dag_instance
from studies.experiment import worker as worker_module
from studies.experiment.execute_run import RunOrder
from studies.experiment.run_answer import RunLimit
from studies.experiment.specification import SearchBudget
from studies.experiment.worker import Worker

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance

pytestmark = pytest.mark.whole

METHODS = """
import os
import time

from heuristics.dag.list_scheduling import heft
from instances.compilation import COMPILATION


def compiles_in_vain(instance):
    COMPILATION.note_not_kept("read-only")
    return heft(instance)


def hangs_on_anything(instance):
    time.sleep(600)


def dies_on_three_tasks(instance):
    if instance.num_tasks == 3:
        os._exit(9)
    return heft(instance)
"""


@pytest.mark.slow
def test_a_warm_up_that_fails_says_nothing_about_the_run(
    heft_example: DagInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a method that hangs or dies in the warm-up already is held to the limits of the run itself."""
    (tmp_path / "odd_methods.py").write_text(METHODS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(worker_module, "LEAST_WARM_UP_SECONDS", 1.0)
    monkeypatch.setattr(worker_module, "WARM_UP_FACTOR", 1.0)
    write_dag_instance(heft_example, tmp_path / "instance.json")
    worker = Worker()
    try:
        answers = [
            worker.run(_order(heft_example, tmp_path, name), RunLimit(seconds=seconds))
            for name, seconds in (("hangs_on_anything", 1.0), ("dies_on_three_tasks", 60.0))
        ]
    finally:
        worker.close()
    assert answers[0].error == "TimeLimit: the run was killed after its limit of 1 s."
    assert answers[0].is_interrupted is False
    assert (answers[1].error, answers[1].objective is None) == (None, False)


def test_a_worker_says_that_kernels_are_not_kept(
    heft_example: DagInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that the process that started the worker hears it, and gets the answer all the same."""
    (tmp_path / "odd_methods.py").write_text(METHODS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(worker_module, "COMPILATION", Compilation())
    write_dag_instance(heft_example, tmp_path / "instance.json")
    worker = Worker()
    try:
        with pytest.warns(RuntimeWarning, match="read-only"):
            answer = worker.run(_order(heft_example, tmp_path, "compiles_in_vain"), RunLimit())
    finally:
        worker.close()
    assert (answer.error, answer.objective is None) == (None, False)


def _order(instance: DagInstance, folder: Path, function: str) -> RunOrder:
    """Return the order to run a function of the module."""
    return RunOrder(
        instance_path=str(folder / "instance.json"),
        sha256=instance.sha256,
        kind="construction",
        method=f"odd_methods:{function}",
        parameters={},
        objective="makespan",
        budget=SearchBudget(),
        seed=1,
        threads=1,
    )
