"""Recorded jobs as an instance whose iterations are their run times in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.jobs.job import Job, Stage
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_server import JobsServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.readers.jobs.gpu_trace import GpuTraceJob


def recorded_run_times(trace: Sequence[GpuTraceJob], *, name: str, skip_rows: int = 0) -> JobsInstance:
    """Make an instance in which predicting iterations is predicting recorded run times, and nothing is modelled.

    A tick is a second and so is an iteration: n is the recorded run time, at least 1, and lasts as long wherever the
    job runs. Jobs have one stage of as many replicas as GPUs were asked for, on one server that holds the widest. There
    are no networks, so S, Q and par are the same for all jobs and the model is unknown. The group is (user, GPUs), as
    in the readers. For judging predictors, not for scheduling.

    Parameters
    ----------
    trace
        Jobs in order of arrival; those without GPUs are left out.
    name
        Name of the instance.
    skip_rows
        Rows at the beginning that are left out; the first job that is kept arrives at 0.

    Raises
    ------
    ValueError
        If no job is left.
    """
    kept = [job for job in trace[skip_rows:] if job.gpus >= 1]
    if not kept:
        raise ValueError(f"skip_rows: expected jobs with GPUs after row {skip_rows}, got none.")
    jobs = [
        Job(
            name=str(job.number),
            stages=[Stage(times=1, replicas=job.gpus)],
            release=job.arrival_seconds - kept[0].arrival_seconds,
            iterations=max(1, job.run_seconds),
            user=f"u{job.user}",
            group=f"u{job.user}-g{job.gpus}",
        )
        for job in kept
    ]
    server = JobsServer(kind="any", gpus=max(job.gpus for job in kept), nic_bytes_per_tick=1)
    return JobsInstance.from_parts([server], jobs, name=name)
