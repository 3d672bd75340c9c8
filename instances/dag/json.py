"""Reading and writing DAG instances and schedules as JSON files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from instances.dag.document import (
    INSTANCE_FORMAT,
    SCHEDULE_FORMAT,
    VERSION,
    dag_instance_document,
    dag_schedule_document,
)
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from instances.json_fields import JsonObject, check_entries, is_integer, is_number, parse_json
from instances.text_file import read_text, write_text

if TYPE_CHECKING:
    from os import PathLike


def read_dag_instance(path: str | PathLike[str]) -> DagInstance:
    """Read an instance from a JSON file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not an instance; the message gives the place in it and what was expected.
    """
    return dag_instance_from_json(read_text(path))


def write_dag_instance(instance: DagInstance, path: str | PathLike[str]) -> None:
    """Write an instance to a JSON file, compressed if it ends in ``.gz``; read back, it has the same content hash."""
    write_text(path, dag_instance_to_json(instance))


def dag_instance_to_json(instance: DagInstance) -> str:
    """Return the instance as JSON text, one task per line."""
    return _one_item_per_line(dag_instance_document(instance), ("gpus", "jobs", "tasks", "edges"))


def dag_instance_from_json(text: str) -> DagInstance:
    """Read an instance from JSON text.

    Raises
    ------
    ValueError
        If it is not an instance; the message gives the place in it and what was expected.
    """
    document = JsonObject(parse_json(text))
    _check_format(document, INSTANCE_FORMAT)
    name = document.text("name")
    tick_seconds = document.number("tick_seconds")
    gpus = [JsonObject(value, f"gpus[{index}]") for index, value in enumerate(document.list("gpus"))]
    links = JsonObject(document.mapping("links"), "links")
    jobs_given = document.list("jobs", [{"name": "j0", "release": 0, "weight": 1}])
    jobs = [JsonObject(value, f"jobs[{index}]") for index, value in enumerate(jobs_given)]
    tasks = [JsonObject(value, f"tasks[{index}]") for index, value in enumerate(document.list("tasks"))]
    edges = document.list("edges")
    check_entries(edges, _is_edge, "[from, to, bytes], three integers", "edges")
    durations = [_durations(task, index) for index, task in enumerate(tasks)]
    latency, bytes_per_tick = _matrix(links, "latency_ticks"), _matrix(links, "bytes_per_tick")
    instance_fields = {
        "gpu_names": [gpu.text("name") for gpu in gpus],
        "gpu_kinds": [gpu.text("kind") for gpu in gpus],
        "gpu_memory": [gpu.optional_integer("memory_bytes") for gpu in gpus],
        "gpu_servers": [gpu.text("server") for gpu in gpus],
        "job_names": [job.text("name") for job in jobs],
        "release": [job.integer("release") for job in jobs],
        "weight": [job.integer("weight") for job in jobs],
        "task_names": [task.text("name") for task in tasks],
        "job_of_task": [task.integer("job", 0) for task in tasks],
        "task_memory": [task.integer("memory_bytes", 0) for task in tasks],
    }
    for item in (document, links, *gpus, *jobs, *tasks):
        item.close()
    try:
        return DagInstance.from_lists(
            durations,
            edges,
            name=name,
            tick_seconds=tick_seconds,
            latency=latency,
            bytes_per_tick=bytes_per_tick,
            num_gpus=len(gpus),
            **instance_fields,
        )
    except TypeError as error:  # cannot be a caller's mistake here
        raise ValueError(str(error)) from error


def read_dag_schedule(path: str | PathLike[str], instance: DagInstance) -> DagSchedule:
    """Read a schedule of `instance` from a JSON file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a schedule, or one of another instance.
    """
    return dag_schedule_from_json(read_text(path), instance)


def write_dag_schedule(instance: DagInstance, schedule: DagSchedule, path: str | PathLike[str]) -> None:
    """Write a schedule to a JSON file, compressed if it ends in ``.gz``."""
    write_text(path, dag_schedule_to_json(instance, schedule))


def dag_schedule_to_json(instance: DagInstance, schedule: DagSchedule) -> str:
    """Return a schedule as JSON text."""
    return _one_item_per_line(dag_schedule_document(instance, schedule), ())


def dag_schedule_from_json(text: str, instance: DagInstance) -> DagSchedule:
    """Read a schedule of `instance` from JSON text; it is not verified here.

    Raises
    ------
    ValueError
        If it is not a schedule, or one of another instance.
    """
    document = JsonObject(parse_json(text))
    _check_format(document, SCHEDULE_FORMAT)
    document.text("instance")
    sha256 = document.text("instance_sha256")
    gpu, start = document.list("gpu"), document.list("start")
    transfer_start = document.list("transfer_start", None)
    document.close()
    check_entries(gpu, is_integer, "an integer", "gpu")
    check_entries(start, is_integer, "an integer", "start")
    check_entries(transfer_start or [], is_integer, "an integer", "transfer_start")
    if sha256 != instance.sha256:
        raise ValueError(
            f"instance_sha256: expected {instance.sha256[:16]}... of instance {instance.name!r}, got {sha256[:16]}..."
        )
    return DagSchedule(gpu=gpu, start=start, transfer_start=transfer_start, instance=instance)


def _check_format(document: JsonObject, expected: str) -> None:
    """Check the first two keys of every file."""
    found = document.text("format")
    if found != expected:
        raise ValueError(f'format: expected "{expected}", got "{found}".')
    version = document.integer("version")
    if version != VERSION:
        raise ValueError(f"version: expected {VERSION}, got {version}.")


def _durations(task: JsonObject, index: int) -> list[int | None]:
    """Take the durations of a task."""
    durations: list[int | None] = task.list("durations")
    place = f"tasks[{index}].durations"
    check_entries(durations, lambda value: value is None or is_integer(value), "an integer or null", place)
    return durations


def _matrix(links: JsonObject, key: str) -> Any:
    """Take a matrix of numbers."""
    rows: list[list[int]] = links.list(key)
    accepts, expected = (is_integer, "an integer") if key == "latency_ticks" else (is_number, "a number")
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(rows):
            raise ValueError(f"links.{key}[{index}]: expected a list of {len(rows)} entries, one per GPU.")
        check_entries(row, accepts, expected, f"links.{key}[{index}]")
    if key == "latency_ticks":
        return rows
    try:
        return [[float(value) for value in row] for row in rows]
    except OverflowError as error:
        raise ValueError(f"links.{key}: expected numbers of a float's range, got an integer beyond it.") from error


def _is_edge(value: object) -> bool:
    """Say whether a JSON value is an edge."""
    return isinstance(value, list) and len(value) == 3 and all(is_integer(entry) for entry in value)


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
