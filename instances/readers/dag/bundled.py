"""Instances that come with the package, small enough to be solved to proven optimality within seconds."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from instances.fields import one_of
from instances.readers.dag.read import read_instance

if TYPE_CHECKING:
    from instances.clusters.cluster import Cluster
    from instances.dag.instance import DagInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """A file in the package; `format_name` is a key of `READERS`, and `cluster` the default, as text."""

    file: str
    format_name: str
    cluster: str
    description: str


BUNDLED: dict[str, Bundled] = {
    "inception-block": Bundled(
        file="inception-block.txt",
        format_name="pipedream",
        cluster="mixed-3",
        description="forward pass of an Inception block with its classifier, 15 layers, on V100, T4 and P100",
    ),
}
"""Bundled files by name."""


def bundled_path(name: str) -> Path:
    """Return where a bundled file is; raises a `ValueError` if there is none of that name."""
    return Path(str(files("instances") / "bundled" / _bundled(name).file))


def bundled_instance(name: str, *, cluster: Cluster | None = None, seed: int = 0) -> DagInstance:
    """Read a bundled file and put it on a cluster of unlike GPUs.

    Parameters
    ----------
    name
        A key of `BUNDLED`.
    cluster
        By default that of the file.
    seed
        Seed of the times on kinds other than the reference kind, which are a model (`dag_instance_from_measured`).

    Raises
    ------
    ValueError
        If there is none of that name, or it does not fit on the cluster.
    """
    from instances.clusters.cluster import parse_cluster

    bundled = _bundled(name)
    where = parse_cluster(bundled.cluster) if cluster is None else cluster
    return read_instance(bundled.format_name, bundled_path(name), cluster=where, seed=seed)


def _bundled(name: str) -> Bundled:
    """Return the entry of a name."""
    one_of(name, BUNDLED, "bundled instance")
    return BUNDLED[name]
