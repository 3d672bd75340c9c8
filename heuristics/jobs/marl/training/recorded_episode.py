"""One simulation as what is learned from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from heuristics.jobs.marl.observation import Observation
from heuristics.jobs.marl.reward import progress_rewards, round_rewards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.marl.decider import Decision
    from heuristics.jobs.marl.simulate_agents import AgentsRun


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RecordedEpisode:
    """The decisions of a simulation and what came of them.

    A step is a round in which somebody decided, until the next such round (ours): rounds without a decision belong to
    the step before, those before the first one to none.

    Parameters
    ----------
    seen
        Observations, stacked in order: arrays of shape (decisions, ...).
    slot
        What was chosen, shape (decisions,), int32.
    step
        Step of each decision, shape (decisions,), int64, ascending from 0.
    time
        Tick of each step, shape (steps,), int64, ascending.
    reward
        Of the team, discounted to the beginning of each step, shape (steps,), in units of kappa (progress: of jobs).
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
    """Hears of the decisions of one simulation, see `NetworkDecider`, and makes the episode."""

    def __init__(self) -> None:
        """Know nothing."""
        self._time: list[int] = []
        self._seen: list[Observation] = []
        self._slot: list[int] = []

    def __call__(self, decision: Decision, seen: Observation, slot: int) -> None:
        """Remember a decision."""
        self._time.append(decision.time)
        self._seen.append(seen)
        self._slot.append(slot)

    def episode(
        self, run: AgentsRun, *, kappa: float, gamma: float, reward: Literal["jct", "dl2"] = "jct"
    ) -> RecordedEpisode | None:
        """Return the episode with the reward of `round_rewards` or `progress_rewards`; None if nobody decided."""
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
            seen=stacked(self._seen),
            slot=np.array(self._slot, dtype=np.int32),
            step=step.astype(np.int64),
            time=times.astype(np.int64),
            reward=np.bincount(step_of_round[within], weights=team, minlength=len(times)).astype(np.float64),
            discount=gamma ** (np.diff(np.append(times, end)) / kappa),
            mean_jct=float((run.simulation.completion - run.rounds.instance.release).mean()),
        )


def stacked(seen: Sequence[Observation]) -> Observation:
    """Return observations of one size as one whose arrays have another first axis."""
    return Observation._make(np.stack(arrays) for arrays in zip(*seen, strict=True))


def joined(seen: Sequence[Observation]) -> Observation:
    """Return stacked observations one after the other."""
    return Observation._make(np.concatenate(arrays) for arrays in zip(*seen, strict=True))
