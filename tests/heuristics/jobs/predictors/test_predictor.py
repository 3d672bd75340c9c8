"""Tests that no predictor but the oracles knows iterations of jobs that have not completed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.jobs.predictors.predictor import PREDICTORS, predictor_named
from tests.heuristics.jobs.predictors.streams import plain_replay, recurring_stream, stream, with_iterations

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


HONEST = tuple(name for name in PREDICTORS if name not in ("oracle", "noisy-oracle"))


def _predictions(instance: JobsInstance, name: str, completion: np.ndarray) -> list[int]:
    """Replay with forests that fit soon and often."""
    quick: dict[str, Any] = {"trees": 3, "cold_start": 5, "retrain_completions": 4, "min_leaf": 1}
    parameters = quick if name.endswith("forest") else {}
    return plain_replay(instance, predictor_named(name, instance, np.random.default_rng(0), **parameters), completion)


@st.composite
def streams(draw: st.DrawFn) -> tuple[JobsInstance, np.ndarray]:
    """Draw jobs with ties in arrivals and completions, and when they complete, whatever their iterations."""
    count = draw(st.integers(2, 18))
    of = lambda values: draw(st.lists(st.sampled_from(values), min_size=count, max_size=count))  # noqa: E731
    releases = sorted(of(range(12)))
    instance = stream(of([1, 3, 50, 4000]), releases, of([None, "a", "b"]), of([None, "g", "h"]), of([1, 2]), of(["x"]))
    return instance, instance.release + np.array(of([1, 2, 5, 20]))


@settings(max_examples=25, deadline=None)
@given(case=streams(), name=st.sampled_from(HONEST), data=st.data())
def test_iterations_of_later_completions_change_nothing(
    case: tuple[JobsInstance, np.ndarray], name: str, data: st.DataObject
) -> None:
    """Tests that every nhat stays when n changes for all jobs that complete after its arrival."""
    instance, completion = case
    job = data.draw(st.integers(0, instance.num_jobs - 1))
    changed = instance.iterations.copy()
    changed[completion > instance.release[job]] = 987_654
    before = _predictions(instance, name, completion)
    after = _predictions(with_iterations(instance, changed), name, completion)
    earlier = instance.release <= instance.release[job]
    assert np.array(before)[earlier].tolist() == np.array(after)[earlier].tolist()


@pytest.mark.parametrize("name", HONEST)
def test_no_leak_on_a_stream(name: str) -> None:
    """Tests the same on 120 recurring jobs with forests at work; and that what completed before does count."""
    instance = recurring_stream(120, seed=3)
    completion = instance.release + instance.iterations
    before = _predictions(instance, name, completion)
    for job in (40, 80, 119):
        now = instance.release[job]
        changed = np.where(completion > now, 1 + 7 * instance.iterations, instance.iterations)
        assert (changed != instance.iterations).any()
        after = _predictions(with_iterations(instance, changed), name, completion)
        assert before[: job + 1] == after[: job + 1]
    if name != "none":
        known = np.where(completion <= instance.release[119], 1 + 7 * instance.iterations, instance.iterations)
        assert _predictions(with_iterations(instance, known), name, completion)[119] != before[119]
