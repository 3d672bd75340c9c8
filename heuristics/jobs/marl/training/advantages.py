"""How much better the decisions of an update were than was expected of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.jobs.marl.training.lambda_returns import decision_targets
from heuristics.jobs.marl.training.same_instance import mean_of_others

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.marl.parameters import Parameters
    from heuristics.jobs.marl.training.learner import Learner
    from heuristics.jobs.marl.training.recorded_episode import RecordedEpisode
    from heuristics.jobs.marl.training.value_scale import ValueScale

_NO_DEVIATION = 1e-8
"""Below it a deviation is rounding."""


class Judged(NamedTuple):
    """What is learned from decisions; arrays of shape (decisions,), one episode after the other."""

    target: NDArray[np.float64]  # of the critic, in units of kappa
    advantage: NDArray[np.float64]  # over its deviation
    logarithm: NDArray[np.floating]  # ln pi of what was chosen, when it was chosen


def judged_decisions(
    groups: Sequence[Sequence[RecordedEpisode]],
    learner: Learner,
    parameters: Parameters,
    scale: ValueScale,
    trace_decay: float,
) -> Judged:
    """Return target, advantage and ln pi of every decision of an update.

    An advantage is the target less value and baseline, over its deviation per instance, and normalised per update.

    Parameters
    ----------
    groups
        Episodes, in groups of one instance each, which are baselines of each other, see `mean_of_others`; a group may
        be empty, but not all.
    learner, parameters
        Critic and actor.
    scale
        Of the critic's numbers.
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
    """Return the same of the episodes of one instance, not yet normalised."""
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
    gained /= scale_of(gained)  # or the instances with long jobs would be all that counts
    return Judged(np.concatenate(targets), gained, np.concatenate([found for _, found in judged]))


def scale_of(advantages: NDArray[np.float64]) -> float:
    """Return the deviation; where there is none, as of a single decision, the amount, or 1 if that is none either."""
    deviation = float(advantages.std())
    if deviation >= _NO_DEVIATION:
        return deviation
    amount = float(np.abs(advantages).max())
    return amount if amount >= _NO_DEVIATION else 1.0
