"""The critics of all agents: they learn from the same rounds, each from its own rewards, and gossip."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from heuristics.jobs.actor_critic.compiler_options import COMPILER_OPTIONS
from heuristics.jobs.actor_critic.critic import Transitions, critic_pass, td_errors, weight_gap
from heuristics.jobs.actor_critic.deep_network import DeepNetwork, Ends, random_network, value_of
from heuristics.jobs.actor_critic.gossip import gossip_operator, mix
from heuristics.jobs.actor_critic.linear_critic import linear_critic, linear_value_of
from heuristics.jobs.marl.gossip.global_state import num_state_features

if TYPE_CHECKING:
    from heuristics.jobs.marl.gossip.gossip_settings import GossipSettings


class Lesson(NamedTuple):
    """What critics make of the rounds of one update.

    Parameters
    ----------
    layers
        W_i after gossip, shape (A, D, m, m); of linear critics (A, 1, 1, d).
    signals
        What scores of the actors are weighted with, after gossip, shape (M, A).
    td_error
        Mean absolute temporal difference in the actors' rounds before gossip.
    gap_before, gap_after
        max ||W_i - mean W|| around the gossip of the critics.
    hits
        Share of projections that had something to do.
    """

    layers: jax.Array
    signals: jax.Array
    td_error: jax.Array
    gap_before: jax.Array
    gap_after: jax.Array
    hits: jax.Array


class GossipCritics:
    """Critics that begin at common weights W(0), with common first and last layers.

    Parameters
    ----------
    settings
        Of critics and gossip.
    rng
        Of W(0).

    Attributes
    ----------
    network
        First critic.
    layers
        W_i now.
    operator
        Am to the power of tg, shape (A, A), float32.
    """

    def __init__(self, settings: GossipSettings, rng: np.random.Generator) -> None:
        """Draw the first critic."""
        inputs = num_state_features(settings.num_agents)
        shape = {"inputs": inputs, "width": settings.width, "depth": settings.depth}
        self._settings = settings
        self.network = linear_critic(**shape) if settings.critic == "linear" else random_network(rng, **shape)
        self.layers = np.repeat(np.asarray(self.network.layers)[np.newaxis], settings.num_agents, axis=0)
        self.operator = gossip_operator(settings.weights, settings.num_gossip_rounds)

    def learn(self, transitions: Transitions) -> Lesson:
        """Learn from the first K of K + M rounds, judge the others, and keep what was learned.

        Steps 3 and 4 of section 6 of the reference, up to the directions of the actors.
        """
        settings, first = self._settings, np.broadcast_to(self.network.layers, self.layers.shape)
        lesson: Lesson = _lesson(
            self.network,
            self.layers if settings.warm_start else first,
            transitions,
            self.operator,
            np.float32(settings.beta),
            np.float32(settings.radius),
            np.float32(-1 if settings.sign == "printed" else 1),
            np.float32(settings.is_centred),
            critic_steps=settings.critic_steps,
            is_linear=settings.critic == "linear",
        )
        self.layers = np.asarray(lesson.layers)
        return lesson


@partial(jax.jit, static_argnames=("critic_steps", "is_linear"), compiler_options=COMPILER_OPTIONS)
def _lesson(
    network: DeepNetwork,
    layers: Any,
    transitions: Transitions,
    operator: Any,
    beta: Any,
    radius: Any,
    sign: Any,
    centred: Any,
    *,
    critic_steps: int,
    is_linear: bool,
) -> Lesson:
    """Learn, gossip, judge, gossip."""
    value_with = linear_value_of if is_linear else value_of

    def critic(ends: Ends, weights: Any, x: Any) -> Any:
        """Return a value, less that of the first weights where critics are centred."""
        return value_with(ends, weights, x) - centred * value_with(ends, network.layers, x)

    watched: Transitions = jax.tree.map(lambda array: array[:critic_steps], transitions)
    acted: Transitions = jax.tree.map(lambda array: array[critic_steps:], transitions)
    learned = critic_pass(network.ends, layers, network.layers, watched, beta=beta, radius=radius, value_of=critic)
    mixed = mix(operator, learned.mean)
    errors = td_errors(network.ends, mixed, acted, critic)
    signals = mix(operator, (sign * errors).T).T
    return Lesson(mixed, signals, jnp.abs(errors).mean(), weight_gap(learned.mean), weight_gap(mixed), learned.hits)
