"""The named families of task graphs, and one DAG instance from a named family."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.task_graph import dag_instance_from_graph
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.clusters.cluster import Cluster
    from instances.dag.instance import DagInstance
    from instances.dag.task_graph import TaskGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of workloads.

    Parameters
    ----------
    path
        Module and function; the function takes a random generator, ``tasks`` and the parameters of the family.
    description
        What it models, in a few words.
    source
        Where the structure comes from.
    """

    path: str
    description: str
    source: str

    def load(self) -> Callable[..., TaskGraph]:
        """Import and return the function."""
        module, function = self.path.split(":")
        loaded: Callable[..., TaskGraph] = getattr(importlib.import_module(module), function)
        return loaded

    def parameters(self) -> tuple[str, ...]:
        """Return the names of what the function takes beside the random generator and the number of tasks."""
        return tuple(name for name in inspect.signature(self.load()).parameters if name not in ("rng", "tasks"))


FAMILIES: dict[str, Family] = {
    "layered": Family(
        path="instances.generators.dag.random_graphs:layered",
        description="random layers, predecessors in the layers before",
        source="Tobita and Kasahara (2002)",
    ),
    "erdos-renyi": Family(
        path="instances.generators.dag.random_graphs:erdos_renyi",
        description="every forward pair is an edge with one probability",
        source="Erdos and Renyi (1959); Cordeiro et al. (2010)",
    ),
    "series-parallel": Family(
        path="instances.generators.dag.random_graphs:series_parallel",
        description="random nested series and parallel blocks",
        source="Valdes, Tarjan and Lawler (1982)",
    ),
    "fork-join": Family(
        path="instances.generators.dag.random_graphs:fork_join",
        description="phases of parallel tasks between single ones",
        source="Valiant (1990)",
    ),
    "in-tree": Family(
        path="instances.generators.dag.trees:in_tree",
        description="random tree towards one sink",
        source="Hu (1961)",
    ),
    "out-tree": Family(
        path="instances.generators.dag.trees:out_tree",
        description="random tree from one source",
        source="Hu (1961)",
    ),
    "chains": Family(
        path="instances.generators.dag.random_graphs:chains",
        description="chains of random lengths side by side",
        source="Pinedo, Scheduling",
    ),
    "independent": Family(
        path="instances.generators.dag.random_graphs:independent",
        description="tasks without edges",
        source="Lenstra, Shmoys and Tardos (1990)",
    ),
    "fft": Family(
        path="instances.generators.dag.numerical:fft",
        description="recursive fast Fourier transform: splits, then butterflies",
        source="Cooley and Tukey (1965); Topcuoglu et al. (2002)",
    ),
    "lu": Family(
        path="instances.generators.dag.numerical:lu",
        description="tiled LU factorisation without pivoting",
        source="Buttari et al. (2009)",
    ),
    "cholesky": Family(
        path="instances.generators.dag.numerical:cholesky",
        description="tiled Cholesky factorisation",
        source="Buttari et al. (2009)",
    ),
    "gaussian-elimination": Family(
        path="instances.generators.dag.numerical:gaussian_elimination",
        description="Gaussian elimination on block columns",
        source="Cosnard et al. (1988); Topcuoglu et al. (2002)",
    ),
    "stencil": Family(
        path="instances.generators.dag.numerical:stencil",
        description="Jacobi steps of a five-point stencil on blocks of rows",
        source="Asanovic et al. (2006)",
    ),
    "pipeline-training": Family(
        path="instances.generators.dag.pipeline_training:pipeline_training",
        description="one iteration of pipeline-parallel training: stages and micro-batches",
        source="Huang et al. (2019), GPipe",
    ),
    "inception": Family(
        path="instances.generators.dag.neural_networks:inception",
        description="forward pass of a network of Inception cells",
        source="Szegedy et al. (2015)",
    ),
    "nasnet": Family(
        path="instances.generators.dag.neural_networks:nasnet",
        description="forward pass of a network of randomly wired cells",
        source="Zoph et al. (2018)",
    ),
    "transformer": Family(
        path="instances.generators.dag.neural_networks:transformer",
        description="forward pass of transformer blocks, one task per head and step",
        source="Vaswani et al. (2017)",
    ),
    "mixture-of-experts": Family(
        path="instances.generators.dag.neural_networks:mixture_of_experts",
        description="forward pass of transformer blocks with unevenly loaded experts",
        source="Shazeer et al. (2017)",
    ),
    "hyperparameter-sweep": Family(
        path="instances.generators.dag.several_jobs:hyperparameter_sweep",
        description="many training jobs by successive halving, with releases and weights",
        source="Jamieson and Talwalkar (2016)",
    ),
    "multi-tenant": Family(
        path="instances.generators.dag.several_jobs:multi_tenant",
        description="jobs of several families, with releases and weights",
        source="ours",
    ),
}
"""Families by name, as on the command line."""


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
