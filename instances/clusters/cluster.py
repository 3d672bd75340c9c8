"""Servers with GPUs, the links between all pairs of GPUs that follow from them, and named clusters."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.gpu_kinds import GPU_KINDS, gpu_kind
from instances.spelling import did_you_mean, nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.clusters.gpu_kinds import GpuKind


LATENCY_INSIDE_SECONDS = 10e-6
"""Assumed start-up time of a transfer inside a server."""

LATENCY_BETWEEN_SECONDS = 25e-6
"""Assumed start-up time of a transfer between servers."""

DEFAULT_NIC_BANDWIDTH = 12.5e9
"""Assumed NIC of a server in bytes per second: 100 Gbit/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server with GPUs and a NIC.

    Parameters
    ----------
    name
        Free text, its own in the cluster.
    nic_bandwidth
        Bytes per second in one direction.
    nvlink
        Whether GPUs that have NVLink are linked by it (bridges: in pairs); all others use PCIe.
    """

    name: str
    kinds: tuple[GpuKind, ...]
    nic_bandwidth: float = DEFAULT_NIC_BANDWIDTH
    nvlink: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Servers and what their links can do.

    The link of two GPUs is: inside a server NVLink if both have it and the server is wired so, else PCIe; kinds whose
    NVLink is a bridge of two GPUs (`GpuKind.nvlink_peers`) have it in pairs, 0-1, 2-3, ... of the kind; between
    servers the NICs, and PCIe on the way to them. A link between unlike GPUs runs at the slower of the two (assumption:
    no datasheet states it). Latencies are assumptions of the order of public point-to-point measurements.

    Parameters
    ----------
    servers
        At least one, each with at least one GPU.

    Raises
    ------
    ValueError
        If there is no server, a server has no GPU, or two have the same name.
    """

    servers: tuple[Server, ...]

    def __post_init__(self) -> None:
        """Check that there is something to run on."""
        if not self.servers:
            raise ValueError("cluster: expected at least one server, got none.")
        for server in self.servers:
            if not server.kinds:
                raise ValueError(f"cluster: expected at least one GPU on server {server.name!r}, got none.")
        if len({server.name for server in self.servers}) < len(self.servers):
            raise ValueError("cluster: expected a name of its own for each server.")

    @property
    def kinds(self) -> tuple[GpuKind, ...]:
        """Kind of each GPU, server by server."""
        return tuple(kind for server in self.servers for kind in server.kinds)

    @property
    def server_of_gpu(self) -> tuple[Server, ...]:
        """Server of each GPU."""
        return tuple(server for server in self.servers for _ in server.kinds)

    def bytes_per_second(self) -> NDArray[np.float64]:
        """Return the bandwidth of every link, shape (m, m); 1.0 on the diagonal, which means nothing."""
        kinds, servers = self.kinds, self.server_of_gpu
        groups = [group for server in self.servers for group in _nvlink_groups(server)]
        bandwidth = np.ones((len(kinds), len(kinds)))
        for source, target in itertools.permutations(range(len(kinds)), 2):
            same_group = groups[source] is not None and groups[source] == groups[target]
            bandwidth[source, target] = _link_bandwidth(
                kinds[source], kinds[target], servers[source], servers[target], has_nvlink=same_group
            )
        return bandwidth

    def latency_seconds(self) -> NDArray[np.float64]:
        """Return the latency of every link, shape (m, m); 0 on the diagonal."""
        names = np.array([server.name for server in self.server_of_gpu])
        latency = np.where(names[:, None] == names, LATENCY_INSIDE_SECONDS, LATENCY_BETWEEN_SECONDS)
        np.fill_diagonal(latency, 0.0)
        return latency


MAX_GPUS = 4096
"""Largest cluster that a text may ask for; its link matrices take 256 MiB."""


def parse_cluster(text: str) -> Cluster:
    """Make a cluster from a preset's name or a short text such as ``2xV100-16GB+1xT4,4xP100``.

    Servers are separated by commas, GPUs within a server by plus signs; a count of GPUs is written before an ``x``, a
    number of like servers before a ``*``: ``64*8xV100-16GB``.

    Raises a `ValueError` if a kind is not in the catalogue, a server has no GPU, or the text has another form.

    Examples
    --------
    >>> import optgap
    >>> [kind.name for kind in optgap.parse_cluster("2xV100-16GB+1xT4").kinds]
    ['V100-16GB', 'V100-16GB', 'T4']
    """
    if text in CLUSTER_PRESETS:
        return CLUSTER_PRESETS[text].cluster()
    near = nearest(text, CLUSTER_PRESETS)
    if near and not _looks_like_kinds(text):
        expected = f"a preset ({', '.join(CLUSTER_PRESETS)}) or a text such as 2xT4+1xP100"
        raise ValueError(f"cluster: expected {expected}, got {text!r}{did_you_mean(text, CLUSTER_PRESETS)}.")
    servers: list[Server] = []
    num_gpus = 0
    for part in text.split(","):
        times = re.match(r"\s*(\d{1,99})\*", part)
        kinds: list[GpuKind] = []
        for group in part[times.end() if times else 0 :].split("+"):
            match = re.fullmatch(r"(?:(\d{1,99})x)?([A-Za-z0-9-]+)", group.strip())
            if match is None:
                raise ValueError(f"cluster: expected a preset or COUNTxKIND+...,... such as 2xT4+1xP100, got {text!r}.")
            count = int(match[1] or 1)
            num_gpus += count
            if num_gpus > MAX_GPUS:
                raise ValueError(f"cluster: expected at most {MAX_GPUS} GPUs, got {text!r}.")
            kinds += [gpu_kind(match[2])] * count
        num_like = int(times[1]) if times else 1
        num_gpus += (num_like - 1) * len(kinds)
        if max(num_gpus, num_like) > MAX_GPUS:
            raise ValueError(f"cluster: expected at most {MAX_GPUS} GPUs, got {text!r}.")
        servers += [Server(name=f"s{len(servers) + like}", kinds=tuple(kinds)) for like in range(num_like)]
    return Cluster(servers=tuple(servers))


def _looks_like_kinds(text: str) -> bool:
    """Say whether a text names a kind of the catalogue or counts anything."""
    return bool(re.search(r"[,+*]|^\s*\d+x", text)) or text.strip() in GPU_KINDS


def _nvlink_groups(server: Server) -> list[tuple[str, int] | None]:
    """Return for each GPU what NVLink group of the server it is in, None for none.

    Kinds that take any number of peers are one group; GPUs with bridges are joined in order, 0 and 1, 2 and 3, ... of
    each kind.
    """
    count_of_kind: dict[str, int] = {}
    groups: list[tuple[str, int] | None] = []
    for kind in server.kinds:
        number = count_of_kind.get(kind.name, 0)
        count_of_kind[kind.name] = number + 1
        if not server.nvlink or kind.nvlink_bandwidth is None:
            groups.append(None)
        elif kind.nvlink_peers is None:
            groups.append(("", 0))
        else:
            groups.append((kind.name, number // kind.nvlink_peers))
    return groups


def _link_bandwidth(
    source: GpuKind, target: GpuKind, source_server: Server, target_server: Server, *, has_nvlink: bool
) -> float:
    """Return the bandwidth of a link in bytes per second."""
    pcie = min(source.pcie_bandwidth, target.pcie_bandwidth)
    if source_server is not target_server:
        return min(pcie, source_server.nic_bandwidth, target_server.nic_bandwidth)
    if has_nvlink and source.nvlink_bandwidth is not None and target.nvlink_bandwidth is not None:
        return min(source.nvlink_bandwidth, target.nvlink_bandwidth)
    return pcie


GBIT = 1e9 / 8
"""One Gbit/s in bytes per second."""


@dataclass(frozen=True, slots=True)
class ClusterPreset:
    """A named cluster: the text that `parse_cluster` takes, what the cluster models, and how its servers are linked."""

    text: str
    description: str
    nic_gbit: float = 100.0
    nvlink: bool = True

    def cluster(self) -> Cluster:
        """Return the cluster."""
        nic = self.nic_gbit * GBIT
        servers = parse_cluster(self.text).servers
        return Cluster(servers=tuple(replace(item, nic_bandwidth=nic, nvlink=self.nvlink) for item in servers))


CLUSTER_PRESETS: dict[str, ClusterPreset] = {
    "mixed-2": ClusterPreset("V100-16GB+T4", "One server with a fast and a slow GPU: V100-16GB and T4."),
    "mixed-3": ClusterPreset(
        "V100-16GB+T4+P100",
        "One server with three kinds: V100-16GB, T4 and P100; T4 and P100 swap ranks between compute and memory.",
    ),
    "mixed-4": ClusterPreset(
        "A100-40GB+T4,V100-16GB+P100", "Two servers, four kinds: A100-40GB and T4, V100-16GB and P100; 100 Gbit/s."
    ),
    "mixed-4-slow": ClusterPreset(
        "A100-40GB,V100-16GB,T4,P100",
        "Four servers with one GPU of its own kind each and 10 Gbit/s: transfers weigh most.",
        nic_gbit=10,
    ),
    "mixed-8": ClusterPreset(
        "2xA100-40GB,2xV100-16GB,2xT4,2xP100",
        "Four servers of two like GPUs: A100-40GB, V100-16GB, T4, P100; 100 Gbit/s.",
    ),
    "mixed-16": ClusterPreset(
        "4xA100-40GB,4xV100-16GB,4xT4,4xP100",
        "Four servers of four like GPUs: A100-40GB, V100-16GB, T4, P100; 100 Gbit/s.",
    ),
    "mixed-64": ClusterPreset(
        "2*8xA100-40GB,2*8xV100-32GB,2*8xT4,2*8xP100",
        "Eight servers of eight like GPUs, two servers of each kind: A100-40GB, V100-32GB, T4, P100; 100 Gbit/s.",
    ),
    "v100-t4-p100-pair": ClusterPreset(
        "2xV100-16GB+T4,T4+2xP100", "Two servers that mix V100-16GB, T4 and P100, three GPUs each; 100 Gbit/s."
    ),
    "k80-p100-v100": ClusterPreset(  # the placement on servers and the NICs are assumptions
        "6xK80,4xP100,2xV100-16GB",
        "Three generations, 6 K80, 4 P100 and 2 V100-16GB: ratios of the physical cluster in Gavel (OSDI 2020); "
        "25 Gbit/s.",
        nic_gbit=25,
    ),
    "h100-a100-l40s": ClusterPreset(
        "2xH100,2xA100-80GB,2xL40S",
        "Three servers of two like GPUs of recent generations: H100, A100-80GB, L40S; 200 Gbit/s.",
        nic_gbit=200,
    ),
    "inference-l4-t4-a10": ClusterPreset(
        "2xL4,2xT4,2xA10", "Three servers of two like inference GPUs: L4, T4, A10; no NVLink, 25 Gbit/s.", nic_gbit=25
    ),
    "workstation-2080-ti": ClusterPreset(
        "4xRTX-2080-Ti", "Four RTX-2080-Ti in one box without bridges: PCIe only.", nvlink=False
    ),
    "identical-4": ClusterPreset(
        "4xV100-16GB", "Four V100-16GB with NVLink in one server: no heterogeneity, for comparison."
    ),
    "dgx-a100": ClusterPreset(
        "8xA100-40GB", "One server of eight A100-40GB with NVLink (NVIDIA DGX A100).", nic_gbit=200
    ),
    "dgx-a100-pair": ClusterPreset(
        "2*8xA100-40GB", "Two servers of eight A100-40GB with NVLink; a 200 Gbit/s NIC per GPU.", nic_gbit=200
    ),
    "dgx-h100": ClusterPreset("8xH100", "One server of eight H100 with NVLink (NVIDIA DGX H100).", nic_gbit=400),
}
"""Clusters by name."""
