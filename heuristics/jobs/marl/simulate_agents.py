"""From an instance and a decider to the schedule of several agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.rounds import MAX_FORWARDS, Rounds
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.simulator import simulate

if TYPE_CHECKING:
    from heuristics.callback import Callback
    from heuristics.jobs.marl.decider import Decider
    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.jobs.running_jobs import RunningJobs
    from heuristics.jobs.simulation import Simulation
    from instances.jobs.jobs_instance import JobsInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgentsRun:
    """What several agents did.

    Parameters
    ----------
    simulation
        Schedule and log.
    rounds
        In their last state: who forwarded whom, and who owns which job.
    """

    simulation: Simulation
    rounds: Rounds


def simulate_agents(
    instance: JobsInstance,
    decider: Decider,
    predictor: Predictor,
    *,
    num_agents: int = 4,
    max_forwards: int = MAX_FORWARDS,
    callback: Callback | None = None,
    running: RunningJobs | None = None,
) -> AgentsRun | None:
    """Let agents place the jobs of an instance as they arrive.

    Parameters
    ----------
    instance
        What is scheduled.
    decider
        Takes the decisions of all agents.
    predictor
        A fresh one; agents see predicted durations.
    num_agents
        A; see `Partitions`.
    max_forwards
        F; see `Rounds`.
    callback, running
        See `simulate`. Groups and summaries tell of the speeds of `running`.

    Returns
    -------
    AgentsRun or None
        None if the callback asked to stop.

    Raises
    ------
    ValueError
        As `Partitions`, `Rounds` and `simulate`, or if the decider chooses a masked slot.
    """
    rounds = Rounds(JobShapes(instance), Partitions(instance, num_agents), decider, max_forwards=max_forwards)
    simulation = simulate(instance, rounds, predictor, HeavyEdge(instance), callback, running=running)
    return None if simulation is None else AgentsRun(simulation=simulation, rounds=rounds)
