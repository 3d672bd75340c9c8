"""Which jobs are alike: the same pipeline, so that they share every placement and every iteration time.

Where two jobs may share a GPU, jobs that are alike are of one class too: they see the same GPUs free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.jobs_arrays import jobs_arrays
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.is_heavy import is_heavy
from heuristics.jobs.placements.spread import Spread

if TYPE_CHECKING:
    from fractions import Fraction

    from heuristics.jobs.job_placement import JobPlacement
    from instances.jobs.jobs_instance import JobsInstance


class JobShapes:
    """Shapes of jobs and what a policy wants to know of each; recurring jobs make them few.

    Parameters
    ----------
    instance
        What is scheduled.
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
        """Compare all pipelines."""
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
        """Return which GPUs a job may look at: by its class where two jobs may share one, the same for all else."""
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
