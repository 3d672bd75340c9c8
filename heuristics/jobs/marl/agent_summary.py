"""What an agent tells the others at the beginning of a round, in twelve numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.observation import SUMMARY_FEATURES
from instances.jobs.interference import FULL_SPEED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.marl.rounds import Rounds

_MANY_JOBS = 10


def agent_summary(rounds: Rounds, agent: int, time: int, kappa: float) -> NDArray[np.float32]:
    """Return the summary of an agent, shape (12,); section 3.2 of the reference, ours.

    With G the GPUs of the agent: jobs in the queue / 10; GPUs they ask for / G; oldest wait / kappa; running jobs / 10;
    GPUs without any job / G; most of them on one server / most GPUs of any server; share of servers without any job;
    mean load of cpu, pcie, nic / 1000; mean speed / 1000 (1 if nothing runs); predicted remaining work / (G kappa).

    Parameters
    ----------
    rounds
        Now.
    agent
        Who tells.
    time
        Tick.
    kappa
        Unit of time in ticks.
    """
    instance, own = rounds.instance, rounds.partitions.servers_of(agent)
    queue, running = rounds.queues[agent], rounds.running_on[agent]
    num_gpus = int(rounds.partitions.num_gpus_of[agent])
    gang_size, idle = rounds.gang_size, rounds.cluster.free[own]
    work = float(sum(gang_size[job] * rounds.predicted_ticks[job] for _, job in queue))
    for job in running:
        age = time - rounds.states.started_at(job)
        work += gang_size[job] * max(1.0, rounds.predicted_run[job] - age)
    speeds = [FULL_SPEED if rounds.together is None else rounds.together.speed(job) for job in running]
    return np.array(
        [
            len(queue) / _MANY_JOBS,
            sum(gang_size[job] for _, job in queue) / num_gpus,
            (time - queue[0][0]) / kappa if queue else 0.0,
            len(running) / _MANY_JOBS,
            idle.sum() / num_gpus,
            idle.max() / instance.num_gpus_of.max(),
            (rounds.states.num_jobs_on[own] == 0).mean(),
            *(rounds.states.load[own].mean(axis=0) / FULL_SPEED),
            (sum(speeds) / len(speeds) if speeds else FULL_SPEED) / FULL_SPEED,
            work / (num_gpus * kappa),
        ],
        dtype=np.float32,
    )


def summary_traffic(num_agents: int) -> tuple[int, int]:
    """Return messages and bytes per round: every agent sends its summary, numbers of 4 bytes, to every other one."""
    messages = num_agents * (num_agents - 1)
    return messages, messages * SUMMARY_FEATURES * np.dtype(np.float32).itemsize
