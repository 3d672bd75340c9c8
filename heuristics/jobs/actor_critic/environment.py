"""What a decentralised actor-critic learns in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import jax


class Environment(Protocol):
    """N agents that see the whole state and act at once; its functions are traced by JAX, so they have no memory.

    Environments are compared and hashed by their parameters: what was compiled for one serves its equals.
    """

    @property
    def num_agents(self) -> int:
        """N."""

    @property
    def num_actions(self) -> int:
        """Number of actions of each agent."""

    @property
    def num_features(self) -> int:
        """Numbers that describe a state."""

    @property
    def start_numbers(self) -> int:
        """Random numbers that `start` is handed."""

    @property
    def step_numbers(self) -> int:
        """Random numbers that `step` is handed."""

    def start(self, uniforms: jax.Array) -> Any:
        """Return s_0, drawn with numbers uniform in [0, 1), shape (start_numbers,)."""

    def step(self, state: Any, actions: jax.Array, uniforms: jax.Array) -> tuple[Any, jax.Array]:
        """Return s' and what the agents get, shape (N,).

        Parameters
        ----------
        state
            s.
        actions
            One per agent, shape (N,), integers.
        uniforms
            Numbers uniform in [0, 1), shape (step_numbers,).
        """

    def features(self, state: Any) -> jax.Array:
        """Return the description of a state, shape (num_features,), not scaled."""

    def team_reward(self, rewards: jax.Array) -> jax.Array:
        """Return what the team is judged by, from what the agents got, shape (..., N): shape (...)."""
