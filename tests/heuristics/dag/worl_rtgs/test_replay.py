"""Tests of the replay memory."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.dag.worl_rtgs.replay import Replay


def _episode(n: int, m: int, first: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return an episode whose state t has the feature first + t on every GPU, and the reward -(t + 1)."""
    rows = np.broadcast_to((first + np.arange(n))[:, None, None], (n, m, 2)).astype(np.float32)
    return rows, np.ones((n, m), dtype=bool), np.arange(n) % m, -np.arange(1.0, n + 1.0)


def _transitions(replay: Replay) -> dict[float, tuple[float, float, float]]:
    """Return state -> (reward, discount, next state) of everything that a large sample holds, each state by feature."""
    batch = replay.sample(np.random.default_rng(0), updates=20, batch=50)
    state, after = batch.rows[..., 0, 0].ravel(), batch.next_rows[..., 0, 0].ravel()
    found: dict[float, tuple[float, float, float]] = {}
    for key, *value in zip(state, batch.reward.ravel(), batch.discount.ravel(), after, strict=True):
        assert found.setdefault(float(key), tuple(map(float, value))) == tuple(map(float, value))
    return found


def test_transitions_lead_to_the_next_state() -> None:
    """Tests that each transition has its own reward and next state, and that the last one of an episode ends it."""
    replay = Replay(100, 3, 2)
    replay.add(*_episode(3, 2, 10.0))
    replay.add(*_episode(2, 3, 20.0))
    found = _transitions(replay)
    assert {key: value[:2] for key, value in found.items()} == {
        10.0: (-1.0, 1.0),
        11.0: (-2.0, 1.0),
        12.0: (-3.0, 0.0),
        20.0: (-1.0, 1.0),
        21.0: (-2.0, 0.0),
    }
    assert (found[10.0][2], found[11.0][2], found[20.0][2]) == (11.0, 12.0, 21.0)


def test_ring_overwrites_the_oldest_states() -> None:
    """Tests that a full ring holds the latest states only, also where an episode goes round its end."""
    replay = Replay(7, 2, 2)
    for first in (10.0, 20.0, 30.0):
        replay.add(*_episode(4, 2, first))
    found = _transitions(replay)
    assert replay.size == 7
    assert set(found) == {21.0, 22.0, 23.0, 30.0, 31.0, 32.0, 33.0}
    assert found[22.0] == (-3.0, 1.0, 23.0)
    assert found[31.0] == (-2.0, 1.0, 32.0)
    assert found[33.0][:2] == (-4.0, 0.0)


def test_horizon_sums_discounted_rewards() -> None:
    """Tests that with horizon 2 and discount 0.5 a transition holds two rewards and the discount 0.25."""
    replay = Replay(10, 2, 2, discount=0.5, horizon=2)
    replay.add(*_episode(4, 2, 10.0))
    found = _transitions(replay)
    assert found[10.0] == (-1.0 - 0.5 * 2.0, 0.25, 12.0)
    assert found[11.0] == (-2.0 - 0.5 * 3.0, 0.25, 13.0)
    assert found[12.0][:2] == (-3.0 - 0.5 * 4.0, 0.0)
    assert found[13.0][:2] == (-4.0, 0.0)


def test_rows_are_padded() -> None:
    """Tests that GPUs that do not exist never fit and have rows of 0, also after larger episodes in the same slots."""
    replay = Replay(4, 3, 2)
    replay.add(*_episode(4, 3, 50.0))
    replay.add(*_episode(4, 1, 10.0))
    batch = replay.sample(np.random.default_rng(1), updates=1, batch=64)
    assert batch.rows.shape == (1, 64, 3, 2)
    assert batch.fits[..., 0].all()
    assert not batch.fits[..., 1:].any()
    assert (batch.rows[..., 1:, :] == 0).all()
    assert batch.rows.dtype == batch.reward.dtype == batch.discount.dtype == np.float32


def test_samples_are_uniform_and_seeded() -> None:
    """Tests that every state is drawn about equally often, and the same ones from the same seed."""
    replay = Replay(10, 2, 2)
    replay.add(*_episode(5, 2, 0.0))
    batch = replay.sample(np.random.default_rng(3), updates=10, batch=1000)
    counts = np.bincount(batch.rows[..., 0, 0].ravel().astype(int), minlength=5)
    assert counts.sum() == 10_000
    assert (np.abs(counts - 2000) < 200).all()  # five standard deviations
    again = replay.sample(np.random.default_rng(3), updates=10, batch=1000)
    assert all(np.array_equal(one, other) for one, other in zip(batch, again, strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"capacity": 0}, "capacity: expected at least 1, got 0."),
        ({"discount": 0.0}, "discount: expected a number in (0, 1], got 0.0."),
        ({"horizon": 0}, "horizon: expected at least 1, got 0."),
    ],
)
def test_parameters_are_checked(arguments: dict[str, float], message: str) -> None:
    """Tests that parameters out of range are refused."""
    with pytest.raises(ValueError) as caught:
        Replay(**{"capacity": 5, "max_gpus": 2, "num_features": 2, **arguments})
    assert str(caught.value) == message


def test_too_large_episodes_are_refused() -> None:
    """Tests that episodes with too many GPUs or states are refused, and a sample of nothing."""
    replay = Replay(5, 2, 2)
    with pytest.raises(ValueError, match="expected at most 2 GPUs, got 3"):
        replay.add(*_episode(2, 3, 0.0))
    with pytest.raises(ValueError, match="expected at most 5 states, got 6"):
        replay.add(*_episode(6, 2, 0.0))
    with pytest.raises(ValueError, match="expected an episode before a sample"):
        replay.sample(np.random.default_rng(0), updates=1, batch=1)
