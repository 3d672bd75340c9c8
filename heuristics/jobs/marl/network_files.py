"""Networks in files, one for all agents or one for each, with everything needed to use them, and their hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.array_files import arrays_in, arrays_sha256, checked_arrays, format_of, save_arrays
from heuristics.jobs.marl.network import Variant, initial_parameters
from heuristics.jobs.marl.observation import ObservationSize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from heuristics.jobs.marl.network import Parameters


NETWORK_FORMAT = "optgap/marl-network 1"
"""First line of what is hashed, and an array of the file."""

_PARAMETER = "parameter "


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainedNetwork:
    """Weights and the other inputs of `NetworkDecider`.

    Parameters
    ----------
    parameters
        See `initial_parameters`.
    kinds
        Names of the kinds of GPU that the network distinguishes.
    num_agents
        A, which the critic depends on.

    Raises
    ------
    ValueError
        If kappa is not positive, or the parameters are not those of variant, kinds and agents, or not finite.
    """

    parameters: Parameters
    kappa: float
    variant: Variant
    kinds: tuple[str, ...]
    num_agents: int

    def __post_init__(self) -> None:
        """Check the arrays and take private, read-only copies."""
        if not 0 < self.kappa < float("inf"):
            raise ValueError(f"kappa: expected a finite number of ticks above 0, got {self.kappa}.")
        if self.num_agents < 1:
            raise ValueError(f"num_agents: expected at least 1, got {self.num_agents}.")
        size = ObservationSize(kinds=self.kinds, num_agents=self.num_agents, num_servers=1, num_gpus=1, num_racks=1)
        expected = initial_parameters(np.random.default_rng(0), size, self.variant)
        if set(self.parameters) != set(expected):
            names = ", ".join(sorted(set(self.parameters) ^ set(expected)))
            raise ValueError(f"parameters: expected those of {self.variant}, got more or less: {names}.")
        copies: Parameters = {}
        for name, like in expected.items():
            array = np.array(self.parameters[name], order="C")
            if array.dtype != np.float32 or array.shape != like.shape:
                raise ValueError(f"{name}: expected float32 {like.shape}, got {array.dtype} {array.shape}.")
            if not np.isfinite(array).all():
                raise ValueError(f"{name}: expected finite numbers, got {array[~np.isfinite(array)][0]}.")
            array.flags.writeable = False
            copies[name] = array
        object.__setattr__(self, "parameters", copies)

    @property
    def sha256(self) -> str:
        """SHA-256 of format, names, shapes and values, the same on every machine."""
        return arrays_sha256(_arrays(self))


def save_network(path: str | PathLike[str], network: TrainedNetwork) -> None:
    """Write a network; the same one gives the same bytes."""
    save_arrays(path, _arrays(network))


def load_network(path: str | PathLike[str]) -> TrainedNetwork:
    """Read a network that `save_network` wrote; nothing in the file is executed.

    Raises a `ValueError` if the file is no such file, its hash is another, or its arrays do not belong together, and an
    `OSError` if it cannot be read.
    """
    with arrays_in(path, "network") as arrays:
        return stored_network(arrays)


def stored_network(arrays: Mapping[str, NDArray[np.generic]]) -> TrainedNetwork:
    """Return the network of the arrays that `save_network` wrote.

    Raises a `KeyError` if an array is missing, and a `ValueError` if format or hash is another, or they do not belong
    together.
    """
    return network_of_arrays(checked_arrays(arrays, NETWORK_FORMAT))


def network_of_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> TrainedNetwork:
    """Return the network of `network_arrays`.

    Raises a `KeyError` if an array is missing, and a `ValueError` if they do not belong together.
    """
    return TrainedNetwork(
        parameters={name.removeprefix(_PARAMETER): a for name, a in arrays.items() if name.startswith(_PARAMETER)},
        kappa=float(arrays["kappa"]),
        variant=Variant(str(arrays["variant"])),
        kinds=tuple(map(str, arrays["kinds"].tolist())),
        num_agents=int(arrays["num_agents"]),
    )


def network_arrays(network: TrainedNetwork) -> dict[str, NDArray[np.generic]]:
    """Return everything as arrays by name."""
    return {
        "kappa": np.array(network.kappa, dtype=np.float64),
        "variant": np.array(str(network.variant)),
        "kinds": np.array(network.kinds, dtype=np.str_),
        "num_agents": np.array(network.num_agents, dtype=np.int64),
        **{f"{_PARAMETER}{name}": array for name, array in network.parameters.items()},
    }


def _arrays(network: TrainedNetwork) -> dict[str, NDArray[np.generic]]:
    """Return what a file holds."""
    return {"format": np.array(NETWORK_FORMAT), **network_arrays(network)}


def untrained_network(
    seed: int, *, kappa: float, variant: Variant | str, kinds: Sequence[str], num_agents: int, start: int = 0
) -> TrainedNetwork:
    """Return the first weights of the training of a seed, the same on every machine.

    Parameters
    ----------
    seed
        Seed of the training; the weights are drawn from its first stream.
    kappa, variant, kinds, num_agents
        See `TrainedNetwork`.
    start
        Number of the start, 0 for the first; others use child streams.
    """
    variant, kinds = Variant(variant), tuple(kinds)
    size = ObservationSize(kinds=kinds, num_agents=num_agents, num_servers=1, num_gpus=1, num_racks=1)
    stream = np.random.SeedSequence(seed).spawn(1)[0]
    rng = np.random.default_rng(stream.spawn(start)[-1] if start else stream)
    return TrainedNetwork(
        parameters=initial_parameters(rng, size, variant),
        kappa=kappa,
        variant=variant,
        kinds=kinds,
        num_agents=num_agents,
    )


AGENT_NETWORKS_FORMAT = "optgap/marl-agent-networks 1"
"""First line of what is hashed, and an array of the file."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgentNetworks:
    """Weights of every agent and the other inputs of `NetworkDecider`.

    Parameters
    ----------
    agents
        One network per agent, in order of number. Their critics are those of the central trainer and are not used.

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
        """Variant of the weights."""
        return self.agents[0].variant

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds of GPU that the network distinguishes."""
        return self.agents[0].kinds

    @property
    def num_agents(self) -> int:
        """A: the networks serve no other number of agents."""
        return len(self.agents)

    @property
    def sha256(self) -> str:
        """SHA-256 of format, names, shapes and values, the same on every machine."""
        return arrays_sha256(_arrays_agent_networks(self))


def save_agent_networks(path: str | PathLike[str], networks: AgentNetworks) -> None:
    """Write networks; the same ones give the same bytes."""
    save_arrays(path, _arrays_agent_networks(networks))


def stored_agent_networks(arrays: Mapping[str, NDArray[np.generic]]) -> AgentNetworks:
    """Return the networks of the arrays that `save_agent_networks` wrote; errors as in `stored_network`."""
    checked, agents = checked_arrays(arrays, AGENT_NETWORKS_FORMAT), []
    for number in range(int(checked["num_agents"])):
        prefix = f"agent {number} "
        own = {name.removeprefix(prefix): array for name, array in checked.items() if name.startswith(prefix)}
        agents.append(network_of_arrays(own))
    return AgentNetworks(agents=tuple(agents))


def _arrays_agent_networks(networks: AgentNetworks) -> dict[str, NDArray[np.generic]]:
    """Return everything as arrays by name."""
    arrays: dict[str, NDArray[np.generic]] = {
        "format": np.array(AGENT_NETWORKS_FORMAT),
        "num_agents": np.array(networks.num_agents, dtype=np.int64),
    }
    for number, agent in enumerate(networks.agents):
        arrays |= {f"agent {number} {name}": array for name, array in network_arrays(agent).items()}
    return arrays


def load_any_network(path: str | PathLike[str]) -> TrainedNetwork | AgentNetworks:
    """Read what `save_network` or `save_agent_networks` wrote; `NetworkDecider` takes either's parameters.

    Raises a `ValueError` if the file is no such file, its hash is another, or its arrays do not belong together, and an
    `OSError` if it cannot be read.
    """
    with arrays_in(path, "network") as arrays:
        return stored_agent_networks(arrays) if format_of(arrays) == AGENT_NETWORKS_FORMAT else stored_network(arrays)
