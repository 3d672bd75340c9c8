"""One instance from a named family."""

from __future__ import annotations

import dataclasses
import difflib
from typing import TYPE_CHECKING

import numpy as np

from instances.cluster import parse_cluster
from instances.dag_from_graph import CostModel, dag_instance_from_graph
from instances.generators.families import FAMILIES
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    from instances.cluster import Cluster
    from instances.dag_instance import DagInstance

DEFAULT_CLUSTER = "mixed-4"
"""Preset that is used where no cluster is given."""


def generate(
    family: str,
    *,
    tasks: int,
    seed: int,
    cluster: Cluster | None = None,
    cost: CostModel | None = None,
    name: str | None = None,
    **parameters: object,
) -> DagInstance:
    """Make an instance of a named family.

    Parameters
    ----------
    family
        Name in `FAMILIES`.
    tasks
        Wished number of tasks; families of fixed shape come as near as they can.
    seed
        At least 0. The graph and the costs draw from streams of their own: another cluster or cost model leaves the
        graph as it is.
    cluster
        Where it runs; default the preset ``mixed-4``.
    cost
        How durations, bytes and memory follow; default `CostModel()`.
    name
        Name of the instance; the default tells family, number of tasks and seed.
    **parameters
        Parameters of the family.

    Returns
    -------
    DagInstance
        The same for the same arguments.

    Raises
    ------
    TypeError
        If a parameter is not of its kind.
    ValueError
        If the family or a parameter is unknown, a parameter is out of range, or the graph does not fit on the cluster.
    """
    if family not in FAMILIES:
        near = difflib.get_close_matches(family, FAMILIES) or list(FAMILIES)
        raise ValueError(f"family: expected one of {', '.join(near)}, got {family!r}.")
    make, known = FAMILIES[family].load(), FAMILIES[family].parameters()
    for parameter in parameters:
        if parameter not in known:
            choices = (
                f"a parameter of {family} ({', '.join(known)})" if known else f"no parameter, as {family} has none"
            )
            raise ValueError(f"parameters: expected {choices}, got {parameter!r}.")
    seed = check_integer("seed", seed, low=0)
    graph_rng, cost_rng = (np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(2))
    graph = make(graph_rng, tasks=tasks, **parameters)
    if name is None:
        name = f"{family}-n{len(graph.task_names)}-s{seed}"
    return dag_instance_from_graph(
        dataclasses.replace(graph, name=name),
        parse_cluster(DEFAULT_CLUSTER) if cluster is None else cluster,
        CostModel() if cost is None else cost,
        cost_rng,
    )
