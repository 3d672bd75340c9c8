"""From recorded jobs with GPUs and run times to a jobs instance."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from instances.cluster import parse_cluster
from instances.generators.jobs.independent_jobs import iterations_for
from instances.generators.jobs.jobs_servers import jobs_servers
from instances.generators.jobs.model_mix import checked_models, draw_training_job
from instances.generators.jobs.releases_at_load import releases_at_load
from instances.jobs.job import Job
from instances.jobs.jobs_instance import JobsInstance
from instances.readers.jobs.alibaba_nodes import read_alibaba_nodes
from instances.readers.jobs.gpu_trace import STATUSES
from instances.readers.measured_graph import check_at_least

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.cluster import Cluster
    from instances.generators.jobs.training_job import TrainingJob
    from instances.readers.jobs.gpu_trace import GpuTraceJob

DEFAULT_CLUSTER = "32*8xV100-32GB"
"""Where neither a cluster nor a list of nodes is given: 256 GPUs, an assumption of ours."""


def jobs_from_trace(
    trace: Sequence[GpuTraceJob],
    *,
    name: str,
    cluster: Cluster | None,
    nodes: str | PathLike[str] | None,
    skip_rows: int,
    count: int | None,
    max_gpus: int | None,
    statuses: Sequence[str] | None,
    load: float | None,
    models: Sequence[str] | None,
    seed: int,
    tick_seconds: float,
) -> JobsInstance:
    """Make an instance of recorded jobs; what is measured and what is modelled stands in `read_philly`."""
    check_at_least("skip_rows", skip_rows, 0)
    check_at_least("seed", seed, 0)
    check_at_least("tick_seconds", tick_seconds, 1e-12)
    check_at_least("count", 1 if count is None else count, 1)
    check_at_least("max_gpus", 1 if max_gpus is None else max_gpus, 1)
    check_at_least("load", 1.0 if load is None else load, 0)
    if cluster is not None and nodes is not None:
        raise ValueError("nodes: expected either a cluster or a list of nodes, got both.")
    kept = _kept(trace, skip_rows, count, max_gpus, statuses)
    where = _cluster(nodes) if cluster is None else cluster
    widest, total = max(kept, key=lambda job: job.gpus), len(where.kinds)
    if widest.gpus > total:
        raise ValueError(
            f"line {widest.line}: expected at most {total} GPUs, those of the cluster, got {widest.gpus}; "
            "max_gpus leaves wider jobs out."
        )
    names = checked_models(models)
    groups: dict[tuple[int, int], TrainingJob] = {}
    jobs = []
    for recorded in kept:
        key = (recorded.user, recorded.gpus)
        if key not in groups:
            rng = np.random.default_rng([seed, *key])
            groups[key] = draw_training_job(rng, where, tick_seconds, names, max_gang=total, gpus=recorded.gpus)
        training = groups[key]
        jobs.append(
            Job(
                name=str(recorded.number),
                stages=training.stages,
                release=round((recorded.arrival_seconds - kept[0].arrival_seconds) / tick_seconds),
                iterations=iterations_for(recorded.run_seconds, training.least_ticks, tick_seconds),
                micro_batches=training.micro_batches,
                user=f"u{recorded.user}",
                group=f"u{recorded.user}-g{recorded.gpus}",
                model_tag=training.model_tag,
            )
        )
    instance = JobsInstance.from_parts(jobs_servers(where, tick_seconds), jobs, name=name, tick_seconds=tick_seconds)
    if load is None:
        return instance
    arrivals = instance.release.astype(np.float64)
    return dataclasses.replace(instance, release=releases_at_load(instance, arrivals, load))


def _cluster(nodes: str | PathLike[str] | None) -> Cluster:
    """Return the servers of a node list, or the default."""
    if nodes is None:
        return parse_cluster(DEFAULT_CLUSTER)
    try:
        return read_alibaba_nodes(nodes)
    except OSError as error:
        raise ValueError(f"nodes: expected a file that can be read, got {str(nodes)!r}.") from error
    except ValueError as error:
        raise ValueError(f"nodes, {error}") from error


def _kept(
    trace: Sequence[GpuTraceJob],
    skip_rows: int,
    count: int | None,
    max_gpus: int | None,
    statuses: Sequence[str] | None,
) -> list[GpuTraceJob]:
    """Return the jobs that are asked for, in the order of the file."""
    wanted = STATUSES if statuses is None else tuple(statuses)
    for status in wanted:
        if status not in STATUSES:
            raise ValueError(f"statuses: expected some of {', '.join(STATUSES)}, got {status!r}.")
    fitting = [
        job
        for job in trace[skip_rows:]
        if job.gpus >= 1 and job.status in wanted and (max_gpus is None or job.gpus <= max_gpus)
    ]
    if count is not None and count > len(fitting):
        raise ValueError(f"count: expected at most {len(fitting)}, the usable jobs of the file, got {count}.")
    if not fitting:
        raise ValueError(f"skip_rows: expected jobs with GPUs after row {skip_rows}, got none.")
    return fitting[:count]
