from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from studies.experiment.executors import dask_executor
from studies.experiment.executors.dask_executor import DaskExecutor
from studies.experiment.read_study_spec import study_spec_from_toml
from studies.experiment.run_study import run_study
from studies.experiment.study_store import StudyStore
from tests.studies.experiment.executors.local_cluster import local_cluster
from tests.studies.experiment.study_answers import answers_of
from tests.studies.experiment.study_specs import SMALL, limited_spec, small_spec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from studies.experiment.study_state import StudyState
    from tests.studies.run_command import Run

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


def test_a_cluster_gives_the_answers_of_one_process(cluster: str, finished_small: Path, tmp_path: Path) -> None:
    """Tests that a study on a cluster has the deterministic columns of one process, and says where it was run."""
    state = run_study(small_spec(), tmp_path / "cluster", executor=DaskExecutor(cluster))
    assert (state.planned, state.finished, state.running) == (24, 24, 0)
    assert answers_of(tmp_path / "cluster") == answers_of(finished_small)
    with StudyStore(tmp_path / "cluster") as store:
        (environment,) = store.select("SELECT content FROM environments")
        assert len(store.select("SELECT * FROM runs WHERE environment IS NULL")) == 0
    assert set(json.loads(environment["content"])) == {"versions", "hardware", "revision"}


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


@pytest.mark.usefixtures("_importable")
def test_runs_of_a_lost_worker_are_made_again(cluster: str, folder: Path, tmp_path: Path) -> None:
    """Tests that a study survives SIGKILL of a Dask worker: its run is made again, once, and nothing is lost."""
    spec = study_spec_from_toml(limited_spec("kills_its_machine_once", run_seconds=300, memory_gib=4))
    state = run_study(spec, tmp_path / "out", executor=DaskExecutor(cluster))
    assert (folder / "killed").exists()
    assert (state.planned, state.finished, state.failed) == (4, 4, 0)


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
