"""Networks from files, of one network for all agents or of one each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.hashed_arrays import arrays_in, format_of
from heuristics.jobs.marl.agent_networks import FORMAT, stored_agent_networks
from heuristics.jobs.marl.trained_network import stored_network

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
    with arrays_in(path, "network") as arrays:
        return stored_agent_networks(arrays) if format_of(arrays) == FORMAT else stored_network(arrays)
