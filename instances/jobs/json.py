"""Jobs instances and schedules as JSON documents, text and files (the public file formats)."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.fields import Fields, brief, check_entries, is_integer
from instances.jobs.instance import NOT_ALLOWED, JobsInstance
from instances.jobs.interference import FULL_SPEED, NOT_TOGETHER, Interference
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import NO_RACK, Racks
from instances.json_document import json_lines, parse_json
from instances.text_file import read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike


INSTANCE_FORMAT = "optgap/jobs"
SCHEDULE_FORMAT = "optgap/jobs-schedule"
VERSION = 1


def read_jobs_instance(path: str | PathLike[str]) -> JobsInstance:
    """Read an instance from a JSON file.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it is not an instance; the message gives the
    place in it and what was expected.
    """
    return jobs_instance_from_json(read_text(path))


def write_jobs_instance(instance: JobsInstance, path: str | PathLike[str]) -> None:
    """Write an instance to a JSON file, compressed if it ends in ``.gz``; read back, it has the same content hash."""
    write_text(path, jobs_instance_to_json(instance))


def jobs_instance_to_json(instance: JobsInstance) -> str:
    """Return the instance as JSON text, one server or job per line."""
    return json_lines(jobs_instance_document(instance), ("servers", "racks", "jobs"))


def jobs_instance_document(instance: JobsInstance) -> dict[str, Any]:
    """Return the instance as a JSON document of format ``optgap/jobs``, version 1.

    ``servers[].kind`` and the entries of ``times`` are positions in ``kinds``; ``nic_bytes_per_tick`` is an exact
    fraction, ``[numerator, denominator]``. Keys of racks (``racks``, ``servers[].rack``) and of interference
    (``interference``, ``use``, ``sens`` and ``class`` of jobs) are there only where the instance has them.
    """
    servers = zip(
        instance.server_names,
        instance.server_kind.tolist(),
        instance.num_gpus_of.tolist(),
        instance.nic_numerator.tolist(),
        instance.nic_denominator.tolist(),
        strict=True,
    )
    stages = [
        {
            "replicas": replicas,
            "times": [None if ticks < 0 else ticks for ticks in times],
            "activation_bytes": activations,
            "parameter_bytes": parameters,
        }
        for replicas, times, activations, parameters in zip(
            instance.replicas.tolist(),
            instance.time_of.tolist(),
            instance.activation_bytes.tolist(),
            instance.parameter_bytes.tolist(),
            strict=True,
        )
    ]
    offsets = instance.stage_offsets.tolist()
    jobs = zip(
        instance.job_names,
        instance.release.tolist(),
        instance.weight.tolist(),
        instance.iterations.tolist(),
        instance.micro_batches.tolist(),
        instance.user,
        instance.group,
        instance.model_tag,
        offsets[:-1],
        offsets[1:],
        strict=True,
    )
    document: dict[str, Any] = {
        "format": INSTANCE_FORMAT,
        "version": VERSION,
        "name": instance.name,
        "tick_seconds": instance.tick_seconds,
        "kinds": list(instance.kinds),
        "servers": [
            {"name": name, "kind": kind, "gpus": gpus, "nic_bytes_per_tick": [numerator, denominator]}
            for name, kind, gpus, numerator, denominator in servers
        ],
        "jobs": [
            {
                "name": name,
                "release": release,
                "weight": weight,
                "iterations": iterations,
                "micro_batches": micro_batches,
                "user": user,
                "group": group,
                "model_tag": model_tag,
                "stages": stages[first:last],
            }
            for name, release, weight, iterations, micro_batches, user, group, model_tag, first, last in jobs
        ],
    }
    if instance.racks is not None:
        racks = instance.racks
        uplinks = zip(racks.names, racks.uplink_numerator.tolist(), racks.uplink_denominator.tolist(), strict=True)
        document["racks"] = [{"name": name, "uplink_bytes_per_tick": [above, below]} for name, above, below in uplinks]
        for server, rack in zip(document["servers"], racks.rack_of_server.tolist(), strict=True):
            server["rack"] = None if rack == NO_RACK else rack
    if instance.interference is not None:
        _add_interference(document, instance.interference)
    return document


def _add_interference(document: dict[str, Any], interference: Interference) -> None:
    """Add the interference: the tables at the top of the document, the rest to its jobs."""
    document["interference"] = {
        "resources": list(interference.resources),
        "share": interference.share,
        "classes": list(interference.classes),
        "pair": [[None if speed == NOT_TOGETHER else speed for speed in row] for row in interference.pair.tolist()],
    }
    rows = zip(interference.use.tolist(), interference.sens.tolist(), interference.job_class.tolist(), strict=True)
    for job, (use, sens, job_class) in zip(document["jobs"], rows, strict=True):
        job |= {"use": use, "sens": sens, "class": job_class}


def jobs_instance_from_json(text: str) -> JobsInstance:
    """Read an instance from JSON text.

    Raises a `ValueError` if it is not an instance; the message gives the place in it and what was expected.
    """
    document = Fields(parse_json(text))
    document.check_format(INSTANCE_FORMAT, VERSION)
    name, tick_seconds = document.text("name"), document.number("tick_seconds")
    kinds = document.text_entries("kinds")
    servers, jobs = document.each("servers"), document.each("jobs")
    racks, interference = _racks(document, servers), _interference(document, jobs)
    bandwidths = [_bandwidth(server, "nic_bytes_per_tick") for server in servers]
    stages_of = [job.each("stages") for job in jobs]
    stages = [stage for group in stages_of for stage in group]
    values: dict[str, Any] = {
        "server_names": [server.text("name") for server in servers],
        "server_kind": _integers([server.integer("kind") for server in servers]),
        "num_gpus_of": _integers([server.integer("gpus") for server in servers]),
        "nic_numerator": _integers([value.numerator for value in bandwidths]),
        "nic_denominator": _integers([value.denominator for value in bandwidths]),
        "job_names": [job.text("name") for job in jobs],
        "release": _integers([job.integer("release", 0) for job in jobs]),
        "weight": _integers([job.integer("weight", 1) for job in jobs]),
        "iterations": _integers([job.integer("iterations") for job in jobs]),
        "micro_batches": _integers([job.integer("micro_batches", 1) for job in jobs]),
        **{key: [job.optional_text(key, None) for job in jobs] for key in ("user", "group", "model_tag")},
        "stage_offsets": np.cumsum([0, *map(len, stages_of)]),
        "replicas": _integers([stage.integer("replicas") for stage in stages]),
        "time_of": [_times(stage, len(kinds)) for stage in stages] or np.zeros((0, len(kinds)), dtype=np.int64),
        "activation_bytes": _integers([stage.integer("activation_bytes", 0) for stage in stages]),
        "parameter_bytes": _integers([stage.integer("parameter_bytes", 0) for stage in stages]),
    }
    document.close()
    try:
        return JobsInstance(
            name=name, tick_seconds=tick_seconds, kinds=tuple(kinds), interference=interference, racks=racks, **values
        )
    except TypeError as error:  # cannot be a caller's mistake here
        raise ValueError(str(error)) from error


def _times(stage: Fields, num_kinds: int) -> list[int]:
    """Take the times of a stage."""
    place, values = stage.place("times"), stage.entries("times")
    if len(values) != num_kinds:
        raise ValueError(f"{place}: expected {num_kinds} entries, one per kind, got {len(values)}.")
    for index, value in enumerate(values):
        if value is not None and not (is_integer(value) and value >= 1):
            raise ValueError(f"{place}[{index}]: expected an integer of at least 1 or null, got {brief(value)}.")
    return [NOT_ALLOWED if value is None else value for value in values]


def _integers(values: list[int]) -> Any:
    """Return the values; an empty list is a list of integers."""
    return values if values else np.zeros(0, dtype=np.int64)


def _bandwidth(item: Fields, key: str) -> Fraction:
    """Take a bandwidth in bytes per tick, ``[numerator, denominator]``."""
    place, value = item.place(key), item.entries(key)
    if len(value) != 2:
        raise ValueError(f"{place}: expected [numerator, denominator], got {brief(value)}.")
    check_entries(value, is_integer, "an integer", place)
    if min(value) < 1:
        raise ValueError(f"{place}: expected integers of at least 1, got {brief(value)}.")
    return Fraction(*value)


def _racks(document: Fields, servers: Sequence[Fields]) -> Racks | None:
    """Take ``racks`` and ``servers[].rack``; None where there are no racks."""
    if not document.has("racks"):
        return None
    items = document.each("racks")
    names = [item.text("name") for item in items]
    uplinks = [_bandwidth(item, "uplink_bytes_per_tick") for item in items]
    places = [server.optional_integer("rack", None) for server in servers]
    for server, rack in enumerate(places):
        if rack is not None and rack < 0:
            raise ValueError(f"servers[{server}].rack: expected a rack in 0..{len(items) - 1} or null, got {rack}.")
    return Racks.of([NO_RACK if rack is None else rack for rack in places], uplinks, names)


def _interference(document: Fields, jobs: Sequence[Fields]) -> Interference | None:
    """Take ``interference`` and what belongs to it of every job; None where there is none."""
    if not document.has("interference"):
        return None
    item = document.inner("interference")
    resources, classes = item.text_entries("resources"), item.text_entries("classes", ["all"])
    share, pair = item.integer("share", 1), item.entries("pair", None)
    return Interference(
        resources=tuple(resources),
        use=_rows([_row(job, "use", len(resources)) for job in jobs], len(resources)),
        sens=_rows([_row(job, "sens", len(resources)) for job in jobs], len(resources)),
        share=share,
        classes=tuple(classes),
        job_class=np.array([job.integer("class", 0) for job in jobs], dtype=object if jobs else np.int64),
        pair=None if pair is None else _speeds(pair, len(classes)),  # type: ignore[arg-type]  # None: no pair
    )


def _row(job: Fields, key: str, length: int) -> list[int]:
    """Take one integer per resource."""
    place, values = job.place(key), job.entries(key)
    if len(values) != length:
        raise ValueError(f"{place}: expected {length} entries, one per resource, got {len(values)}.")
    check_entries(values, is_integer, "an integer", place)
    return list(values)


def _rows(rows: list[list[int]], width: int) -> np.ndarray:
    """Return rows as an array of the right width, integers of any size among them."""
    return np.array(rows, dtype=object) if rows and width else np.zeros((len(rows), width), dtype=np.int64)


def _speeds(rows: list[object], size: int) -> np.ndarray:
    """Return the table of pairs; null stands for not allowed."""
    table = []
    for index, row in enumerate(rows):
        place = f"interference.pair[{index}]"
        if not isinstance(row, list) or len(row) != size:
            raise ValueError(f"{place}: expected {size} entries, one per class, got {brief(row)}.")
        check_entries(row, _is_speed, "1 to 1000 or null", place)
        table.append([NOT_TOGETHER if speed is None else speed for speed in row])
    if len(table) != size:
        raise ValueError(f"interference.pair: expected {size} rows, one per class, got {len(table)}.")
    return np.array(table, dtype=object)


def _is_speed(value: object) -> bool:
    """Say whether a JSON value is a speed of a pair, or null."""
    return value is None or (is_integer(value) and 1 <= value <= FULL_SPEED)  # type: ignore[operator]  # an integer


def read_jobs_schedule(path: str | PathLike[str], instance: JobsInstance) -> JobsSchedule:
    """Read a schedule of `instance` from a JSON file.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it is not a schedule, or one of another
    instance.
    """
    return jobs_schedule_from_json(read_text(path), instance)


def write_jobs_schedule(instance: JobsInstance, schedule: JobsSchedule, path: str | PathLike[str]) -> None:
    """Write a schedule to a JSON file, compressed if it ends in ``.gz``."""
    write_text(path, jobs_schedule_to_json(instance, schedule))


def jobs_schedule_to_json(instance: JobsInstance, schedule: JobsSchedule) -> str:
    """Return a schedule as JSON text, one job per line."""
    return json_lines(jobs_schedule_document(instance, schedule), ("jobs",))


def jobs_schedule_document(instance: JobsInstance, schedule: JobsSchedule) -> dict[str, Any]:
    """Return the schedule as a JSON document of format ``optgap/jobs-schedule``, version 1.

    ``jobs[].stages`` has a list per stage with ``[server, replicas]`` of every server that holds some of them, and
    ``[server, replicas, [GPUs of that server]]`` where the schedule names them.
    """
    pairs = zip(schedule.entry_server.tolist(), schedule.entry_count.tolist(), strict=True)
    entries: list[list[Any]] = [list(pair) for pair in pairs]
    if schedule.gpu is not None:
        gpus = schedule.gpu.tolist()
        ends = itertools.pairwise([0, *itertools.accumulate(entry[1] for entry in entries)])
        entries = [[*entry, gpus[first:last]] for entry, (first, last) in zip(entries, ends, strict=True)]
    offsets = schedule.entry_offsets.tolist()
    stages = [entries[first:last] for first, last in itertools.pairwise(offsets)]
    firsts = instance.stage_offsets.tolist()
    return {
        "format": SCHEDULE_FORMAT,
        "version": VERSION,
        "instance": schedule.instance_name,
        "instance_sha256": schedule.instance_sha256,
        "jobs": [
            {"start": start, "stages": stages[first:last]}
            for start, first, last in zip(schedule.start.tolist(), firsts[:-1], firsts[1:], strict=True)
        ],
    }


def jobs_schedule_from_json(text: str, instance: JobsInstance) -> JobsSchedule:
    """Read a schedule of `instance` from JSON text; it is not verified here.

    Raises a `ValueError` if it is not a schedule, or one of another instance.
    """
    document = Fields(parse_json(text))
    document.check_format(SCHEDULE_FORMAT, VERSION)
    instance_name = document.check_instance(instance.name, instance.sha256)
    jobs = document.each("jobs")
    starts, stages = [job.integer("start") for job in jobs], [job.entries("stages") for job in jobs]
    document.close()
    for number, rows in enumerate(stages):
        for index, row in enumerate(rows):
            _check_stage(row, f"jobs[{number}].stages[{index}]")
    if len(jobs) != instance.num_jobs:
        raise ValueError(f"jobs: expected {instance.num_jobs} entries, one per job, got {len(jobs)}.")
    for number, rows in enumerate(stages):
        expected = instance.num_stages_of(number)
        if len(rows) != expected:
            raise ValueError(f"jobs[{number}].stages: expected {expected} entries, one per stage, got {len(rows)}.")
    entries = [row for rows in stages for row in rows]
    triples = [(server, count, *named) for row in entries for server, count, *named in row]
    gpus = [gpu for _, _, *named in triples for own in named for gpu in own]
    has_names = any(len(triple) == 3 for triple in triples)
    if has_names and any(len(triple) == 2 for triple in triples):
        raise ValueError("jobs[].stages: expected GPUs with every entry or with none, got both.")
    return JobsSchedule(
        start=_integers(starts),
        entry_offsets=np.cumsum([0, *map(len, entries)]),
        entry_server=_integers([server for server, *_ in triples]),
        entry_count=_integers([count for _, count, *_ in triples]),
        gpu=_integers(gpus) if has_names else None,
        instance_name=instance_name,
        instance_sha256=instance.sha256,
    )


def _check_stage(row: object, place: str) -> None:
    """Check the shape of a stage of a schedule, and that its servers ascend."""
    if not isinstance(row, list):
        raise ValueError(f"{place}: expected a list, got {brief(row)}.")
    check_entries(row, _is_entry, "[server, replicas] or [server, replicas, GPUs], integers", place)
    for index, entry in enumerate(row):
        if len(entry) == 3 and len(entry[2]) != entry[1]:
            raise ValueError(f"{place}[{index}]: expected {entry[1]} GPUs, one per replica, got {len(entry[2])}.")
    for index, (before, after) in enumerate(itertools.pairwise(row)):
        if after[0] <= before[0]:
            raise ValueError(f"{place}[{index + 1}]: expected a server above {before[0]}, got {after[0]}.")


def _is_entry(value: object) -> bool:
    """Say whether a JSON value is a pair of integers, and a list of integers behind them if they are three."""
    if not isinstance(value, list) or len(value) not in (2, 3) or not all(map(is_integer, value[:2])):
        return False
    return len(value) == 2 or (isinstance(value[2], list) and all(map(is_integer, value[2])))
