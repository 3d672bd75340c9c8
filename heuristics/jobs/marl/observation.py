"""The observation of an agent that decides about a job, as padded arrays, and the graphs that connect them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.jobs.marl.groups import MAX_GROUPS
from heuristics.jobs.marl.server_states import NUM_RESOURCES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.marl.partitions import Partitions


MAX_SOCKETS = 2
"""Most sockets of a server, and therefore most PCIe switches: one per socket."""

_MOST_GPUS_OF_ONE_SOCKET = 4


def num_sockets(num_gpus: int) -> int:
    """Return the number of sockets of a server, which instances do not contain: 1 with up to 4 GPUs, else 2."""
    return 1 if num_gpus <= _MOST_GPUS_OF_ONE_SOCKET else MAX_SOCKETS


def switch_of_gpu(num_gpus: int) -> NDArray[np.int64]:
    """Return the switch of each GPU of a server, shape (GPUs,), int64: split evenly by number."""
    return np.arange(num_gpus, dtype=np.int64) * num_sockets(num_gpus) // num_gpus


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgentGraph:
    """Inner graphs of an agent's servers and its outer graph; ours: docs/methods/multi_agent.md, section 4.

    Inside a server: GPUs, one PCIe switch per socket, sockets, a network interface (NIC); edges GPU-switch,
    switch-socket, socket-socket, NIC-switch 0. Outside: servers, racks, a core, and a vertex per other agent; edges
    server-rack, rack-core, core-agent.

    Parameters
    ----------
    has_gpu
        Whether a server has a GPU of this number, shape (servers, most GPUs), float32, 1 or 0.
    on_switch
        Whether a GPU is on a switch, shape (servers, 2, most GPUs), float32, 1 or 0.
    has_socket
        Whether a server has a socket (and switch) of this number, shape (servers, 2), float32, 1 or 0.
    in_rack
        Whether a server is in a rack, shape (servers, racks), float32, 1 or 0. Only racks of the agent's servers; all
        servers in none, and all where the instance has no racks, are in one further rack.
    """

    has_gpu: NDArray[np.float32]
    on_switch: NDArray[np.float32]
    has_socket: NDArray[np.float32]
    in_rack: NDArray[np.float32]


def agent_graph(partitions: Partitions, agent: int) -> AgentGraph:
    """Return the graphs of an agent; `most GPUs` are those of any server of the instance."""
    instance, own = partitions.instance, partitions.servers_of(agent)
    gpus = instance.num_gpus_of[own].tolist()
    most = int(instance.num_gpus_of.max())
    on_switch = np.zeros((len(gpus), MAX_SOCKETS, most), dtype=np.float32)
    has_socket = np.zeros((len(gpus), MAX_SOCKETS), dtype=np.float32)
    for server, count in enumerate(gpus):
        on_switch[server, switch_of_gpu(count), np.arange(count)] = 1
        has_socket[server, : num_sockets(count)] = 1
    rack_of = np.zeros(len(gpus), dtype=np.int64) if instance.racks is None else instance.racks.rack_of_server[own]
    return AgentGraph(
        has_gpu=on_switch.sum(axis=1),
        on_switch=on_switch,
        has_socket=has_socket,
        in_rack=(rack_of[:, None] == np.unique(rack_of)).astype(np.float32),
    )


SUMMARY_FEATURES = 9 + NUM_RESOURCES
"""Numbers in the summary of an agent."""

SERVER_FEATURES = 4
"""B[v] / max B and load[nic] of the NIC, load[pcie] of switches, load[cpu] of sockets."""

JOB_FEATURES = 9 + 2 * NUM_RESOURCES
"""Numbers of the job to decide about."""

GROUP_FEATURES = 4
"""Numbers of a candidate placement."""

OFFER_FEATURES = 1
"""Numbers of an offer: how fast an agent's servers could run the job if they were empty."""

_GPU_FEATURES = 4 + 2 * NUM_RESOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationSize:
    """Sizes of the padded arrays; observations of one size can be stacked.

    Parameters
    ----------
    kinds
        Names of the kinds of GPU with a mark of their own, in order; a GPU of another kind has no mark.
    num_servers, num_gpus, num_racks
        Most servers of an agent, GPUs of a server, racks of an agent's servers.
    """

    kinds: tuple[str, ...]
    num_agents: int
    num_servers: int
    num_gpus: int
    num_racks: int

    @classmethod
    def of(cls, partitions: Partitions) -> ObservationSize:
        """Return the smallest sizes that hold the observations of an instance's agents."""
        instance = partitions.instance
        racks = [
            1 if instance.racks is None else len(set(instance.racks.rack_of_server[partitions.servers_of(a)].tolist()))
            for a in range(partitions.num_agents)
        ]
        return cls(
            kinds=instance.kinds,
            num_agents=partitions.num_agents,
            num_servers=int(np.diff(partitions.cuts).max()),
            num_gpus=int(instance.num_gpus_of.max()),
            num_racks=max(racks),
        )

    @property
    def gpu_features(self) -> int:
        """Numbers per GPU: a mark of its kind, then ten."""
        return len(self.kinds) + _GPU_FEATURES

    @property
    def num_slots(self) -> int:
        """Slots of a decision."""
        return MAX_GROUPS + self.num_agents


class Observation(NamedTuple):
    """An observation; float32 except the last array, 0 where there is nothing.

    Ours: docs/methods/multi_agent.md, section 4.

    Sizes as in `ObservationSize`: A agents, V servers, P GPUs per server, R racks; two sockets. Times are in units of
    kappa (see `time_scale`), demands and sensitivities in units of 1000 per mille.
    """

    gpus: NDArray[np.float32]
    """(V, P, kinds + 10): mark of the kind; free places; longest time of a stage of the job that may run on the kind,
    over T*, and a flag if none may; sums over jobs on it of age, of the demand of a replica for cpu, pcie, nic, and of
    sensitivities."""
    servers: NDArray[np.float32]
    """(V, 4): see `SERVER_FEATURES`."""
    has_server: NDArray[np.float32]
    """(V,)"""
    has_gpu: NDArray[np.float32]
    """(V, P)"""
    on_switch: NDArray[np.float32]
    """(V, 2, P)"""
    has_socket: NDArray[np.float32]
    """(V, 2)"""
    in_rack: NDArray[np.float32]
    """(V, R)"""
    summaries: NDArray[np.float32]
    """(A, 12): of the deciding agent, then of the others in order of number, as of the beginning of the round."""
    offers: NDArray[np.float32]
    """(A, 1): in the same order, ln of the longest time of a stage over T* on the fastest GPUs of the agent that are as
    many as the job asks for; 0 where there are not as many. Ours; without it no agent could tell
    to whom a job is worth forwarding."""
    job: NDArray[np.float32]
    """(15,): ln g, S, Q, alpha^lb in kappa, alpha^min and comm(x^min) in alpha^lb, what a replica asks of cpu, pcie,
    nic, sensitivities, time waited, forwards, predicted duration."""
    group_servers: NDArray[np.float32]
    """(8, V): share of the job's replicas on each server."""
    groups: NDArray[np.float32]
    """(8, 4): alpha / alpha^lb, own speed / 1000, loss of speed of others / 1000, servers used / g."""
    mask: NDArray[np.bool_]
    """(8 + A,): whether each slot may be chosen, see `Decision`."""


def empty_observation(size: ObservationSize) -> Observation:
    """Return an observation of zeros in which nothing may be chosen."""
    shapes = {
        "gpus": (size.num_servers, size.num_gpus, size.gpu_features),
        "servers": (size.num_servers, SERVER_FEATURES),
        "has_server": (size.num_servers,),
        "has_gpu": (size.num_servers, size.num_gpus),
        "on_switch": (size.num_servers, MAX_SOCKETS, size.num_gpus),
        "has_socket": (size.num_servers, MAX_SOCKETS),
        "in_rack": (size.num_servers, size.num_racks),
        "summaries": (size.num_agents, SUMMARY_FEATURES),
        "offers": (size.num_agents, OFFER_FEATURES),
        "job": (JOB_FEATURES,),
        "group_servers": (MAX_GROUPS, size.num_servers),
        "groups": (MAX_GROUPS, GROUP_FEATURES),
    }
    arrays = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}
    return Observation(**arrays, mask=np.zeros(size.num_slots, dtype=np.bool_))
