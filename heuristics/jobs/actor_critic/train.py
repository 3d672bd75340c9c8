"""The whole of Algorithm 1: agents take steps, critics learn and gossip, actors follow gossiped signals."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from heuristics.jax_options import COMPILER_OPTIONS
from heuristics.jobs.actor_critic.actor import actor_update, deep_log_probabilities, directions, length_of
from heuristics.jobs.actor_critic.critic import (
    DeepNetwork,
    Ends,
    Transitions,
    critic_pass,
    random_network,
    td_errors,
    unit,
    values,
    weight_gap,
)
from heuristics.jobs.actor_critic.gossip import gossip_operator, gossip_traffic, mix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from heuristics.jobs.actor_critic.environment import Environment
    from heuristics.jobs.actor_critic.gossip import GossipTraffic
    from heuristics.jobs.actor_critic.settings import ActorCriticSettings


class Place(NamedTuple):
    """The state of a run. `age` counts steps since the last restart."""

    state: Any
    age: jax.Array


class Rollout(NamedTuple):
    """Steps, in their order.

    Parameters
    ----------
    observation
        Inputs of the actors, norm 1, shape (steps, d).
    actions
        Actions of all agents, shape (steps, N).
    others
        Critic inputs of other joint actions drawn in the same states, shape (steps, samples, d); samples is 0 if they
        are not needed.
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
    settings
        `gamma`, `restart`, `episode_steps`, `target`, `signal`, `advantage_samples` and `reward_shift`.
    log_probabilities
        Log probabilities of the actions of one agent, from its weights and the observation.
    weights
        Weights of the actors, first axis the agent.
    uniforms
        All random numbers, uniform in [0, 1), shape (steps, `numbers_per_step`).

    Returns
    -------
    tuple
        The last state, and the steps.
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
    """Split the numbers by use."""
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
    """Return the state in which the next step begins: the given one, or s_0 with age 0.

    "kernel" is printed: with probability gamma the given state. Consequence: in the long run the states in which steps
    begin are distributed as (1 - gamma) times the discounted visits from s_0.
    """
    again = uniform >= settings.gamma if settings.restart == "kernel" else place.age >= settings.episode_steps
    fresh = environment.start(starts)
    state = jax.tree.map(lambda new, old: jnp.where(again, new, old), fresh, place.state)
    return Place(state, jnp.where(again, 0, place.age))


SIGN = {"printed": -1.0, "repaired": 1.0}
"""Factor of r + gamma Q(s', a') - Q(s, a) before theta + alpha d."""


class Curves(NamedTuple):
    """Measurements per run and iteration.

    Parameters
    ----------
    team_reward
        Mean of the K + M steps, shape (runs, T).
    weight_gap
        max ||W_i - mean W|| of the critics after gossip, shape (runs, T).
    projection_hits
        Share of projections that changed weights, shape (runs, T).
    direction_norm
        ||d_i|| of every agent, shape (runs, T, N).
    td_error
        Mean absolute temporal difference of the actor's steps before gossip, shape (runs, T).
    """

    team_reward: NDArray[np.float32]
    weight_gap: NDArray[np.float32]
    projection_hits: NDArray[np.float32]
    direction_norm: NDArray[np.float32]
    td_error: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainingRuns:
    """Runs that differ by their seeds.

    Parameters
    ----------
    critic_ends
        H and b of the critics of each run, which never change.
    critics
        W_i at the end, shape (runs, N, D, m, m), float32.
    actors
        theta_i at the end; arrays with axes (runs, N, ...).
    traffic
        Messages of gossip in one iteration.
    """

    seeds: tuple[int, ...]
    curves: Curves
    critic_ends: Ends
    critics: NDArray[np.float32]
    actors: DeepNetwork
    traffic: GossipTraffic


class _State(NamedTuple):
    """The variables of a run."""

    actors: Any
    optimiser: Any
    critics: jax.Array
    place: Place


class _NumbersActorCritic(NamedTuple):
    """Numbers that may differ between runs of one compiled program."""

    operator: jax.Array
    alpha: jax.Array
    beta: jax.Array
    radius: jax.Array
    sign: jax.Array


class _Beginning(NamedTuple):
    """The initial values of a run."""

    critic: DeepNetwork
    actors: DeepNetwork
    start: Any
    key: Any


def _beginning(environment: Environment, settings: ActorCriticSettings, seed: int) -> _Beginning:
    """Draw a critic for all, an actor for each agent, the numbers of the first state, and the key of all others."""
    agents, actions, features = environment.num_agents, environment.num_actions, environment.num_features
    rng = np.random.default_rng(seed)
    inputs = features + agents * actions * (settings.signal != "v")
    draw = partial(random_network, rng, width=settings.width, depth=settings.depth)
    critic = draw(inputs=inputs)
    actors = [draw(inputs=features, outputs=actions, last_scale=settings.last_scale) for _ in range(agents)]
    return _Beginning(
        critic,
        jax.tree.map(lambda *arrays: np.stack(arrays), *actors),
        rng.random(environment.start_numbers, dtype=np.float32),
        rng.integers(2**32, size=2, dtype=np.uint32),
    )


def actor_critic(
    environment: Environment,
    settings: ActorCriticSettings,
    weights: ArrayLike,
    *,
    seeds: Sequence[int],
    actors: DeepNetwork | None = None,
) -> TrainingRuns:
    """Train all agents, once for each seed, side by side.

    Parameters
    ----------
    weights
        Doubly stochastic matrix Am, shape (N, N).
    seeds
        Seeds of all random numbers of the runs. The same seeds, settings, computer and versions give the same bytes.
    actors
        theta_0 of each run, `TrainingRuns.actors` of others; by default they are drawn. All other numbers are drawn as
        without them.

    Raises
    ------
    ValueError
        If the number of agents of the weights differs from that of the environment, there is no seed, or the actors
        have another number of runs, number of agents or size.

    References
    ----------
    Zhang et al. (2025), Algorithms 1 and 2; deviations are fields of `ActorCriticSettings`. Critics of all agents
    begin at one W(0) (printed), actors at weights of their own (ours; not stated).
    """
    agents = environment.num_agents
    operator = gossip_operator(weights, settings.gossip_rounds)
    if operator.shape != (agents, agents):
        raise ValueError(f"weights: expected a row for each of {agents} agents, got shape {operator.shape}.")
    if not len(seeds):
        raise ValueError("seeds: expected at least one, got none.")
    drawn = [_beginning(environment, settings, seed) for seed in seeds]
    begun: _Beginning = jax.tree.map(lambda *arrays: np.stack(arrays), *drawn)
    if actors is not None:
        begun = begun._replace(actors=_checked(actors, begun.actors))
    numbers = _NumbersActorCritic(
        jnp.asarray(operator),
        *(jnp.float32(number) for number in (settings.alpha, settings.beta, settings.radius, SIGN[settings.sign])),
    )
    shape = replace(settings, gossip_rounds=0, alpha=1.0, beta=1.0, radius=1.0, last_scale=1.0, sign="repaired")
    ends, state, curves = _train_all(environment, shape, numbers, begun)
    to_numpy = partial(jax.tree.map, np.asarray)
    return TrainingRuns(
        seeds=tuple(int(seed) for seed in seeds),
        curves=Curves(*to_numpy(curves)),
        critic_ends=to_numpy(ends),
        critics=to_numpy(state.critics),
        actors=to_numpy(state.actors),
        traffic=gossip_traffic(
            weights,
            settings.gossip_rounds,
            critic_size=settings.depth * settings.width**2,
            signal_size=settings.actor_steps,
        ),
    )


def _checked(actors: DeepNetwork, drawn: DeepNetwork) -> DeepNetwork:
    """Return the actors, which must have the shapes of the drawn ones."""
    for mine, expected in zip(jax.tree.leaves(actors), jax.tree.leaves(drawn), strict=True):
        if np.shape(mine) != expected.shape:
            raise ValueError(f"actors: expected weights of shape {expected.shape}, got {np.shape(mine)}.")
    checked: DeepNetwork = jax.tree.map(lambda array: np.asarray(array, dtype=np.float32), actors)
    return checked


@partial(jax.jit, static_argnums=(0, 1), compiler_options=COMPILER_OPTIONS)
def _train_all(
    environment: Environment, settings: ActorCriticSettings, numbers: _NumbersActorCritic, begun: _Beginning
) -> tuple[Ends, _State, tuple[jax.Array, ...]]:
    """Train once for each beginning."""
    found: tuple = jax.vmap(lambda one: _train(environment, settings, numbers, one))(begun)
    return found


def _train(
    environment: Environment, settings: ActorCriticSettings, numbers: _NumbersActorCritic, begun: _Beginning
) -> tuple[Ends, _State, tuple[jax.Array, ...]]:
    """Train once."""
    critic = begun.critic
    optimiser = jax.vmap(actor_update(settings, numbers.alpha).init)(begun.actors)
    critics = jnp.broadcast_to(critic.layers, (environment.num_agents, *critic.layers.shape))
    start = _State(begun.actors, optimiser, critics, Place(environment.start(begun.start), jnp.int32(0)))
    iterate = partial(_iterate, environment, settings, numbers, critic)
    keys = jax.random.split(jax.random.wrap_key_data(begun.key), settings.iterations)
    end, curves = jax.lax.scan(iterate, start, keys)
    return critic.ends, end, curves


def _iterate(
    environment: Environment,
    settings: ActorCriticSettings,
    numbers: _NumbersActorCritic,
    critic: DeepNetwork,
    state: _State,
    key: jax.Array,
) -> tuple[_State, tuple[jax.Array, ...]]:
    """Make one iteration."""
    shape = (settings.critic_steps + settings.actor_steps, numbers_per_step(environment, settings))
    # policies change only at the end: the steps of critics and actors are one rollout
    place, steps = roll_out(
        environment, settings, deep_log_probabilities, state.actors, state.place, jax.random.uniform(key, shape)
    )
    acted: Rollout = jax.tree.map(lambda array: array[settings.critic_steps :], steps)
    begin = state.critics if settings.warm_start else jnp.broadcast_to(critic.layers, state.critics.shape)
    watched: Transitions = jax.tree.map(lambda array: array[: settings.critic_steps], steps.transitions)
    learned = critic_pass(critic.ends, begin, critic.layers, watched, beta=numbers.beta, radius=numbers.radius)
    critics = mix(numbers.operator, learned.mean)
    errors = td_errors(critic.ends, critics, acted.transitions)
    signals = signals_of(settings, critic.ends, critics, acted, errors, numbers.sign)
    signals = mix(numbers.operator, signals.T).T
    found = directions(
        lambda one, step: deep_log_probabilities(one, step[0])[step[1]],
        state.actors,
        (jnp.repeat(acted.observation[:, None], environment.num_agents, axis=1), acted.actions),
        signals,
    )
    change, optimiser = jax.vmap(actor_update(settings, numbers.alpha).update)(found, state.optimiser, state.actors)
    curves = (
        steps.team_reward.mean(),
        weight_gap(critics),
        learned.hits,
        jax.vmap(length_of)(found),
        jnp.abs(errors).mean(),
    )
    return _State(optax.apply_updates(state.actors, change), optimiser, critics, place), curves


def signals_of(
    settings: ActorCriticSettings,
    ends: Ends,
    critics: jax.Array,
    acted: Rollout,
    errors: jax.Array,
    sign: float | jax.Array,
) -> jax.Array:
    """Return the weights of the actors' scores before gossip, shape (M, N), with the sign of an ascent.

    Parameters
    ----------
    ends, critics
        The critics after gossip.
    errors
        Their temporal differences, as `td_errors` returns them.
    sign
        A value of `SIGN`, used only by "q_residual". Traced, so that both signs share a program.
    """
    if settings.signal == "v":
        return errors
    if settings.signal == "q_residual":
        return sign * errors
    chosen = values(ends, critics, acted.transitions.x)
    if settings.signal == "q_value":
        return chosen
    return chosen - jax.vmap(lambda x: values(ends, critics, x))(acted.others).mean(axis=1)
