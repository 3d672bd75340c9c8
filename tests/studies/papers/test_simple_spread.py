"""Tests of the grid world."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from studies.papers.simple_spread import LANDMARKS, MOVES, SimpleSpread

pytestmark = pytest.mark.whole


def test_moves_and_walls() -> None:
    """Tests that moves change a cell as named, that walls stop them, and that staying does nothing."""
    assert MOVES == ((0, 1), (0, -1), (-1, 0), (1, 0), (0, 0))
    grid = SimpleSpread()
    step = jax.jit(grid.step)
    nothing = np.zeros(0)
    for cell, expected in (
        ([6, 2], [[6, 3], [6, 1], [5, 2], [7, 2], [6, 2]]),
        ([0, 0], [[0, 1], [0, 0], [0, 0], [1, 0], [0, 0]]),
        ([12, 4], [[12, 4], [12, 3], [11, 4], [12, 4], [12, 4]]),
    ):
        found = [step(np.array([cell, [3, 3]]), np.array([action, 4]), nothing)[0] for action in range(5)]
        assert [one[0].tolist() for one in found] == expected
        assert [one[1].tolist() for one in found] == [[3, 3]] * 5


@pytest.mark.parametrize("number", [2, 3, 4])
def test_rewards(number: int) -> None:
    """Tests the team's reward against plain loops, that local parts sum to it, and that every agent gets it if shared.

    Ties go to the lower index.
    """
    landmarks = LANDMARKS[number]
    local, shared = SimpleSpread(landmarks=landmarks), SimpleSpread(landmarks=landmarks, local_rewards=False)
    cells = np.random.default_rng(number).integers([13, 5], size=(200, number, 2))
    parts, all_alike = (np.asarray(jax.jit(jax.vmap(grid.rewards))(cells)) for grid in (local, shared))
    ties = 0
    for mine, part, alike in zip(cells.tolist(), parts, all_alike, strict=True):
        expected = [0.0] * number
        for a, b in landmarks:
            distances = [abs(x - a) + abs(y - b) for x, y in mine]
            ties += distances.count(min(distances)) > 1
            expected[distances.index(min(distances))] -= min(distances)
        assert part == pytest.approx(np.array(expected) / 10, abs=1e-6)
        assert alike == pytest.approx(np.full(number, sum(expected) / 10), abs=1e-6)
        assert float(local.team_reward(part)) == pytest.approx(sum(expected), abs=1e-5)
        assert float(shared.team_reward(alike)) == pytest.approx(sum(expected), abs=1e-5)
    assert ties > 5
    assert local.team_reward(np.zeros((7, number))).shape == (7,)


def test_start_is_uniform() -> None:
    """Tests that every cell is as likely as any other, for every agent, and that nobody starts off the grid."""
    grid = SimpleSpread()
    assert (grid.num_agents, grid.num_actions, grid.start_numbers, grid.step_numbers) == (2, 5, 4, 0)
    uniforms = np.random.default_rng(0).random((13_000, 4), dtype=np.float32)
    uniforms[0], uniforms[1] = 0.0, 1 - 2**-24
    cells = np.asarray(jax.jit(jax.vmap(grid.start))(uniforms))
    assert (cells[0].tolist(), cells[1].tolist()) == ([[0, 0], [0, 0]], [[12, 4], [12, 4]])
    for agent in range(2):
        counts = np.bincount(cells[:, agent, 0] * 5 + cells[:, agent, 1], minlength=65)
        assert len(counts) == 65
        assert counts.sum() == 13_000
        assert np.abs(counts - 200).max() < 5 * np.sqrt(200)


def test_features() -> None:
    """Tests coordinates from -1 to 1 and a constant; a grid of one row has features too."""
    features = np.asarray(SimpleSpread().features(np.array([[0, 4], [6, 2]])))
    assert features.tolist() == [-1.0, 1.0, 0.0, 0.0, 1.0]
    assert len(features) == SimpleSpread().num_features
    thin = SimpleSpread(landmarks=((0, 0),), height=1)
    assert np.isfinite(thin.features(np.array([[3, 0]]))).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"landmarks": ()}, "landmarks: expected at least one, got none."),
        ({"landmarks": ((3, 5),)}, "landmarks: expected cells of a 13 x 5 grid, got (3, 5)."),
        ({"reward_scale": 0.0}, "reward_scale: expected a number above 0, got 0.0."),
    ],
)
def test_misuse(changes: dict[str, object], message: str) -> None:
    """Tests that impossible grids are refused."""
    with pytest.raises(ValueError) as caught:
        SimpleSpread(**changes)
    assert str(caught.value) == message
