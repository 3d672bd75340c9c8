"""Tests of the study of online policies: what is run, what is proved, what is summed up."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from heuristics.jobs.policies.a_srpt import a_srpt_policy
from heuristics.jobs.policies.a_srpt_parameters import ASrptParameters
from heuristics.jobs.policies.run_policy import run_policy
from instances.jobs import JobsInstance, JobsObjective
from solvers.jobs.lower_bound_jobs import lower_bound_jobs
from studies.online.measured_guarantee import measured_guarantee
from studies.online.online_summary import online_summary, summary_markdown, summary_text
from studies.online.policy_entry import (
    PolicyEntry,
    hold_entries,
    noise_entries,
    placement_entries,
    policy_entries,
    predictor_entries,
)
from studies.online_against_offline import OnlineInstance, generated_instances, online_against_offline
from tests.jobs_strategies import jobs_instances, worked_example

if TYPE_CHECKING:
    import pandas as pd


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return all policies on four small instances at two loads, against proven optima."""
    instances = generated_instances("jobs-small", loads=(0.7, 1.1), seeds=range(2), jobs=6)
    return online_against_offline(instances, policy_entries(), exact="cp-sat", time_limit=60, seed=3)


def test_every_policy_meets_every_instance(frame: pd.DataFrame) -> None:
    """Tests that there is a row for each pair, that gaps are those to the proven optimum, and seeds are paired."""
    assert len(frame) == 4 * len(policy_entries())
    assert frame["is_optimum"].all()
    assert (frame["objective"] >= frame["lower_bound"]).all()
    assert np.allclose(frame["gap"], frame["objective"] / frame["lower_bound"] - 1)
    assert (frame.groupby("instance")["seed"].nunique() == 1).all()
    assert frame["seed"].nunique() == 4


def test_only_the_provable_mode_has_a_guarantee(frame: pd.DataFrame) -> None:
    """Tests that the proved upper bound stands where it is proved, and above every objective."""
    with_one = frame[frame["upper_bound"].notna()]
    assert set(with_one["label"]) == {"a-srpt"}
    assert (with_one["objective"] <= with_one["upper_bound"]).all()
    assert (with_one["objective"] / with_one["lower_bound"] <= with_one["factor"]).all()


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
    for tau, factor in ((Fraction(0), 1.0), (Fraction(1), 3.0)):
        simulation = run_policy(
            a_srpt_policy(instance, JobsObjective.TOTAL_COMPLETION, ASrptParameters(tau=tau)),
            np.random.default_rng(1),
            predictor="noisy-oracle",
            predictor_parameters={"mu": factor},
        )
        assert simulation is not None
        found = measured_guarantee(instance, simulation, tau=tau)
        if found is not None:
            assert int(simulation.completion.sum()) <= found.upper_bound
            assert min(found.mu1, found.mu2, found.rho, found.gpus_over_free) >= 1


def test_summary_by_hand(frame: pd.DataFrame) -> None:
    """Tests means, ratio and interval of one policy at one load against the rows, and the best bound of each."""
    summary = online_summary(frame)
    assert len(summary) == 2 * len(policy_entries())
    mine = frame[(frame["label"] == "fifo") & (frame["load"] == 1.1)]
    (row,) = summary[(summary["label"] == "fifo") & (summary["load"] == 1.1)].to_dict("records")
    assert row["objective"] == pytest.approx(mine["objective"].mean())
    assert row["gap"] == pytest.approx(mine["gap"].mean())
    assert row["ratio"] == pytest.approx((mine["objective"] / mine["lower_bound"]).max())
    assert row["gap_low"] <= row["gap"] <= row["gap_high"]
    assert (row["instances"], row["without_schedule"], row["all_optima"]) == (2, 0, True)


def test_texts_say_what_gaps_are_against(frame: pd.DataFrame) -> None:
    """Tests that tables name optimum or bound, whose theorem it is, and every policy."""
    summary = online_summary(frame)
    text, markdown = summary_text(summary), summary_markdown(summary)
    for shown in (text, markdown):
        assert " ".join(shown.split()).count("against the proven optimum") == 2
        assert "ours, not the paper's" in " ".join(shown.split())
    assert all(entry.label in markdown for entry in policy_entries())
    assert "against the best proven lower bound" in " ".join(
        summary_text(online_summary(frame.assign(is_optimum=False))).split()
    )


def test_without_an_exact_method_the_best_bound_counts() -> None:
    """Tests that large studies use the best of the bounds without search."""
    instance = worked_example()
    item = OnlineInstance(instance=instance, scenario="worked")
    frame = online_against_offline([item], [PolicyEntry(label="f", method="fifo")])
    best = lower_bound_jobs(instance).best
    assert best is not None
    assert frame["lower_bound"].tolist() == [best.value]
    assert frame["load"].iloc[0] > 0
    assert not frame["is_optimum"].any()


def test_noise_grows_with_mu_only() -> None:
    """Tests that mu = 1 is the oracle, and the entries of a sweep differ in mu alone."""
    item = OnlineInstance(instance=worked_example(), scenario="worked")
    entries = noise_entries((1.0, 4.0), ("spjf",))
    oracle = PolicyEntry(label="oracle", method="spjf")
    found = online_against_offline([item], [*entries, oracle]).set_index("label")["objective"]
    assert found["spjf, mu=1"] == found["oracle"]
    labels = [entry.label for make in (predictor_entries, placement_entries, hold_entries) for entry in make()]
    assert len(set(labels)) == len(labels)


def test_progress_is_told() -> None:
    """Tests that whoever listens hears of every run, and of the end."""
    heard: list[tuple[str, int, int]] = []
    item = OnlineInstance(instance=worked_example(), scenario="worked")
    entries = [PolicyEntry(label="f", method="fifo"), PolicyEntry(label="s", method="srtf")]
    online_against_offline([item], entries, on_run=lambda *state: heard.append(state))
    assert heard == [("worked: bounding", 0, 2), ("worked: f", 0, 2), ("worked: s", 1, 2), ("done", 2, 2)]
