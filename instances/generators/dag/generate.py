"""The named families of task graphs, and one DAG instance from a named family.

The function of a family takes a random generator and keywords: the requested number of ``tasks``, and parameters of its
own. It returns a `TaskGraph`, and raises TypeError or ValueError if a parameter is not of its kind or out of range.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.task_graph import dag_instance_from_graph
from instances.generators.family import Family, loaded_family
from instances.parameters import check_integer

if TYPE_CHECKING:
    from instances.clusters.cluster import Cluster
    from instances.dag.instance import DagInstance


FAMILIES: dict[str, Family] = {
    "layered": Family(
        ".dag.random_graphs:layered", "random layers, predecessors in the layers before", "Tobita and Kasahara (2002)"
    ),
    "erdos-renyi": Family(
        ".dag.random_graphs:erdos_renyi",
        "every forward pair is an edge with one probability",
        "Erdos and Renyi (1959); Cordeiro et al. (2010)",
    ),
    "series-parallel": Family(
        ".dag.random_graphs:series_parallel",
        "random nested series and parallel blocks",
        "Valdes, Tarjan and Lawler (1982)",
    ),
    "fork-join": Family(
        ".dag.random_graphs:fork_join", "phases of parallel tasks between single ones", "Valiant (1990)"
    ),
    "in-tree": Family(".dag.trees:in_tree", "random tree towards one sink", "Hu (1961)"),
    "out-tree": Family(".dag.trees:out_tree", "random tree from one source", "Hu (1961)"),
    "chains": Family(".dag.random_graphs:chains", "chains of random lengths side by side", "Pinedo, Scheduling"),
    "independent": Family(".dag.random_graphs:independent", "tasks without edges", "Lenstra, Shmoys and Tardos (1990)"),
    "unrelated-machines": Family(
        ".dag.random_graphs:unrelated_machines",
        "weighted jobs of one task, durations drawn for every GPU by itself",
        "Fanjul-Peyro and Ruiz (2010); weights ours",
    ),
    "fft": Family(
        ".dag.numerical:fft",
        "recursive fast Fourier transform: splits, then butterflies",
        "Cooley and Tukey (1965); Topcuoglu et al. (2002)",
    ),
    "lu": Family(".dag.numerical:lu", "tiled LU factorisation without pivoting", "Buttari et al. (2009)"),
    "cholesky": Family(".dag.numerical:cholesky", "tiled Cholesky factorisation", "Buttari et al. (2009)"),
    "gaussian-elimination": Family(
        ".dag.numerical:gaussian_elimination",
        "Gaussian elimination on block columns",
        "Cosnard et al. (1988); Topcuoglu et al. (2002)",
    ),
    "stencil": Family(
        ".dag.numerical:stencil", "Jacobi steps of a five-point stencil on blocks of rows", "Asanovic et al. (2006)"
    ),
    "pipeline-training": Family(
        ".dag.pipeline_training:pipeline_training",
        "one iteration of pipeline-parallel training: stages and micro-batches",
        "Huang et al. (2019), GPipe",
    ),
    "inception": Family(
        ".dag.neural_networks:inception", "forward pass of a network of Inception cells", "Szegedy et al. (2015)"
    ),
    "nasnet": Family(
        ".dag.neural_networks:nasnet", "forward pass of a network of randomly wired cells", "Zoph et al. (2018)"
    ),
    "transformer": Family(
        ".dag.neural_networks:transformer",
        "forward pass of transformer blocks, one task per head and step",
        "Vaswani et al. (2017)",
    ),
    "mixture-of-experts": Family(
        ".dag.neural_networks:mixture_of_experts",
        "forward pass of transformer blocks with unevenly loaded experts",
        "Shazeer et al. (2017)",
    ),
    "hyperparameter-sweep": Family(
        ".dag.several_jobs:hyperparameter_sweep",
        "many training jobs by successive halving, with releases and weights",
        "Jamieson and Talwalkar (2016)",
    ),
    "multi-tenant": Family(
        ".dag.several_jobs:multi_tenant", "jobs of several families, with releases and weights", "ours"
    ),
}
"""Families by name, as on the command line."""


BUFFER_FAMILIES: dict[str, Family] = {
    "pipeline": Family(
        ".dag.pipelines:pipeline",
        "one iteration of pipeline training with memory that is released: F, B and W of stages and micro-batches",
        "Qi et al. (2024); numbers ours",
    ),
    "training": Family(
        ".dag.training:training",
        "a training step of a graph of another family (of): backward by reversal, outputs held until their last use",
        "ours",
    ),
}
"""Families of instances with buffers and groups, which few methods know; their functions make the instance."""

ALL_FAMILIES = ChainMap(BUFFER_FAMILIES, FAMILIES)
"""All families by name."""


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
        Name in `FAMILIES` or `BUFFER_FAMILIES`.
    tasks
        Requested number of tasks; families of fixed shape come as near as they can.
    seed
        At least 0. The graph and the costs draw from streams of their own: another cluster or cost model leaves the
        graph as it is.
    cluster
        GPUs and links; default the preset ``mixed-4``.
    cost
        How durations, bytes and memory follow; default `CostModel()`. None for a family of `BUFFER_FAMILIES`, whose
        parameters give them.
    name
        The default states family, number of tasks and seed.

    Raises
    ------
    TypeError
        If a parameter is not of its kind.
    ValueError
        If the family or a parameter is unknown, a parameter is out of range, or the graph does not fit on the cluster.
    """
    make = loaded_family(ALL_FAMILIES, family, parameters)
    seed = check_integer("seed", seed, low=0)
    graph_rng, cost_rng = (np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(2))
    if family in BUFFER_FAMILIES:
        if cost is not None:
            raise ValueError(f"cost: expected none for {family}, whose parameters give the costs.")
        made: DagInstance = make(graph_rng, tasks=tasks, cluster=cluster, **parameters)
        return dataclasses.replace(made, name=f"{family}-n{made.num_tasks}-s{seed}" if name is None else name)
    graph = make(graph_rng, tasks=tasks, **parameters)
    if name is None:
        name = f"{family}-n{len(graph.task_names)}-s{seed}"
    return dag_instance_from_graph(
        dataclasses.replace(graph, name=name),
        parse_cluster(DEFAULT_CLUSTER) if cluster is None else cluster,
        CostModel() if cost is None else cost,
        cost_rng,
    )
