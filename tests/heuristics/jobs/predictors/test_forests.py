"""Tests of the features of jobs that arrive."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from heuristics.jobs.predictors.forests import (
    CAP,
    NEVER_SECONDS,
    NO_AGE,
    JobFeatures,
    MedianForest,
    RandomForest,
    RetrainedForest,
    UnfinishedFeatures,
    conditional_median,
    forest_arrays,
    forest_prediction,
    leaf_members,
)
from heuristics.jobs.predictors.run_histories import KeyedHistories
from heuristics.jobs.predictors.simple_predictors import RunningMedian
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from tests.heuristics.jobs.predictors.streams import plain_replay, recurring_stream, stream


def _named(features: JobFeatures, job: int, time: int = 0) -> dict[str, float]:
    """Return the features by name."""
    return dict(zip(features.names, features.of(job, time).tolist(), strict=True))


def _of_key(values: dict[str, float], key: str) -> tuple[float, ...]:
    """Return runs, mean, median, last, deviation, missing of a key."""
    return tuple(values[f"{key}_{name}"] for name in ("runs", "mean", "median", "last", "deviation", "missing"))


def test_keys_by_hand() -> None:
    """Tests the five values of every key and the indicators, at every step of the way to coarser keys."""
    instance = stream(
        [8, 2, 32, 1, 1, 1, 1],
        users=["a", "a", "b", "a", "a", "c", None],
        gpus=[1, 1, 2, 1, 4, 1, 1],
        groups=["g", "h", None, "g", "new", "new", None],
        tags=["x", "y", "x", "x", "z", None, "y"],
    )
    histories = KeyedHistories(instance)
    features = JobFeatures(instance, histories, unknown=1000)
    nothing = (0, *[math.log(1000)] * 3, 0, 1)
    before = _named(features, 0)
    assert all(_of_key(before, key) == pytest.approx(nothing) for key in ("group", "user", "user_gpus", "model"))
    for job in range(3):
        histories.observe(job)
    two = math.log(2)
    of_a = (2, 2 * two, 2 * two, two, two)  # ln 8, ln 2
    of_all = (3, 3 * two, 3 * two, 5 * two, math.sqrt(8 / 3) * two)  # ln 8, ln 2, ln 32
    same = _named(features, 3)
    assert _of_key(same, "group") == pytest.approx((1, 3 * two, 3 * two, 3 * two, 0, 0))
    assert _of_key(same, "user") == _of_key(same, "user_gpus") == pytest.approx((*of_a, 0))
    assert _of_key(same, "model") == pytest.approx((2, 4 * two, 4 * two, 5 * two, two, 0))
    wider = _named(features, 4)  # neither group nor (user, GPUs) nor model is known, the user is
    assert _of_key(wider, "group") == _of_key(wider, "user_gpus") == pytest.approx((*of_a, 1))
    assert _of_key(wider, "user") == pytest.approx((*of_a, 0))
    assert _of_key(wider, "model") == pytest.approx((*of_all, 1))
    stranger, unknown = _named(features, 5), _named(features, 6)
    for key in ("group", "user", "user_gpus"):
        assert _of_key(stranger, key) == _of_key(unknown, key) == pytest.approx((*of_all, 1))
    assert _of_key(unknown, "model") == pytest.approx((1, two, two, two, 0, 0))


def test_group_is_known_before_user_and_gpus() -> None:
    """Tests that a missing group looks at (user, GPUs) before the user."""
    instance = stream([8, 2, 1], gpus=[1, 2, 1], groups=["g", "g", "new"])
    histories = KeyedHistories(instance)
    histories.observe(0)
    histories.observe(1)
    values = _named(JobFeatures(instance, histories, unknown=1000), 2)
    assert _of_key(values, "group") == pytest.approx((1, *[math.log(8)] * 3, 0, 1))


def test_what_is_known_of_the_job_itself() -> None:
    """Tests ln g, S, Q and ln(1 + sum of par), and hour and weekday where the clock is known."""
    job = Job(
        stages=[Stage(times=1, replicas=3, parameter_bytes=40), Stage(times=1, replicas=1, parameter_bytes=59)],
        micro_batches=7,
    )
    instance = JobsInstance.from_parts([JobsServer(kind="any", gpus=4, nic_bytes_per_tick=1)], [job], tick_seconds=60.0)
    features = JobFeatures(instance, KeyedHistories(instance), unknown=1000)
    values = _named(features, 0)
    own = [values[name] for name in ("log_gpus", "stages", "micro_batches", "log_parameter_bytes")]
    assert own == pytest.approx([math.log(4), 2, 7, math.log(100)])
    assert "hour_sine" not in values and len(features.names) == 28
    # Tick 0 is Tuesday, 4:00; 120 ticks of a minute later it is 6:00, a quarter of the day.
    clock = JobFeatures(instance, KeyedHistories(instance), unknown=1000, clock_seconds=28 * 3600.0)
    values = _named(clock, 0, 120)
    assert [values["hour_sine"], values["hour_cosine"]] == pytest.approx([1, 0], abs=1e-9)
    tuesday = 2 * math.pi / 7
    assert [values["weekday_sine"], values["weekday_cosine"]] == pytest.approx([math.sin(tuesday), math.cos(tuesday)])


def test_unfinished_jobs_by_hand() -> None:
    """Tests counts and ages of the unfinished jobs of (user, GPUs) and of the user."""
    instance = stream([1] * 6, users=["a", "a", "a", "b", "a", None], gpus=[1, 1, 2, 1, 1, 1])
    features = UnfinishedFeatures(instance)
    never = math.log1p(NEVER_SECONDS)
    assert features.arrive(0, 0) == pytest.approx([0, NO_AGE, NO_AGE, never, never, 0] * 2)
    assert features.arrive(1, 10)[:6] == pytest.approx([1, math.log(11), math.log(11), math.log(11), never, 1])
    values = features.arrive(2, 14)
    assert values[:6] == pytest.approx([0, NO_AGE, NO_AGE, never, never, 0])  # the first of this width
    assert values[6:] == pytest.approx([2, math.log(15), math.log(10), math.log(5), never, 2])
    features.arrive(3, 15)  # another user changes nothing
    features.complete(0, 16)
    values = features.arrive(4, 20)
    assert values[:6] == pytest.approx([1, math.log(11), math.log(11), math.log(11), math.log(5), 2])
    assert values[6:] == pytest.approx([2, math.log(11), math.log(9), math.log(7), math.log(5), 3])
    assert features.arrive(5, 30) == pytest.approx([0, NO_AGE, NO_AGE, never, never, 0] * 2)


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
