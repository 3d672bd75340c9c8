"""DRF: dominant resource fairness between users, for gangs."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
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


def drf(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    placement: str = "load-balance",
) -> JobsSchedule | None:
    """Start the oldest waiting job of the user whose running jobs hold the smallest dominant share.

    The dominant share of a user is the largest part that its running jobs hold of all GPUs, or ask of the capacity of a
    resource of all servers together. Ties: arrival, index. After every start shares are recomputed; the first job
    without a placement blocks all others. A job without a user is a user of its own, so that without users all shares
    of waiting jobs are 0: `fifo` with the same placement. Where two jobs may share a GPU, each holds the whole of it.

    Parameters
    ----------
    instance
        What is scheduled. Without interference GPUs are the only resource.
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
    Ghodsi et al. (2011), Dominant resource fairness, NSDI: shares of users. As a scheduler of elastic training jobs:
    github pengyanghua/DL2, where the job of the smallest share gets one worker after the other. The rule for gangs is a
    reconstruction of ours.
    """
    return schedule_of(run_policy(drf_policy(instance), rng, callback, placement=placement))


def drf_policy(instance: JobsInstance) -> DrfPolicy:
    """Return the policy, for one simulation."""
    return DrfPolicy(JobShapes(instance))


class DrfPolicy(Policy):
    """Keeps what every user holds, exactly, and a heap of the users that wait. Parameters as in `Policy`.

    A start or completion costs O(log users) and one sum per resource.
    """

    uses_predictions = False

    def __init__(self, shapes: JobShapes) -> None:
        """Start with nobody waiting."""
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
        """Let a job wait behind the others of its user."""
        user = self._user_of[job]
        self._waiting[user].append(job)
        if len(self._waiting[user]) == 1:
            self._list(user)

    def complete(self, job: int, time: int) -> None:
        """Take from a user what a job held."""
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
        """Give a user what a job holds."""
        demand: list[Amount] = [int(self.instance.gang_size[job])]
        if self.instance.interference is not None:
            demand += map(sum, zip(*placement.demand(self.instance, job).own, strict=True))
        self._demand[job] = demand
        held = self._held.get(user)
        self._held[user] = demand if held is None else [a + b for a, b in zip(held, demand, strict=True)]

    def _list(self, user: int) -> None:
        """List a user with its share and its oldest waiting job; what was listed before is void."""
        self._stamp[user] = self._stamp.get(user, 0) + 1
        if self._waiting[user]:
            job = self._waiting[user][0]
            entry = (self.share(user), self._release[job], job, user, self._stamp[user])
            heapq.heappush(self._heap, entry)
