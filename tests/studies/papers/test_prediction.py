"""Tests of the study of predictors and of its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.predictors.predictor import predictor_named
from instances.readers.jobs.philly_and_helios import parse_gpu_trace
from instances.text_file import read_text
from studies.papers.prediction import (
    known_groups,
    prediction_quality,
    prediction_study,
    prediction_tables,
    recorded_run_times,
    replay_predictions,
)
from tests.heuristics.jobs.predictors.streams import plain_replay, recurring_stream, stream
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

TRACE = """u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status
7,1,1,0,1,50,600,0,Pass
8,2,0,4,1,100,50,0,Pass
9,1,2,0,1,30,0,0,Failed
10,1,1,0,1,5,3000,0,Killed
"""


def test_recorded_run_times() -> None:
    """Tests that iterations are seconds, at least 1, and jobs without GPUs are left out."""
    instance = recorded_run_times(parse_gpu_trace(TRACE), name="cut")
    assert instance.iterations.tolist() == [600, 1, 3000]
    assert instance.release.tolist() == [0, 130, 135]
    assert instance.gang_size.tolist() == [1, 2, 1]
    assert instance.group == ("u1-g1", "u1-g2", "u1-g1")
    with pytest.raises(ValueError, match="expected jobs with GPUs after row 4, got none"):
        recorded_run_times(parse_gpu_trace(TRACE), name="cut", skip_rows=4)


def test_quality_by_hand() -> None:
    """Tests every number on four jobs."""
    instance = stream([10, 100, 1000, 100], [0, 1, 2, 100], groups=["g", "g", None, "g"])
    completion = instance.release + instance.iterations
    assert known_groups(instance, completion).tolist() == [False, False, False, True]
    row = prediction_quality(instance, "p", np.array([100, 100, 10, 50]), completion, fits=3)
    assert (row.jobs, row.known_share, row.fits) == (4, 0.25, 3)
    log2 = np.log10(2)
    assert row.mean_absolute_log10 == pytest.approx((1 + 0 + 2 + log2) / 4)
    assert row.later_mean_absolute_log10 == pytest.approx((2 + log2) / 2)
    assert row.root_mean_square_log10 == pytest.approx(np.sqrt((1 + 4 + log2**2) / 4))
    assert row.mean_log10 == pytest.approx((1 - 2 - log2) / 4)
    assert row.ratio_median == pytest.approx(6)  # between 2 and 10
    assert row.ratio_largest == pytest.approx(100)
    assert row.ratio_95 == pytest.approx(10 + 0.85 * 90)
    assert row.mean_absolute_percentage == pytest.approx(100 * (9 + 0 + 0.99 + 0.5) / 4)


def test_a_group_that_completes_as_it_arrives_is_known() -> None:
    """Tests that completions come before arrivals inside a tick, for the share and for the replay."""
    instance = stream([5, 9], [0, 5], groups=["g", "g"])
    completion = instance.release + instance.iterations
    assert known_groups(instance, completion).tolist() == [False, True]
    predictor = predictor_named("last-run", instance, np.random.default_rng(0))
    assert replay_predictions(instance, predictor).tolist() == [1000, 5]


@pytest.mark.parametrize("name", ["running-median", "median-forest"])
def test_replay_is_in_order_of_events(name: str) -> None:
    """Tests the replay against one that sorts events."""
    instance = recurring_stream(150, seed=8, interval=5.0)
    completion = instance.release + instance.iterations
    one, two = (predictor_named(name, instance, np.random.default_rng(0)) for _ in range(2))
    assert replay_predictions(instance, one).tolist() == plain_replay(instance, two, completion)


def test_replay_needs_completions_after_arrivals() -> None:
    """Tests the messages for completions that cannot be."""
    instance = stream([5, 9], [0, 5])
    predictor = predictor_named("none", instance, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"completion\[1\]: expected more than 5, got 5\."):
        replay_predictions(instance, predictor, np.array([3, 5]))
    with pytest.raises(ValueError, match="completion: expected shape"):
        replay_predictions(instance, predictor, np.array([3]))


def test_study_and_its_table() -> None:
    """Tests that predictors are compared on every instance, in order, repeatably, and that the best stands in it."""
    instances = [recurring_stream(120, seed=seed) for seed in (1, 2)]
    names = ["oracle", "noisy-oracle", "none", "running-median", "random-forest"]
    parameters = {"random-forest": {"trees": 5}, "noisy-oracle": {"mu": 1.5}}
    told: list[object] = []
    rows = prediction_study(instances, names, parameters=parameters, on_quality=told.append)
    assert rows == told == prediction_study(instances, names, parameters=parameters)
    assert [(row.sha256, row.predictor) for row in rows] == [(i.sha256, name) for i in instances for name in names]
    for row in rows:
        if row.predictor == "oracle":
            assert (row.mean_absolute_log10, row.ratio_largest) == (0, 1)
        if row.predictor == "noisy-oracle":
            assert 1 < row.ratio_median <= 1.5
        assert (row.fits is not None) == (row.predictor == "random-forest")
    of = {(row.sha256, row.predictor): row.mean_absolute_log10 for row in rows}
    assert all(of[i.sha256, "running-median"] < of[i.sha256, "none"] for i in instances)
    text = "\n".join(map(str, prediction_tables(rows)))
    assert text.count("120 jobs") == 2 and f"{of[instances[1].sha256, 'running-median']:.3f}" in text
    with pytest.raises(ValueError, match="parameters: expected names among none, got 'oracle'"):
        prediction_study(instances, ["none"], parameters={"oracle": {}})


@pytest.mark.slow
@pytest.mark.parametrize(("cut", "skip_rows"), [pytest.param("philly", 1000, marks=pytest.mark.slow), ("helios", 0)])
def test_memory_beats_constants_on_real_cuts(cut: str, skip_rows: int) -> None:
    """Tests that on recorded run times the running median beats the global one, and that one in turn a constant."""
    trace = parse_gpu_trace(read_text(real_data(f"gen-parallel-workloads/{cut}_15000.csv.gz")))
    instance = recorded_run_times(trace, name=cut, skip_rows=skip_rows)
    rows = prediction_study([instance], ["none", "global-median", "running-median"])
    none, everybody, own = (row.mean_absolute_log10 for row in rows)
    assert own < 0.85 * everybody < 0.85 * none
    assert rows[0].known_share > 0.9


def test_command(run: Run, tmp_path: Path) -> None:
    """Tests JSON, CSV and Markdown on a trace from a file, and misuse in one line."""
    (tmp_path / "cut.csv").write_text(TRACE)
    arguments = ("study", "prediction", "cut.csv", "--predictors", "oracle,none")
    ended = run(*arguments, "--csv", "r.csv", "--markdown", "t.md", "--json")
    assert ended.status == 0
    rows = ended.document["rows"]
    assert [(row["instance"], row["predictor"], row["jobs"]) for row in rows] == [
        ("cut", "oracle", 3),
        ("cut", "none", 3),
    ]
    assert rows[0]["mean_absolute_log10"] == 0
    assert (tmp_path / "r.csv").read_text().count("\n") == 1 + 2
    assert "oracle" in (tmp_path / "t.md").read_text()
    assert "cut: 3 jobs" in run(*arguments).out
    for wrong, message in (
        (("--predictors", "best"), "--predictors: expected one of "),
        (("--skip-rows", "9"), "cut.csv: skip_rows: expected jobs with GPUs after row 9, got none."),
    ):
        bad = run("study", "prediction", "cut.csv", *wrong)
        assert (bad.status, bad.err.startswith(message)) == (2, True), bad.err
