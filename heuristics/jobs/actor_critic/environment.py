"""The protocol of environments of a decentralised actor-critic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import jax


class Environment(Protocol):
    """N agents that see the whole state and act at once; its functions are traced by JAX, so they have no memory.

    Environments are compared and hashed by their parameters: compiled programs are shared between equal ones.
    """

    @property
    def num_agents(self) -> int:
        """N."""

    @property
    def num_actions(self) -> int:
        """Number of actions of each agent."""

    @property
    def num_features(self) -> int:
        """Number of features of a state."""

    @property
    def start_numbers(self) -> int:
        """Number of random numbers for `start`."""

    @property
    def step_numbers(self) -> int:
        """Number of random numbers for `step`."""

    def start(self, uniforms: jax.Array) -> Any:
        """Return s_0, drawn with numbers uniform in [0, 1), shape (start_numbers,)."""

    def step(self, state: Any, actions: jax.Array, uniforms: jax.Array) -> tuple[Any, jax.Array]:
        """Return s' and the rewards of the agents, shape (N,).

        Parameters
        ----------
        actions
            One per agent, shape (N,), integers.
        uniforms
            Numbers uniform in [0, 1), shape (step_numbers,).
        """

    def features(self, state: Any) -> jax.Array:
        """Return the description of a state, shape (num_features,), not scaled."""

    def team_reward(self, rewards: jax.Array) -> jax.Array:
        """Return the team's reward, shape (...), from the rewards of the agents, shape (..., N)."""
