"""Tests of studies on a cluster."""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance
from studies.experiment import dask_executor
from studies.experiment import dask_executor as cluster_host
from studies.experiment.dask_executor import NEEDS_CONTENT, DaskExecutor, beat, end_session, run_on_host
from studies.experiment.execute_run import RunOrder
from studies.experiment.executor import ExecutedRun
from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.run_answer import RunLimit
from studies.experiment.run_study import run_study
from studies.experiment.specification import SearchBudget
from studies.experiment.store import StudyStore
from tests.studies.experiment.local_cluster import local_cluster
from tests.studies.experiment.study_answers import answers_of
from tests.studies.experiment.study_specs import SMALL, limited_spec, small_spec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from studies.experiment.run_study import StudyState
    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole


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
        budget=SearchBudget(),
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


@pytest.mark.slow
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


pytest.importorskip("distributed", reason="needs the extra `cluster`")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the cluster runs."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[str]:
    """Start two workers with one thread each."""
    with local_cluster(folder) as address:
        yield address


@pytest.fixture
def _importable(cluster: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the methods of the cluster importable here: a plan is checked where it is made."""
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.slow
def test_a_cluster_gives_the_answers_of_one_process(cluster: str, finished_small: Path, tmp_path: Path) -> None:
    """Tests that a study on a cluster has the deterministic columns of one process, and says where it was run."""
    state = run_study(small_spec(), tmp_path / "cluster", executor=DaskExecutor(cluster))
    assert (state.planned, state.finished, state.running) == (24, 24, 0)
    assert answers_of(tmp_path / "cluster") == answers_of(finished_small)
    with StudyStore(tmp_path / "cluster") as store:
        (environment,) = store.select("SELECT content FROM environments")
        assert len(store.select("SELECT * FROM runs WHERE environment IS NULL")) == 0
    assert set(json.loads(environment["content"])) == {"versions", "hardware", "revision"}


@pytest.mark.slow
@pytest.mark.usefixtures("_importable")
def test_limits_hold_on_a_cluster(cluster: str, tmp_path: Path) -> None:
    """Tests that hogs and endless runs on a cluster become rows, and the rest is made."""
    spec = study_spec_from_toml(limited_spec("hoards_slowly", "ignores_signals", run_seconds=4, memory_gib=0.3))
    state = run_study(spec, tmp_path / "out", executor=DaskExecutor(cluster))
    assert (state.finished, state.failed, state.pending) == (3, 2, 0)
    with StudyStore(tmp_path / "out") as store:
        error_of = {row["label"]: row["error"] for row in store.select("SELECT label, error FROM runs")}
    assert error_of["hoards_slowly"].startswith("MemoryLimit: the run was killed at its limit of 0.3 GiB, it held 0.3")
    assert error_of["ignores_signals"] == "TimeLimit: the run was killed after its limit of 4 s."


@pytest.mark.slow
@pytest.mark.usefixtures("_importable")
def test_runs_of_a_lost_worker_are_made_again(cluster: str, folder: Path, tmp_path: Path) -> None:
    """Tests that a study survives SIGKILL of a Dask worker: its run is made again, once, and nothing is lost."""
    spec = study_spec_from_toml(limited_spec("kills_its_machine_once", run_seconds=300, memory_gib=4))
    state = run_study(spec, tmp_path / "out", executor=DaskExecutor(cluster))
    assert (folder / "killed").exists()
    assert (state.planned, state.finished, state.failed) == (4, 4, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("_importable")
def test_ctrl_c_stops_runs_on_the_cluster(cluster: str, folder: Path, tmp_path: Path) -> None:
    """Tests that an interrupt kills the processes of runs on the cluster and gives the runs back."""
    spec = study_spec_from_toml(limited_spec("tells_and_hangs", run_seconds=300, memory_gib=4))
    told = folder / "hanging.pid"

    def interrupt(state: StudyState) -> None:
        if told.exists() and state.finished == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(spec, tmp_path / "out", executor=DaskExecutor(cluster), on_state=interrupt)
    with StudyStore(tmp_path / "out") as store:
        assert store.counts() == {"pending": 1, "running": 0, "finished": 3, "failed": 0}
    for _ in range(100):
        try:
            os.kill(int(told.read_text()), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the run goes on")


@pytest.mark.slow
def test_threads_are_counted_as_slots(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a run with several threads takes so many of one worker, and the largest worker if none has so many."""
    executor = DaskExecutor(cluster)
    try:
        monkeypatch.setattr(executor, "_keep_in_touch", lambda: None)
        executor._threads_of = {"a": 5, "b": 2, "c": 1}
        executor._closing.set()  # nobody asks the cluster any more
        counts = {threads: [slot._address for slot in executor.slots(threads)] for threads in (1, 2, 3, 8)}
        assert counts == {1: [*"aaaaabbc"], 2: [*"aab"], 3: ["a"], 8: ["a"]}
        assert executor.num_threads == 8
        with pytest.warns(UserWarning, match=r"The Dask worker a is not used: for a test"):
            executor.refuse("a", "for a test")
        assert [slot._address for slot in executor.slots(2)] == ["b"]
    finally:
        executor.close()


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a wrong address is misuse, told in one line, and that nothing is written."""
    monkeypatch.setattr(dask_executor, "CONNECT_SECONDS", 0.5)
    (tmp_path / "small.toml").write_text(SMALL)
    for address, said in (("tcp://127.0.0.1:9", "timed out"), ("smoke://signals", "unknown address scheme")):
        ended = run("study", "run", "small.toml", "--out", "out", "--dask", address)
        assert ended.status == 2
        (line,) = ended.err.splitlines()
        assert f"--dask: expected a Dask scheduler that answers at {address}, got: " in line
        assert said in line.lower()
        assert not (tmp_path / "out").exists()
    ended = run("study", "run", "small.toml", "--out", "out", "--dask", "tcp://127.0.0.1:9", "--workers", "2")
    assert (ended.status, "--workers: expected nothing beside --dask, got 2." in ended.err) == (2, True)
