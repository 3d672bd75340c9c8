"""Tests of the predictors that remember runs, and of those that need no memory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from heuristics.jobs.predictors.predictor import PREDICTORS, predictor_named
from heuristics.jobs.predictors.run_histories import WINDOW, RunHistory
from heuristics.jobs.predictors.simple_predictors import (
    GlobalMedian,
    LastRun,
    NoisyOracle,
    NoPrediction,
    Oracle,
    RunningMedian,
)
from tests.heuristics.jobs.predictors.streams import recurring_stream, stream


def test_history_by_hand() -> None:
    """Tests count, mean, median, last value and deviation of the population on four runs."""
    history = RunHistory()
    for value in (4.0, 1.0, 3.0, 0.0):
        history.add(value)
    assert history.statistics() == (4, 2.0, 2.0, 0.0, math.sqrt(10 / 4))
    history.add(7.0)
    assert history.statistics()[:4] == (5, 3.0, 3.0, 7.0)


def test_history_forgets_all_but_the_last_runs() -> None:
    """Tests the window against NumPy on the last 20 of many values with ties, while all are counted."""
    values = np.random.default_rng(0).integers(0, 6, size=90) / 3
    history = RunHistory()
    for count, value in enumerate(values.tolist(), start=1):
        history.add(value)
        recent = values[max(0, count - WINDOW) : count]
        expected = (count, recent.mean(), np.median(recent), recent[-1], recent.std())
        assert history.statistics() == pytest.approx(expected, abs=1e-12)


def test_running_median_by_hand() -> None:
    """Tests the median of (user, GPUs), a geometric mean between two, and the way to user, all and the constant."""
    instance = stream(
        [100, 400, 7, 1, 1, 1],
        users=["a", "a", "b", "a", "c", None],
        gpus=[1, 1, 2, 1, 1, 1],
    )
    predictor = RunningMedian(instance, unknown=77)
    assert predictor.predict(0, 0) == 77
    predictor.observe(0, 5)
    assert predictor.predict(1, 5) == 100
    predictor.observe(1, 6)
    assert predictor.predict(3, 6) == 200  # the geometric mean of 100 and 400
    predictor.observe(2, 7)
    assert predictor.predict(3, 7) == 200  # another user and width
    assert predictor.predict(4, 7) == 100  # a new user: the median of 100, 400, 7
    assert predictor.predict(5, 7) == 100  # an unknown user


def test_running_median_of_a_known_user_with_other_gpus() -> None:
    """Tests that a user's other widths come before all jobs."""
    instance = stream([50, 9000, 1], users=["a", "b", "a"], gpus=[4, 1, 1])
    predictor = RunningMedian(instance)
    predictor.observe(0, 1)
    predictor.observe(1, 1)
    assert predictor.predict(2, 2) == 50


def test_last_run_by_hand() -> None:
    """Tests that the last run of the group counts, and of the user where the group has none."""
    instance = stream([10, 30, 20, 1, 1], groups=["g", "g", "h", "g", "new"])
    predictor = LastRun(instance)
    assert predictor.predict(0, 0) == 1000
    for job in range(3):
        predictor.observe(job, job)
    assert predictor.predict(3, 3) == 30
    assert predictor.predict(4, 3) == 20


def test_global_median_remembers_everything() -> None:
    """Tests that it is the median of all completed jobs, not of the last 20."""
    instance = stream([5] * 30 + [1000] * 29)
    predictor = GlobalMedian(instance, unknown=3)
    assert predictor.predict(0, 0) == 3
    for job in range(59):
        predictor.observe(job, job)
    assert predictor.predict(0, 60) == 5


def test_oracle_and_constant() -> None:
    """Tests that the oracle tells the truth and that no prediction is one number."""
    instance = stream([5, 2**40, 7])
    assert [Oracle(instance).predict(job, 0) for job in range(3)] == [5, 2**40, 7]
    assert [NoPrediction(instance, iterations=12).predict(job, 0) for job in range(3)] == [12] * 3


def test_noise_is_a_factor_of_mu_at_most() -> None:
    """Tests the range and the middle of noise, that 1 is the oracle, and that other mu have the same U."""
    instance = stream([10**6] * 3000)
    ratios = {}
    for mu in (1.0, 1.5, 4.0):
        predictor = NoisyOracle(instance, np.random.default_rng(3), mu=mu)
        ratios[mu] = np.array([predictor.predict(job, 0) for job in range(3000)]) / 10**6
    assert (ratios[1.0] == 1).all()
    exponents = np.log(ratios[4.0]) / np.log(4.0)
    assert np.abs(exponents).max() <= 1 + 1e-6
    assert abs(exponents.mean()) < 0.04  # 3.8 standard errors of a uniform in [-1, 1]
    assert exponents.std() == pytest.approx(1 / math.sqrt(3), rel=0.05)
    np.testing.assert_allclose(np.log(ratios[1.5]) / np.log(1.5), exponents, atol=1e-5)


def test_noise_never_predicts_nothing() -> None:
    """Tests that the smallest prediction is 1."""
    predictor = NoisyOracle(stream([1] * 200), np.random.default_rng(0), mu=4.0)
    assert min(predictor.predict(job, 0) for job in range(200)) == 1


@pytest.mark.parametrize("name", PREDICTORS)
def test_every_predictor_by_name(name: str) -> None:
    """Tests that each name gives a predictor that predicts an integer of at least 1 from the first job on."""
    instance = recurring_stream(20, seed=1)
    predictor = predictor_named(name, instance, np.random.default_rng(0))
    for job in range(20):
        answer = predictor.predict(job, job)
        assert isinstance(answer, int) and answer >= 1
        predictor.observe(job, job)


def test_misuse_is_named() -> None:
    """Tests the messages for unknown names and parameters and for values out of range."""
    instance, rng = stream([1]), np.random.default_rng(0)
    for name, parameters, message in (
        (
            "forest",
            {},
            r"got 'forest' \(did you mean random-forest or median-forest\?\)\.",
        ),
        ("oracle", {"mu": 2}, r"parameters of oracle: expected no parameters, got 'mu'\."),
        ("running-median", {"runs": 2}, r"parameters of running-median: expected unknown, got 'runs'\."),
        ("noisy-oracle", {"mu": 0.5}, r"mu: expected a finite number of at least 1, got 0\.5\."),
        ("none", {"iterations": 0}, r"iterations: expected at least 1, got 0\."),
        ("last-run", {"unknown": 0}, r"unknown: expected at least 1"),
        ("random-forest", {"trees": 0}, r"trees: expected at least 1, got 0\."),
        ("random-forest", {"max_features": 0}, r"max_features: expected a share above 0"),
        ("median-forest", {"retrain_hours": 0}, r"retrain_hours: expected above 0, got 0\."),
        (
            "median-forest",
            {"leaf": 0},
            r"parameters of median-forest: expected min_leaf, trees, .*, got 'leaf' \(did you mean min_leaf",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            predictor_named(name, instance, rng, **parameters)


def test_a_job_completes_once() -> None:
    """Tests that a second completion is an error."""
    predictor = RunningMedian(stream([1]))
    predictor.observe(0, 1)
    with pytest.raises(ValueError, match="expected one completion"):
        predictor.observe(0, 2)
