"""A run of several agents, one joint step at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.marl.observer import Observer
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.rounds import MAX_FORWARDS, Rounds, next_decision
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.simulator import Simulator

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from heuristics.jobs.marl.decider import Decision
    from heuristics.jobs.marl.observation import Observation, ObservationSize
    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.jobs.simulation import Simulation
    from instances.jobs.jobs_instance import JobsInstance


class Episode:
    """Agents that decide together: in a joint step each agent of a pass takes its next decision; ours.

    Agents of one pass do not influence each other (see `Rounds.passes`), so the schedule is that of `simulate_agents`,
    where they decide one after another, if every decision is the same. An agent at the end of its queue waits for the
    others. An action that is the only one is taken without asking, and time passes by itself until somebody is asked.

    Parameters
    ----------
    instance
        What is scheduled.
    predictor
        A fresh one.
    kappa
        Unit of time of observations in ticks, see `time_scale`.
    num_agents, max_forwards
        See `simulate_agents`.
    size
        Of the observations; as small as may be if None.
    is_weighted
        Whether jobs count with their weights in `job_ticks`.

    Attributes
    ----------
    rounds
        Now.
    asked
        The decision of every agent that has one to take; nobody once all jobs have started.
    time
        Now, in ticks; at the end the last completion.
    ticks
        How many have passed since the joint step before; the first time since the first release.
    job_ticks
        Sum over them of the unfinished jobs (or their weights) in the queue or on the servers of each agent, shape
        (agents,), int64. Over a whole episode they sum to the total JCT.
    simulation
        Schedule and log; None until the end.

    Raises
    ------
    ValueError
        As `Partitions`, `Rounds`, `Observer` and `Simulator`.
    """

    def __init__(
        self,
        instance: JobsInstance,
        predictor: Predictor,
        kappa: float,
        *,
        num_agents: int = 4,
        max_forwards: int = MAX_FORWARDS,
        size: ObservationSize | None = None,
        is_weighted: bool = False,
    ) -> None:
        """Go to the first decisions."""
        self.rounds = Rounds(JobShapes(instance), Partitions(instance, num_agents), None, max_forwards=max_forwards)
        self.simulation: Simulation | None = None
        self.time = int(instance.release.min()) if instance.num_jobs else 0
        self._observer = Observer(self.rounds, kappa, size)
        self._simulator = Simulator(instance, self.rounds, predictor, HeavyEdge(instance))
        self._weight: list[int] = instance.weight.tolist() if is_weighted else [1] * instance.num_jobs
        self._unfinished: NDArray[np.int64] = np.zeros(num_agents, dtype=np.int64)
        self._joint_steps = self._decisions()
        self._forget_time()
        self.asked: dict[int, Decision] = next(self._joint_steps, {})
        self._finish_if_over()

    def step(self, slots: Mapping[int, int]) -> None:
        """Take a joint step.

        Parameters
        ----------
        slots
            For every agent in `asked` a slot that it may choose.

        Raises
        ------
        ValueError
            If a slot may not be chosen; the episode cannot go on then.
        RuntimeError
            If it is over.
        """
        if self.simulation is not None:
            raise RuntimeError("step: expected an episode that goes on, got one that is over.")
        self._forget_time()
        try:
            self.asked = self._joint_steps.send(slots)
        except StopIteration:
            self.asked = {}
        self._finish_if_over()

    def observe(self, agent: int) -> Observation:
        """Return what an agent in `asked` sees."""
        return self._observer.observe(self.asked[agent])

    def _decisions(self) -> Generator[dict[int, Decision], Mapping[int, int], None]:
        """Give the decisions of each joint step; is sent the slots."""
        for time in self._simulator.ticks():
            self._pass_time(time)
            self._observer.begin_round(time)
            for walks in self.rounds.passes(time):
                following = {agent: next(walk, None) for agent, walk in enumerate(walks)}
                while asked := {agent: each for agent, each in following.items() if each is not None}:
                    slots = yield asked
                    following = {agent: next_decision(walks[agent], slots[agent]) for agent in asked}
            self._unfinished[:] = [
                sum(self._weight[job] for _, job in queue) + sum(self._weight[job] for job in running)
                for queue, running in zip(self.rounds.queues, self.rounds.running_on, strict=True)
            ]

    def _forget_time(self) -> None:
        """Begin to count anew."""
        self.ticks = 0
        self.job_ticks: NDArray[np.int64] = np.zeros(self.rounds.num_agents, dtype=np.int64)

    def _pass_time(self, time: int) -> None:
        """Count up to a tick."""
        self.job_ticks += self._unfinished * (time - self.time)
        self.ticks += time - self.time
        self.time = time

    def _finish_if_over(self) -> None:
        """Let what runs complete, if nobody is asked any more."""
        if self.asked:
            return
        self.simulation = self._simulator.finish()
        completion = self.simulation.completion
        for agent, running in enumerate(self.rounds.running_on):
            self.job_ticks[agent] += sum(self._weight[job] * (int(completion[job]) - self.time) for job in running)
        last = int(completion.max(initial=self.time))
        self.ticks += last - self.time
        self.time = last
