"""DAG instances and schedules as JSON documents, text and files (the public file formats)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from instances.fields import Fields, check_entries, is_integer, is_number
from instances.json_document import json_lines, parse_json
from instances.text_file import read_text, write_text

if TYPE_CHECKING:
    from os import PathLike


INSTANCE_FORMAT = "optgap/dag"
SCHEDULE_FORMAT = "optgap/dag-schedule"
VERSION = 1
VERSION_WITH_BUFFERS = 2
"""Version of instances with buffers or groups; all others are written as version 1, and keep their hashes."""


def read_dag_instance(path: str | PathLike[str]) -> DagInstance:
    """Read an instance from a JSON file.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it is not an instance; the message gives the
    place in it and what was expected.
    """
    return dag_instance_from_json(read_text(path))


def write_dag_instance(instance: DagInstance, path: str | PathLike[str]) -> None:
    """Write an instance to a JSON file, compressed if it ends in ``.gz``; read back, it has the same content hash."""
    write_text(path, dag_instance_to_json(instance))


def dag_instance_to_json(instance: DagInstance) -> str:
    """Return the instance as JSON text, one task per line."""
    return json_lines(dag_instance_document(instance), ("gpus", "jobs", "tasks", "edges", "buffers"))


def dag_instance_document(instance: DagInstance) -> dict[str, Any]:
    """Return the instance as a JSON document of format ``optgap/dag``; version 2 with buffers or groups, else 1."""
    gpu_memory = instance.gpu_memory.tolist()
    gpu_fields = zip(instance.gpu_names, instance.gpu_kinds, gpu_memory, instance.gpu_servers, strict=True)
    job_fields = zip(instance.job_names, instance.release.tolist(), instance.weight.tolist(), strict=True)
    task_fields = zip(
        instance.task_names,
        instance.job_of_task.tolist(),
        instance.task_memory.tolist(),
        instance.durations.tolist(),
        instance.group_of_task.tolist(),
        strict=True,
    )
    edge_fields = zip(instance.edges.tolist(), instance.edge_bytes.tolist(), strict=True)
    return {
        "format": INSTANCE_FORMAT,
        "version": VERSION_WITH_BUFFERS if instance.has_buffers else VERSION,
        "name": instance.name,
        "tick_seconds": instance.tick_seconds,
        "gpus": [
            {"name": name, "kind": kind, "memory_bytes": None if memory < 0 else memory, "server": server}
            for name, kind, memory, server in gpu_fields
        ],
        "links": {"latency_ticks": instance.latency.tolist(), "bytes_per_tick": instance.bytes_per_tick.tolist()},
        "jobs": [{"name": name, "release": release, "weight": weight} for name, release, weight in job_fields],
        "tasks": [
            {
                "name": name,
                "job": job,
                "memory_bytes": memory,
                "durations": [None if ticks < 0 else ticks for ticks in durations],
                **({} if group < 0 else {"group": group}),
            }
            for name, job, memory, durations, group in task_fields
        ],
        "edges": [[tail, head, data] for (tail, head), data in edge_fields],
        **(
            {"buffers": [[*buffer[:2], list(buffer[2])] for buffer in instance.buffers]} if instance.has_buffers else {}
        ),
    }


def dag_instance_from_json(text: str) -> DagInstance:
    """Read an instance from JSON text.

    Raises a `ValueError` if it is not an instance; the message gives the place in it and what was expected.
    """
    document = Fields(parse_json(text))
    version = document.check_format(INSTANCE_FORMAT, VERSION, VERSION_WITH_BUFFERS)
    name, tick_seconds = document.text("name"), document.number("tick_seconds")
    gpus, links = document.each("gpus"), document.inner("links")
    jobs = document.each("jobs", [{"name": "j0", "release": 0, "weight": 1}])
    tasks = document.each("tasks")
    edges = document.entries("edges", of="[from, to, bytes], three integers", accepts=_is_edge)
    values: dict[str, Any] = {
        "durations": [_durations(task) for task in tasks],
        "latency": _matrix(links, "latency_ticks"),
        "bytes_per_tick": _matrix(links, "bytes_per_tick"),
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
    if version == VERSION_WITH_BUFFERS:
        values["groups"] = [task.integer("group", None) for task in tasks]
        values["buffers"] = document.entries("buffers", [], of="[task, bytes, [task, ...]]", accepts=_is_buffer)
    document.close()
    try:
        return DagInstance.from_lists(edges=edges, name=name, tick_seconds=tick_seconds, num_gpus=len(gpus), **values)
    except TypeError as error:  # cannot be a caller's mistake here
        raise ValueError(str(error)) from error


def _durations(task: Fields) -> list[int | None]:
    """Take the durations of a task."""
    durations: list[int | None] = task.entries(
        "durations", of="an integer or null", accepts=lambda value: value is None or is_integer(value)
    )
    return durations


def _matrix(links: Fields, key: str) -> Any:
    """Take a matrix of numbers."""
    rows: list[list[int]] = links.entries(key)
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


def _is_buffer(value: object) -> bool:
    """Say whether a JSON value is a buffer."""
    has_parts = isinstance(value, list) and len(value) == 3 and isinstance(value[2], list)
    return has_parts and all(is_integer(entry) for entry in [*value[:2], *value[2]])  # type: ignore[index]  # a list


def read_dag_schedule(path: str | PathLike[str], instance: DagInstance) -> DagSchedule:
    """Read a schedule of `instance` from a JSON file.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it is not a schedule, or one of another
    instance.
    """
    return dag_schedule_from_json(read_text(path), instance)


def write_dag_schedule(instance: DagInstance, schedule: DagSchedule, path: str | PathLike[str]) -> None:
    """Write a schedule to a JSON file, compressed if it ends in ``.gz``."""
    write_text(path, dag_schedule_to_json(instance, schedule))


def dag_schedule_to_json(instance: DagInstance, schedule: DagSchedule) -> str:
    """Return a schedule as JSON text."""
    return json_lines(dag_schedule_document(instance, schedule))


def dag_schedule_document(instance: DagInstance, schedule: DagSchedule) -> dict[str, Any]:
    """Return the schedule as a JSON document of format ``optgap/dag-schedule``, version 1.

    ``transfer_start`` is there only where the schedule has starts of transfers.
    """
    document: dict[str, Any] = {
        "format": SCHEDULE_FORMAT,
        "version": VERSION,
        "instance": instance.name,
        "instance_sha256": instance.sha256,
        "gpu": schedule.gpu.tolist(),
        "start": schedule.start.tolist(),
    }
    if schedule.transfer_start is not None:
        document["transfer_start"] = schedule.transfer_start.tolist()
    return document


def dag_schedule_from_json(text: str, instance: DagInstance) -> DagSchedule:
    """Read a schedule of `instance` from JSON text; it is not verified here.

    Raises a `ValueError` if it is not a schedule, or one of another instance.
    """
    document = Fields(parse_json(text))
    document.check_format(SCHEDULE_FORMAT, VERSION)
    document.check_instance(instance.name, instance.sha256)
    gpu, start = document.integer_entries("gpu"), document.integer_entries("start")
    transfer_start = document.integer_entries("transfer_start", None)
    document.close()
    return DagSchedule(gpu=gpu, start=start, transfer_start=transfer_start, instance=instance)
