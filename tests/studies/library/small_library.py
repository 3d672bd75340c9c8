"""A library of three tiny instances, for tests that change or damage it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.clusters.cluster import parse_cluster
from instances.generators.dag.generate import generate
from instances.generators.jobs.generate import generate_jobs
from instances.library.catalogue import CatalogueEntry
from instances.library.library import read_library, write_library

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance
    from instances.library.library import Library


def small_library(folder: Path) -> Library:
    """Write a library of a layered DAG, a sweep with several jobs, and jobs that arrive; its ledger is empty."""
    layered = generate("layered", tasks=8, seed=3, cluster=parse_cluster("mixed-2"), name="layered-8")
    sweep = generate("hyperparameter-sweep", tasks=7, seed=1, cluster=parse_cluster("mixed-2"), name="sweep-7")
    jobs = generate_jobs("jobs-small", jobs=5, seed=2, load=1.0, name="jobs-5")
    made: list[tuple[CatalogueEntry, DagInstance | JobsInstance]] = [
        (_listed("dag", "layered", layered.name, layered.sha256, 8, 2, ("makespan",)), layered),
        (_listed("dag", "sweep", sweep.name, sweep.sha256, 7, 2, ("makespan", "weighted_completion")), sweep),
        (_listed("jobs", "jobs-small", jobs.name, jobs.sha256, 5, 4, ("total_completion",)), jobs),
    ]
    write_library(folder, "0", made)
    return read_library(folder)


def _listed(
    problem: str, family: str, name: str, sha256: str, size: int, gpus: int, objectives: tuple[str, ...]
) -> CatalogueEntry:
    """Return an entry of the catalogue."""
    return CatalogueEntry(
        name=name,
        problem=problem,
        sha256=sha256,
        family=family,
        size=size,
        gpus=gpus,
        objectives=objectives,
        coordinates={},
    )
