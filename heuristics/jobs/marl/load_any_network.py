"""Networks from files, of one network for all agents or of one each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.array_file import read_arrays
from heuristics.jobs.marl.agent_networks import FORMAT, load_agent_networks
from heuristics.jobs.marl.trained_network import load_network

if TYPE_CHECKING:
    from os import PathLike

    from heuristics.jobs.marl.agent_networks import AgentNetworks
    from heuristics.jobs.marl.trained_network import TrainedNetwork


def load_any_network(path: str | PathLike[str]) -> TrainedNetwork | AgentNetworks:
    """Read what `save_network` or `save_agent_networks` wrote; `NetworkDecider` takes either's parameters.

    Raises
    ------
    ValueError
        If the file is no such file, its hash is another, or its arrays do not belong together.
    OSError
        If it cannot be read.
    """
    of_agents = str(read_arrays(path, "a network").get("format", "")) == FORMAT
    return load_agent_networks(path) if of_agents else load_network(path)
