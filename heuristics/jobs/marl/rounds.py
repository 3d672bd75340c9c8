"""Rounds of decisions: queues of the agents, starts, forwarding, waiting, and the protocol of deciders."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from heuristics.jobs.marl.groups import MAX_GROUPS, CandidateGroups
from heuristics.jobs.marl.server_states import ServerStates
from heuristics.jobs.placements.running_jobs import InterferingJobs
from heuristics.jobs.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray

    from heuristics.jobs.marl.groups import Group
    from heuristics.jobs.marl.partitions import Partitions
    from heuristics.jobs.placements.cluster_state import ClusterState
    from heuristics.jobs.placements.job_shapes import JobShapes

    Walk = Generator["Decision", int, None]  # an agent's walk through a queue: yields decisions and is sent the slots


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decision:
    """One decision of an agent about a job.

    Parameters
    ----------
    groups
        Candidate placements, at most eight; slot e stands for the e-th.
    mask
        Whether each slot may be chosen, shape (slots,): eight groups, the other agents in order of number, wait. At
        least two may be.
    """

    agent: int
    job: int
    time: int
    groups: list[Group]
    mask: NDArray[np.bool_]


class Decider(Protocol):
    """Takes the decisions of all agents; it may read the rounds but not the iterations of running jobs."""

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Prepare for a round: arrivals and completions of the tick are done, no agent has decided yet."""
        ...

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Return a slot that may be chosen."""
        ...


MAX_FORWARDS = 1
"""Default of F, the number of times that a job may be forwarded."""


class Rounds(Policy):
    """Several agents that place jobs on their own servers, as a policy for the simulator; ours.

    See docs/methods/multi_agent.md, section 3. A round takes place at every tick with an arrival or completion.
    Agents act in order of number; each walks its queue once, by (arrival, number), with one action per job. Forwarded
    jobs then join their new queues and only those are walked, until nothing is forwarded.

    An agent may forward a job that was forwarded fewer than F times to one whose empty servers can host it, and must
    not wait if nothing runs on its servers and a group exists. Therefore the simulation always ends: once no job
    arrives any more and none runs, waiting is masked for every job, and after F forwards it starts. A decision with a
    single possible action is taken without asking.

    Parameters
    ----------
    shapes
        Which jobs are alike; without a restriction of kinds.
    decider
        Takes the decisions; None if the caller does, see `passes`.
    max_forwards
        F, at least 0.

    Attributes
    ----------
    queues
        Queue of each agent: jobs as (arrival, number), in order.
    running_on
        Jobs that run on each agent's servers, in order of start.
    predicted_ticks
        Dhat of each job that has arrived: its predicted duration on its fastest placement, in ticks.
    predicted_run
        nhat alpha(x) of each running job, in ticks, rounded once.
    num_forwards
        Number of forwards of each job, shape (jobs,), int64.
    forwards
        Every forward as (tick, job, new agent), in order.
    states
        The running jobs by server and GPU.

    Raises
    ------
    ValueError
        If `max_forwards` is negative, the instances differ, or the shapes restrict kinds.
    """

    def __init__(
        self, shapes: JobShapes, partitions: Partitions, decider: Decider | None, *, max_forwards: int = MAX_FORWARDS
    ) -> None:
        super().__init__(shapes)
        if partitions.instance is not shapes.instance:
            raise ValueError("partitions: expected those of the instance of the shapes, got another instance.")
        if shapes.phi is not None:
            raise ValueError(f"phi: expected None, as agents use all kinds, got {shapes.phi}.")
        if max_forwards < 0:
            raise ValueError(f"max_forwards: expected at least 0, got {max_forwards}.")
        self.partitions = partitions
        self.max_forwards = max_forwards
        self.num_agents = partitions.num_agents
        self.num_slots = num_slots(partitions.num_agents)
        self.queues: list[list[tuple[int, int]]] = [[] for _ in range(self.num_agents)]
        self.running_on: list[dict[int, Group]] = [{} for _ in range(self.num_agents)]
        self.predicted_ticks: dict[int, int] = {}
        self.predicted_run: dict[int, float] = {}
        self.num_forwards: NDArray[np.int64] = np.zeros(self.instance.num_jobs, dtype=np.int64)
        self.forwards: list[tuple[int, int, int]] = []
        self.num_decisions = 0
        self._decider = decider
        self._prediction: dict[int, int] = {}
        self._started: list[int] = []  # in this round
        self._owner: list[int] = partitions.home.tolist()
        self.gang_size: list[int] = self.instance.gang_size.tolist()

    def begin(self, cluster: ClusterState) -> None:
        """Receive the cluster."""
        super().begin(cluster)
        running = cluster.running
        self.together = running.together if isinstance(running, InterferingJobs) else None
        self.states = ServerStates(self.instance, self.together)
        self._groups = CandidateGroups(self.partitions, cluster, self.together)

    def owner(self, job: int) -> int:
        """Return the agent in whose queue, or on whose servers, a job is; its home before it arrives."""
        return self._owner[job]

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Add a job to the queue of its home."""
        self._prediction[job] = prediction
        self.predicted_ticks[job] = self.shapes.predicted_duration(job, prediction)
        insort(self.queues[self._owner[job]], (time, job))

    def complete(self, job: int, time: int) -> None:
        """Remove a job from its servers."""
        agent = self._owner[job]
        del self.running_on[agent][job], self.predicted_run[job]
        self.states.complete(job)
        self._groups.forget(agent)

    def dispatch(self, time: int) -> list[int]:
        """Hold a round and return the jobs that start."""
        decider = self._decider
        if decider is None:
            raise RuntimeError("decider: expected one, or a caller that walks the passes, got None.")
        decider.begin_round(self, time)
        for walks in self.passes(time):
            for walk in walks:
                decision = next(walk, None)
                while decision is not None:
                    decision = next_decision(walk, decider.decide(self, decision))
        return self._started

    def passes(self, time: int) -> Iterator[list[Walk]]:
        """Hold a round, pass by pass; each time yield the walk of every agent through its queue.

        All walks of a pass must have ended before the next pass is asked for. They may be advanced one step at a time
        in turn, because agents do not influence each other inside a pass: groups, speeds and loads of an agent, and
        whether it may wait, depend only on the jobs on its own servers, where no other agent places jobs; the possible
        targets of a forward depend on empty partitions and the job; and a forwarded job joins its queue after the
        pass.
        """
        self._started = []
        walked = [list(queue) for queue in self.queues]
        while any(walked):
            received: list[list[tuple[int, int]]] = [[] for _ in range(self.num_agents)]
            yield [self._walk(agent, entries, received, time) for agent, entries in enumerate(walked)]
            for agent, entries in enumerate(received):
                for entry in entries:
                    insort(self.queues[agent], entry)
            walked = received

    def mask(self, agent: int, job: int, num_groups: int) -> NDArray[np.bool_]:
        """Return whether each slot may be chosen, shape (slots,); see `Decision`."""
        allowed = np.zeros(self.num_slots, dtype=np.bool_)
        allowed[:num_groups] = True
        if self.num_forwards[job] < self.max_forwards:
            allowed[MAX_GROUPS:-1] = np.delete(self.partitions.can_host[:, job], agent)
        allowed[-1] = bool(self.running_on[agent]) or not num_groups
        return allowed

    def _walk(
        self, agent: int, entries: list[tuple[int, int]], received: list[list[tuple[int, int]]], time: int
    ) -> Walk:
        """Walk an agent's queue; forwarded jobs go to `received`."""
        for entry in entries:
            job = entry[1]
            groups = self._groups.of(job, agent)
            mask = self.mask(agent, job, len(groups))
            possible = np.flatnonzero(mask)
            slot = int(possible[0])
            if len(possible) > 1:
                slot = yield Decision(agent=agent, job=job, time=time, groups=groups, mask=mask)
                if not 0 <= slot < self.num_slots or not mask[slot]:
                    raise ValueError(f"slot of job {job}: expected one of {possible.tolist()}, got {slot}.")
                self.num_decisions += 1
            if slot == self.num_slots - 1:
                continue
            self.queues[agent].remove(entry)
            if slot < MAX_GROUPS:
                self._start(agent, job, groups[slot], time)
            else:
                insort(received[self._forward(agent, job, slot, time)], entry)

    def _start(self, agent: int, job: int, group: Group, time: int) -> None:
        """Start a job on a group."""
        self.cluster.start(job, group.placement, time)
        self._started.append(job)
        self.running_on[agent][job] = group
        self.predicted_run[job] = float(self._prediction[job] * group.placement.alpha)
        gpus = self.cluster.gpus_of[job] if self.cluster.occupancy is not None else None
        self.states.start(job, time, group.placed, group.demand, gpus)
        self._groups.forget(agent)

    def _forward(self, agent: int, job: int, slot: int, time: int) -> int:
        """Forward a job and return the agent that receives it."""
        other = slot - MAX_GROUPS
        other += other >= agent
        self.num_forwards[job] += 1
        self.forwards.append((time, job, other))
        self._owner[job] = other
        return other


def num_slots(num_agents: int) -> int:
    """Return the number of slots of a decision: groups, forwards, wait."""
    return MAX_GROUPS + num_agents


def next_decision(walk: Walk, slot: int) -> Decision | None:
    """Send a slot to a walk and return its next decision, None at its end."""
    try:
        return walk.send(slot)
    except StopIteration:
        return None
