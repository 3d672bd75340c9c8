"""The graphs that the networks run on: inside a server, and between servers, racks and agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.marl.partitions import Partitions

MAX_SOCKETS = 2
"""Of a server, and so of its PCIe switches: one per socket."""

_MOST_GPUS_OF_ONE_SOCKET = 4


def num_sockets(num_gpus: int) -> int:
    """Return the sockets of a server, of which instances say nothing: 1 with up to 4 GPUs, else 2."""
    return 1 if num_gpus <= _MOST_GPUS_OF_ONE_SOCKET else MAX_SOCKETS


def switch_of_gpu(num_gpus: int) -> NDArray[np.int64]:
    """Return the switch of each GPU of a server, shape (GPUs,), int64: split evenly by number."""
    return np.arange(num_gpus, dtype=np.int64) * num_sockets(num_gpus) // num_gpus


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgentGraph:
    """Inner graphs of an agent's servers and its outer graph; section 3.2 of the reference, ours.

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
