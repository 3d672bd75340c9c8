"""Named clusters for generators, examples and studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.cluster import DEFAULT_NIC_BANDWIDTH, Cluster, Server
from instances.gpu_catalogue import gpu_kind

if TYPE_CHECKING:
    from collections.abc import Callable

GBIT = 1e9 / 8
"""One Gbit/s in bytes per second."""


def _mixed_2() -> Cluster:
    """One server with a fast and a slow GPU: V100-16GB and T4."""
    return _cluster("V100-16GB+T4")


def _mixed_3() -> Cluster:
    """One server with three kinds: V100-16GB, T4 and P100; T4 and P100 swap ranks between compute and memory."""
    return _cluster("V100-16GB+T4+P100")


def _mixed_4() -> Cluster:
    """Two servers, four kinds: A100-40GB and T4, V100-16GB and P100; 100 Gbit/s."""
    return _cluster("A100-40GB+T4,V100-16GB+P100")


def _mixed_4_slow() -> Cluster:
    """Four servers with one GPU of its own kind each and 10 Gbit/s: transfers weigh most."""
    return _cluster("A100-40GB,V100-16GB,T4,P100", nic_bandwidth=10 * GBIT)


def _mixed_8() -> Cluster:
    """Four servers of two like GPUs: A100-40GB, V100-16GB, T4, P100; 100 Gbit/s."""
    return _cluster("2xA100-40GB,2xV100-16GB,2xT4,2xP100")


def _mixed_16() -> Cluster:
    """Four servers of four like GPUs: A100-40GB, V100-16GB, T4, P100; 100 Gbit/s."""
    return _cluster("4xA100-40GB,4xV100-16GB,4xT4,4xP100")


def _mixed_64() -> Cluster:
    """Eight servers of eight like GPUs, two servers of each kind: A100-40GB, V100-32GB, T4, P100; 100 Gbit/s."""
    return _cluster("8xA100-40GB,8xA100-40GB,8xV100-32GB,8xV100-32GB,8xT4,8xT4,8xP100,8xP100")


def _v100_t4_p100_pair() -> Cluster:
    """Two servers that mix V100-16GB, T4 and P100, three GPUs each; 100 Gbit/s."""
    return _cluster("2xV100-16GB+T4,T4+2xP100")


def _k80_p100_v100() -> Cluster:
    """Three generations, 6 K80, 4 P100 and 2 V100-16GB: ratios of the physical cluster in Gavel (OSDI 2020); 25 Gbit/s.

    The placement on servers and the NICs are assumptions.
    """
    return _cluster("6xK80,4xP100,2xV100-16GB", nic_bandwidth=25 * GBIT)


def _h100_a100_l40s() -> Cluster:
    """Three servers of two like GPUs of recent generations: H100, A100-80GB, L40S; 200 Gbit/s."""
    return _cluster("2xH100,2xA100-80GB,2xL40S", nic_bandwidth=200 * GBIT)


def _inference() -> Cluster:
    """Three servers of two like inference GPUs: L4, T4, A10; no NVLink, 25 Gbit/s."""
    return _cluster("2xL4,2xT4,2xA10", nic_bandwidth=25 * GBIT)


def _workstation() -> Cluster:
    """Four RTX-2080-Ti in one box without bridges: PCIe only."""
    return _cluster("4xRTX-2080-Ti", nvlink=False)


def _identical_4() -> Cluster:
    """Four V100-16GB with NVLink in one server: no heterogeneity, for comparison."""
    return _cluster("4xV100-16GB")


def _dgx_a100() -> Cluster:
    """One server of eight A100-40GB with NVLink (NVIDIA DGX A100)."""
    return _cluster("8xA100-40GB", nic_bandwidth=200 * GBIT)


def _dgx_a100_pair() -> Cluster:
    """Two servers of eight A100-40GB with NVLink; a 200 Gbit/s NIC per GPU."""
    return _cluster("8xA100-40GB,8xA100-40GB", nic_bandwidth=200 * GBIT)


def _dgx_h100() -> Cluster:
    """One server of eight H100 with NVLink (NVIDIA DGX H100)."""
    return _cluster("8xH100", nic_bandwidth=400 * GBIT)


CLUSTER_PRESETS: dict[str, Callable[[], Cluster]] = {
    "mixed-2": _mixed_2,
    "mixed-3": _mixed_3,
    "mixed-4": _mixed_4,
    "mixed-4-slow": _mixed_4_slow,
    "mixed-8": _mixed_8,
    "mixed-16": _mixed_16,
    "mixed-64": _mixed_64,
    "v100-t4-p100-pair": _v100_t4_p100_pair,
    "k80-p100-v100": _k80_p100_v100,
    "h100-a100-l40s": _h100_a100_l40s,
    "inference-l4-t4-a10": _inference,
    "workstation-2080-ti": _workstation,
    "identical-4": _identical_4,
    "dgx-a100": _dgx_a100,
    "dgx-a100-pair": _dgx_a100_pair,
    "dgx-h100": _dgx_h100,
}
"""Clusters by name; the first line of each one's docstring says what it models."""


def _cluster(text: str, *, nic_bandwidth: float = DEFAULT_NIC_BANDWIDTH, nvlink: bool = True) -> Cluster:
    """Make a cluster of servers s0, s1, ... from `2xT4+P100,...`."""
    servers = []
    for number, server in enumerate(text.split(",")):
        kinds = []
        for group in server.split("+"):
            count, _, name = group.rpartition("x")
            kinds += [gpu_kind(name)] * int(count or 1)
        servers.append(Server(name=f"s{number}", kinds=tuple(kinds), nic_bandwidth=nic_bandwidth, nvlink=nvlink))
    return Cluster(servers=tuple(servers))
