"""Steps of all agents in an environment, under fixed policies, with restarts."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp

from heuristics.jobs.actor_critic.critic import Transitions
from heuristics.jobs.actor_critic.deep_network import unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.jobs.actor_critic.environment import Environment
    from heuristics.jobs.actor_critic.settings import ActorCriticSettings


class Place(NamedTuple):
    """Where a run is.

    Parameters
    ----------
    state
        s.
    age
        Steps since the last restart.
    """

    state: Any
    age: jax.Array


class Rollout(NamedTuple):
    """Steps, in their order.

    Parameters
    ----------
    observation
        What actors saw, norm 1, shape (steps, d).
    actions
        Of all agents, shape (steps, N).
    transitions
        For the critics.
    others
        Critic inputs of other joint actions drawn in the same states, shape (steps, samples, d); samples is 0 where
        nobody asks for them.
    team_reward
        As the environment reports it, shape (steps,).
    """

    observation: jax.Array
    actions: jax.Array
    transitions: Transitions
    others: jax.Array
    team_reward: jax.Array


def roll_out(
    environment: Environment,
    settings: ActorCriticSettings,
    log_probabilities: Callable[[Any, jax.Array], jax.Array],
    weights: Any,
    place: Place,
    uniforms: jax.Array,
) -> tuple[Place, Rollout]:
    """Let all agents act a number of times.

    Parameters
    ----------
    environment
        Where.
    settings
        `gamma`, `restart`, `episode_steps`, `target`, `signal`, `advantage_samples` and `reward_shift`.
    log_probabilities
        Of the actions of one agent: its weights, the observation.
    weights
        Of the actors, first axis the agent.
    place
        Where to begin.
    uniforms
        Numbers uniform in [0, 1), shape (steps, `numbers_per_step`): all that is random.

    Returns
    -------
    tuple
        Where it ended, and the steps.
    """
    actions, has_q = environment.num_actions, settings.signal != "v"
    policies = jax.vmap(log_probabilities, in_axes=(0, None))

    def critic_input(features: jax.Array, joint: jax.Array) -> jax.Array:
        """Return xi(s, a), or xi(s)."""
        if not has_q:
            return unit(features)
        return unit(jnp.concatenate([features, jax.nn.one_hot(joint, actions).ravel()]))

    def one(at: Place, numbers: _Numbers) -> tuple[Place, Rollout]:
        """Make a step."""
        features = environment.features(at.state)
        observation = unit(features)
        policy = policies(weights, observation)
        joint = drawn(policy, numbers.act)
        reached, reward = environment.step(at.state, joint, numbers.step)
        following = restarted(environment, settings, Place(reached, at.age + 1), numbers.restart, numbers.start)
        target = environment.features(reached if settings.target == "true" else following.state)
        after = drawn(policies(weights, unit(target)), numbers.after) if has_q else joint
        others = jax.vmap(lambda uniforms: critic_input(features, drawn(policy, uniforms)))(numbers.others)
        step = Rollout(
            observation,
            joint,
            Transitions(
                critic_input(features, joint),
                critic_input(target, after),
                reward + settings.reward_shift,
                jnp.float32(settings.gamma),
            ),
            others,
            environment.team_reward(reward),
        )
        return following, step

    return jax.lax.scan(one, place, _numbers(environment, settings, uniforms))


class _Numbers(NamedTuple):
    """Numbers uniform in [0, 1) for every step, or their shapes."""

    act: Any
    after: Any
    others: Any
    restart: Any
    start: Any
    step: Any


def numbers_per_step(environment: Environment, settings: ActorCriticSettings) -> int:
    """Return how many random numbers a step takes."""
    return sum(math.prod(shape) for shape in _shapes(environment, settings))


def _shapes(environment: Environment, settings: ActorCriticSettings) -> _Numbers:
    """Return the shapes of the numbers of one step."""
    agents, samples = environment.num_agents, settings.advantage_samples * (settings.signal == "q_advantage")
    after = agents if settings.signal != "v" else 0
    starts, steps = environment.start_numbers, environment.step_numbers
    return _Numbers((agents,), (after,), (samples, agents), (), (starts,), (steps,))


def _numbers(environment: Environment, settings: ActorCriticSettings, uniforms: jax.Array) -> _Numbers:
    """Deal the numbers out."""
    shapes = _shapes(environment, settings)
    ends = list(itertools.accumulate(math.prod(shape) for shape in shapes))
    parts = (uniforms[:, end - math.prod(shape) : end] for shape, end in zip(shapes, ends, strict=True))
    return _Numbers(*(part.reshape(len(uniforms), *shape) for part, shape in zip(parts, shapes, strict=True)))


def drawn(log_probabilities: jax.Array, uniforms: jax.Array) -> jax.Array:
    """Return an action for each row of logarithms of probabilities, shape (..., actions), by one number each.

    An action of probability 0 is never drawn, even where rounding leaves the others a sum below 1.
    """
    probability = jnp.exp(log_probabilities)
    bounds = jnp.cumsum(probability, axis=-1)[..., :-1]
    last = jnp.max(jnp.where(probability > 0.0, jnp.arange(probability.shape[-1]), 0), axis=-1)
    return jnp.minimum(jnp.sum(uniforms[..., None] >= bounds, axis=-1), last)


def restarted(
    environment: Environment, settings: ActorCriticSettings, place: Place, uniform: jax.Array, starts: jax.Array
) -> Place:
    """Return where the next step begins: at the place, or at s_0 with age 0.

    "kernel" is printed: with probability gamma the place itself. Consequence: the states that steps begin from are then
    distributed, in the long run, as (1 - gamma) times the discounted visits from s_0.
    """
    again = uniform >= settings.gamma if settings.restart == "kernel" else place.age >= settings.episode_steps
    fresh = environment.start(starts)
    state = jax.tree.map(lambda new, old: jnp.where(again, new, old), fresh, place.state)
    return Place(state, jnp.where(again, 0, place.age))
