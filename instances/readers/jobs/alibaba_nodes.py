"""Reader of the node lists of Alibaba's GPU cluster of 2023."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.clusters.cluster import Cluster, Server
from instances.clusters.gpu_kinds import gpu_kind
from instances.readers.text_fields import check_at_least
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
"""First line of a file."""

KIND_OF_MODEL = {
    "T4": "T4",
    "P100": "P100",
    "V100M16": "V100-16GB",
    "V100M32": "V100-32GB",
    "A10": "A10",
}
"""Kinds of the catalogue by the names of the list."""

UNDISCLOSED = ("G2", "G3")
"""Models that the publisher does not name; three quarters of the GPUs."""

NIC_GBIT = 25.0
"""Network interface of a server in Gbit/s where nothing is said: an assumption of ours, the list has none."""


def read_alibaba_nodes(
    path: str | PathLike[str], *, stand_in_kind: str | None = None, nic_gbit: float = NIC_GBIT
) -> Cluster:
    """Read the nodes with GPUs of a node list (``openb_node_list_*.csv``) as the servers of a cluster.

    Nodes without GPUs are left out. G2 and G3 are undisclosed models without a public counterpart: their nodes are left
    out too, unless a kind stands in for both. Of the published list the rest are 1,508 GPUs of five kinds. Numbers and
    kinds of GPUs are recorded; network interfaces are assumed, and neither links inside nodes nor the memory of GPUs
    are in the list (V100M16 and V100M32 have theirs in the name).

    Parameters
    ----------
    path
        The file, plain or compressed.
    stand_in_kind
        Kind of the catalogue for the undisclosed models; an assumption. None leaves them out.
    nic_gbit
        Bandwidth of every network interface in Gbit/s and direction.

    Returns
    -------
    Cluster
        Servers in the order of the file, named as there. Names are not the same across the two published lists.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file has another form (the message gives the line), or no node is left.

    References
    ----------
    Weng et al. (2023), Beware of fragmentation, USENIX ATC; github alibaba/clusterdata, cluster-trace-gpu-v2023.
    """
    check_at_least("nic_gbit", nic_gbit, 1e-6)
    kinds = dict(KIND_OF_MODEL)
    if stand_in_kind is not None:
        kinds.update(dict.fromkeys(UNDISCLOSED, stand_in_kind))
    lines = read_text(path).splitlines()
    if not lines or tuple(lines[0].split(",")) != COLUMNS:
        raise ValueError(
            f"line 1: expected the columns {','.join(COLUMNS)}, got {lines[0][:60] if lines else 'nothing'}."
        )
    servers = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split(",")
        if len(cells) != len(COLUMNS):
            raise ValueError(f"line {number}: expected {len(COLUMNS)} columns, got {len(cells)}.")
        name, _, _, count, model = cells
        if not (count.isascii() and count.isdigit()):
            raise ValueError(f"line {number}: expected gpu as an integer of at least 0, got {count!r}.")
        if int(count) == 0 or (model in UNDISCLOSED and stand_in_kind is None):
            continue
        if model not in kinds:
            raise ValueError(f"line {number}: expected a model among {', '.join(kinds)}, got {model!r}.")
        servers.append(
            Server(name=name, kinds=(gpu_kind(kinds[model]),) * int(count), nic_bandwidth=nic_gbit * 1e9 / 8)
        )
    if not servers:
        raise ValueError("line 2: expected a node with GPUs of a known kind, got none in the whole file.")
    return Cluster(servers=tuple(servers))
