"""Tetris: the job that fits best on what is free, for gangs."""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from typing import TYPE_CHECKING

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.policies.policy import Policy
from heuristics.jobs.policies.run_policy import run_policy, schedule_of
from instances.jobs.interference import FULL_SPEED

if TYPE_CHECKING:
    import numpy as np

    from heuristics.callback import Callback
    from heuristics.jobs.job_placement import JobPlacement
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from instances.jobs.jobs_schedule import JobsSchedule
    from instances.jobs.resource_demand import Amount


def tetris(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    placement: str = "free-descending",
) -> JobsSchedule | None:
    """Start the waiting job of the best score, score the others anew, until none has a placement.

    The score of job i with placement x, both terms without unit::

        sum_v ( free[v]/g[v] n[i,v]/g[v] + sum_z max(0, 1 - load[v,z]/1000) own[i,v,z]/1000 )  +  c g_i/G

    c is the mean of the first term over the mean of g_i/G, over all waiting jobs that have a placement. Ties: arrival,
    index.

    Parameters
    ----------
    instance
        What is scheduled. Without interference there are no resources z.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of the placement.
    callback
        See `simulate`.
    placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If the placement is unknown.

    References
    ----------
    Grandl et al. (2014), Multi-resource packing for cluster schedulers, SIGCOMM: alignment of demand and what is free.
    As a scheduler of elastic training jobs: github pengyanghua/DL2, free slots . demand + c sum(demand) (1 - progress /
    total), server by server. The rule for gangs, whose progress is 0 while they wait, is a reconstruction of ours.
    """
    return schedule_of(run_policy(tetris_policy(instance), rng, callback, placement=placement))


def tetris_policy(instance: JobsInstance) -> TetrisPolicy:
    """Return the policy, for one simulation."""
    return TetrisPolicy(JobShapes(instance))


class TetrisPolicy(Policy):
    """Scores one job for all that wait with its pipeline and its demand: a long queue costs little where jobs recur.

    All numbers are exact. A start costs one placement per different pipeline that waits and fits. Parameters as in
    `Policy`.
    """

    uses_predictions = False

    def __init__(self, shapes: JobShapes) -> None:
        """Start with nobody waiting."""
        super().__init__(shapes)
        instance = self.instance
        self._release: list[int] = instance.release.tolist()
        self._gang_size: list[int] = instance.gang_size.tolist()
        gpus = instance.num_gpus_of.tolist()
        self._scale = math.lcm(*(number * number for number in set(gpus)))
        self._weight = [self._scale // (number * number) for number in gpus]  # 1 / g[v]^2 over the scale
        self._waiting: dict[tuple[int, bytes], deque[int]] = {}

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Let a job wait behind those that are alike."""
        self._waiting.setdefault(self._group(job), deque()).append(job)

    def dispatch(self, time: int) -> list[int]:
        """Start the best job until none has a placement."""
        started: list[int] = []
        while True:
            fitting: list[tuple[Amount, deque[int], JobPlacement]] = []
            for queue in self._waiting.values():
                placement = self.cluster.place(queue[0]) if self.cluster.fits(queue[0]) else None
                if placement is not None:
                    fitting.append((self._scaled_alignment(queue[0], placement), queue, placement))
            if not fitting:
                return started
            # c g_i/G = g_i (sum of first terms) / (sum of gang sizes) over all jobs that fit: each group counts as
            # often as it has jobs. The scores are compared times the latter sum, which spares divisions.
            total = sum(fit * len(queue) for fit, queue, _ in fitting)
            gpus = sum(self._gang_size[queue[0]] * len(queue) for _, queue, _ in fitting)
            _, _, job, queue, placement = min(
                (-(fit * gpus + total * self._gang_size[queue[0]]), self._release[queue[0]], queue[0], queue, placement)
                for fit, queue, placement in fitting
            )
            queue.popleft()
            if not queue:
                del self._waiting[self._group(job)]
            self.cluster.start(job, placement, time)
            started.append(job)

    def alignment(self, job: int, placement: JobPlacement) -> Fraction:
        """Return the first term of the score of a job, exactly."""
        return Fraction(self._scaled_alignment(job, placement)) / (self._scale * FULL_SPEED**2)

    def _scaled_alignment(self, job: int, placement: JobPlacement) -> Amount:
        """Return the same times a constant that makes it an integer but for the traffic of jobs."""
        free, cluster = self.cluster.free_for(job), self.cluster
        on_gpus = 0
        for server, count in zip(placement.server.tolist(), placement.count.tolist(), strict=True):
            on_gpus += int(free[server]) * count * self._weight[server]
        total: Amount = 0
        if self.instance.interference is not None:
            demand = placement.demand(self.instance, job)
            for server, own in zip(demand.servers, demand.own, strict=True):
                load = cluster.running.load(server)
                total += sum(max(0, FULL_SPEED - a) * b for a, b in zip(load, own, strict=True))
        return on_gpus * FULL_SPEED**2 + total * self._scale

    def _group(self, job: int) -> tuple[int, bytes]:
        """Return what jobs have in common that share a score."""
        interference = self.instance.interference
        use = b"" if interference is None else interference.use[job].tobytes()
        return int(self.shapes.shape_of[job]), use
