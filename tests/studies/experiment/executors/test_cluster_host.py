from __future__ import annotations

import threading
import time
import zlib
from typing import TYPE_CHECKING

import pytest

from instances import DagInstance, write_dag_instance
from studies.experiment.budget import Budget
from studies.experiment.execute_run import RunOrder
from studies.experiment.executors import cluster_host
from studies.experiment.executors.cluster_host import NEEDS_CONTENT, beat, end_session, run_on_host
from studies.experiment.executors.executor import ExecutedRun
from studies.experiment.run_limit import RunLimit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def content(heft_example: DagInstance, tmp_path: Path) -> bytes:
    """Return an instance as it is sent."""
    write_dag_instance(heft_example, tmp_path / "heft_example.json")
    return zlib.compress((tmp_path / "heft_example.json").read_bytes())


def _order(instance: DagInstance, method: str) -> RunOrder:
    """Return the order of a construction."""
    return RunOrder(
        instance_path="",
        sha256=instance.sha256,
        kind="construction",
        method=method,
        parameters={},
        objective="makespan",
        budget=Budget(),
        seed=1,
        threads=1,
    )


def test_instances_are_sent_once(heft_example: DagInstance, content: bytes) -> None:
    """Tests that a host asks for an instance that it has not, keeps it, checks it, and ends with its session."""
    order = _order(heft_example, "heft")
    assert run_on_host("once", order, RunLimit(), None) == NEEDS_CONTENT
    for sent in (content, None):
        done = run_on_host("once", order, RunLimit(), sent)
        assert isinstance(done, ExecutedRun)
        assert (done.answer.error, done.answer.objective is None) == (None, False)
        assert done.environment is not None
    other = _order(DagInstance.from_lists([[1]], []), "heft")
    done = run_on_host("once", other, RunLimit(), content)
    assert isinstance(done, ExecutedRun)
    assert f"expected the content {other.sha256[:16]}" in str(done.answer.error)
    folder = cluster_host._hosts["once"]._folder
    assert folder.is_dir()
    end_session("once")
    assert not folder.exists()
    done = run_on_host("once", order, RunLimit(), content)
    assert isinstance(done, ExecutedRun)
    assert done.answer.is_interrupted


@pytest.mark.usefixtures("my_methods")
def test_runs_of_a_study_that_is_gone_are_ended(
    heft_example: DagInstance, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a host kills a run when the beats of its study stop, and not before."""
    monkeypatch.setattr(cluster_host, "SILENT_SECONDS", 2.0)
    monkeypatch.setattr(cluster_host, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(cluster_host, "_watch", None)  # a watch that looks as often
    found: list[object] = []
    order = _order(heft_example, "my_methods:hangs")
    run = threading.Thread(target=lambda: found.append(run_on_host("silent", order, RunLimit(), content)))
    run.start()
    for _ in range(30):  # longer than it may be silent
        beat("silent")
        time.sleep(0.1)
    assert run.is_alive()
    run.join(60)
    (done,) = found
    assert isinstance(done, ExecutedRun)
    assert done.answer.is_interrupted
    assert "silent" not in cluster_host._hosts
