"""Reading and writing jobs instances and schedules as JSON files."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.jobs.document import (
    INSTANCE_FORMAT,
    SCHEDULE_FORMAT,
    VERSION,
    jobs_instance_document,
    jobs_schedule_document,
)
from instances.jobs.instance import NOT_ALLOWED, JobsInstance
from instances.jobs.interference import FULL_SPEED, NOT_TOGETHER, Interference
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import NO_RACK, Racks
from instances.json_fields import JsonObject, brief, check_entries, is_integer, parse_json
from instances.text_file import read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray


def read_jobs_instance(path: str | PathLike[str]) -> JobsInstance:
    """Read an instance from a JSON file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not an instance; the message gives the place in it and what was expected.
    """
    return jobs_instance_from_json(read_text(path))


def write_jobs_instance(instance: JobsInstance, path: str | PathLike[str]) -> None:
    """Write an instance to a JSON file, compressed if it ends in ``.gz``; read back, it has the same content hash."""
    write_text(path, jobs_instance_to_json(instance))


def jobs_instance_to_json(instance: JobsInstance) -> str:
    """Return the instance as JSON text, one server or job per line."""
    return _one_item_per_line(jobs_instance_document(instance), ("servers", "racks", "jobs"))


def jobs_instance_from_json(text: str) -> JobsInstance:
    """Read an instance from JSON text.

    Raises
    ------
    ValueError
        If it is not an instance; the message gives the place in it and what was expected.
    """
    document = JsonObject(parse_json(text))
    _check_format(document, INSTANCE_FORMAT)
    name, tick_seconds, kinds = document.text("name"), document.number("tick_seconds"), document.list("kinds")
    check_entries(kinds, lambda value: isinstance(value, str), "text", "kinds")
    servers = [JsonObject(value, f"servers[{index}]") for index, value in enumerate(document.list("servers"))]
    jobs = [JsonObject(value, f"jobs[{index}]") for index, value in enumerate(document.list("jobs"))]
    racks, interference = take_racks(document, servers), take_interference(document, jobs)
    bandwidths = [bandwidth(server, "nic_bytes_per_tick") for server in servers]
    stages_of = [
        [JsonObject(value, f"jobs[{number}].stages[{index}]") for index, value in enumerate(job.list("stages"))]
        for number, job in enumerate(jobs)
    ]
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
        "time_of": _rows([_times(stage, len(kinds)) for stage in stages], len(kinds)),
        "activation_bytes": _integers([stage.integer("activation_bytes", 0) for stage in stages]),
        "parameter_bytes": _integers([stage.integer("parameter_bytes", 0) for stage in stages]),
    }
    for item in (document, *servers, *jobs, *stages):
        item.close()
    try:
        return JobsInstance(
            name=name,
            tick_seconds=tick_seconds,
            kinds=tuple(kinds),
            interference=interference,
            racks=racks,
            **values,
        )
    except TypeError as error:  # cannot be a caller's mistake here
        raise ValueError(str(error)) from error


def read_jobs_schedule(path: str | PathLike[str], instance: JobsInstance) -> JobsSchedule:
    """Read a schedule of `instance` from a JSON file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a schedule, or one of another instance.
    """
    return jobs_schedule_from_json(read_text(path), instance)


def write_jobs_schedule(instance: JobsInstance, schedule: JobsSchedule, path: str | PathLike[str]) -> None:
    """Write a schedule to a JSON file, compressed if it ends in ``.gz``."""
    write_text(path, jobs_schedule_to_json(instance, schedule))


def jobs_schedule_to_json(instance: JobsInstance, schedule: JobsSchedule) -> str:
    """Return a schedule as JSON text, one job per line."""
    return _one_item_per_line(jobs_schedule_document(instance, schedule), ("jobs",))


def jobs_schedule_from_json(text: str, instance: JobsInstance) -> JobsSchedule:
    """Read a schedule of `instance` from JSON text; it is not verified here.

    Raises
    ------
    ValueError
        If it is not a schedule, or one of another instance.
    """
    document = JsonObject(parse_json(text))
    _check_format(document, SCHEDULE_FORMAT)
    instance_name, sha256 = document.text("instance"), document.text("instance_sha256")
    jobs = [JsonObject(value, f"jobs[{index}]") for index, value in enumerate(document.list("jobs"))]
    starts = [job.integer("start") for job in jobs]
    stages = [job.list("stages") for job in jobs]
    for item in (document, *jobs):
        item.close()
    for number, rows in enumerate(stages):
        for index, row in enumerate(rows):
            _check_stage(row, f"jobs[{number}].stages[{index}]")
    if sha256 != instance.sha256:
        raise ValueError(
            f"instance_sha256: expected {instance.sha256[:16]}... of instance {instance.name!r}, got {sha256[:16]}..."
        )
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
        instance_sha256=sha256,
    )


def _check_format(document: JsonObject, expected: str) -> None:
    """Check the first two keys of every file."""
    found = document.text("format")
    if found != expected:
        raise ValueError(f'format: expected "{expected}", got "{found}".')
    version = document.integer("version")
    if version != VERSION:
        raise ValueError(f"version: expected {VERSION}, got {version}.")


def _times(stage: JsonObject, num_kinds: int) -> list[int]:
    """Take the times of a stage."""
    place, values = stage.place("times"), stage.list("times")
    if len(values) != num_kinds:
        raise ValueError(f"{place}: expected {num_kinds} entries, one per kind, got {len(values)}.")
    for index, value in enumerate(values):
        if value is not None and not (is_integer(value) and value >= 1):
            raise ValueError(f"{place}[{index}]: expected an integer of at least 1 or null, got {brief(value)}.")
    return [NOT_ALLOWED if value is None else value for value in values]


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


def _integers(values: list[int]) -> Any:
    """Return the values; an empty list is a list of integers."""
    return values if values else np.zeros(0, dtype=np.int64)


def _rows(rows: list[list[int]], width: int) -> NDArray[np.int64] | list[list[int]]:
    """Return rows as they are; no rows are an array of the right width."""
    return rows if rows else np.zeros((0, width), dtype=np.int64)


def _one_item_per_line(document: dict[str, object], long_keys: tuple[str, ...]) -> str:
    """Write JSON with one line per key, and per item under the long keys: readable, small, easy to compare."""
    lines = []
    for key, value in document.items():
        if key in long_keys and isinstance(value, list) and value:
            items = ",\n  ".join(json.dumps(item, allow_nan=False) for item in value)
            lines.append(f' "{key}": [\n  {items}]')
        else:
            lines.append(f' "{key}": {json.dumps(value, allow_nan=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def take_racks(document: JsonObject, servers: Sequence[JsonObject]) -> Racks | None:
    """Take ``racks`` and ``servers[].rack``; None where there are no racks.

    Raises
    ------
    ValueError
        If a value is missing or wrong; the message gives its place.
    """
    listed = document.list("racks", None)
    if listed is None:
        return None
    items = [JsonObject(value, f"racks[{index}]") for index, value in enumerate(listed)]
    names, uplinks = [item.text("name") for item in items], [bandwidth(item, "uplink_bytes_per_tick") for item in items]
    for item in items:
        item.close()
    places = [server.optional_integer("rack", None) for server in servers]
    for server, rack in enumerate(places):
        if rack is not None and rack < 0:
            raise ValueError(f"servers[{server}].rack: expected a rack in 0..{len(items) - 1} or null, got {rack}.")
    return Racks.of([NO_RACK if rack is None else rack for rack in places], uplinks, names)


def take_interference(document: JsonObject, jobs: Sequence[JsonObject]) -> Interference | None:
    """Take ``interference`` and what belongs to it of every job; None where there is none.

    Raises
    ------
    ValueError
        If a value is missing or wrong; the message gives its place.
    """
    value = document.mapping("interference", None)
    if value is None:
        return None
    item = JsonObject(value, "interference")
    resources, classes = item.list("resources"), item.list("classes", ["all"])
    for name, texts in (("resources", resources), ("classes", classes)):
        check_entries(texts, lambda text: isinstance(text, str), "text", f"interference.{name}")
    share, pair = item.integer("share", 1), item.list("pair", None)
    item.close()
    return Interference(
        resources=tuple(resources),
        use=_rows_read_parts([_row(job, "use", len(resources)) for job in jobs], len(resources)),
        sens=_rows_read_parts([_row(job, "sens", len(resources)) for job in jobs], len(resources)),
        share=share,
        classes=tuple(classes),
        job_class=np.array([job.integer("class", 0) for job in jobs], dtype=object if jobs else np.int64),
        pair=None if pair is None else _speeds(pair, len(classes)),  # type: ignore[arg-type]  # None: no pair
    )


def bandwidth(item: JsonObject, key: str) -> Fraction:
    """Take a bandwidth in bytes per tick, ``[numerator, denominator]``.

    Raises
    ------
    ValueError
        If it is something else.
    """
    place, value = item.place(key), item.list(key)
    if len(value) != 2:
        raise ValueError(f"{place}: expected [numerator, denominator], got {brief(value)}.")
    check_entries(value, is_integer, "an integer", place)
    if min(value) < 1:
        raise ValueError(f"{place}: expected integers of at least 1, got {brief(value)}.")
    return Fraction(*value)


def _row(job: JsonObject, key: str, length: int) -> list[int]:
    """Take one integer per resource."""
    place, values = job.place(key), job.list(key)
    if len(values) != length:
        raise ValueError(f"{place}: expected {length} entries, one per resource, got {len(values)}.")
    check_entries(values, is_integer, "an integer", place)
    return list(values)


def _rows_read_parts(rows: list[list[int]], width: int) -> np.ndarray:
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
