from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.run_study import run_study
from studies.experiment.store import StudyStore
from studies.experiment.worker import CAN_WATCH, kill_tree, tree_bytes
from tests.studies.experiment.study_specs import limited_spec

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.whole


@pytest.mark.slow
@pytest.mark.usefixtures("my_methods")
@pytest.mark.skipif(not CAN_WATCH, reason="this system does not tell what a process holds")
def test_hogs_are_stopped_at_their_limit(tmp_path: Path) -> None:
    """Tests that runs that eat memory, themselves or by what they start, become rows, and the rest is made."""
    names = ("hoards_slowly", "hoards_in_a_child", "hoards_in_an_orphan")
    spec = study_spec_from_toml(limited_spec(*names, run_seconds=300.0, memory_gib=0.3))
    state = run_study(spec, tmp_path / "out", workers=2)
    assert (state.finished, state.failed, state.pending, state.running) == (3, 3, 0, 0)
    with StudyStore(tmp_path / "out") as store:
        error_of = {row["label"]: row["error"] for row in store.select("SELECT label, error FROM runs")}
        assert len(store.select("SELECT * FROM runs WHERE environment IS NULL")) == 0
    assert error_of["good"] is error_of["last"] is None
    for name in names:
        assert error_of[name].startswith("MemoryLimit: the run was killed at its limit of 0.3 GiB, it held 0.3"), name
    for file in ("hoarder.pid", "orphan.pid"):  # what a run started is gone with it
        _wait_until_gone(int((tmp_path / file).read_text()))


def test_a_limit_of_memory_is_one_of_what_is_held(tmp_path: Path) -> None:
    """Tests that CP-SAT, which reserves more than a gibibyte for eight threads, runs under a limit of 0.75 GiB."""
    exact = "[[reference.exact]]\nmethod = 'cp-sat'\ntime_limit = 20\nthreads = 8\n"
    spec = study_spec_from_toml(limited_spec(run_seconds=60.0, memory_gib=0.75) + exact)
    state = run_study(spec, tmp_path / "out", workers=1)
    assert (state.planned, state.finished, state.failed) == (4, 4, 0)


def test_a_limit_below_the_software_itself_is_refused(tmp_path: Path) -> None:
    """Tests that a study whose processes cannot even begin ends with one error and without a failed row."""
    from studies.experiment.executor import ExecutorError

    spec = study_spec_from_toml(limited_spec(run_seconds=60.0, memory_gib=0.01))
    with pytest.raises(ExecutorError, match=r"worker: expected a process that begins, got MemoryLimit: .*0\.01 GiB"):
        run_study(spec, tmp_path / "out", workers=1)
    with StudyStore(tmp_path / "out") as store:
        assert store.counts() == {"pending": 3, "running": 0, "finished": 0, "failed": 0}


FORKING = """
import os, time
held = b"x" * 2**26  # 64 MiB
print("before", flush=True)
input()
if os.fork():
    print("forked", flush=True)
time.sleep(60)
"""
"""A process of its own: a copy of one with the threads of libraries may not get far."""


@pytest.mark.skipif(not CAN_WATCH, reason="this system does not tell what a process holds")
def test_shared_pages_are_counted_once() -> None:
    """Tests that a child of a fork adds to the memory of its parent only what it does not share."""
    command = [sys.executable, "-c", FORKING]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, start_new_session=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "before\n"
            before = tree_bytes(process.pid, 0)
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "forked\n"
            assert tree_bytes(process.pid, 0) - before < 2**25
            assert tree_bytes(process.pid, 2**60) - before > 2**26
        finally:
            kill_tree(process.pid)


def _wait_until_gone(pid: int) -> None:
    """Wait until there is no such process, or it waits to be reaped."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} is still there")
