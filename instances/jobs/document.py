"""Jobs instances and schedules as JSON documents (the public file formats)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from instances.jobs.interference import NOT_TOGETHER
from instances.jobs.servers import NO_RACK

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance
    from instances.jobs.interference import Interference
    from instances.jobs.schedule import JobsSchedule


INSTANCE_FORMAT = "optgap/jobs"
SCHEDULE_FORMAT = "optgap/jobs-schedule"
VERSION = 1


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
    """Write what slows jobs: the tables at the top, the rest beside the jobs."""
    document["interference"] = {
        "resources": list(interference.resources),
        "share": interference.share,
        "classes": list(interference.classes),
        "pair": [[None if speed == NOT_TOGETHER else speed for speed in row] for row in interference.pair.tolist()],
    }
    rows = zip(interference.use.tolist(), interference.sens.tolist(), interference.job_class.tolist(), strict=True)
    for job, (use, sens, job_class) in zip(document["jobs"], rows, strict=True):
        job |= {"use": use, "sens": sens, "class": job_class}


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
