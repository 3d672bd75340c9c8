"""From the instances that a specification describes to the instances themselves."""

from __future__ import annotations

import glob
import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from instances.cluster import parse_cluster
from instances.cluster_presets import CLUSTER_PRESETS
from instances.dag_from_graph import CostModel
from instances.dag_json import read_dag_instance
from instances.generators.generate import generate
from studies.experiment.study_instance import StudyInstance
from studies.experiment.study_spec import HETEROGENEITY, InstanceFiles, InstanceGrid, StudySpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from instances.dag_instance import DagInstance

FILE_FAMILY, NOT_SAID = "file", "-"
"""Family of instances from files, and what is not known of them."""


def expand_instances(
    spec: StudySpec, *, stored: Callable[[str], DagInstance | None] = lambda origin: None
) -> list[StudyInstance]:
    """Make all instances of a study.

    Parameters
    ----------
    spec
        The study.
    stored
        Returns the instance of an origin that was made before, None where there is none: a stored instance stays what
        it is, even should its generator change.

    Returns
    -------
    list[StudyInstance]
        In the order of the specification; no two are the same.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If an instance cannot be made, a pattern matches nothing, or two instances are the same.
    """
    found: list[StudyInstance] = []
    place_of: dict[str, str] = {}
    for index, source in enumerate(spec.instances):
        place = f"instances[{index}]"
        if isinstance(source, InstanceFiles):
            several = _from_files(source, spec.folder, place)
        else:
            several = _from_grid(source, place, stored)
        for item in several:
            sha256, name = item.instance.sha256, item.instance.name
            if sha256 in place_of:
                raise ValueError(
                    f"{place}: expected instances that differ, got {name!r} twice (also {place_of[sha256]})."
                )
            place_of[sha256] = place
            found.append(item)
    return found


def _from_files(source: InstanceFiles, folder: Path, place: str) -> Iterator[StudyInstance]:
    """Read files."""
    for pattern in source.patterns:
        paths = sorted(glob.glob(str(folder / pattern), recursive=True))
        if not paths:
            raise ValueError(f"{place}.files: expected files that match {pattern!r} in {folder}, got none.")
        for path in paths:
            try:
                instance = read_dag_instance(path)
            except ValueError as error:
                raise ValueError(f"{place}.files: {Path(path).name}: {error}") from error
            yield StudyInstance(
                instance=instance,
                origin=json.dumps({"file": instance.sha256}),
                family=FILE_FAMILY,
                cluster=NOT_SAID,
                ccr=None,
                heterogeneity=NOT_SAID,
            )


def _from_grid(grid: InstanceGrid, place: str, stored: Callable[[str], DagInstance | None]) -> Iterator[StudyInstance]:
    """Generate every combination; replicates vary fastest."""
    combinations = product(
        grid.families, grid.tasks, grid.clusters, grid.ccr, grid.heterogeneity, range(grid.seed, grid.seed + grid.count)
    )
    for family, tasks, cluster, ccr, heterogeneity, seed in combinations:
        origin = json.dumps(
            {
                "family": family,
                "tasks": tasks,
                "cluster": cluster,
                "ccr": ccr,
                "heterogeneity": heterogeneity,
                "seed": seed,
                "cost": dict(grid.cost),
                "parameters": dict(grid.parameters),
            },
            sort_keys=True,
        )
        instance = stored(origin)
        if instance is None:
            try:
                name = _name(family, tasks, _cluster_name(cluster, grid), ccr, heterogeneity, seed)
                instance = generate(
                    family,
                    tasks=tasks,
                    seed=seed,
                    cluster=parse_cluster(cluster),
                    cost=CostModel(ccr=ccr, consistency=HETEROGENEITY[heterogeneity], **grid.cost),
                    name=name,
                    **grid.parameters,
                )
            except (ValueError, TypeError) as error:
                raise ValueError(f"{place}: {error}") from error
        yield StudyInstance(
            instance=instance, origin=origin, family=family, cluster=cluster, ccr=ccr, heterogeneity=heterogeneity
        )


def _name(family: str, tasks: int, cluster: str, ccr: float | None, heterogeneity: str, seed: int) -> str:
    """Return a name that tells all coordinates."""
    ratio = "" if ccr is None else f"-ccr{ccr:g}"
    return f"{family}-{tasks}-{cluster}{ratio}-{heterogeneity}-s{seed}"


def _cluster_name(cluster: str, grid: InstanceGrid) -> str:
    """Return a short name: that of a preset, else the number of GPUs."""
    if cluster in CLUSTER_PRESETS:
        return cluster
    number = f"{grid.clusters.index(cluster)}-" if len(grid.clusters) > 1 else ""
    return f"cluster{number}{len(parse_cluster(cluster).kinds)}"
