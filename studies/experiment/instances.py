"""The instances of a study, made from what a specification describes, each with its place in the design."""

from __future__ import annotations

import dataclasses
import glob
import json
import math
import os
import re
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from instances.clusters.cluster import CLUSTER_PRESETS, parse_cluster
from instances.clusters.cost_model import CostModel
from instances.generators.dag.generate import BUFFER_FAMILIES, generate
from instances.generators.jobs.generate import ALL_JOBS_FAMILIES, generate_jobs, load_factor
from instances.jobs.instance import JobsInstance
from instances.readers.dag.bundled import BUNDLED, bundled_instance
from instances.readers.dag.read import option_from_text, read_instance
from instances.readers.jobs.read import TRACE_SOURCES, read_jobs
from solvers.problem import PROBLEMS
from studies.experiment.specification import (
    HETEROGENEITY,
    NAME_FIELDS,
    BundledInstances,
    InstanceFiles,
    InstanceGrid,
    JobsGrid,
    StudySpec,
    TraceWindows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from instances.readers.optgap_json import Instance

    Stored = Callable[[str], Instance | None]


NOT_SAID = "-"
"""Text of a coordinate that is not known, or that the problem does not have."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudyInstance:
    """An instance and where it comes from.

    Parameters
    ----------
    origin
        What it was made from, as JSON text: the same origin is never made twice in a study.
    family
        Family of the generator; "file" for files.
    cluster
        Text of the cluster, "-" for files.
    ccr
        Communication-to-computation ratio that was asked for, None where none was.
    heterogeneity
        "consistent" or "inconsistent", "-" for files and for jobs.
    load
        Of a jobs instance: as asked for, of a file as it is; None where all jobs arrive at once, and for DAGs.
    """

    instance: Instance
    origin: str
    family: str
    cluster: str = NOT_SAID
    ccr: float | None = None
    heterogeneity: str = NOT_SAID
    load: float | None = None

    @property
    def num_tasks(self) -> int | None:
        """Number of tasks, None for jobs: their stages are no tasks."""
        num_tasks: int | None = getattr(self.instance, "num_tasks", None)
        return num_tasks

    @property
    def num_edges(self) -> int | None:
        """Number of edges, None for jobs."""
        num_edges: int | None = getattr(self.instance, "num_edges", None)
        return num_edges

    @property
    def num_pairs(self) -> int:
        """Pairs of task (or job) and GPU: what run times grow with."""
        return (self.instance.num_jobs if self.num_tasks is None else self.num_tasks) * self.instance.num_gpus

    @property
    def file_name(self) -> str:
        """Name of the file that holds it in the folder of a study: unique, and safe in any file system."""
        stem = re.sub(r"[^A-Za-z0-9.-]+", "-", self.instance.name).strip("-.")[:80]
        return f"{stem or 'instance'}-{self.instance.sha256[:12]}.json"


BUNDLED_FAMILY = "bundled"
"""Family of the instances of the package."""


def expand_instances(spec: StudySpec, *, stored: Stored = lambda origin: None) -> list[StudyInstance]:
    """Make all instances of a study.

    Parameters
    ----------
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
        elif isinstance(source, TraceWindows):
            several = _from_trace(source, place, stored)
        elif isinstance(source, BundledInstances):
            several = _from_package(source, stored)
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
    for pattern in source.patterns:
        paths = _matching(pattern, spec.folder) or _matching(pattern, Path(os.environ.get(TRACE_FOLDER, spec.folder)))
        if not paths:
            said = (
                f"{place}.files: expected files that match {pattern!r} in {spec.folder} or in the folder that "
                f"{TRACE_FOLDER} names, got none"
            )
            if not source.may_be_absent:
                raise ValueError(f"{said}.")
            warnings.warn(f"{said}; these instances are skipped.", stacklevel=2)
        for path in paths:
            try:
                instance = _read_file(source, spec, path)
            except OSError as error:
                said = (error.strerror or str(error)).lower()
                raise ValueError(f"{place}.files, {path.name}: expected a file to read, got: {said}.") from error
            except (ValueError, TypeError) as error:
                raise ValueError(f"{place}.files, {path.name}, {error}") from error
            yield StudyInstance(
                instance=instance,
                origin=json.dumps({"file": instance.sha256}),
                family=source.family,
                load=load_factor(instance) if isinstance(instance, JobsInstance) else None,
            )


def _read_file(source: InstanceFiles, spec: StudySpec, path: Path) -> Instance:
    """Read a file as JSON, or in the public format that is named, whose options may be texts such as clusters."""
    if source.format is None:
        instance: Instance = PROBLEMS[spec.problem].codec.read_instance(path)
        return instance
    options = {
        name: option_from_text(source.format, name, value) if isinstance(value, str) else value
        for name, value in source.parameters.items()
    }
    return read_instance(source.format, path, **options)


def _matching(pattern: str, folder: Path) -> list[Path]:
    """Return the files of a folder that match a pattern, in order."""
    return sorted(folder / path for path in glob.glob(pattern, root_dir=folder, recursive=True))


TRACE_FOLDER = "OPTGAP_TRACES"
"""Environment variable with the folder of recorded traces."""


def _from_trace(source: TraceWindows, place: str, stored: Stored) -> Iterator[StudyInstance]:
    """Read the windows of a trace; a window that is stored needs no file."""
    for number in range(source.count):
        row = source.first_row + number * source.stride
        given = {
            "trace": source.trace,
            "jobs": source.jobs,
            "first_row": row,
            "cluster": source.cluster,
            "load": source.load,
            "seed": source.seed,
            "parameters": dict(source.parameters),
        }
        origin = json.dumps(given, sort_keys=True)
        instance = stored(origin)
        if instance is None:
            path = _trace_file(source, place)
            try:
                made = read_jobs(
                    source.trace,
                    path,
                    skip_rows=row,
                    count=source.jobs,
                    cluster=parse_cluster(source.cluster),
                    load=source.load,
                    seed=source.seed,
                    **source.parameters,
                )
            except (ValueError, TypeError) as error:
                raise _refusal(place, error) from error
            instance = dataclasses.replace(made, name=f"{source.trace}-n{source.jobs}-row{row}")
        assert isinstance(instance, JobsInstance)
        yield StudyInstance(
            instance=instance, origin=origin, family=source.trace, cluster=source.cluster, load=source.load
        )


def _trace_file(source: TraceWindows, place: str) -> Path:
    """Return the file of a trace, from the working directory or the folder of traces."""
    for folder in (Path(), Path(os.environ.get(TRACE_FOLDER, "."))):
        if (folder / source.file).is_file():
            return folder / source.file
    raise ValueError(
        f"{place}.file: expected {source.file} here or in the folder that {TRACE_FOLDER} names, got none; it is "
        f"{TRACE_SOURCES[source.trace]}."
    )


def _from_package(source: BundledInstances, stored: Stored) -> Iterator[StudyInstance]:
    """Read bundled instances."""
    for name in source.names:
        origin = json.dumps({"bundled": name})
        yield StudyInstance(
            instance=stored(origin) or bundled_instance(name),
            origin=origin,
            family=BUNDLED_FAMILY,
            cluster=BUNDLED[name].cluster,
        )


def _from_grid(grid: InstanceGrid, place: str, stored: Stored) -> Iterator[StudyInstance]:
    """Generate every combination; replicates vary fastest."""
    _check_number(place, grid.count, grid.families, grid.tasks, grid.clusters, grid.ccr, grid.heterogeneity)
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
                **({} if grid.name is None else {"name": grid.name}),
            },
            sort_keys=True,
        )
        instance = stored(origin)
        if instance is None:
            try:
                told = (family, tasks, _cluster_name(cluster, grid.clusters), ccr, heterogeneity, seed)
                named = dict(zip(NAME_FIELDS, told, strict=True))
                name = _name(*told) if grid.name is None else grid.name.format_map(named)
                instance = generate(
                    family,
                    tasks=tasks,
                    seed=seed,
                    cluster=parse_cluster(cluster),
                    cost=_cost(grid, family, ccr, heterogeneity),
                    name=name,
                    **grid.parameters,
                )
            except (ValueError, TypeError) as error:
                raise _refusal(place, error) from error
        yield StudyInstance(
            instance=instance, origin=origin, family=family, cluster=cluster, ccr=ccr, heterogeneity=heterogeneity
        )


def _cost(grid: InstanceGrid, family: str, ccr: float | None, heterogeneity: str) -> CostModel | None:
    """Return the cost model of a combination; None for families whose parameters give the costs, if nothing was set."""
    if family in BUFFER_FAMILIES and ccr is None and not grid.cost:
        return None
    return CostModel(ccr=ccr, consistency=HETEROGENEITY[heterogeneity], **grid.cost)


def _from_jobs_grid(grid: JobsGrid, place: str, stored: Stored) -> Iterator[StudyInstance]:
    """Generate every combination of jobs; replicates vary fastest."""
    _check_number(place, grid.count, grid.families, grid.jobs, grid.clusters, grid.loads)
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


MAX_INSTANCES = 100_000
"""Most instances of one table."""


def _check_number(place: str, count: int, *lists: Collection[object]) -> None:
    """Refuse a table with more combinations than anybody waits for."""
    number = count * math.prod(map(len, lists))
    if number > MAX_INSTANCES:
        raise ValueError(f"{place}: expected at most {MAX_INSTANCES} instances, got {number} combinations.")


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
