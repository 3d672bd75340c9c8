"""The design of the reference library: which instances are in it.

Every family has the same number of instances, of different sizes. Every other factor is balanced within a class of
sizes and shuffled with one seed, so that no two factors are correlated. No instance was chosen or left out because of
its difficulty.

`python -m studies.library.design --out FOLDER` made the library. The stored files are the library, even if a generator
changes. The ledger that this command writes is empty; `optgap library update` fills it.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.objective import Objective
from instances.generators.dag.generate import FAMILIES, generate
from instances.generators.dag.several_jobs import WITH_SEVERAL_JOBS
from instances.generators.jobs.generate import JOBS_FAMILIES, generate_jobs
from instances.jobs.objective import JobsObjective
from instances.library.catalogue import CatalogueEntry
from instances.library.library import read_library, write_library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance


Level = TypeVar("Level")
"""Level of a factor."""

LIBRARY_VERSION = "1"
"""Version of the set of instances; another set has another version."""

DESIGN_SEED = 20_260
"""Seed of the shuffles."""

MIN_TASKS = 8
"""Families of fixed shape are asked for more tasks until an instance has this many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeClass:
    """Sizes that share clusters: `rounds` instances of every family, whose requested sizes cycle through `sizes`."""

    sizes: tuple[int, ...]
    rounds: int


SMALL = SizeClass(sizes=(8, 10, 12, 16, 20, 24, 30, 40, 50), rounds=7)
LARGE = SizeClass(sizes=(75, 100, 150, 200, 300), rounds=4)

CLUSTERS = {
    16: ("mixed-2", "mixed-3", "mixed-4", "mixed-4-slow", "identical-4"),
    50: ("mixed-2", "mixed-3", "mixed-4", "mixed-4-slow", "v100-t4-p100-pair", "inference-l4-t4-a10", "mixed-8"),
    300: ("mixed-4", "h100-a100-l40s", "mixed-8", "dgx-a100", "k80-p100-v100", "mixed-16"),
}
"""Clusters, of 2 to 16 GPUs, of instances with at most this many tasks."""

RATIOS = (0.1, 0.3, 0.3, 1.0, 1.0, 1.0, 3.0, 3.0, 10.0)
CONSISTENCIES = (0.0, 1.0)
TIGHTNESSES = (None, None, None, 0.5, 0.85)
FORBIDDEN = (0.0, 0.0, 0.0, 0.25)
"""Levels of the cost model; a level that stands here twice is used twice as often."""

SMALL_JOBS = ((8, 9, 10, 11, 12), (0.7, 0.9, 1.1), ("2xV100-16GB,2xT4,1xP100", "2xV100-16GB,2xV100-16GB,2xT4,2xT4"))
"""Numbers of jobs, loads and clusters of ``jobs-small``: every number with every load."""

LARGE_JOBS = (
    (30, 60, 100, 150, 200, 300),
    (0.7, 0.9, 1.1),
    ("mixed-8", "k80-p100-v100", "mixed-16", "4*8xV100-16GB,2*8xT4"),
)
"""The same for the other families: every family three times with every load, sizes and clusters in turn."""


NEWER_FAMILIES = ("unrelated-machines",)
"""Families that the library, which never changes, does not have."""


def library_instances() -> list[tuple[CatalogueEntry, DagInstance | JobsInstance]]:
    """Generate the instances of the library, each with its entry of the catalogue."""
    made: list[tuple[CatalogueEntry, DagInstance | JobsInstance]] = []
    rng = np.random.default_rng(DESIGN_SEED)
    for size_class in (SMALL, LARGE):
        made += _dag_instances(size_class, len(made), rng)
    return [*made, *_jobs_instances()]


def _dag_instances(
    size_class: SizeClass, first: int, rng: np.random.Generator
) -> list[tuple[CatalogueEntry, DagInstance | JobsInstance]]:
    """Generate one class of sizes."""
    families = [family for family in FAMILIES if family not in NEWER_FAMILIES]
    slots = [
        (family, size_class.sizes[(place + turn) % len(size_class.sizes)])
        for turn in range(size_class.rounds)
        for place, family in enumerate(families)
    ]
    cluster_of: dict[int, str] = {}
    for limit, clusters in CLUSTERS.items():
        low = max((other for other in CLUSTERS if other < limit), default=0)
        inside = [slot for slot, (_, size) in enumerate(slots) if low < size <= limit]
        cluster_of |= dict(zip(inside, _balanced(clusters, len(inside), rng), strict=True))
    columns = [_balanced(levels, len(slots), rng) for levels in (RATIOS, CONSISTENCIES, TIGHTNESSES, FORBIDDEN)]
    made: list[tuple[CatalogueEntry, DagInstance | JobsInstance]] = []
    for slot, (family, size) in enumerate(slots):
        ratio, consistency, tightness, forbidden = (column[slot] for column in columns)
        made.append(
            _dag_instance(
                first + slot,
                family,
                size,
                cluster_of[slot],
                {"ccr": ratio, "consistency": consistency, "memory_tightness": tightness, "forbidden": forbidden},
            )
        )
    return made


def _dag_instance(
    number: int, family: str, size: int, cluster: str, cost: dict[str, float | None]
) -> tuple[CatalogueEntry, DagInstance]:
    """Generate one instance whose name states its coordinates."""
    parameters = {"jobs": max(2, round(size / 15))} if family == "multi-tenant" else {}
    tasks = size
    while True:
        instance = generate(
            family,
            tasks=tasks,
            seed=number,
            cluster=parse_cluster(cluster),
            cost=CostModel(**cost),  # type: ignore[arg-type]
            name="",
            **parameters,
        )
        if instance.num_tasks >= MIN_TASKS:
            break
        tasks += 1
    parts = [f"dag-{number:03}", family, f"n{instance.num_tasks}", cluster, f"ccr{cost['ccr']:g}"]
    parts.append("consistent" if cost["consistency"] else "inconsistent")
    parts += [] if cost["memory_tightness"] is None else [f"memory{cost['memory_tightness']:g}"]
    parts += ["forbidden"] if cost["forbidden"] else []
    instance = replace(instance, name="-".join(parts))
    objectives = [Objective.MAKESPAN, *([Objective.WEIGHTED_COMPLETION] if family in WITH_SEVERAL_JOBS else [])]
    entry = CatalogueEntry(
        name=instance.name,
        problem="dag",
        sha256=instance.sha256,
        family=family,
        size=instance.num_tasks,
        gpus=instance.num_gpus,
        objectives=tuple(str(objective) for objective in objectives),
        coordinates={"tasks": tasks, "seed": number, "cluster": cluster, **cost, **parameters},
    )
    return entry, instance


def _jobs_instances() -> list[tuple[CatalogueEntry, JobsInstance]]:
    """Generate the instances of the jobs problem."""
    sizes, loads, clusters = SMALL_JOBS
    both = (JobsObjective.TOTAL_COMPLETION, JobsObjective.WEIGHTED_COMPLETION)
    made = [
        _jobs_instance(number, "jobs-small", size, load, clusters[number % len(clusters)], both)
        for number, (size, load) in enumerate(product(sizes, loads))
    ]
    large_sizes, loads, clusters_in_turn = LARGE_JOBS
    families = [family for family in JOBS_FAMILIES if family != "jobs-small"]
    for turn, (family, load) in product(range(3), product(families, loads)):
        number = len(made)
        size = large_sizes[(2 * turn + families.index(family) + loads.index(load)) % len(large_sizes)]
        cluster = clusters_in_turn[number % len(clusters_in_turn)]
        made.append(_jobs_instance(number, family, size, load, cluster, both[:1]))
    return made


def _jobs_instance(
    number: int, family: str, size: int, load: float, cluster: str, objectives: Sequence[JobsObjective]
) -> tuple[CatalogueEntry, JobsInstance]:
    """Generate one instance whose name tells its coordinates."""
    where = parse_cluster(cluster)
    name = f"{family.replace('jobs-', f'jobs-{number:03}-')}-n{size}-gpus{len(where.kinds)}-load{load:g}"
    instance = generate_jobs(family, jobs=size, seed=number, load=load, cluster=where, name=name)
    entry = CatalogueEntry(
        name=name,
        problem="jobs",
        sha256=instance.sha256,
        family=family,
        size=instance.num_jobs,
        gpus=len(where.kinds),
        objectives=tuple(str(objective) for objective in objectives),
        coordinates={"jobs": size, "seed": number, "cluster": cluster, "load": load},
    )
    return entry, instance


def _balanced(levels: Sequence[Level], count: int, rng: np.random.Generator) -> list[Level]:
    """Return `count` levels in random order, each as often as the others or once more."""
    return [levels[place % len(levels)] for place in rng.permutation(count)]


def make_library() -> None:
    """Write catalogue, instances and an empty ledger."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to make")
    folder: Path = parser.parse_args().out
    if folder.exists() and any(folder.iterdir()):
        parser.error(f"--out: expected a new or empty folder, got {folder}.")
    write_library(folder, LIBRARY_VERSION, library_instances())
    library = read_library(folder)
    print(f"{len(library.catalogue)} instances, {len(library.entries())} entries: {library.identifier}")


if __name__ == "__main__":
    make_library()
