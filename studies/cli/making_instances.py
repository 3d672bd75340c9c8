"""What `generate` and `convert` do beyond DAG families: the list of families, planted optima, and jobs instances."""

from __future__ import annotations

from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from instances.generators.dag.planted import planted_optimum
from instances.generators.jobs.generate import ALL_JOBS_FAMILIES, generate_jobs, load_factor
from instances.generators.jobs.planted import planted_jobs
from instances.jobs.instance import JobsInstance
from instances.jobs.json import write_jobs_schedule
from instances.readers.jobs.read import JOBS_READERS, read_jobs
from instances.readers.optgap_json import codec_of
from solvers.table import Table
from studies.cli.generate import PLANTED_JOBS
from studies.cli.options import cluster as cluster_named
from studies.cli.output import check_outputs, print_json, print_text
from studies.cli.progress import LiveProgress
from studies.input import BadInputError, options, reading, writing
from studies.parameters import set_parameters
from studies.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from instances.clusters.cluster import Cluster
    from instances.generators.dag.planted import PlantedOptimum
    from instances.generators.family import Family
    from instances.readers.optgap_json import Instance
    from studies.cli.generate import GenerateOptions
    from studies.cli.options import CostOptions


def generator_list() -> dict[str, Any]:
    """Return families, cluster presets and kinds of GPU as JSON values."""
    from instances.clusters.cluster import CLUSTER_PRESETS
    from instances.clusters.gpu_kinds import GPU_KINDS
    from instances.generators.dag.generate import BUFFER_FAMILIES, FAMILIES

    return {
        "families": _families({**FAMILIES, **BUFFER_FAMILIES}, "planted", planted_optimum, PLANTED_OPTIONS),
        "jobs_families": _families(ALL_JOBS_FAMILIES, PLANTED_JOBS, planted_jobs, PLANTED_OWN),
        "cluster_presets": [
            {"name": name, "description": preset.description} for name, preset in CLUSTER_PRESETS.items()
        ],
        "gpu_kinds": [
            {"name": kind.name, "memory_bytes": kind.memory_bytes, "memory_bandwidth": kind.memory_bandwidth}
            for kind in GPU_KINDS.values()
        ],
    }


def _families(
    families: Mapping[str, Family], planted_name: str, plant: Callable[..., object], own: Sequence[str]
) -> list[dict[str, Any]]:
    """Describe families and, last, what makes planted optima; `own` are parameters with options of their own."""
    listed = [(name, one.description, one.source, list(one.parameters())) for name, one in families.items()]
    parameters = [name for name in signature(plant).parameters if name not in own]
    planted = "built around an optimal schedule: the optimum is known at any size"
    listed.append((planted_name, planted, "ours", parameters))
    return [dict(zip(("name", "description", "source", "parameters"), entry, strict=True)) for entry in listed]


def generator_list_text() -> str:
    """Return the same as tables."""
    listed = generator_list()
    families, jobs_families = (
        Table(
            headings=["family", "what it models", "--set"],
            rows=[[item["name"], item["description"], ", ".join(item["parameters"])] for item in listed[key]],
            numbers=(),
            title=title,
        )
        for key, title in (
            ("families", "Families"),
            ("jobs_families", "Families of jobs that arrive, with --jobs and --load"),
        )
    )
    presets = Table(
        headings=["preset", "what it is"],
        rows=[[item["name"], item["description"]] for item in listed["cluster_presets"]],
        numbers=(),
        title="Cluster presets",
    )
    kinds = Table(
        headings=["kind", "memory GiB", "GB/s"],
        rows=[
            [item["name"], f"{item['memory_bytes'] / 2**30:g}", f"{item['memory_bandwidth'] / 1e9:g}"]
            for item in listed["gpu_kinds"]
        ],
        title="Kinds of GPU, for --gpus such as 2xV100-16GB+1xT4,4xP100",
        numbers=["memory GiB", "GB/s"],
    )
    return f"{families}\n\n{jobs_families}\n\n{presets}\n\n{kinds}"


PLANTED_OPTIONS = ("tasks", "seed", "cluster", "memory_tightness", "forbidden", "tick_seconds", "name")
"""Parameters that have options of their own, or none."""


def planted(
    *, tasks: int, seed: int, cluster: Cluster | None, cost: Mapping[str, float | None], texts: Sequence[str]
) -> tuple[PlantedOptimum, dict[str, Any]]:
    """Make an instance around an optimal schedule; return it with the parameters that were set.

    Parameters
    ----------
    tasks, seed, cluster
        As for `planted_optimum`.
    cost
        Values of the cost options by name, None where one was not given.
    texts
        ``key=value`` for all other parameters.

    Raises
    ------
    BadInputError
        If an option is none of this family, or out of range.
    """
    parameters = set_parameters("planted", planted_optimum, texts, without=PLANTED_OPTIONS)
    given: dict[str, Any] = {name: value for name, value in cost.items() if value is not None}
    for name in given:
        if name not in PLANTED_OPTIONS:
            raise BadInputError(f"--{name.replace('_', '-')}: expected none for planted, which has no such option.")
    places = {"cluster": "--gpus", **{name: f"--{name.replace('_', '-')}" for name in ("tasks", *given)}}
    with options({**places, **{name: f"--set {name}" for name in parameters}}, "planted"):
        made = planted_optimum(tasks=tasks, seed=seed, cluster=cluster, **given, **parameters)
    return made, parameters


def certificate_document(made: PlantedOptimum) -> dict[str, object]:
    """Return optimum and proof as JSON values."""
    return {
        "optimum": made.optimum,
        "certificate": made.certificate,
        "gpu_weights": None if made.gpu_weights is None else made.gpu_weights.tolist(),
        "path": None if made.path is None else made.path.tolist(),
    }


def certificate_text(made: PlantedOptimum) -> str:
    """Say in one line what proves the optimum."""
    if made.gpu_weights is not None:
        return f"area, with the weights {', '.join(map(str, made.gpu_weights.tolist()))} of the GPUs"
    return f"path of {0 if made.path is None else len(made.path)} tasks (--json lists them)"


PLANTED_OWN = ("jobs", "seed", "cluster", "forbidden", "tick_seconds", "name")
"""Parameters of `planted_jobs` that have options of their own, or none."""


def generate_jobs_file(wanted: GenerateOptions, cost: CostOptions, *, jobs: int, as_json: bool) -> None:
    """Make an instance of a jobs family, write it and describe it.

    The family is a key of `ALL_JOBS_FAMILIES`, or `PLANTED_JOBS`; there is a file to write. Raises a `BadInputError` if
    the family does not have an option, or a value is out of range.
    """
    family, output, schedule_out = wanted.family, wanted.output, wanted.schedule_out
    assert family is not None
    assert output is not None
    given: dict[str, Any] = cost.given()
    for name in given if wanted.tasks is None else ("tasks", *given):
        if name not in ("tick_seconds", "forbidden"):
            raise BadInputError(f"--{name.replace('_', '-')}: expected none for {family}, which has no such option.")
    load, seed, cluster = wanted.load, wanted.seed, cluster_named(wanted.gpus)
    is_planted = family == PLANTED_JOBS
    if is_planted and load is not None:
        raise BadInputError(f"--load: expected none for {family}, whose arrivals follow from its schedule.")
    if not is_planted and schedule_out is not None:
        raise BadInputError(f"--schedule-out: expected none for {family}; only {PLANTED_JOBS} knows a schedule.")
    check_outputs([], [output, schedule_out])
    function = planted_jobs if is_planted else ALL_JOBS_FAMILIES[family].load()
    own = PLANTED_OWN if is_planted else ("jobs", "forbidden")
    parameters = set_parameters(family, function, wanted.set_ or [], without=own)
    if load is not None:
        given["load"] = load
    if "forbidden" in given and not is_planted and "forbidden" not in ALL_JOBS_FAMILIES[family].parameters():
        raise BadInputError(f"--forbidden: expected none for {family}, which has no such option.")
    places = {name: f"--set {name}" for name in signature(function).parameters if name not in own}
    places |= {"cluster": "--gpus", **{name: f"--{name.replace('_', '-')}" for name in ("jobs", *given)}}
    with LiveProgress(f"generating {family}", is_search=False), options(places, family):
        if is_planted:
            made = planted_jobs(jobs=jobs, seed=seed, cluster=cluster, **given, **parameters)
            instance, schedule = made.instance, made.schedule
        else:
            instance = generate_jobs(family, jobs=jobs, seed=seed, cluster=cluster, **given, **parameters)
    known = {"objective": str(made.objective), "optimum": made.optimum} if is_planted else {}
    document = {"family": family, "seed": seed, "parameters": parameters, **known}
    if schedule_out is not None:
        with writing(schedule_out):
            write_jobs_schedule(instance, schedule, schedule_out)
    write_made(instance, output, document, after={name: str(value) for name, value in known.items()}, as_json=as_json)


READER_OPTIONS = {"cluster": "--gpus", "seed": "--seed", "tick_seconds": "--tick-seconds"}
"""Parameters of readers that have options of their own."""


def convert_jobs_file(
    format_name: str,
    file: Path,
    *,
    given: Mapping[str, object],
    others: Mapping[str, object],
    texts: Sequence[str],
    output: Path,
    as_json: bool,
) -> None:
    """Read a trace, write the instance and say what it is.

    Parameters
    ----------
    format_name
        A key of `JOBS_READERS`.
    given
        Values of `READER_OPTIONS`; None where one was not given.
    others
        Options that no trace has, by name; None where one was not given.
    texts
        ``key=value`` for all other options of the format.

    Raises
    ------
    BadInputError
        If an option is none of this format, or out of range, or the file is broken.
    """
    for name, value in others.items():
        if value is not None:
            option = name.replace("_", "-")
            raise BadInputError(f"--{option}: expected none for format {format_name}, which has no such option.")
    values = set_parameters(format_name, JOBS_READERS[format_name].function(), texts, without=list(READER_OPTIONS))
    places = {**{name: f"--set {name}" for name in JOBS_READERS[format_name].options()}, **READER_OPTIONS}
    chosen = {**values, **{name: value for name, value in given.items() if value is not None}}
    check_outputs([file], [output])
    with LiveProgress(f"reading {file.name}", is_search=False), reading(file), options(places, str(file)):
        instance = read_jobs(format_name, file, **chosen)
    write_made(instance, output, {"converted_from": str(file), "from_format": format_name}, as_json=as_json)


def write_made(
    instance: Instance,
    output: Path,
    document: Mapping[str, object],
    *,
    before: Mapping[str, str] = MappingProxyType({}),
    after: Mapping[str, str] = MappingProxyType({}),
    as_json: bool,
) -> None:
    """Write an instance and say what it is.

    Parameters
    ----------
    document
        What the JSON answer says beyond file, name, content hash and sizes.
    before, after
        Lines for readers above and below the one that names the file.

    Raises
    ------
    BadInputError
        If the file cannot be written.
    """
    with writing(output):
        codec_of(instance).write_instance(instance, output)
    has_load = isinstance(instance, JobsInstance)
    load = load_factor(instance) if isinstance(instance, JobsInstance) else None  # None where all jobs arrive at once
    if as_json:
        sizes = (
            ["num_jobs", "num_servers", "num_gpus"] if has_load else ["num_tasks", "num_edges", "num_gpus", "num_jobs"]
        )
        answer: dict[str, object] = {"file": str(output), "instance": instance.name}
        answer |= {"instance_sha256": instance.sha256, **{name: getattr(instance, name) for name in sizes}}
        answer |= {"load": load} if has_load else {}
        print_json({**answer, "tick_seconds": instance.tick_seconds, **document})
        return
    known = {} if load is None else {"load": f"{load:.3f}"}
    print_text(aligned({**instance.summary(), **known, **before, "written to": str(output), **after}))
