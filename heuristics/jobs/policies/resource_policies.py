"""Policies that weigh several resources, for gangs: dominant resource fairness (DRF) and Tetris."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict, deque
from fractions import Fraction
from typing import TYPE_CHECKING

from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.policies.run_policy import online_method
from heuristics.jobs.policy import Policy
from instances.jobs.interference import FULL_SPEED

if TYPE_CHECKING:
    from heuristics.jobs.placements.placement import JobPlacement
    from instances.jobs.co_location import Amount
    from instances.jobs.instance import JobsInstance


@online_method(predictor=None, placement="load-balance")
def drf(instance: JobsInstance) -> DrfPolicy:
    """Start the oldest waiting job of the user whose running jobs hold the smallest dominant share.

    The dominant share of a user is the largest part that its running jobs hold of all GPUs, or ask of the capacity of a
    resource of all servers together; without interference GPUs are the only resource. Ties: arrival, index. After every
    start shares are recomputed; the first job without a placement blocks all others. A job without a user is a user of
    its own, so that without users all shares of waiting jobs are 0: `fifo` with the same placement. Where two jobs may
    share a GPU, each holds the whole of it.

    References
    ----------
    Ghodsi et al. (2011), Dominant resource fairness, NSDI: shares of users. As a scheduler of elastic training jobs:
    github pengyanghua/DL2, where the job of the smallest share gets one worker after the other. The rule for gangs is a
    reconstruction of ours.
    """
    return DrfPolicy(JobShapes(instance))


class DrfPolicy(Policy):
    """Keeps the resources of every user, exactly, and a heap of the users that wait.

    A start or completion costs O(log users) and one sum per resource.
    """

    uses_predictions = False

    def __init__(self, shapes: JobShapes) -> None:
        super().__init__(shapes)
        instance = self.instance
        names: dict[str, int] = {}
        self._user_of: list[int] = [
            instance.num_jobs + names.setdefault(user, len(names)) if user is not None else job
            for job, user in enumerate(instance.user)
        ]
        self._release: list[int] = instance.release.tolist()
        resources = 0 if instance.interference is None else len(instance.interference.resources)
        self._capacity = [instance.num_gpus, *[FULL_SPEED * instance.num_servers] * resources]
        self._waiting: dict[int, deque[int]] = defaultdict(deque)
        self._held: dict[int, list[Amount]] = {}
        self._demand: dict[int, list[Amount]] = {}
        self._heap: list[tuple[Fraction, int, int, int, int]] = []  # share, arrival, job, user, stamp
        self._stamp: dict[int, int] = {}

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Queue a job behind the others of its user."""
        user = self._user_of[job]
        self._waiting[user].append(job)
        if len(self._waiting[user]) == 1:
            self._list(user)

    def complete(self, job: int, time: int) -> None:
        """Subtract from a user what a job held."""
        user = self._user_of[job]
        held = [a - b for a, b in zip(self._held[user], self._demand.pop(job), strict=True)]
        self._held[user] = held
        self._list(user)

    def dispatch(self, time: int) -> list[int]:
        """Start jobs until one has no placement."""
        started: list[int] = []
        while self._heap:
            _, _, job, user, stamp = self._heap[0]
            if stamp != self._stamp[user]:
                heapq.heappop(self._heap)
                continue
            placement = self.cluster.place(job) if self.cluster.fits(job) else None
            if placement is None:
                break
            heapq.heappop(self._heap)
            self._waiting[user].popleft()
            self.cluster.start(job, placement, time)
            self._hold(user, job, placement)
            self._list(user)
            started.append(job)
        return started

    def share(self, user: int) -> Fraction:
        """Return the dominant share of a user, exactly."""
        held = self._held.get(user)
        if held is None:
            return Fraction(0)
        return max(Fraction(amount) / capacity for amount, capacity in zip(held, self._capacity, strict=True))

    def _hold(self, user: int, job: int, placement: JobPlacement) -> None:
        """Add to a user what a job holds."""
        demand: list[Amount] = [int(self.instance.gang_size[job])]
        if self.instance.interference is not None:
            demand += map(sum, zip(*placement.demand(self.instance, job).own, strict=True))
        self._demand[job] = demand
        held = self._held.get(user)
        self._held[user] = demand if held is None else [a + b for a, b in zip(held, demand, strict=True)]

    def _list(self, user: int) -> None:
        """Push a user with its share and its oldest waiting job; older entries of the user become invalid."""
        self._stamp[user] = self._stamp.get(user, 0) + 1
        if self._waiting[user]:
            job = self._waiting[user][0]
            entry = (self.share(user), self._release[job], job, user, self._stamp[user])
            heapq.heappush(self._heap, entry)


@online_method(predictor=None, placement="free-descending")
def tetris(instance: JobsInstance) -> TetrisPolicy:
    """Start the waiting job of the best score, score the others anew, until none has a placement.

    The score of job i with placement x, both terms without unit::

        sum_v ( free[v]/g[v] n[i,v]/g[v] + sum_z max(0, 1 - load[v,z]/1000) own[i,v,z]/1000 )  +  c g_i/G

    c is the mean of the first term over the mean of g_i/G, over all waiting jobs that have a placement. Without
    interference there are no resources z. Ties: arrival, index.

    References
    ----------
    Grandl et al. (2014), Multi-resource packing for cluster schedulers, SIGCOMM: alignment of demand and what is free.
    As a scheduler of elastic training jobs: github pengyanghua/DL2, free slots . demand + c sum(demand) (1 - progress /
    total), server by server. The rule for gangs, whose progress is 0 while they wait, is a reconstruction of ours.
    """
    return TetrisPolicy(JobShapes(instance))


class TetrisPolicy(Policy):
    """Scores one job for all waiting jobs with its pipeline and demand, so that recurring jobs make a long queue cheap.

    All numbers are exact. A start costs one placement per different pipeline that waits and fits.
    """

    uses_predictions = False

    def __init__(self, shapes: JobShapes) -> None:
        super().__init__(shapes)
        instance = self.instance
        self._release: list[int] = instance.release.tolist()
        self._gang_size: list[int] = instance.gang_size.tolist()
        gpus = instance.num_gpus_of.tolist()
        self._scale = math.lcm(*(number * number for number in set(gpus)))
        self._weight = [self._scale // (number * number) for number in gpus]  # 1 / g[v]^2 over the scale
        self._waiting: dict[tuple[int, bytes], deque[int]] = {}

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Queue a job behind those of its group."""
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
        """Return the first term times a constant that makes it an integer, except for the traffic of jobs."""
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
        """Return the key of the jobs that share a score: pipeline and use of resources."""
        interference = self.instance.interference
        use = b"" if interference is None else interference.use[job].tobytes()
        return int(self.shapes.shape_of[job]), use
