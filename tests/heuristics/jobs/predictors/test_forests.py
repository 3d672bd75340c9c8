"""Tests of the forests: what they fit, when, and that their arrays predict what scikit-learn does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from heuristics.jobs.predictors.forest_arrays import forest_arrays, forest_prediction
from heuristics.jobs.predictors.leaf_members import conditional_median, leaf_members
from heuristics.jobs.predictors.median_forest import MedianForest
from heuristics.jobs.predictors.random_forest import RandomForest
from heuristics.jobs.predictors.retrained_forest import CAP, RetrainedForest
from heuristics.jobs.predictors.running_median import RunningMedian
from tests.heuristics.jobs.predictors.streams import plain_replay, recurring_stream, stream

FORESTS = (RandomForest, MedianForest)
QUICK: dict[str, Any] = {"trees": 5, "cold_start": 10, "retrain_completions": 20}


def _fitted(rows: int, seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a forest of scikit-learn, its rows with many ties, and its targets."""
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=rows), rng.integers(0, 3, size=rows), rng.random(rows)]).astype(np.float32)
    y = x[:, 0] * x[:, 1] + rng.normal(size=rows)
    return RandomForestRegressor(n_estimators=13, min_samples_leaf=3, random_state=seed, n_jobs=1).fit(x, y), x, y


@pytest.mark.parametrize("seed", range(3))
def test_arrays_predict_to_the_bit(seed: int) -> None:
    """Tests that rows of the training set, new rows and rows on thresholds get what scikit-learn gives them."""
    forest, x, _ = _fitted(300, seed)
    arrays = forest_arrays(forest)
    new = np.random.default_rng(9).normal(size=(200, 3)).astype(np.float32)
    on_threshold = np.repeat(arrays.threshold[arrays.feature == 0][:50, None], 3, axis=1).astype(np.float32)
    rows = np.concatenate([x, new, on_threshold])
    own = [forest_prediction(*arrays, row) for row in rows]
    assert own == forest.predict(rows).tolist()


def test_arrays_of_single_leaves() -> None:
    """Tests a forest that found nothing to split."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(n_estimators=3, random_state=0).fit(np.zeros((5, 2)), np.full(5, 2.5))
    assert forest_prediction(*forest_arrays(forest), np.zeros(2, dtype=np.float32)) == 2.5


def test_conditional_median_is_the_weighted_median() -> None:
    """Tests the kernel against weights that are added up row by row from scikit-learn's leaves."""
    forest, x, y = _fitted(150, 4)
    arrays = forest_arrays(forest)
    members = leaf_members(forest, arrays.roots, x, y)
    leaves = forest.apply(x)
    order = np.argsort(y, kind="stable")
    for row in np.random.default_rng(1).normal(size=(60, 3)).astype(np.float32):
        same = leaves == forest.apply(row[None])
        weights = (same / same.sum(axis=0)).sum(axis=1)
        assert weights.sum() == pytest.approx(13)
        expected = y[order][np.searchsorted(np.cumsum(weights[order]), 6.5 - 1e-9)]
        assert conditional_median(*arrays[:5], *members, row) == expected


@pytest.mark.parametrize("forest", FORESTS)
def test_cold_start(forest: type[RetrainedForest]) -> None:
    """Tests that before 50 completions the finest known key's median is predicted, and 1,000 before the first."""
    instance = recurring_stream(130, seed=2)
    predictor, by_hand = forest(instance, np.random.default_rng(0), trees=5), RunningMedian(instance)
    assert predictor.predict(0, 0) == 1000
    for job in range(1, 50):
        predictor.predict(job, job)
    for job in range(49):
        predictor.observe(job, 80)
        by_hand.observe(job, 80)
    for job in range(50, 129):
        group = instance.group[job]
        runs = [other for other in range(49) if instance.group[other] == group][-20:]
        is_known = group is not None and len(runs) > 0
        median = round(np.exp(np.median(np.log(instance.iterations[runs])))) if is_known else by_hand.predict(job, 80)
        assert predictor.predict(job, 80) == median
    assert predictor.fits_ == []
    predictor.observe(49, 81)
    predictor.predict(129, 82)
    assert predictor.fits_ == [(82, 50, 50)]


@pytest.mark.parametrize("forest", FORESTS)
def test_retraining_times(forest: type[RetrainedForest]) -> None:
    """Tests that fits follow 20 completions or 6 hours, never without a new completion, on the last rows."""
    instance = stream([5] * 220)  # a tick is a second
    predictor = forest(instance, np.random.default_rng(0), max_rows=25, **QUICK)
    for job in range(200):
        predictor.predict(job, 0)
    done, asked = iter(range(200)), iter(range(200, 220))

    def after(completions: int, time: int) -> int:
        """Complete some jobs, ask once, and return how many fits there were."""
        for _ in range(completions):
            predictor.observe(next(done), time)
        predictor.predict(next(asked), time)
        return len(predictor.fits_)

    assert after(9, 100) == 0
    assert after(1, 200) == 1  # ten completions: the end of the cold start
    assert after(19, 300) == 1
    assert after(1, 400) == 2  # 20 since the last
    assert after(1, 400 + 6 * 3600 - 1) == 2  # a second too early
    assert after(0, 400 + 6 * 3600) == 3
    assert after(0, 90_000) == 3  # hours, but nothing new
    assert after(1, 100_000) == 4
    assert after(65, 101_000) == 5
    sizes = [(200, 10, 10), (400, 30, 25), (22_000, 31, 25), (100_000, 32, 25), (101_000, 97, 25)]
    assert predictor.fits_ == sizes


def test_rows_are_the_features_at_arrival() -> None:
    """Tests that the forest is fitted to what was known when jobs arrived, not to what is known at the fit."""
    instance = stream([10, 20, 40] * 8, groups=["g"] * 24)
    seen: list[np.ndarray] = []

    class Watched(RandomForest):
        def _fit(self, rows: np.ndarray, targets: np.ndarray) -> Any:
            seen.extend([rows.copy(), targets.copy()])
            return super()._fit(rows, targets)

    predictor = Watched(instance, np.random.default_rng(0), trees=2, cold_start=12)
    runs = predictor.feature_names.index("group_runs")
    for job in range(12):
        predictor.predict(job, job)
    for job in range(12):
        predictor.observe(job, 20)
    predictor.predict(12, 21)
    assert seen[0][:, runs].tolist() == [0] * 12  # none had completed when these arrived
    np.testing.assert_allclose(seen[1], np.log([10, 20, 40] * 4))


@pytest.mark.parametrize("forest", FORESTS)
def test_learns_groups_and_keeps_the_cap(forest: type[RetrainedForest]) -> None:
    """Tests that on recurring jobs the error falls far below that of a constant, and the cap holds."""
    instance = recurring_stream(400, seed=5)
    completion = instance.release + instance.iterations
    predictor = forest(instance, np.random.default_rng(0), **{**QUICK, "trees": 20})
    predictions = np.array(plain_replay(instance, predictor, completion))
    later = slice(200, None)
    error = np.abs(np.log(predictions[later] / instance.iterations[later])).mean()
    spread = np.abs(np.log(instance.iterations[later]) - np.median(np.log(instance.iterations[later]))).mean()
    assert error < 0.5 * spread
    for job in range(400):
        known = instance.iterations[completion <= instance.release[job]]
        if len(known) >= 10:
            assert predictions[job] <= CAP * known.max()


@pytest.mark.parametrize("forest", FORESTS)
def test_same_seed_same_predictions(forest: type[RetrainedForest]) -> None:
    """Tests that a seed decides all predictions, and that another seed gives others."""
    instance = recurring_stream(150, seed=6)
    completion = instance.release + instance.iterations
    one, two, other = (
        plain_replay(instance, forest(instance, np.random.default_rng(seed), **QUICK), completion) for seed in (1, 1, 2)
    )
    assert one == two
    assert one != other


@pytest.mark.parametrize("forest", FORESTS)
def test_completion_before_prediction(forest: type[RetrainedForest]) -> None:
    """Tests that a completion of a job that never arrived is an error, and so is a second arrival."""
    predictor = forest(stream([1]), np.random.default_rng(0))
    with pytest.raises(ValueError, match="expected a prediction before the completion"):
        predictor.observe(0, 1)
    predictor.predict(0, 1)
    with pytest.raises(ValueError, match="expected one prediction"):
        predictor.predict(0, 1)
