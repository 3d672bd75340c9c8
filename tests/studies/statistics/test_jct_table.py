"""Tests of the tables of JCT of studies of jobs, and of the columns that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from instances.generators.jobs.generate_jobs import generate_jobs
from instances.jobs.jobs_json import write_jobs_instance
from solvers.jobs.solve_jobs import solve_jobs
from studies.experiment.read_study_spec import study_spec_from_toml
from studies.experiment.study_frame import to_frame
from studies.experiment.study_store import StudyStore
from studies.statistics.jct_table import jct_summary, jct_tables
from tests.check_latex import check_latex
from tests.studies.experiment.run_here import run_here

if TYPE_CHECKING:
    from pathlib import Path


def _run(label: str, instance: str, mean: float | None, tick_seconds: float = 0.5, **more: object) -> dict[str, object]:
    """Return a run with this mean JCT in ticks; other points of JCT are multiples of it."""
    jct = np.nan if mean is None else mean
    row = {"label": label, "instance": instance, "family": "jobs-small", "jobs": 7, "load": 0.7, "budget": "-"}
    row |= {"cluster": "-", "setting": "-", "repetition": 0}
    row |= {"tick_seconds": tick_seconds, "objective": 10 * jct, "bound": 10.0, "gap": jct - 1, "is_optimum": False}
    row |= {"jct_mean": jct, "jct_p50": 2 * jct, "jct_p95": 3 * jct, "jct_p99": 4 * jct, "jct_max": 5 * jct}
    return row | {"utilisation": 0.5, "stretch_mean": 1.0, "factor": np.nan} | more


def test_summary_by_hand() -> None:
    """Tests means over instances of means over seeds, points over runs, seconds of half a tick, and a lost run."""
    runs = [_run("fifo", "a", 10), _run("fifo", "b", 30), _run("fifo", "b", None)]
    runs += [_run("noisy", "a", 10), _run("noisy", "a", 20, repetition=1), _run("noisy", "b", 5)]
    table = jct_summary(pd.DataFrame(runs)).set_index("label")
    fifo, noisy = table.loc["fifo"], table.loc["noisy"]
    assert (fifo["jct_mean"], fifo["jct_p50"], fifo["jct_p99"]) == (20, 40, 80)
    assert (fifo["jct_mean_low"], fifo["jct_mean_high"]) == (10, 30)
    assert (fifo["jct_mean_seconds"], fifo["jct_p95_seconds"], fifo["without_schedule"]) == (10, 30, 1)
    assert (noisy["jct_mean"], noisy["jct_p50"], noisy["jct_max"]) == (10, pytest.approx(2 * 35 / 3), 5 * 35 / 3)
    assert np.isnan(noisy["jct_mean_seeds_low"])  # the second seed lacks an instance


def test_seeds_have_an_interval_of_their_own() -> None:
    """Tests Student's interval of three trainings, by hand: means 2, 3, 4, so 3 less and plus 4.303 / sqrt(3)."""
    runs = [
        _run("marl", name, jct + 1, repetition=seed)
        for seed in range(3)
        for name, jct in (("a", seed), ("b", seed + 2))
    ]
    (row,) = jct_summary(pd.DataFrame([*runs])).to_dict("records")
    assert (row["jct_mean_seeds_low"], row["jct_mean_seeds_high"]) == pytest.approx(
        (3 - 2.48414, 3 + 2.48414), abs=1e-4
    )
    assert (row["jct_mean_seeds_low_seconds"], row["jct_mean"]) == (pytest.approx(0.25793, abs=1e-4), 3)
    table = jct_tables(pd.DataFrame([*runs, _run("fifo", "a", 9), _run("fifo", "b", 9)]), "-")[0]
    assert table.headings[4] == "over seeds"
    assert [row[4] for row in table.rows] == ["[0.5159, 5.484]", "-"]
    assert "over seeds: Student's" in " ".join(table.to_text().split())


def test_ticks_of_several_lengths_are_not_averaged() -> None:
    """Tests that only seconds are shown where the ticks of the instances differ."""
    frame = pd.DataFrame([_run("fifo", "a", 10, 0.5), _run("fifo", "b", 10, 1.5)])
    assert np.isnan(jct_summary(frame).loc[0, "jct_mean"])
    (table,) = jct_tables(frame, "-")
    assert (table.title, table.rows[0][:3]) == ("JCT in seconds", ("fifo", "2", "10"))


def test_tables_show_places_and_units() -> None:
    """Tests that each load is told apart, the best on top, in readable seconds; and that searches keep their budget."""
    runs = [_run(label, "a", mean, 1e-6, load=load) for load in (0.5, 1.0) for label, mean in (("x", 3), ("y", 2))]
    runs += [_run("z", "a", 1, 1e-6, budget="1 s"), _run("z", "a", 9, 1e-6, budget="2 s")]
    ticks, seconds = jct_tables(pd.DataFrame(runs), "1 s")
    assert [row[:2] for row in ticks.rows] == [("0.5", "y"), ("0.5", "x"), ("1.0", "y"), ("1.0", "x"), ("0.7", "z")]
    assert ticks.rows[-1] == ("0.7", "z", "1", "1", "-", "2", "3", "4", "5")
    assert (seconds.title, seconds.rows[1][3]) == ("JCT in microseconds at 1 s", "3")
    assert seconds.frame["jct_mean_seconds"].tolist() == pytest.approx([2e-6, 3e-6, 2e-6, 3e-6, 1e-6])
    assert check_latex(seconds.to_latex())[0][:2] == ["load", "method"]
    assert jct_tables(pd.DataFrame([_run("x", "a", None)]), "-") == []


def test_jobs_that_interfere_are_tabulated(tmp_path: Path) -> None:
    """Tests that a study of jobs that slow each other has a frame with what they lost, and a table of JCT."""
    instance = generate_jobs("jobs-small-co-located", jobs=5, seed=1)
    write_jobs_instance(instance, tmp_path / "jobs.json")
    methods = '[[methods]]\nmethod = "fifo"\n'
    files = f'[[instances]]\nfiles = ["{tmp_path / "jobs.json"}"]\n'
    spec = study_spec_from_toml(f'[study]\nname = "s"\nproblem = "jobs"\n{files}{methods}[reference]\nbounds = []\n')
    run_here(spec, tmp_path / "study")
    with StudyStore(tmp_path / "study") as store:
        (row,) = to_frame(store).to_dict("records")
    found = solve_jobs(instance, "fifo").statistics
    assert found is not None
    assert found.interference is not None
    assert (row["jct_mean"], row["interference_lost_mean"]) == (found.jct_mean, found.interference.lost_mean)
    assert row["interference_speed_p05"] == found.interference.speed_p05
