"""The grid world of Zhang et al. (2025), in which the study of the actor-critic trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp

if TYPE_CHECKING:
    from jax import Array


MOVES = ((0, 1), (0, -1), (-1, 0), (1, 0), (0, 0))
"""Up, down, left, right, stay, as (x, y)."""

LANDMARKS = {
    2: ((3, 1), (9, 3)),
    3: ((2, 1), (6, 3), (10, 1)),
    4: ((2, 1), (5, 3), (8, 1), (11, 3)),
}
"""Cells by number of landmarks; ours, because those of the paper are not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleSpread:
    """N agents walk over a grid; the team's reward is minus the sum over landmarks of the L1 distance to the closest.

    Printed: 13 x 5 grid, N fixed landmarks and N agents, moves up, down, left, right, stay, the same reward for all
    agents. Ours: positions of landmarks; walls stop a move; agents may share a cell; the reward is that of the
    cells after the move; features; local rewards.

    Parameters
    ----------
    landmarks
        Cells (x, y).
    local_rewards
        Whether every agent gets a part of its own (ours): minus the distances to the landmarks to which it is the
        closest, ties to the agent with the lower index. The parts sum to the team's reward. Otherwise (printed) every
        agent gets the team's reward.
    reward_scale
        Divisor of the rewards of agents; reported rewards are not divided.
    width, height
        Size of the grid in cells.

    Raises
    ------
    ValueError
        If a landmark is off the grid, there is none, or the scale is not above 0.
    """

    landmarks: tuple[tuple[int, int], ...] = LANDMARKS[2]
    local_rewards: bool = True
    reward_scale: float = 10.0
    width: int = 13
    height: int = 5

    def __post_init__(self) -> None:
        """Check the cells."""
        if not self.landmarks:
            raise ValueError("landmarks: expected at least one, got none.")
        for x, y in self.landmarks:
            if not (0 <= x < self.width and 0 <= y < self.height):
                raise ValueError(f"landmarks: expected cells of a {self.width} x {self.height} grid, got ({x}, {y}).")
        if not self.reward_scale > 0.0:
            raise ValueError(f"reward_scale: expected a number above 0, got {self.reward_scale}.")

    @property
    def num_agents(self) -> int:
        """As many as landmarks."""
        return len(self.landmarks)

    @property
    def num_actions(self) -> int:
        """Number of moves."""
        return len(MOVES)

    @property
    def num_features(self) -> int:
        """Two coordinates of every agent and a constant."""
        return 2 * self.num_agents + 1

    @property
    def start_numbers(self) -> int:
        """Two for every agent."""
        return 2 * self.num_agents

    @property
    def step_numbers(self) -> int:
        """None: nothing is random in a move."""
        return 0

    def start(self, uniforms: Array) -> Array:
        """Place every agent on a cell, all cells alike; shape (N, 2), int32."""
        size = jnp.array([self.width, self.height])
        return jnp.floor(uniforms.reshape(self.num_agents, 2) * size).astype(jnp.int32)

    def step(self, state: Array, actions: Array, uniforms: Array) -> tuple[Array, Array]:
        """Move, and return cells and rewards of the agents, shape (N,)."""
        del uniforms
        moved = state + jnp.array(MOVES)[actions]
        moved = jnp.clip(moved, 0, jnp.array([self.width - 1, self.height - 1]))
        return moved, self.rewards(moved)

    def rewards(self, cells: Array) -> Array:
        """Return the rewards of agents at cells of shape (N, 2), shape (N,)."""
        distance = jnp.abs(cells[:, None, :] - jnp.array(self.landmarks)).sum(axis=-1)  # agent, landmark
        least = distance.min(axis=0)
        if not self.local_rewards:
            return jnp.full(self.num_agents, -least.sum() / self.reward_scale)
        is_closest = jnp.arange(self.num_agents)[:, None] == distance.argmin(axis=0)
        return -jnp.where(is_closest, least, 0).sum(axis=1) / self.reward_scale

    def team_reward(self, rewards: Array) -> Array:
        """Return the team's reward, not divided, from the rewards of the agents, shape (..., N)."""
        return self.reward_scale * (rewards.sum(axis=-1) if self.local_rewards else rewards[..., 0])

    def features(self, state: Array) -> Array:
        """Return the coordinates of every agent, from -1 to 1, and a constant 1."""
        last = jnp.array([max(1, self.width - 1), max(1, self.height - 1)])
        return jnp.concatenate([(2.0 * state / last - 1.0).ravel(), jnp.ones(1)])
