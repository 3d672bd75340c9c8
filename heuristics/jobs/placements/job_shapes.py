"""Which jobs are alike, so that they share placements and iteration times, and which communicate heavily."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.arrays import jobs_arrays
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.kernel_placer import NONE, KernelPlacer, gather
from instances.kernels import kernel, overwrite

if TYPE_CHECKING:
    from fractions import Fraction

    from heuristics.jobs.placements.arrays import JobsArrays
    from heuristics.jobs.placements.kernel_placer import PlacementWorkspace
    from heuristics.jobs.placements.placement import JobPlacement
    from instances.jobs.instance import JobsInstance


class Spread(KernelPlacer):
    """Spreads a job over the empty servers, for `is_heavy` only; a reconstruction of ours.

    Replicas in order of stage go to the servers in order of index, cyclically, each to the next one after the last used
    that has a free GPU of a kind that its stage may use. It is no `Placer` because it may get stuck.
    """

    def place(self, job: int) -> JobPlacement | None:
        """Return the spread placement of a job, or None if a replica finds no server."""
        return self.run(job, lambda: _kernel(self.arrays, self.workspace, job))


@kernel
def _kernel(arrays: JobsArrays, ws: PlacementWorkspace, job: int) -> tuple[int, int, int, int]:
    """Deal the replicas."""
    base, end = arrays.stage_offsets[job], arrays.stage_offsets[job + 1]
    num_servers = len(arrays.server_kind)
    overwrite(ws.free_gpus, arrays.num_gpus_of)
    ws.counts[: end - base] = 0
    server = -1
    for s in range(end - base):
        for _ in range(arrays.replicas[base + s]):
            skipped = 0
            server = (server + 1) % num_servers
            while ws.free_gpus[server] == 0 or arrays.time_of[base + s, arrays.server_kind[server]] < 0:
                skipped += 1
                if skipped == num_servers:
                    return NONE, 0, 0, 1
                server = (server + 1) % num_servers
            ws.counts[s, server] += 1
            ws.free_gpus[server] -= 1
    return gather(arrays, ws, job, num_servers)


def is_heavy(least: JobPlacement, spread: JobPlacement | None, theta: Fraction | int) -> bool:
    """Return whether a job is heavy in communication; a reconstruction of ours: docs/methods/a_srpt.md, section 3.3.

    comp(x_min) + max(comm(x_spread), comm(x_min)) >= theta (comp(x_min) + comm(x_min)).

    Parameters
    ----------
    least
        x_min: its Heavy-Edge placement on the empty servers.
    spread
        Its `Spread` placement; None, if there is none, stands for x_min.
    theta
        At least 1, exact; at 1 every job is heavy. The policies use 3/2.

    Raises
    ------
    ValueError
        If `theta` is below 1.
    """
    if theta < 1:
        raise ValueError(f"theta: expected at least 1, got {theta}.")
    comm = least.comm if spread is None else max(spread.comm, least.comm)
    return least.comp + comm >= theta * least.alpha


class JobShapes:
    """Shapes of jobs and what policies ask of each; recurring jobs make them few.

    Jobs of one shape have the same pipeline and share every placement and iteration time. Where two jobs may share a
    GPU they are of one class too, so that the same GPUs are free for them.

    Parameters
    ----------
    phi
        See `restricted_times`; None: all kinds that a stage may use.

    Attributes
    ----------
    shape_of
        Shape of each job, shape (jobs,), int64.
    first_job
        A job of each shape, its first.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        self.instance = instance
        self.phi = phi
        self.arrays = jobs_arrays(instance, phi)
        self._rule, self._spread = HeavyEdge(instance, phi), Spread(instance, phi)
        numbers: dict[tuple[int, int, bytes], int] = {}
        self._pools: list[int] | None = None
        if instance.interference is not None and instance.share > 1:
            self._pools = instance.interference.job_class.tolist()
        self.first_job: list[int] = []
        self.shape_of = np.zeros(instance.num_jobs, dtype=np.int64)
        stages = np.column_stack(
            [instance.replicas, instance.activation_bytes, instance.parameter_bytes, self.arrays.time_of]
        )
        for job in range(instance.num_jobs):
            key = (self.pool(job), int(instance.micro_batches[job]), stages[instance.stages_of(job)].tobytes())
            shape = numbers.setdefault(key, len(numbers))
            if shape == len(self.first_job):
                self.first_job.append(job)
            self.shape_of[job] = shape
        self._least: list[JobPlacement | None] = [None] * len(self.first_job)

    def pool(self, job: int) -> int:
        """Return the pool of a job: its class if two jobs may share a GPU, otherwise 0 for all jobs."""
        return 0 if self._pools is None else self._pools[job]

    def least(self, job: int) -> JobPlacement:
        """Return x_min, the Heavy-Edge placement of a job on the empty servers; its alpha is alpha_min."""
        shape = int(self.shape_of[job])
        found = self._least[shape]
        if found is None:
            found = self._rule.place(self.first_job[shape], self.instance.num_gpus_of)
            if found is None:
                raise RuntimeError(f"jobs[{job}]: expected a placement on the empty servers, got none.")
            self._least[shape] = found
        return found

    def is_heavy(self, job: int, theta: Fraction | int) -> bool:
        """Say whether a job is heavy in communication, see `is_heavy`."""
        alike = self.first_job[self.shape_of[job]]
        return is_heavy(self.least(job), self._spread.place(alike), theta)

    def predicted_duration(self, job: int, prediction: int) -> int:
        """Return ceil(prediction * alpha_min) in ticks."""
        return self.least(job).duration(prediction)
