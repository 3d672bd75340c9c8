"""From the instances that a specification describes to the instances themselves."""

from __future__ import annotations

import glob
import json
from itertools import product
from typing import TYPE_CHECKING

from instances.cluster import parse_cluster
from instances.cluster_presets import CLUSTER_PRESETS
from instances.dag_from_graph import CostModel
from instances.dag_json import read_dag_instance
from instances.generators.generate import generate
from instances.generators.jobs.families import ALL_JOBS_FAMILIES
from instances.generators.jobs.generate_jobs import generate_jobs
from instances.generators.jobs.releases_at_load import load_factor
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_json import read_jobs_instance
from studies.experiment.study_instance import StudyInstance
from studies.experiment.study_problem import JOBS
from studies.experiment.study_spec import HETEROGENEITY, InstanceFiles, InstanceGrid, JobsGrid, StudySpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from instances.dag_instance import DagInstance

    Stored = Callable[[str], DagInstance | JobsInstance | None]

FILE_FAMILY = "file"
"""Family of instances from files."""


def expand_instances(spec: StudySpec, *, stored: Stored = lambda origin: None) -> list[StudyInstance]:
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
    ValueError
        If an instance cannot be made, a file cannot be read, a pattern matches nothing, or two instances are the same.
    """
    found: list[StudyInstance] = []
    place_of: dict[str, str] = {}
    for index, source in enumerate(spec.instances):
        place = f"instances[{index}]"
        if isinstance(source, InstanceFiles):
            several = _from_files(source, spec, place)
        elif isinstance(source, JobsGrid):
            several = _from_jobs_grid(source, place, stored)
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


def _from_files(source: InstanceFiles, spec: StudySpec, place: str) -> Iterator[StudyInstance]:
    """Read files."""
    read: Callable[[Path], DagInstance | JobsInstance] = (
        read_jobs_instance if spec.problem == JOBS else read_dag_instance
    )
    for pattern in source.patterns:
        paths = sorted(spec.folder / path for path in glob.glob(pattern, root_dir=spec.folder, recursive=True))
        if not paths:
            raise ValueError(f"{place}.files: expected files that match {pattern!r} in {spec.folder}, got none.")
        for path in paths:
            try:
                instance = read(path)
            except OSError as error:
                said = (error.strerror or str(error)).lower()
                raise ValueError(f"{place}.files, {path.name}: expected a file to read, got: {said}.") from error
            except (ValueError, TypeError) as error:
                raise ValueError(f"{place}.files, {path.name}, {error}") from error
            yield StudyInstance(
                instance=instance,
                origin=json.dumps({"file": instance.sha256}),
                family=FILE_FAMILY,
                load=load_factor(instance) if isinstance(instance, JobsInstance) else None,
            )


def _from_grid(grid: InstanceGrid, place: str, stored: Stored) -> Iterator[StudyInstance]:
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
                name = _name(family, tasks, _cluster_name(cluster, grid.clusters), ccr, heterogeneity, seed)
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
                raise _refusal(place, error) from error
        yield StudyInstance(
            instance=instance, origin=origin, family=family, cluster=cluster, ccr=ccr, heterogeneity=heterogeneity
        )


def _from_jobs_grid(grid: JobsGrid, place: str, stored: Stored) -> Iterator[StudyInstance]:
    """Generate every combination of jobs; replicates vary fastest."""
    combinations = product(
        grid.families, grid.jobs, grid.clusters, grid.loads, range(grid.seed, grid.seed + grid.count)
    )
    for family, jobs, wanted, load, seed in combinations:
        cluster = ALL_JOBS_FAMILIES[family].cluster if wanted is None else wanted
        origin = json.dumps(
            {
                "family": family,
                "jobs": jobs,
                "cluster": cluster,
                "load": load,
                "seed": seed,
                "tick_seconds": grid.tick_seconds,
                "parameters": dict(grid.parameters),
            },
            sort_keys=True,
        )
        instance = stored(origin)
        if instance is None:
            try:
                name = None if wanted is None else _jobs_name(family, jobs, wanted, grid.clusters, load, seed)
                instance = generate_jobs(
                    family,
                    jobs=jobs,
                    seed=seed,
                    load=load,
                    cluster=parse_cluster(cluster),
                    tick_seconds=grid.tick_seconds,
                    name=name,
                    **grid.parameters,
                )
            except (ValueError, TypeError) as error:
                raise _refusal(place, error) from error
        yield StudyInstance(
            instance=instance, origin=origin, family=family, cluster=cluster, load=load if load > 0 else None
        )


def _refusal(place: str, error: Exception) -> ValueError:
    """Return an error that says which table describes an instance that cannot be made."""
    message = str(error)
    if ": expected " in message:
        return ValueError(f"{place}, {message}")
    return ValueError(f"{place}: expected an instance that can be made, got an error: {message.rstrip('.')}.")


def _name(family: str, tasks: int, cluster: str, ccr: float | None, heterogeneity: str, seed: int) -> str:
    """Return a name that tells all coordinates."""
    ratio = "" if ccr is None else f"-ccr{ccr:g}"
    return f"{family}-{tasks}-{cluster}{ratio}-{heterogeneity}-s{seed}"


def _jobs_name(family: str, jobs: int, cluster: str, clusters: tuple[str | None, ...], load: float, seed: int) -> str:
    """Return a name that tells all coordinates; on the cluster of the family that of the generator does."""
    return f"{family}-n{jobs}-{_cluster_name(cluster, clusters)}-load{load:g}-s{seed}"


def _cluster_name(cluster: str, clusters: tuple[str | None, ...]) -> str:
    """Return a short name: that of a preset, else the number of GPUs."""
    if cluster in CLUSTER_PRESETS:
        return cluster
    number = f"{clusters.index(cluster)}-" if len(clusters) > 1 else ""
    return f"cluster{number}{len(parse_cluster(cluster).kinds)}"
