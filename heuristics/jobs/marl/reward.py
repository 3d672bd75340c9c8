"""Rewards of the agents, minus the unfinished jobs of each for every tick, and kappa, their unit of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.iteration_time import least_durations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from heuristics.jobs.marl.environment import AgentsRun
    from instances.jobs.instance import JobsInstance


def time_scale(instances: Iterable[JobsInstance]) -> float:
    """Return the mean shortest possible duration of the jobs of training instances, in ticks.

    Raises a `ValueError` if there is no job.
    """
    durations = np.concatenate([np.zeros(0), *map(least_durations, instances)])
    if not len(durations):
        raise ValueError("instances: expected at least one job, got none.")
    return float(durations.mean())


DISCOUNT = 0.99
"""gamma, per kappa ticks."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RoundRewards:
    """The rewards of every round of a run except the last; ours: docs/methods/multi_agent.md, section 7.

    Summed over agents and rounds, minus kappa times the undiscounted rewards is exactly the total JCT (weighted, if
    weights count): each unfinished job is counted once per tick from its release to its completion.

    Parameters
    ----------
    times
        Ticks of the rounds, ascending, shape (rounds,), int64: all arrivals and completions but the last one.
    ticks
        Delta, until the next round, same shape, int64.
    unfinished
        U, number (or total weight) of unfinished jobs in the queue or on the servers of each agent after the round,
        shape (rounds, agents), int64.
    """

    times: NDArray[np.int64]
    ticks: NDArray[np.int64]
    unfinished: NDArray[np.int64]

    def rewards(self, kappa: float) -> NDArray[np.float64]:
        """Return r = -U Delta / kappa by round and agent, shape (rounds, agents); their sum over agents is the team's.

        The unit of time `kappa` is in ticks, see `time_scale`.
        """
        return -(self.unfinished * self.ticks[:, None]) / kappa

    def discounts(self, kappa: float, gamma: float = DISCOUNT) -> NDArray[np.float64]:
        """Return gamma^(Delta / kappa) of every round, shape (rounds,)."""
        factors: NDArray[np.float64] = gamma ** (self.ticks / kappa)
        return factors

    def total_jct(self) -> int:
        """Return the sum of all U Delta in ticks."""
        return int((self.unfinished.sum(axis=1) * self.ticks).sum())


def round_rewards(run: AgentsRun, *, is_weighted: bool = False) -> RoundRewards:
    """Return the rewards of a run.

    Parameters
    ----------
    run
        To its end.
    is_weighted
        Whether jobs count with their weights.
    """
    rounds, completion = run.rounds, run.simulation.completion
    instance = rounds.instance
    weight = instance.weight if is_weighted else np.ones(instance.num_jobs, dtype=np.int64)
    times = np.unique(np.concatenate([instance.release, completion]))
    changes = np.zeros((len(times), rounds.num_agents), dtype=np.int64)
    owner = rounds.partitions.home.copy()
    np.add.at(changes, (np.searchsorted(times, instance.release), owner), weight)
    for time, job, agent in rounds.forwards:
        row = np.searchsorted(times, time)
        changes[row, owner[job]] -= weight[job]
        changes[row, agent] += weight[job]
        owner[job] = agent
    np.subtract.at(changes, (np.searchsorted(times, completion), owner), weight)
    return RoundRewards(times=times[:-1], ticks=np.diff(times), unfinished=np.cumsum(changes, axis=0)[:-1])


def progress_rewards(run: AgentsRun) -> NDArray[np.float64]:
    """Return the progress of all jobs between each round and the next one, shape (rounds,); an ablation.

    The reward of DL2 (docs/methods/multi_agent.md, sections 1 and 7): epochs done of all epochs, summed over the jobs
    that run. Here the share of a job's run that passes (ours: slowed jobs work unevenly, of which this takes the mean).
    Over a run it sums to the number of jobs under any policy, so it ranks policies only through the discount. The
    run must have ended.
    """
    start, completion = run.simulation.schedule.start, run.simulation.completion
    times = round_rewards(run).times
    until = np.append(times[1:], completion.max(initial=0))
    within = np.minimum(until[:, None], completion) - np.maximum(times[:, None], start)
    shares: NDArray[np.float64] = (np.maximum(within, 0) / (completion - start)).sum(axis=1)
    return shares
