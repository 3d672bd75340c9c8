"""Reader of the cut of SenseTime's Helios trace."""

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


def read_helios(
    path: str | PathLike[str],
    *,
    cluster: Cluster | None = None,
    nodes: str | None = None,
    skip_rows: int = 0,
    count: int | None = None,
    max_gpus: int | None = None,
    statuses: Sequence[str] | None = None,
    load: float | None = None,
    models: Sequence[str] | None = None,
    seed: int = 0,
    tick_seconds: float = 1e-3,
) -> JobsInstance:
    """Read the last 15,000 jobs of the Helios trace in the form of Gen-Parallel-Workloads.

    What is recorded and what is modelled, and the parameters, are those of `read_philly`; no rows are skipped by
    default. 4,204 of the 15,000 jobs use no GPU and are left out. Many of the rest last a few seconds: the shortest
    last one iteration.

    Returns
    -------
    JobsInstance
        As `read_philly`.

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
