"""One simulation as training data: decisions, rewards, targets of the critic, and advantages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from heuristics.jobs.marl.observation import Observation
from heuristics.jobs.marl.reward import progress_rewards, round_rewards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.marl.environment import AgentsRun
    from heuristics.jobs.marl.network import Parameters
    from heuristics.jobs.marl.rounds import Decision
    from heuristics.jobs.marl.training.learner import Learner


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RecordedEpisode:
    """The decisions of a simulation and their rewards.

    A step lasts from a round with a decision until the next such round (ours): rounds without a decision belong to the
    previous step, those before the first decision to none.

    Parameters
    ----------
    seen
        Observations, stacked in order: arrays of shape (decisions, ...).
    slot
        Chosen slots, shape (decisions,), int32.
    step
        Step of each decision, shape (decisions,), int64, ascending from 0.
    time
        Tick of each step, shape (steps,), int64, ascending.
    reward
        Rewards of the team, discounted to the beginning of each step, shape (steps,), in units of kappa (of jobs if the
        reward is progress).
    discount
        gamma^(ticks / kappa) from the beginning of each step to that of the next, shape (steps,).
    mean_jct
        Mean completion time less arrival, in ticks.
    """

    seen: Observation
    slot: NDArray[np.int32]
    step: NDArray[np.int64]
    time: NDArray[np.int64]
    reward: NDArray[np.float64]
    discount: NDArray[np.float64]
    mean_jct: float

    @property
    def num_decisions(self) -> int:
        """Number of decisions."""
        return len(self.slot)


class EpisodeRecorder:
    """Records the decisions of one simulation, see `NetworkDecider`, and makes the episode."""

    def __init__(self) -> None:
        self._time: list[int] = []
        self._seen: list[Observation] = []
        self._slot: list[int] = []

    def __call__(self, decision: Decision, seen: Observation, slot: int) -> None:
        """Record a decision."""
        self._time.append(decision.time)
        self._seen.append(seen)
        self._slot.append(slot)

    def episode(
        self, run: AgentsRun, *, kappa: float, gamma: float, reward: Literal["jct", "dl2"] = "jct"
    ) -> RecordedEpisode | None:
        """Return the episode with the reward of `round_rewards` or `progress_rewards`; None without decisions."""
        if not self._slot:
            return None
        rewards = round_rewards(run)
        times, step = np.unique(self._time, return_inverse=True)
        first = np.searchsorted(rewards.times, times)
        step_of_round = np.searchsorted(first, np.arange(len(rewards.times)), side="right") - 1
        within = step_of_round >= 0
        since = rewards.times[within] - times[step_of_round[within]]
        earned = rewards.rewards(kappa).sum(axis=1) if reward == "jct" else progress_rewards(run)
        team = earned[within] * gamma ** (since / kappa)
        end = rewards.times[-1] + rewards.ticks[-1]
        return RecordedEpisode(
            seen=stack_observations(self._seen),
            slot=np.array(self._slot, dtype=np.int32),
            step=step.astype(np.int64),
            time=times.astype(np.int64),
            reward=np.bincount(step_of_round[within], weights=team, minlength=len(times)).astype(np.float64),
            discount=gamma ** (np.diff(np.append(times, end)) / kappa),
            mean_jct=float((run.simulation.completion - run.rounds.instance.release).mean()),
        )


def stack_observations(seen: Sequence[Observation]) -> Observation:
    """Return observations of one size as one whose arrays have a new first axis."""
    return Observation._make(np.stack(arrays) for arrays in zip(*seen, strict=True))


def join_observations(seen: Sequence[Observation]) -> Observation:
    """Return the concatenation of stacked observations."""
    return Observation._make(np.concatenate(arrays) for arrays in zip(*seen, strict=True))


def lambda_returns(
    reward: NDArray[np.float64], discount: NDArray[np.float64], value: NDArray[np.float64], trace_decay: float
) -> NDArray[np.float64]:
    """Return G_l = r_l + d_l ((1 - lambda) V_{l+1} + lambda G_{l+1}), shape (steps,); both are 0 after the last step.

    G_l - V_l is the generalised advantage estimate: the sum over k of (d_l lambda) ... (d_{l+k-1} lambda) delta_{l+k}
    with delta_l = r_l + d_l V_{l+1} - V_l.

    Parameters
    ----------
    reward, discount, value
        Shape (steps,) each.

    References
    ----------
    Schulman, Moritz, Levine, Jordan and Abbeel (2016), High-dimensional continuous control using generalised advantage
    estimation, ICLR, equation 16; here every step has its own discount.
    """
    returns = np.zeros(len(reward))
    following_value = following = 0.0
    for step in range(len(reward) - 1, -1, -1):
        ahead = (1 - trace_decay) * following_value + trace_decay * following
        following = returns[step] = reward[step] + discount[step] * ahead
        following_value = value[step]
    return returns


def decision_targets(episode: RecordedEpisode, value: NDArray[np.float64], trace_decay: float) -> NDArray[np.float64]:
    """Return the lambda-return of the step of every decision, shape (decisions,); ours.

    The value of a step is the mean over its decisions. A target minus the decision's own value is its advantage: no
    time passes within a round, and all decisions of a round affect everything that follows. `value` holds the values of
    all decisions, shape (decisions,), in units of the rewards.
    """
    of_step = np.bincount(episode.step, weights=value) / np.bincount(episode.step)
    return lambda_returns(episode.reward, episode.discount, of_step, trace_decay)[episode.step]


def mean_of_others(
    times: Sequence[NDArray[np.int64]], gains: Sequence[NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Return, at the steps of every episode, the mean gain of the other episodes at the same tick.

    Returns vary mostly with the jobs that are still to arrive, which all episodes of an instance share. The baseline of
    an episode does not depend on its own choices and thus adds no bias: the input-dependent baseline of
    Mao, Venkatakrishnan, Schwarzkopf and Alizadeh (2019), Variance reduction for reinforcement learning in
    input-driven environments, ICLR; here with gains linear between steps (ours).

    Parameters
    ----------
    times
        Ticks of the steps of each episode, ascending, shape (steps,) each.
    gains
        Returns less values at these steps, same shapes.

    Returns
    -------
    list of numpy.ndarray
        Of the same shapes; 0 if there is no other episode.
    """
    found = []
    for number, at in enumerate(times):
        others = [
            np.interp(at, when, gain)
            for one, (when, gain) in enumerate(zip(times, gains, strict=True))
            if one != number
        ]
        found.append(np.mean(others, axis=0) if others else np.zeros(len(at)))
    return found


_LEAST_DEVIATION = 1e-6
"""Deviation if all returns are alike."""


class ValueScale(NamedTuple):
    """Scale of the critic: values are returns minus a mean, over a deviation; both in units of kappa."""

    mean: float = 0.0
    deviation: float = 1.0

    @classmethod
    def of(cls, returns: NDArray[np.float64]) -> ValueScale:
        """Return the scale on which these returns have mean 0 and deviation 1."""
        return cls(float(returns.mean()), max(float(returns.std()), _LEAST_DEVIATION))

    def values(self, returns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert returns, in units of kappa, to values."""
        return (returns - self.mean) / self.deviation

    def returns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert values to returns in units of kappa."""
        return self.mean + self.deviation * values


_NO_DEVIATION = 1e-8
"""A smaller deviation is rounding."""


class Judged(NamedTuple):
    """Training data of decisions; arrays of shape (decisions,), one episode after the other."""

    target: NDArray[np.float64]  # of the critic, in units of kappa
    advantage: NDArray[np.float64]  # over its deviation
    logarithm: NDArray[np.floating]  # ln pi of the chosen slot when it was chosen


def judged_decisions(
    groups: Sequence[Sequence[RecordedEpisode]],
    learner: Learner,
    parameters: Parameters,
    scale: ValueScale,
    trace_decay: float,
) -> Judged:
    """Return target, advantage and ln pi of every decision of an update.

    An advantage is the target minus value and baseline, over its deviation per instance, and normalised per update.

    Parameters
    ----------
    groups
        Episodes, in groups of one instance each, which are baselines of each other, see `mean_of_others`; a group may
        be empty, but not all.
    trace_decay
        Lambda, see `decision_targets`.
    """
    parts = [_of_one_instance(group, learner, parameters, scale, trace_decay) for group in groups if group]
    targets, advantages, logarithms = (np.concatenate(part) for part in zip(*parts, strict=True))
    advantages = (advantages - advantages.mean()) / max(float(advantages.std()), _NO_DEVIATION)
    return Judged(targets, advantages, logarithms)


def _of_one_instance(
    group: Sequence[RecordedEpisode], learner: Learner, parameters: Parameters, scale: ValueScale, trace_decay: float
) -> Judged:
    """Return the data of the episodes of one instance, not yet normalised."""
    judged = [learner.judged(parameters, episode.seen, episode.slot) for episode in group]
    values = [scale.returns(value) for value, _ in judged]
    targets = [decision_targets(one, value, trace_decay) for one, value in zip(group, values, strict=True)]
    gains = [
        np.bincount(one.step, weights=target - value) / np.bincount(one.step)
        for one, target, value in zip(group, targets, values, strict=True)
    ]
    baselines = mean_of_others([one.time for one in group], gains)
    advantages = [
        target - value - baseline[one.step]
        for one, target, value, baseline in zip(group, targets, values, baselines, strict=True)
    ]
    gained = np.concatenate(advantages)
    gained /= scale_of(gained)  # otherwise only the instances with long jobs would count
    return Judged(np.concatenate(targets), gained, np.concatenate([found for _, found in judged]))


def scale_of(advantages: NDArray[np.float64]) -> float:
    """Return the deviation; if it is 0, as for a single decision, the largest amount; if that is 0 too, 1."""
    deviation = float(advantages.std())
    if deviation >= _NO_DEVIATION:
        return deviation
    amount = float(np.abs(advantages).max())
    return amount if amount >= _NO_DEVIATION else 1.0
