"""Runs of several agents: to the end with a decider, one joint step at a time, or as a PettingZoo environment."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.observer import Observer
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.rounds import MAX_FORWARDS, Rounds, next_decision
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.simulator import Simulator, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from numpy.typing import NDArray

    from heuristics.jobs.marl.jobs_environment import JobsEnvironment
    from heuristics.jobs.marl.observation import Observation, ObservationSize
    from heuristics.jobs.marl.rounds import Decider, Decision
    from heuristics.jobs.placements.running_jobs import RunningJobs
    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.jobs.simulator import Simulation
    from heuristics.search.progress import Callback
    from instances.jobs.instance import JobsInstance

    Sampler = Callable[[np.random.Generator], JobsInstance]
    """Draws the instance of an episode."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgentsRun:
    """A run of several agents. `rounds` are in their last state, with all forwards and the owner of every job."""

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
    predictor
        A fresh one; agents see predicted durations.
    num_agents
        A; see `Partitions`.
    max_forwards
        F; see `Rounds`.
    callback, running
        See `simulate`. Groups and summaries contain the speeds of `running`.

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


class Episode:
    """Agents that decide together: in a joint step each agent of a pass takes its next decision; ours.

    Agents of one pass do not influence each other (see `Rounds.passes`). Therefore the schedule is that of
    `simulate_agents`, where they decide one after another, if every decision is the same. An agent at the end of its
    queue waits for the others. A decision with a single possible action is taken without asking, and time passes by
    itself until an agent has a choice.

    Parameters
    ----------
    kappa
        Unit of time of observations in ticks, see `time_scale`.
    num_agents, max_forwards
        See `simulate_agents`.
    size
        Size of the observations; the smallest possible if None.
    is_weighted
        Whether jobs count with their weights in `job_ticks`.

    Attributes
    ----------
    asked
        The decision of every agent that has one to take; empty once all jobs have started.
    time
        Current tick; at the end the last completion.
    ticks
        Ticks since the previous joint step; before the first one, since the first release.
    job_ticks
        Sum over these ticks of the unfinished jobs (or their weights) in the queue or on the servers of each agent,
        shape (agents,), int64. Over a whole episode they sum to the total JCT.
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
            A slot that it may choose for every agent in `asked`.

        Raises
        ------
        ValueError
            If a slot may not be chosen; the episode cannot continue then.
        RuntimeError
            If the episode is over.
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
        """Yield the decisions of each joint step; receive the slots."""
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
        """Reset the counts of ticks."""
        self.ticks = 0
        self.job_ticks: NDArray[np.int64] = np.zeros(self.rounds.num_agents, dtype=np.int64)

    def _pass_time(self, time: int) -> None:
        """Count up to a tick."""
        self.job_ticks += self._unfinished * (time - self.time)
        self.ticks += time - self.time
        self.time = time

    def _finish_if_over(self) -> None:
        """Let the running jobs complete if no decision is left."""
        if self.asked:
            return
        self.simulation = self._simulator.finish()
        completion = self.simulation.completion
        for agent, running in enumerate(self.rounds.running_on):
            self.job_ticks[agent] += sum(self._weight[job] * (int(completion[job]) - self.time) for job in running)
        last = int(completion.max(initial=self.time))
        self.ticks += last - self.time
        self.time = last


def parallel_env(
    source: JobsInstance | Sampler,
    *,
    num_agents: int = 4,
    max_forwards: int = MAX_FORWARDS,
    predictor: str = "oracle",
    size: ObservationSize | None = None,
    kappa: float | None = None,
    is_weighted: bool = False,
    is_strict: bool = False,
    max_steps: int | None = None,
) -> JobsEnvironment:
    """Return an environment with PettingZoo's parallel interface, in which an episode schedules one instance; ours.

    Agents ``agent_0``, ``agent_1``, ... own the partitions of `Partitions`; rules, slots, observations and rewards are
    those of `Rounds`, `Observation` and `RoundRewards` (docs/methods/multi_agent.md, sections 3, 4 and 7). In a step
    every agent takes its next decision of the pass; as agents of one pass do not influence each other (argued in
    `Rounds.passes`), an episode has exactly the schedule of `simulate_agents` with the same decisions. No agent is
    asked if only one action is possible, and time passes until one is asked.

    **Actions** are slots: 8 groups of GPUs, forwards to the other agents in order of number, wait.

    **Observations** hold ``observation``, the arrays of `Observation` by name, and ``action_mask``. An agent without a
    decision sees zeros and may only wait, so that all live agents act in every step.

    **Masked actions** count as the lowest slot that may be chosen (the first group if there is one), and the next
    information of the agent says so; with `is_strict` they are an error. Numbers outside 0..7 + A always are.

    **Rewards** are minus the unfinished jobs of the agent for every tick until the next step, over kappa. Time that
    passes before the first step counts to it. Summed over agents and steps, minus kappa times the rewards is the total
    JCT, weighted if `is_weighted`.

    **Infos** of every agent: ``time``, the current tick; ``ticks``, the length of the step, for discounts gamma^(ticks
    / kappa); ``job_ticks``, minus kappa times the reward, an integer; ``job``, about which the agent decides, or None;
    ``is_replaced``, whether its action was masked. At the end also ``total_jct`` as above and ``mean_jct``, without
    weights, in ticks (None without jobs).

    **Ends.** All agents terminate together when all jobs have started, because nothing is left to decide; the last
    rewards reach to the last completion, and ``simulation`` of the environment has schedule and log. If no agent ever
    has a choice, the first step ends the episode. Episodes end by themselves; with `max_steps` they are truncated.

    **Seeds.** ``reset(seed=...)`` begins a stream of random numbers from which this episode's instance (from a sampler)
    and predictor are drawn; a reset without a seed continues the stream, at first that of seed 0. ``options`` are
    ignored.

    Parameters
    ----------
    source
        The instance of every episode, or a function that draws one with the generator it is given.
    num_agents
        A; see `Partitions`.
    max_forwards
        F; see `Rounds`.
    predictor
        A name in `PREDICTORS`; it predicts the durations that agents see.
    size
        Sizes of the padded arrays; the smallest for an instance if None, needed with a sampler.
    kappa
        Unit of time in ticks, see `time_scale`; that of an instance if None, needed with a sampler.
    is_weighted
        Whether jobs count with their weights.
    is_strict
        Whether masked actions are an error.
    max_steps
        Steps after which an unfinished episode is truncated, at least 1; None for never.

    Raises
    ------
    ValueError
        If PettingZoo is not installed, size or kappa is needed and None, kappa is not positive, `max_steps` is below 1,
        the predictor is unknown, or as `Partitions`; a reset raises what `Episode` does for an instance drawn.
    """
    for package in ("pettingzoo", "gymnasium"):
        if find_spec(package) is None:
            raise ValueError(
                f"{package}: expected the packages of the extra marl (pip install 'optgap[marl]'), got none."
            )
    from heuristics.jobs.marl.jobs_environment import JobsEnvironment

    return JobsEnvironment(
        source,
        num_agents=num_agents,
        max_forwards=max_forwards,
        predictor=predictor,
        size=size,
        kappa=kappa,
        is_weighted=is_weighted,
        is_strict=is_strict,
        max_steps=max_steps,
    )
