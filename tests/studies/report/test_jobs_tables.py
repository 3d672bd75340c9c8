"""Tests of the tables of interference, waiting, use and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from instances.generators.jobs.generate import generate_jobs
from instances.jobs.json import write_jobs_instance
from solvers.solve import solve
from studies.analysis.frames import to_frame
from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.store import StudyStore
from studies.report.jobs_tables import interference_summary, interference_tables, jct_summary, jct_tables
from tests.check_latex import check_latex
from tests.studies.experiment.run_here import run_here

if TYPE_CHECKING:
    from pathlib import Path


def _run(label: str, instance: str, speed: float, **more: object) -> dict[str, object]:
    """Return a run in which jobs had this speed on average, and lost and waited accordingly."""
    row = {"label": label, "instance": instance, "family": "jobs-co-located", "cluster": "mixed-64", "setting": "-"}
    row |= {"jobs": 10, "load": 0.9, "budget": "-", "objective": 100, "tick_seconds": 0.5, "seconds": 2.0}
    row |= {"interference_speed_mean": speed, "interference_speed_p05": speed / 2}
    row |= {"interference_lost_mean": 100 * (1 - speed), "queueing_mean": 40.0, "stretch_mean": 1.25}
    row |= {"utilisation": 0.5, "num_agents": np.nan, "num_decisions": np.nan, "num_rounds": np.nan}
    return row | {"forwards_mean": np.nan} | more


def test_summary_by_hand() -> None:
    """Tests means over instances of means over seeds, their interval, seconds of half a tick, and what agents did."""
    agents = {"num_agents": 4, "num_decisions": 50, "num_rounds": 20, "forwards_mean": 0.3}
    runs = [_run("marl", "a", 0.8, **agents), _run("marl", "a", 0.6, **agents), _run("marl", "b", 0.9, **agents)]
    marl, fifo = interference_summary(pd.DataFrame([*runs, _run("fifo", "a", 0.5)])).to_dict("records")
    assert (marl["interference_speed_mean"], marl["instances"]) == (pytest.approx(0.8), 2)
    assert (marl["interference_speed_mean_low"], marl["interference_speed_mean_high"]) == pytest.approx((0.7, 0.9))
    assert (marl["interference_lost_mean"], marl["lost_seconds"]) == (pytest.approx(20), pytest.approx(10))
    assert (marl["queueing_seconds"], marl["stretch_mean"], marl["utilisation"]) == (20, 1.25, 0.5)
    assert (marl["decisions_per_job"], marl["forwards_mean"]) == (5, pytest.approx(0.3))
    assert (marl["decision_milliseconds"], marl["round_milliseconds"]) == (40, 100)
    assert (fifo["interference_speed_p05"], fifo["lost_seconds"]) == (0.25, 25)
    assert np.isnan([fifo["num_agents"], fifo["decision_milliseconds"], fifo["interference_speed_mean_low"]]).all()


def test_tables_show_what_is_known() -> None:
    """Tests three tables with agents, two without, one without interference; unit, interval, LaTeX and JSON."""
    agents = {"num_agents": 4, "num_decisions": 50, "num_rounds": 20, "forwards_mean": 0.3, "tick_seconds": 1e-3}
    runs = [_run("marl", "a", 0.8, **agents), _run("marl", "b", 0.9, **agents)]
    runs += [_run("fifo", name, 0.5, tick_seconds=1e-3) for name in "ab"]
    loss, use, decisions = interference_tables(pd.DataFrame(runs), "-")
    assert loss.title == "Interference, times in milliseconds"
    assert loss.rows[0] == ("marl", "2", "0.85 [0.8, 0.9]", "0.425 [0.4, 0.45]", "15 [10, 20]")
    assert loss.rows[1] == ("fifo", "2", "0.5", "0.25", "50")
    assert use.rows[1] == ("fifo", "2", "40", "1.25", "50")
    assert decisions.rows == (("marl", "2", "4", "5", "0.3", "40", "100"),)
    assert check_latex(decisions.to_latex())[0][0] == "method"
    assert loss.to_dict()["rows"][0]["interference_lost_mean"] == pytest.approx(15)
    assert [table.name for table in interference_tables(pd.DataFrame(runs[2:]), "-")] == ["interference", "waiting"]
    alone = pd.DataFrame(runs[2:]).assign(interference_speed_mean=np.nan)
    assert [table.name for table in interference_tables(alone, "-")] == ["waiting"]


def test_ticks_of_several_lengths_are_not_averaged() -> None:
    """Tests that only seconds are told where ticks differ, and that the other budget is left out."""
    runs = [_run("x", "a", 0.5, tick_seconds=1.0), _run("x", "b", 0.5), _run("y", "a", 0.9, budget="2 s")]
    table = interference_tables(pd.DataFrame(runs), "1 s")[0]
    (row,) = table.to_dict()["rows"]
    assert (row["interference_lost_mean"], row["lost_seconds"]) == (None, 37.5)
    assert table.title == "Interference, times in seconds at 1 s"


def _run_jct_table(
    label: str, instance: str, mean: float | None, tick_seconds: float = 0.5, **more: object
) -> dict[str, object]:
    """Return a run with this mean JCT in ticks; other points of JCT are multiples of it."""
    jct = np.nan if mean is None else mean
    row = {"label": label, "instance": instance, "family": "jobs-small", "jobs": 7, "load": 0.7, "budget": "-"}
    row |= {"cluster": "-", "setting": "-", "repetition": 0}
    row |= {"tick_seconds": tick_seconds, "objective": 10 * jct, "bound": 10.0, "gap": jct - 1, "is_optimum": False}
    row |= {"jct_mean": jct, "jct_p50": 2 * jct, "jct_p95": 3 * jct, "jct_p99": 4 * jct, "jct_max": 5 * jct}
    return row | {"utilisation": 0.5, "stretch_mean": 1.0, "factor": np.nan} | more


def test_summary_by_hand_jct_table() -> None:
    """Tests means over instances of means over seeds, points over runs, seconds of half a tick, and a lost run."""
    runs = [_run_jct_table("fifo", "a", 10), _run_jct_table("fifo", "b", 30), _run_jct_table("fifo", "b", None)]
    runs += [
        _run_jct_table("noisy", "a", 10),
        _run_jct_table("noisy", "a", 20, repetition=1),
        _run_jct_table("noisy", "b", 5),
    ]
    table = jct_summary(pd.DataFrame(runs)).set_index("label")
    fifo, noisy = table.loc["fifo"], table.loc["noisy"]
    assert (fifo["jct_mean"], fifo["jct_p50"], fifo["jct_p99"]) == (20, 40, 80)
    assert (fifo["jct_mean_low"], fifo["jct_mean_high"]) == (10, 30)
    assert (fifo["jct_mean_seconds"], fifo["jct_p95_seconds"], fifo["without_schedule"]) == (10, 30, 1)
    assert (noisy["jct_mean"], noisy["jct_p50"], noisy["jct_max"]) == (10, pytest.approx(2 * 35 / 3), 5 * 35 / 3)
    assert np.isnan(noisy["jct_mean_seeds_low"])  # the second seed lacks an instance


def test_seeds_have_an_interval_of_their_own() -> None:
    """Tests Student's interval of three trainings, by hand: 4.303 / sqrt(3) deviations of the logarithms of 2, 3, 4."""
    runs = [
        _run_jct_table("marl", name, jct + 1, repetition=seed)
        for seed in range(3)
        for name, jct in (("a", seed), ("b", seed + 2))
    ]
    (row,) = jct_summary(pd.DataFrame([*runs])).to_dict("records")
    assert (row["jct_mean_seeds_low"], row["jct_mean_seeds_high"]) == pytest.approx((1.21444, 6.85118), abs=1e-4)
    assert (row["jct_mean_seeds_low_seconds"], row["jct_mean"]) == (pytest.approx(0.60722, abs=1e-4), 3)
    table = jct_tables(pd.DataFrame([*runs, _run_jct_table("fifo", "a", 9), _run_jct_table("fifo", "b", 9)]), "-")[0]
    assert table.headings[4] == "over seeds"
    assert [row[4] for row in table.rows] == ["[1.214, 6.851]", "-"]
    assert "over seeds: Student's" in " ".join(table.to_text().split())


def test_an_interval_of_jcts_does_not_go_below_zero() -> None:
    """Tests trainings with means 1, 1 and 8, whose interval without logarithms would begin at -6.7."""
    runs = [_run_jct_table("marl", "a", jct, repetition=seed) for seed, jct in enumerate((1, 1, 8))]
    (row,) = jct_summary(pd.DataFrame(runs)).to_dict("records")
    assert (row["jct_mean_seeds_low"], row["jct_mean_seeds_high"]) == pytest.approx((0.10135, 39.469), rel=1e-3)


def test_ticks_of_several_lengths_are_not_averaged_jct_table() -> None:
    """Tests that only seconds are shown where the ticks of the instances differ."""
    frame = pd.DataFrame([_run_jct_table("fifo", "a", 10, 0.5), _run_jct_table("fifo", "b", 10, 1.5)])
    assert np.isnan(jct_summary(frame).loc[0, "jct_mean"])
    (table,) = jct_tables(frame, "-")
    assert (table.title, table.rows[0][:3]) == ("JCT in seconds", ("fifo", "2", "10"))


def test_tables_show_places_and_units() -> None:
    """Tests that each load is told apart, the best on top, in readable seconds; and that searches keep their budget."""
    runs = [
        _run_jct_table(label, "a", mean, 1e-6, load=load) for load in (0.5, 1.0) for label, mean in (("x", 3), ("y", 2))
    ]
    runs += [_run_jct_table("z", "a", 1, 1e-6, budget="1 s"), _run_jct_table("z", "a", 9, 1e-6, budget="2 s")]
    ticks, seconds = jct_tables(pd.DataFrame(runs), "1 s")
    assert [row[:2] for row in ticks.rows] == [("0.5", "y"), ("0.5", "x"), ("1.0", "y"), ("1.0", "x"), ("0.7", "z")]
    assert ticks.rows[-1] == ("0.7", "z", "1", "1", "-", "2", "3", "4", "5")
    assert (seconds.title, seconds.rows[1][3]) == ("JCT in microseconds at 1 s", "3")
    assert seconds.to_frame()["jct_mean_seconds"].tolist() == pytest.approx([2e-6, 3e-6, 2e-6, 3e-6, 1e-6])
    assert check_latex(seconds.to_latex())[0][:2] == ["load", "method"]
    assert jct_tables(pd.DataFrame([_run_jct_table("x", "a", None)]), "-") == []


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
    found = solve(instance, "fifo").statistics
    assert found is not None
    assert found.interference is not None
    assert (row["jct_mean"], row["interference_lost_mean"]) == (found.jct_mean, found.interference.lost_mean)
    assert row["interference_speed_p05"] == found.interference.speed_p05
