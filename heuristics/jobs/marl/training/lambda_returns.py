"""Targets of the critic, and from them generalised advantage estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.marl.training.recorded_episode import RecordedEpisode


def lambda_returns(
    reward: NDArray[np.float64], discount: NDArray[np.float64], value: NDArray[np.float64], trace_decay: float
) -> NDArray[np.float64]:
    """Return G_l = r_l + d_l ((1 - lambda) V_{l+1} + lambda G_{l+1}), shape (steps,); both are 0 after the last step.

    G_l - V_l is the generalised advantage estimate: the sum over k of (d_l lambda) ... (d_{l+k-1} lambda) delta_{l+k}
    with delta_l = r_l + d_l V_{l+1} - V_l.

    Parameters
    ----------
    reward, discount, value
        Of every step, shape (steps,).
    trace_decay
        Lambda.

    References
    ----------
    Schulman, Moritz, Levine, Jordan and Abbeel (2016), High-dimensional continuous control using generalised advantage
    estimation, ICLR, equation 16; here with a discount of its own for every step.
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

    The value of a step is the mean over its decisions. Less its own value, a target is the decision's advantage:
    within a round no time passes, and all decisions of a round are answerable for what follows.

    Parameters
    ----------
    episode
        What happened.
    value
        Of every decision, shape (decisions,), in units of the rewards.
    trace_decay
        Lambda.
    """
    of_step = np.bincount(episode.step, weights=value) / np.bincount(episode.step)
    return lambda_returns(episode.reward, episode.discount, of_step, trace_decay)[episode.step]
