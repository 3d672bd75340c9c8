"""How many agents the servers of an instance are cut for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.marl.partitions import Partitions

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance

DEFAULT_AGENTS = 4
"""A where every job has a home under it; section 3.1.1 of the reference."""


def checked_agents(instance: JobsInstance, agents: int | None) -> int:
    """Return a number of agents under whose partitions every job has a home.

    Parameters
    ----------
    instance
        What is scheduled.
    agents
        A; None for `most_agents`.

    Raises
    ------
    ValueError
        If some job has no home under A, or there are fewer servers, or fewer places between racks.
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

    One agent always will do, as each job of an instance fits on its empty servers.
    """
    for agents in range(limit, 1, -1):
        try:
            Partitions(instance, agents)
        except ValueError:
            continue
        return agents
    return 1
