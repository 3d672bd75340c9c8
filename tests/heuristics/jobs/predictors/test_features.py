"""Tests of the features of jobs that arrive."""

from __future__ import annotations

import math

import pytest

from heuristics.jobs.predictors.job_features import JobFeatures
from heuristics.jobs.predictors.keyed_histories import KeyedHistories
from heuristics.jobs.predictors.unfinished_features import NEVER_SECONDS, NO_AGE, UnfinishedFeatures
from instances.jobs import Job, JobsInstance, JobsServer, Stage
from tests.heuristics.jobs.predictors.streams import stream


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
