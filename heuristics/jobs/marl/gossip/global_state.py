"""The global state that the critics of all agents see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.agent_summary import agent_summary
from heuristics.jobs.marl.observation import SUMMARY_FEATURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.marl.rounds import Rounds


def num_state_features(num_agents: int) -> int:
    """Return the numbers in a state: the summaries of all agents and a constant."""
    return num_agents * SUMMARY_FEATURES + 1


def global_state(rounds: Rounds, time: int, kappa: float) -> NDArray[np.float32]:
    """Return the summaries of all agents and the constant 1, scaled to norm 1, shape (12 A + 1,).

    At the beginning of a round this is s of section 6 of the reference, which every agent knows, for summaries are
    broadcast; after the round, when all have acted, it stands for s and the joint action (ours).

    Parameters
    ----------
    rounds
        Now.
    time
        Tick.
    kappa
        Unit of time in ticks.
    """
    summaries = [agent_summary(rounds, agent, time, kappa) for agent in range(rounds.num_agents)]
    state = np.concatenate([*summaries, np.ones(1, dtype=np.float32)])
    scaled: NDArray[np.float32] = state / np.linalg.norm(state)
    return scaled
