"""Readers of Microsoft's Philly trace and SenseTime's Helios trace as Gen-Parallel-Workloads cuts them."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.fields import one_of
from instances.generators.jobs.generate import releases_at_load
from instances.generators.jobs.independent import iterations_for
from instances.generators.jobs.training_job import checked_models, draw_training_job
from instances.jobs.instance import Job, JobsInstance
from instances.jobs.servers import jobs_servers
from instances.parameters import fields_as_parameters
from instances.readers.jobs.alibaba_nodes import read_alibaba_nodes
from instances.readers.text_fields import check_at_least, instance_name
from instances.text_file import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.clusters.cluster import Cluster
    from instances.generators.jobs.training_job import TrainingJob


COLUMNS = ("u_id", "user", "gpu_num", "cpu_num", "node_num", "interval", "run_time", "wall_time", "new_status")
"""First line of a file."""

STATUSES = ("Pass", "Failed", "Killed")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTraceJob:
    """One recorded job.

    Parameters
    ----------
    line
        Line of the file, from 1.
    number
        Number of the job in the trace (``u_id``).
    user
        Number of the user, by first appearance.
    gpus
        GPUs asked for; 0 for none.
    arrival_seconds
        Submission, from the first row of the file on.
    run_seconds
        Recorded run time; of failed and killed jobs the time until they stopped.
    status
        ``Pass``, ``Failed`` or ``Killed``.
    """

    line: int
    number: int
    user: int
    gpus: int
    arrival_seconds: int
    run_seconds: int
    status: str


def parse_gpu_trace(text: str) -> list[GpuTraceJob]:
    """Read all rows; arrivals are the running sum of intervals over the rows as they stand.

    Raises a `ValueError` if the text has another form; the message gives the line.
    """
    lines = text.splitlines()
    if not lines or tuple(lines[0].split(",")) != COLUMNS:
        found = lines[0][:60] if lines else "nothing"
        raise ValueError(f"line 1: expected the columns {','.join(COLUMNS)}, got {found}.")
    jobs, arrival = [], 0
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split(",")
        if len(cells) != len(COLUMNS):
            raise ValueError(f"line {number}: expected {len(COLUMNS)} columns, got {len(cells)}.")
        values = dict(zip(COLUMNS, cells, strict=True))
        arrival += _integer(values, "interval", number)
        if values["new_status"] not in STATUSES:
            raise ValueError(f"line {number}: expected new_status {', '.join(STATUSES)}, got {values['new_status']!r}.")
        jobs.append(
            GpuTraceJob(
                line=number,
                number=_integer(values, "u_id", number),
                user=_integer(values, "user", number),
                gpus=_integer(values, "gpu_num", number),
                arrival_seconds=arrival,
                run_seconds=_integer(values, "run_time", number),
                status=values["new_status"],
            )
        )
    return jobs


def _integer(values: dict[str, str], column: str, line: int) -> int:
    """Return a cell as an integer of at least 0."""
    cell = values[column]
    if not (cell.isascii() and cell.isdigit() and len(cell) <= 15):
        raise ValueError(f"line {line}: expected {column} as an integer of at least 0, got {cell!r}.")
    return int(cell)


DEFAULT_CLUSTER = "32*8xV100-32GB"
"""Where neither a cluster nor a list of nodes is given: 256 GPUs, an assumption of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions:
    """Which recorded jobs are kept, and what is modelled around them.

    Parameters
    ----------
    cluster
        Servers of one kind of GPU each; default 32 servers of 8 V100-32GB, or what `nodes` says.
    nodes
        Node list of Alibaba's GPU cluster of 2023 (`read_alibaba_nodes`, with its defaults) instead of a cluster.
    skip_rows
        Rows at the beginning that are left out; the first job that is kept arrives at 0.
    count
        Number of jobs; None for all.
    max_gpus
        Wider jobs are left out; None leaves none out, and a job wider than the cluster is an error.
    statuses
        Some of Pass, Failed, Killed; None for all.
    load
        Scales the recorded arrivals to a load (`generate_jobs`); None keeps them.
    models
        Networks to draw from; None for all.
    seed
        Seed of networks and cuts, at least 0.
    """

    cluster: Cluster | None = None
    nodes: str | None = None
    skip_rows: int = 0
    count: int | None = None
    max_gpus: int | None = None
    statuses: Sequence[str] | None = None
    load: float | None = None
    models: Sequence[str] | None = None
    seed: int = 0
    tick_seconds: float = 1e-3

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_at_least("skip_rows", self.skip_rows, 0)
        check_at_least("seed", self.seed, 0)
        check_at_least("tick_seconds", self.tick_seconds, 1e-12)
        check_at_least("count", 1 if self.count is None else self.count, 1)
        check_at_least("max_gpus", 1 if self.max_gpus is None else self.max_gpus, 1)
        check_at_least("load", 1.0 if self.load is None else self.load, 0)
        if self.cluster is not None and self.nodes is not None:
            raise ValueError("nodes: expected either a cluster or a list of nodes, got both.")
        for status in self.statuses or ():
            one_of(status, STATUSES, "statuses")

    def kept(self, trace: Sequence[GpuTraceJob]) -> list[GpuTraceJob]:
        """Return the jobs that are asked for, in the order of the file."""
        wanted = STATUSES if self.statuses is None else tuple(self.statuses)
        widest = math.inf if self.max_gpus is None else self.max_gpus
        fitting = [job for job in trace[self.skip_rows :] if 1 <= job.gpus <= widest and job.status in wanted]
        if self.count is not None and self.count > len(fitting):
            raise ValueError(f"count: expected at most {len(fitting)}, the usable jobs of the file, got {self.count}.")
        if not fitting:
            raise ValueError(f"skip_rows: expected jobs with GPUs after row {self.skip_rows}, got none.")
        return fitting[: self.count]


def jobs_from_trace(trace: Sequence[GpuTraceJob], name: str, options: TraceOptions) -> JobsInstance:
    """Make an instance of recorded jobs; `read_philly` says what is measured and what is modelled."""
    seed, tick_seconds = options.seed, options.tick_seconds
    kept = options.kept(trace)
    where = _cluster(options.nodes) if options.cluster is None else options.cluster
    widest, total = max(kept, key=lambda job: job.gpus), len(where.kinds)
    if widest.gpus > total:
        raise ValueError(
            f"line {widest.line}: expected at most {total} GPUs, those of the cluster, got {widest.gpus}; "
            "max_gpus leaves wider jobs out."
        )
    names = checked_models(options.models)
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
    if options.load is None:
        return instance
    arrivals = instance.release.astype(np.float64)
    return dataclasses.replace(instance, release=releases_at_load(instance, arrivals, options.load))


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


@fields_as_parameters
def read_philly(path: str | PathLike[str], *, options: TraceOptions = TraceOptions(skip_rows=1000)) -> JobsInstance:
    """Read the last 15,000 jobs of the Philly trace in the form of Gen-Parallel-Workloads.

    *Recorded* are arrivals (running sum of ``interval`` over the rows as they stand), users, GPUs and run times. The
    trace has neither networks nor iterations nor kinds of GPU. *Modelled* is the rest:

    * (user, GPUs), the only key of recurrence that there is, becomes the group. Every group is given a network of
      `NETWORK_MODELS`, a cut into stages and a number of micro-batches, drawn from the seed and the key, so that other
      filters leave a group as it is. A network that does not fit on the GPUs of the group gives way to another one.
    * The run time is taken as the time on the fastest kinds without traffic between servers, and the iterations are
      synthesised: n = run time / ((Q + S - 1) * time of the slowest stage), rounded, at least 1. Rounding changes a
      job's run time by at most half an iteration, and a job shorter than that lasts one iteration. Predicting n within
      a group is predicting the run time.
    * Run times of failed and killed jobs are when they stopped, not what they would have needed; most GPU time of this
      trace is theirs. They are kept unless `statuses` says otherwise.

    Jobs without GPUs are left out. The first 1,000 rows are sparse (48 of 57.6 days) and skipped by default.

    Parameters
    ----------
    path
        The file, plain or compressed.

    Returns
    -------
    JobsInstance
        Jobs in the order of the file, named by their numbers in it; weights 1.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file has another form (the message gives the line), or an option is out of range.

    References
    ----------
    Jeon et al. (2019), Analysis of large-scale multi-tenant GPU clusters for DNN training workloads, USENIX ATC; github
    msr-fiddle/philly-traces. The cut: Soundar Raj et al. (2024), JSSPP; github DIR-LAB/Gen-Parallel-Workloads.
    """
    return jobs_from_trace(parse_gpu_trace(read_text(path)), instance_name(path), options)


@fields_as_parameters
def read_helios(path: str | PathLike[str], *, options: TraceOptions = TraceOptions()) -> JobsInstance:
    """Read the last 15,000 jobs of the Helios trace in the form of Gen-Parallel-Workloads.

    What is recorded and what is modelled, and the parameters, are those of `read_philly`; no rows are skipped by
    default. 4,204 of the 15,000 jobs use no GPU and are left out. Many of the rest last a few seconds: the shortest
    last one iteration.

    Raises
    ------
    OSError, ValueError
        As `read_philly`.

    References
    ----------
    Hu et al. (2021), Characterization and prediction of deep learning workloads in large-scale GPU datacenters, SC;
    github S-Lab-System-Group/HeliosData. The cut: Soundar Raj et al. (2024), JSSPP; github
    DIR-LAB/Gen-Parallel-Workloads.
    """
    return jobs_from_trace(parse_gpu_trace(read_text(path)), instance_name(path), options)
