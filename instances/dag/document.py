"""DAG instances and schedules as JSON documents (the public file formats)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


INSTANCE_FORMAT = "optgap/dag"
SCHEDULE_FORMAT = "optgap/dag-schedule"
VERSION = 1


def dag_instance_document(instance: DagInstance) -> dict[str, Any]:
    """Return the instance as a JSON document of format ``optgap/dag``, version 1."""
    gpu_fields = zip(
        instance.gpu_names,
        instance.gpu_kinds,
        instance.gpu_memory.tolist(),
        instance.gpu_servers,
        strict=True,
    )
    job_fields = zip(instance.job_names, instance.release.tolist(), instance.weight.tolist(), strict=True)
    task_fields = zip(
        instance.task_names,
        instance.job_of_task.tolist(),
        instance.task_memory.tolist(),
        instance.durations.tolist(),
        strict=True,
    )
    edge_fields = zip(instance.edges.tolist(), instance.edge_bytes.tolist(), strict=True)
    return {
        "format": INSTANCE_FORMAT,
        "version": VERSION,
        "name": instance.name,
        "tick_seconds": instance.tick_seconds,
        "gpus": [
            {"name": name, "kind": kind, "memory_bytes": None if memory < 0 else memory, "server": server}
            for name, kind, memory, server in gpu_fields
        ],
        "links": {
            "latency_ticks": instance.latency.tolist(),
            "bytes_per_tick": instance.bytes_per_tick.tolist(),
        },
        "jobs": [{"name": name, "release": release, "weight": weight} for name, release, weight in job_fields],
        "tasks": [
            {
                "name": name,
                "job": job,
                "memory_bytes": memory,
                "durations": [None if ticks < 0 else ticks for ticks in durations],
            }
            for name, job, memory, durations in task_fields
        ],
        "edges": [[tail, head, data] for (tail, head), data in edge_fields],
    }


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
