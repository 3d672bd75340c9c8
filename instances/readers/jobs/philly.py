"""Reader of the cut of Microsoft's Philly trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.readers.jobs.gpu_trace import parse_gpu_trace
from instances.readers.jobs.jobs_from_trace import jobs_from_trace
from instances.readers.measured_graph import instance_name
from instances.text_file import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.cluster import Cluster
    from instances.jobs.jobs_instance import JobsInstance


def read_philly(
    path: str | PathLike[str],
    *,
    cluster: Cluster | None = None,
    nodes: str | None = None,
    skip_rows: int = 1000,
    count: int | None = None,
    max_gpus: int | None = None,
    statuses: Sequence[str] | None = None,
    load: float | None = None,
    models: Sequence[str] | None = None,
    seed: int = 0,
    tick_seconds: float = 1e-3,
) -> JobsInstance:
    """Read the last 15,000 jobs of the Philly trace in the form of Gen-Parallel-Workloads.

    *Recorded* are arrivals (running sum of ``interval`` over the rows as they stand), users, GPUs and run times. The
    trace has neither networks nor iterations nor kinds of GPU. *Modelled* is the rest:

    * (user, GPUs), the only key of recurrence that there is, becomes the group. Every group is given a network of
      `NETWORK_MODELS`, a cut into stages and a number of micro-batches, drawn from the seed and the key, so that other
      filters leave a group as it is. A network that does not fit on the GPUs of the group gives way to another one.
    * The run time is taken as the time on the fastest kinds without traffic between servers, and the iterations are
      synthesised: n = run time / ((Q + S - 1) * time of the slowest stage), rounded, at least 1. So rounding changes a
      job's run time by at most half an iteration, and a job shorter than that lasts one iteration. Predicting n within
      a group is predicting the run time.
    * Run times of failed and killed jobs are when they stopped, not what they would have needed; most GPU time of this
      trace is theirs. They are kept unless `statuses` says otherwise.

    Jobs without GPUs are left out. The first 1,000 rows are sparse (48 of 57.6 days) and skipped by default.

    Parameters
    ----------
    path
        The file, plain or compressed.
    cluster
        Servers of one kind of GPU each; default 32 servers of 8 V100-32GB, or what `nodes` says.
    nodes
        Node list of Alibaba's GPU cluster of 2023 (`read_alibaba_nodes`, with its defaults) instead of a cluster.
    skip_rows
        Rows at the beginning that are left out; the first job that is kept arrives at 0.
    count
        How many jobs; None for all.
    max_gpus
        Wider jobs are left out; None leaves none out, and a job wider than the cluster is an error.
    statuses
        Some of Pass, Failed, Killed; None for all.
    load
        Scales the recorded arrivals to a load (`generate_jobs`); None keeps them.
    models
        Networks to draw from; None for all.
    seed
        At least 0; of networks and cuts.
    tick_seconds
        Length of a tick in seconds.

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
    return jobs_from_trace(
        parse_gpu_trace(read_text(path)),
        name=instance_name(path),
        cluster=cluster,
        nodes=nodes,
        skip_rows=skip_rows,
        count=count,
        max_gpus=max_gpus,
        statuses=statuses,
        load=load,
        models=models,
        seed=seed,
        tick_seconds=tick_seconds,
    )
