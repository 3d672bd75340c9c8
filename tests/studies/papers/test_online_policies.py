"""Tests of the study of online policies: what is run, what is proved, what is summed up."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from heuristics.jobs.policies.a_srpt import a_srpt_policy
from heuristics.jobs.policies.guided_policy import ASrptParameters
from heuristics.jobs.policies.run_policy import run_policy
from instances.jobs.json import write_jobs_instance
from instances.jobs.objective import JobsObjective
from solvers.lower_bound import lower_bound
from studies.analysis.online_summary import online_summary, summary_tables
from studies.experiment.run_measures import measured_guarantee
from studies.experiment.specification import InstanceFiles, JobsGrid, StudyMethod
from studies.papers.online_policies import (
    gang_rule_entries,
    hold_entries,
    noise_entries,
    online_against_offline,
    placement_entries,
    policy_entries,
    predictor_entries,
)
from tests.jobs_strategies import jobs_instances, worked_example
from tests.studies.experiment.run_here import HereExecutor

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from instances.jobs.instance import JobsInstance
    from studies.experiment.run_study import StudyState


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return all policies on four small instances at two loads, against proven optima."""
    grid = JobsGrid(families=("jobs-small",), jobs=(6,), loads=(0.7, 1.1), count=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("studies.experiment.run_study.LocalExecutor", HereExecutor)
        return online_against_offline([grid], policy_entries(), exact="cp-sat", time_limit=60, seed=3, workers=1)


@pytest.mark.whole
def test_every_policy_meets_every_instance(frame: pd.DataFrame) -> None:
    """Tests that there is a row for each pair, that gaps are those to the proven optimum, and none failed."""
    assert len(frame) == 4 * len(policy_entries())
    assert frame["is_optimum"].all()
    assert (frame["objective"] >= frame["bound"]).all()
    assert np.allclose(frame["gap"], frame["objective"] / frame["bound"] - 1)
    assert frame["error"].isna().all()


@pytest.mark.whole
def test_only_the_provable_mode_has_a_guarantee(frame: pd.DataFrame) -> None:
    """Tests that the proved upper bound stands where it is proved, and above every objective."""
    with_one = frame[frame["upper_bound"].notna()]
    assert set(with_one["label"]) == {"a-srpt"}
    assert (with_one["objective"] <= with_one["upper_bound"]).all()
    assert (with_one["objective"] / with_one["bound"] <= with_one["factor"]).all()


def test_guarantee_of_the_worked_example() -> None:
    """Tests the constants of the reference by hand: mu1 = 5/4, mu2 = rho = 7/6, G/b = 2, right-hand side 330.7."""
    instance = worked_example()

    class Told:
        def predict(self, job: int, time: int) -> int:
            return (3, 2, 4)[job]

        def observe(self, job: int, time: int) -> None:
            pass

    simulation = run_policy(
        a_srpt_policy(instance, JobsObjective.TOTAL_COMPLETION), np.random.default_rng(0), predictor=Told()
    )
    assert simulation is not None
    found = measured_guarantee(instance, simulation, tau=Fraction(1, 4))
    assert found is not None
    assert (found.mu1, found.mu2, found.rho) == (Fraction(5, 4), Fraction(7, 6), Fraction(7, 6))
    assert found.gpus_over_free == 2
    assert float(found.upper_bound) == pytest.approx(330.7, abs=0.05)
    assert int(simulation.completion.sum()) == 124


@settings(deadline=None, max_examples=60)
@given(instance=jobs_instances())
def test_no_run_is_above_its_guarantee(instance: JobsInstance) -> None:
    """Tests the theorem on random instances with wrong predictions and holds of any length."""
    for tau, factor, patience, speed in (
        (Fraction(0), 1.0, Fraction(0), Fraction(1)),
        (Fraction(1), 3.0, Fraction(0), Fraction(5, 2)),
        (Fraction(1), 3.0, Fraction(1), Fraction(1)),
        (Fraction(1, 4), 1.0, Fraction(3), Fraction(1, 3)),
    ):
        parameters = ASrptParameters(tau=tau, patience=patience, speed=speed)
        simulation = run_policy(
            a_srpt_policy(
                instance, JobsObjective.TOTAL_COMPLETION, parameters, "overtaking" if patience else "provable"
            ),
            np.random.default_rng(1),
            predictor="noisy-oracle",
            predictor_parameters={"mu": factor},
        )
        assert simulation is not None
        found = measured_guarantee(instance, simulation, tau=tau, patience=patience, speed=speed)
        if found is not None:
            assert found.delay >= patience
            assert int(simulation.completion.sum()) <= found.upper_bound
            assert min(found.mu1, found.mu2, found.rho, found.gpus_over_free) >= 1


@pytest.mark.whole
def test_summary_by_hand(frame: pd.DataFrame) -> None:
    """Tests means, ratio and interval of one policy at one load against the rows, and the best bound of each."""
    summary = online_summary(frame)
    assert len(summary) == 2 * len(policy_entries())
    mine = frame[(frame["label"] == "fifo") & (frame["load"] == 1.1)]
    (row,) = summary[(summary["label"] == "fifo") & (summary["load"] == 1.1)].to_dict("records")
    assert row["objective"] == pytest.approx(mine["objective"].mean())
    assert row["gap"] == pytest.approx(mine["gap"].mean())
    assert row["ratio"] == pytest.approx((mine["objective"] / mine["bound"]).max())
    assert row["gap_low"] <= row["gap"] <= row["gap_high"]
    assert (row["instances"], row["without_schedule"], row["all_optima"]) == (2, 0, True)


@pytest.mark.whole
def test_texts_say_what_gaps_are_against(frame: pd.DataFrame) -> None:
    """Tests that tables name optimum or bound, whose theorem it is, and every policy."""
    summary = online_summary(frame)
    tables = summary_tables(summary)
    text, markdown = "\n".join(map(str, tables)), "\n".join(table.to_markdown() for table in tables)
    for shown in (text, markdown):
        assert " ".join(shown.split()).count("against the proven optimum") == 2
        assert "ours, not the paper's" in " ".join(shown.split())
    assert all(entry.label in markdown for entry in policy_entries())
    assert "against the best proven lower bound" in " ".join(
        "\n".join(map(str, summary_tables(online_summary(frame.assign(is_optimum=False))))).split()
    )


@pytest.mark.whole
@pytest.mark.usefixtures("runs_here")
def test_files_noise_and_progress(tmp_path: Path) -> None:
    """Tests one study of a file: the best bound without search counts, mu = 1 is the oracle, and states are told."""
    instance = worked_example()
    write_jobs_instance(instance, tmp_path / "w.json")
    heard: list[StudyState] = []
    methods = [*noise_entries((1.0, 4.0), ("spjf",)), StudyMethod(label="oracle", method="spjf")]
    files = InstanceFiles(patterns=(str(tmp_path / "w.json"),))
    frame = online_against_offline([files], methods, workers=1, on_state=heard.append)
    best = lower_bound(instance).best
    assert best is not None
    assert set(frame["bound"]) == {best.value}
    assert not frame["is_optimum"].any()
    assert (frame["load"] > 0).all()
    found = frame.set_index("label")["objective"]
    assert found["spjf, mu=1"] == found["oracle"]
    assert frame.groupby("label")["seed"].first()[["spjf, mu=1", "spjf, mu=4"]].nunique() == 1
    assert (heard[-1].finished, heard[-1].planned) == (4, 4)
    assert "worked, load " in str(summary_tables(online_summary(frame))[0])


def test_sets_of_policies_have_labels_of_their_own() -> None:
    """Tests that no two entries of a sweep share a label."""
    makers = (predictor_entries, placement_entries, hold_entries, gang_rule_entries)
    labels = [entry.label for make in makers for entry in make()]
    assert len(set(labels)) == len(labels)
