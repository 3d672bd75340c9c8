"""Trained networks of several agents, one each, and their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.hashed_arrays import arrays_in, arrays_sha256, checked_arrays, save_arrays
from heuristics.jobs.marl.trained_network import network_arrays, network_of_arrays

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import NDArray

    from heuristics.jobs.marl.parameters import Parameters, Variant
    from heuristics.jobs.marl.trained_network import TrainedNetwork

FORMAT = "optgap/marl-agent-networks 1"
"""First line of what is hashed, and an array of the file."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgentNetworks:
    """Weights of every agent, and what `NetworkDecider` needs beside them.

    Parameters
    ----------
    agents
        One network each, in order of number. The critics in them are those of the central trainer; nobody asks them.

    Raises
    ------
    ValueError
        If the networks were made for another number of agents, or differ in anything but their weights.
    """

    agents: tuple[TrainedNetwork, ...]

    def __post_init__(self) -> None:
        """Compare."""
        object.__setattr__(self, "agents", tuple(self.agents))
        if not self.agents:
            raise ValueError("agents: expected at least one network, got none.")
        first = self.agents[0]
        for number, one in enumerate(self.agents):
            if one.num_agents != len(self.agents):
                raise ValueError(f"agents[{number}]: expected one of {one.num_agents} agents, got {len(self.agents)}.")
            for name in ("kappa", "variant", "kinds"):
                if getattr(one, name) != getattr(first, name):
                    expected = f"{name} {getattr(first, name)} as agents[0] has it"
                    raise ValueError(f"agents[{number}]: expected {expected}, got {getattr(one, name)}.")

    @classmethod
    def copies(cls, network: TrainedNetwork) -> AgentNetworks:
        """Return the same network for every agent."""
        return cls(agents=(network,) * network.num_agents)

    @property
    def parameters(self) -> tuple[Parameters, ...]:
        """Weights of each agent."""
        return tuple(agent.parameters for agent in self.agents)

    @property
    def kappa(self) -> float:
        """Unit of time in ticks."""
        return self.agents[0].kappa

    @property
    def variant(self) -> Variant:
        """Of the weights."""
        return self.agents[0].variant

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds of GPU that are told apart."""
        return self.agents[0].kinds

    @property
    def num_agents(self) -> int:
        """A: the networks serve no other number of agents."""
        return len(self.agents)

    @property
    def sha256(self) -> str:
        """SHA-256 of format, names, shapes and values, the same on every machine."""
        return arrays_sha256(_arrays(self))


def save_agent_networks(path: str | PathLike[str], networks: AgentNetworks) -> None:
    """Write networks; the same ones give the same bytes."""
    save_arrays(path, _arrays(networks))


def load_agent_networks(path: str | PathLike[str]) -> AgentNetworks:
    """Read networks that `save_agent_networks` wrote; nothing in the file is executed.

    Raises
    ------
    ValueError
        If the file is no such file, its hash is another, or its arrays do not belong together.
    OSError
        If it cannot be read.
    """
    with arrays_in(path, "networks of agents") as arrays:
        return stored_agent_networks(arrays)


def stored_agent_networks(arrays: Mapping[str, NDArray[np.generic]]) -> AgentNetworks:
    """Return the networks of the arrays that `save_agent_networks` wrote; errors as in `stored_network`."""
    checked, agents = checked_arrays(arrays, FORMAT), []
    for number in range(int(checked["num_agents"])):
        prefix = f"agent {number} "
        own = {name.removeprefix(prefix): array for name, array in checked.items() if name.startswith(prefix)}
        agents.append(network_of_arrays(own))
    return AgentNetworks(agents=tuple(agents))


def _arrays(networks: AgentNetworks) -> dict[str, NDArray[np.generic]]:
    """Return everything as arrays by name."""
    arrays: dict[str, NDArray[np.generic]] = {
        "format": np.array(FORMAT),
        "num_agents": np.array(networks.num_agents, dtype=np.int64),
    }
    for number, agent in enumerate(networks.agents):
        arrays |= {f"agent {number} {name}": array for name, array in network_arrays(agent).items()}
    return arrays
