"""The named families of workloads; what makes them is imported when it is asked for."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.task_graph import TaskGraph


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
        path="instances.generators.layered:layered",
        description="random layers, predecessors in the layers before",
        source="Tobita and Kasahara (2002)",
    ),
    "erdos-renyi": Family(
        path="instances.generators.erdos_renyi:erdos_renyi",
        description="every forward pair is an edge with one probability",
        source="Erdos and Renyi (1959); Cordeiro et al. (2010)",
    ),
    "series-parallel": Family(
        path="instances.generators.series_parallel:series_parallel",
        description="random nested series and parallel blocks",
        source="Valdes, Tarjan and Lawler (1982)",
    ),
    "fork-join": Family(
        path="instances.generators.fork_join:fork_join",
        description="phases of parallel tasks between single ones",
        source="Valiant (1990)",
    ),
    "in-tree": Family(
        path="instances.generators.in_tree:in_tree",
        description="random tree towards one sink",
        source="Hu (1961)",
    ),
    "out-tree": Family(
        path="instances.generators.out_tree:out_tree",
        description="random tree from one source",
        source="Hu (1961)",
    ),
    "chains": Family(
        path="instances.generators.chains:chains",
        description="chains of random lengths side by side",
        source="Pinedo, Scheduling",
    ),
    "independent": Family(
        path="instances.generators.independent:independent",
        description="tasks without edges",
        source="Lenstra, Shmoys and Tardos (1990)",
    ),
    "fft": Family(
        path="instances.generators.fft:fft",
        description="recursive fast Fourier transform: splits, then butterflies",
        source="Cooley and Tukey (1965); Topcuoglu et al. (2002)",
    ),
    "lu": Family(
        path="instances.generators.lu:lu",
        description="tiled LU factorisation without pivoting",
        source="Buttari et al. (2009)",
    ),
    "cholesky": Family(
        path="instances.generators.cholesky:cholesky",
        description="tiled Cholesky factorisation",
        source="Buttari et al. (2009)",
    ),
    "gaussian-elimination": Family(
        path="instances.generators.gaussian_elimination:gaussian_elimination",
        description="Gaussian elimination on block columns",
        source="Cosnard et al. (1988); Topcuoglu et al. (2002)",
    ),
    "stencil": Family(
        path="instances.generators.stencil:stencil",
        description="Jacobi steps of a five-point stencil on blocks of rows",
        source="Asanovic et al. (2006)",
    ),
    "pipeline-training": Family(
        path="instances.generators.pipeline_training:pipeline_training",
        description="one iteration of pipeline-parallel training: stages and micro-batches",
        source="Huang et al. (2019), GPipe",
    ),
    "inception": Family(
        path="instances.generators.inception:inception",
        description="forward pass of a network of Inception cells",
        source="Szegedy et al. (2015)",
    ),
    "nasnet": Family(
        path="instances.generators.nasnet:nasnet",
        description="forward pass of a network of randomly wired cells",
        source="Zoph et al. (2018)",
    ),
    "transformer": Family(
        path="instances.generators.transformer:transformer",
        description="forward pass of transformer blocks, one task per head and step",
        source="Vaswani et al. (2017)",
    ),
    "mixture-of-experts": Family(
        path="instances.generators.mixture_of_experts:mixture_of_experts",
        description="forward pass of transformer blocks with unevenly loaded experts",
        source="Shazeer et al. (2017)",
    ),
    "hyperparameter-sweep": Family(
        path="instances.generators.hyperparameter_sweep:hyperparameter_sweep",
        description="many training jobs by successive halving, with releases and weights",
        source="Jamieson and Talwalkar (2016)",
    ),
    "multi-tenant": Family(
        path="instances.generators.multi_tenant:multi_tenant",
        description="jobs of several families, with releases and weights",
        source="ours",
    ),
}
"""Families by name, as on the command line."""
