from __future__ import annotations

import multiprocessing
import os
import random
import sqlite3
import time
from pathlib import Path

import pytest

from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.run_study import run_study
from studies.experiment.store import StudyStore
from tests.studies.experiment.killed_study import NAP, SPEC, run_in_process
from tests.studies.experiment.study_answers import answers_of

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[3]
LONGEST_SECONDS = 1.6


@pytest.mark.skipif(os.name != "posix", reason="needs a fork server and SIGKILL")
@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, 10])
def test_kills_at_random_moments_change_nothing(kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that after several SIGKILLs a study ends with the rows of an undisturbed one, none lost, none twice."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    spec = study_spec_from_toml(SPEC)
    run_study(spec, tmp_path / "undisturbed", workers=1)

    folder, moments, was_running, done = tmp_path / "killed", random.Random(6), 0, 0
    context = multiprocessing.get_context("forkserver")  # a new process, but without a second of imports
    context.set_forkserver_preload(["tests.studies.experiment.killed_study"])
    for _ in range(kills):
        process = context.Process(target=run_in_process, args=(str(folder), {"PYTHONPATH": str(ROOT), NAP: "0.03"}))
        process.start()
        time.sleep(moments.uniform(0.0, LONGEST_SECONDS))
        assert process.is_alive()
        process.kill()
        process.join()
        assert process.exitcode == -9
        counts = _counts(folder)
        assert counts["finished"] >= done  # what is stored stays
        done = counts["finished"]
        was_running += counts["running"]
    assert was_running > 0  # some died in the middle of runs
    assert done < 122

    state = run_study(spec, folder, workers=2)
    assert (state.planned, state.finished, state.failed, state.running) == (122, 122, 0, 0)
    assert answers_of(folder) == answers_of(tmp_path / "undisturbed")
    with StudyStore(folder) as store:
        (total,) = store.select("SELECT count(*) AS number FROM runs")
        assert store.select("PRAGMA integrity_check")[0][0] == "ok"
    assert total["number"] == 122


def _counts(folder: Path) -> dict[str, int]:
    """Return the number of runs in every state; none where the study died before there were any."""
    try:
        with StudyStore(folder) as store:
            return store.counts()
    except (FileNotFoundError, ValueError, sqlite3.OperationalError):
        return {"finished": 0, "running": 0}
