"""The actors: a copy of the policy's network for every agent, each moved along its own direction."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
import optax

from heuristics.jobs.actor_critic.actor_update import actor_update, length_of
from heuristics.jobs.actor_critic.compiler_options import COMPILER_OPTIONS
from heuristics.jobs.actor_critic.settings import ActorCriticSettings
from heuristics.jobs.marl.parameters import Variant
from heuristics.jobs.marl.training.learner import Batch, Learner, to_numpy
from heuristics.jobs.marl.training.recorded_episode import stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.marl.gossip.gossip_settings import GossipSettings
    from heuristics.jobs.marl.gossip.round_walk import PlayedRound
    from heuristics.jobs.marl.parameters import Parameters


class Direction(NamedTuple):
    """Where to move the actor of one agent."""

    gradient: Parameters
    """Of the mean over decisions of - signal ln pi(slot) - c_H entropy; zeros without decisions."""
    scale: float
    """Decisions / M: minus the gradient times it is d_i, with the bonus for entropy."""
    entropy: float | None
    """Mean over decisions; None without."""


class AgentActors:
    """Actors of all agents, alike at first.

    Parameters
    ----------
    settings
        Of the update.
    parameters
        To begin with, of every agent.

    Attributes
    ----------
    parameters
        Of each agent, arrays of NumPy.
    """

    def __init__(self, settings: GossipSettings, parameters: Parameters) -> None:
        """Copy the parameters."""
        self._settings = settings
        self._learner = Learner(Variant(settings.variant), value_weight=0.0, chunk=settings.actor_chunk)
        rule = settings.actor_critic
        begin, self._step = _compiled_step(rule.update, rule.alpha_schedule, rule.alpha, rule.max_norm)
        self._zeros = {name: np.zeros_like(array) for name, array in parameters.items()}
        self.parameters: list[Parameters] = [dict(parameters) for _ in range(settings.num_agents)]
        self._states = [begin(parameters) for _ in range(settings.num_agents)]

    def direction(
        self, agent: int, rounds: Sequence[PlayedRound], signals: NDArray[np.float32], entropy_weight: float
    ) -> Direction:
        """Return d_i = (1/M) sum over rounds of signal times the gradient of the sum of ln pi over i's decisions.

        Parameters
        ----------
        agent
            i.
        rounds
            M rounds.
        signals
            Of each agent after gossip, shape (M, A).
        entropy_weight
            c_H; the bonus is (1/M) sum over decisions of c_H times the entropy's gradient.
        """
        mine = [(number, one) for number, each in enumerate(rounds) for one in each.choices if one.agent == agent]
        if not mine:
            return Direction(self._zeros, 0.0, None)
        number = [step for step, _ in mine]
        batch = Batch(
            seen=stacked([one.seen for _, one in mine]),
            slot=np.array([one.slot for _, one in mine], dtype=np.int32),
            advantage=np.asarray(signals, dtype=np.float32)[number, agent],
            target=np.zeros(len(mine), dtype=np.float32),
            weight=np.zeros(len(mine), dtype=np.float32),
            logarithm=np.zeros(len(mine), dtype=np.float32),
        )
        gradient, parts = self._learner.gradient(self.parameters[agent], batch, entropy_weight)
        return Direction(gradient, len(mine) / len(rounds), parts.entropy)

    def move(self, agent: int, direction: Direction) -> float:
        """Move an actor and return ||d_i||."""
        parameters, self._states[agent], norm = self._step(
            self.parameters[agent], self._states[agent], direction.gradient, np.float32(-direction.scale)
        )
        self.parameters[agent] = to_numpy(parameters)
        return float(norm)


@cache
def _compiled_step(update: str, alpha_schedule: str, alpha: float, max_norm: float) -> tuple[Any, Any]:
    """Return the beginning and the compiled step of a rule."""
    rule = actor_update(ActorCriticSettings(update=update, alpha_schedule=alpha_schedule, max_norm=max_norm), alpha)

    def step(parameters: Parameters, state: Any, gradient: Parameters, factor: Any) -> tuple[Any, Any, Any]:
        """Go along a direction, a gradient times a factor."""
        direction = jax.tree.map(lambda array: factor * array, gradient)
        change, state = rule.update(direction, state, parameters)
        return optax.apply_updates(parameters, change), state, length_of(direction)

    return rule.init, jax.jit(step, compiler_options=COMPILER_OPTIONS)
