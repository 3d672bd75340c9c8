"""What the placement rules share: arrays, memory for kernels, and the way from a kernel's answer to a placement."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.job_placement import JobPlacement
from heuristics.jobs.jobs_arrays import jobs_arrays
from heuristics.jobs.placements.workspace import new_workspace
from heuristics.jobs.placements.write_entries import NONE, UNIONS_EXCEEDED
from instances.jobs.iteration_time import iteration_parts_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heuristics.jobs.cluster_state import ClusterState
    from heuristics.jobs.jobs_arrays import JobsArrays
    from instances.jobs.jobs_instance import JobsInstance

_NOTHING = Fraction(0)


class KernelPlacer:
    """Runs kernels and reads their answers.

    Parameters
    ----------
    instance
        What is scheduled.
    phi
        See `restricted_times`; None: all kinds that a stage may use.

    Raises
    ------
    ValueError
        As `jobs_arrays`.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        """Make the arrays and the memory."""
        self.instance = instance
        self.arrays = jobs_arrays(instance, phi)
        self.workspace = new_workspace(self.arrays)

    def watch(self, cluster: ClusterState) -> None:
        """Take the cluster, see `Placer`; most rules look at free GPUs only."""

    def run(self, job: int, kernel: Callable[[], tuple[int, int, int, int]]) -> JobPlacement | None:
        """Run a kernel on arrays and workspace, with more memory for unions of sets of kinds where it asks for it.

        The kernel returns the number of entries, comp(x), and numerator and denominator of comm(x); the latter three
        are not looked at where the bytes of the job have no denominator.
        """
        size, comp, numerator, denominator = kernel()
        while size == UNIONS_EXCEEDED:
            self.workspace = new_workspace(self.arrays, 2 * len(self.workspace.unions))
            size, comp, numerator, denominator = kernel()
        if size == NONE:
            return None
        stage, server, count = (
            values[:size]
            for values in (self.workspace.entry_stage, self.workspace.entry_server, self.workspace.entry_count)
        )
        comm = Fraction(numerator, denominator) if numerator else _NOTHING
        if self.arrays.denominator[job] == 0:
            counts = dict(zip(zip(stage.tolist(), server.tolist(), strict=True), count.tolist(), strict=True))
            comp, comm = self.exact_parts(job, counts)
        return JobPlacement(stage=stage, server=server, count=count, comp=int(comp), comm=comm)

    def exact_parts(self, job: int, counts: dict[tuple[int, int], int]) -> tuple[int, Fraction]:
        """Return comp(x) and comm(x) in integers of any size; `counts` are replicas by stage and server."""
        servers = sorted({server for _, server in counts})
        stages = range(self.instance.num_stages_of(job))
        rows = [[counts.get((stage, server), 0) for server in servers] for stage in stages]
        return iteration_parts_on(self.instance, job, servers, rows)


def checked_free(arrays: JobsArrays, free: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return free GPUs as kernels take them.

    That is, one number per server, for a kernel would read beyond the end, and writable, for Numba would compile every
    kernel once more for arrays that are not.

    Raises
    ------
    ValueError
        If there is not one integer of 64 bits per server.
    """
    if free.shape != arrays.server_kind.shape or free.dtype != np.int64:
        raise ValueError(
            f"free: expected {len(arrays.server_kind)} integers of 64 bits, one per server, "
            f"got {free.dtype} of shape {free.shape}."
        )
    return free if free.flags.writeable and free.flags.c_contiguous else free.copy()


def plain_placement(counts: dict[tuple[int, int], int], comp: int, comm: Fraction) -> JobPlacement:
    """Return the placement with these replicas by stage and server."""
    entries = np.array([(*key, count) for key, count in sorted(counts.items())], dtype=np.int64)
    stage, server, count = entries.T
    return JobPlacement(stage=stage, server=server, count=count, comp=comp, comm=comm)
