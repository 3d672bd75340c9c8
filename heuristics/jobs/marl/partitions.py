"""Which agent owns which servers, which agent a job goes to, and how many agents an instance allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.replicas_fit import replicas_fit
from instances.jobs.servers import NO_RACK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance


class Partitions:
    """The servers of an instance, cut into one range per agent; ours: docs/methods/multi_agent.md, section 3.

    Agent a owns servers floor(a M / A) to floor((a + 1) M / A) - 1. With racks a cut is moved to the nearest server
    where it splits no rack (ties: the lower one).

    Parameters
    ----------
    num_agents
        A, at least 1.

    Attributes
    ----------
    cuts
        First server of each agent, and the number of all servers, length A + 1.
    agent_of_server
        Shape (servers,), int64.
    num_gpus_of
        GPUs of each agent, shape (agents,), int64.
    can_host
        Whether an agent's servers can hold a job when they are empty, shape (agents, jobs).
    home
        The agent to which each job goes on arrival, shape (jobs,), int64: number i mod e of the e agents that can host
        job i.

    Raises
    ------
    ValueError
        If there are too few servers or borders between racks for the agents, or no agent can host some job.
    """

    def __init__(self, instance: JobsInstance, num_agents: int) -> None:
        if not 1 <= num_agents <= instance.num_servers:
            raise ValueError(f"num_agents: expected 1 to {instance.num_servers}, one server each, got {num_agents}.")
        self.instance = instance
        self.num_agents = num_agents
        self.cuts = _cuts(instance, num_agents)
        sizes = np.diff(self.cuts)
        self.agent_of_server: NDArray[np.int64] = np.repeat(np.arange(num_agents), sizes)
        self.num_gpus_of: NDArray[np.int64] = np.add.reduceat(instance.num_gpus_of, self.cuts[:-1])
        self.can_host: NDArray[np.bool_] = self._hosts()
        self.home: NDArray[np.int64] = np.zeros(instance.num_jobs, dtype=np.int64)
        for job in range(instance.num_jobs):
            able = np.flatnonzero(self.can_host[:, job])
            if not len(able):
                expected = "few enough for one of them to host it"
                raise ValueError(
                    f"num_agents: for jobs[{job}] expected {expected}, got {num_agents}; lower num_agents."
                )
            self.home[job] = able[job % len(able)]

    def servers_of(self, agent: int) -> slice:
        """Return the range of servers of an agent."""
        return slice(self.cuts[agent], self.cuts[agent + 1])

    def _hosts(self) -> NDArray[np.bool_]:
        """Return which agents can host each job on empty servers; jobs of the same demand share the answer."""
        instance = self.instance
        capacity = np.zeros((self.num_agents, instance.num_kinds), dtype=np.int64)
        np.add.at(capacity, (self.agent_of_server, instance.server_kind), instance.num_gpus_of)
        known: dict[tuple[bytes, bytes], list[bool]] = {}
        answer = np.zeros((self.num_agents, instance.num_jobs), dtype=np.bool_)
        for job in range(instance.num_jobs):
            rows = instance.stages_of(job)
            replicas, allowed = instance.replicas[rows], instance.time_of[rows] > 0
            key = (replicas.tobytes(), allowed.tobytes())
            if key not in known:
                known[key] = [replicas_fit(replicas.tolist(), allowed.tolist(), own) for own in capacity.tolist()]
            answer[:, job] = known[key]
        return answer


def _cuts(instance: JobsInstance, num_agents: int) -> list[int]:
    """Return the first server of each agent, and the end."""
    num_servers = instance.num_servers
    cuts = [agent * num_servers // num_agents for agent in range(num_agents + 1)]
    if instance.racks is None:
        return cuts
    splits = np.zeros(num_servers + 1, dtype=np.bool_)  # whether a cut before this server splits a rack
    rack_of = instance.racks.rack_of_server
    for rack in set(rack_of.tolist()) - {NO_RACK}:
        members = np.flatnonzero(rack_of == rack)
        splits[members[0] + 1 : members[-1] + 1] = True
    borders = np.flatnonzero(~splits)[1:-1].tolist()  # an agent between the ends and a cut there would own nothing
    if num_agents > len(borders) + 1:
        expected = f"at most {len(borders) + 1}, as racks stay whole"
        raise ValueError(f"num_agents: expected {expected}, got {num_agents}.")
    moved = [min(borders, key=lambda border: (abs(border - cut), border)) for cut in cuts[1:-1]]
    if len(set(moved)) < len(moved):
        raise ValueError(f"num_agents: expected cuts at different borders of racks, got {moved}; lower num_agents.")
    return [0, *moved, num_servers]


DEFAULT_AGENTS = 4
"""Default number of agents A, where every job has a home under it; docs/methods/multi_agent.md, section 3."""


def checked_agents(instance: JobsInstance, agents: int | None) -> int:
    """Return a number of agents under whose partitions every job has a home.

    `agents` is A; None for `most_agents`. Raises a `ValueError` if some job has no home under A, or there are too few
    servers or borders between racks.
    """
    if agents is None:
        return most_agents(instance)
    try:
        Partitions(instance, agents)
    except ValueError as error:
        expected = f"a number under which every job has a home, such as {most_agents(instance)}"
        raise ValueError(f"agents: expected {expected}, got {agents}.") from error
    return agents


def most_agents(instance: JobsInstance, limit: int = DEFAULT_AGENTS) -> int:
    """Return the largest number of agents, at most a limit, under whose partitions every job has a home; ours.

    One agent is always possible because each job of an instance fits on the empty servers.
    """
    for agents in range(limit, 1, -1):
        try:
            Partitions(instance, agents)
        except ValueError:
            continue
        return agents
    return 1
