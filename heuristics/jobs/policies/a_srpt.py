"""A-SRPT (reconstruction) in its modes: preemptive SRPT on a virtual machine, fed with predictions, decides."""

from __future__ import annotations

import heapq
from collections import deque
from fractions import Fraction
from functools import partial, reduce
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.placements.waiting_queue import WaitingQueue
from heuristics.jobs.policies.guided_policy import ASrptParameters, GuidedPolicy
from heuristics.jobs.policies.run_policy import online_method
from instances.fields import one_of
from instances.jobs.objective import JobsObjective
from instances.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from heuristics.jobs.placements.cluster_state import ClusterState, FitClasses
    from heuristics.jobs.placements.placement import JobPlacement
    from heuristics.jobs.policies.guided_policy import Rational
    from instances.jobs.instance import JobsInstance


class ProvablePolicy(GuidedPolicy):
    """Does steps 7 to 10 of docs/methods/a_srpt.md, section 4; it leaves GPUs idle on purpose."""

    def __init__(self, shapes: JobShapes, parameters: ASrptParameters, *, is_weighted: bool) -> None:
        super().__init__(shapes, parameters, is_weighted=is_weighted)
        self._queue: deque[int] = deque()  # virtual completions ascend strictly: no ties to break
        self._expiry: int | None = None

    def become_eligible(self, job: int) -> None:
        """Append a job to the queue."""
        self._queue.append(job)

    def next_event(self) -> int | None:
        """Return the next eligibility or the end of the hold."""
        times = [time for time in (self.next_eligibility(), self._expiry) if time is not None]
        return min(times, default=None)

    def dispatch(self, time: int) -> list[int]:
        """Start heads of the queue until one is blocked or held."""
        started: list[int] = []
        self._expiry = None
        while self._queue:
            job = self._queue[0]
            placement = self.cluster.place(job) if self.cluster.fits(job) else None
            if placement is None:
                break
            if not self.is_consolidated(job, placement):
                deadline = self.hold_until(job, placement, time)
                if time < deadline:
                    self._expiry = deadline
                    break
            self._queue.popleft()
            self.start(job, placement, time)
            started.append(job)
        return started


class OvertakingPolicy(GuidedPolicy):
    """Provable mode in which later jobs overtake a head that waits, as long as they are predicted to be gone in time.

    Ours. Let h be the first eligible job that waits, eligible since e[h] and completed at Cv[h] on the virtual machine.
    A later eligible job starts at t if t plus its predicted duration there is at most e[h] + floor(patience Cv[h]).
    Section 8.1 of docs/methods/a_srpt.md proves that this keeps a guarantee. Without a limit (`is_limited` is False)
    every eligible job that has a placement starts, and nothing is proved.
    """

    def __init__(
        self, shapes: JobShapes, parameters: ASrptParameters, *, is_weighted: bool, is_limited: bool = True
    ) -> None:
        super().__init__(shapes, parameters, is_weighted=is_weighted)
        self._queue: list[int] = []  # virtual completions ascend strictly: no ties to break
        self._is_limited = is_limited
        self._expiries: dict[int, int] = {}

    def become_eligible(self, job: int) -> None:
        """Append a job to the queue."""
        self._queue.append(job)

    def next_event(self) -> int | None:
        """Return the next eligibility or the first end of a hold."""
        eligibility = self.next_eligibility()
        times = list(self._expiries.values())
        return min(times if eligibility is None else [*times, eligibility], default=None)

    def dispatch(self, time: int) -> list[int]:
        """Try the eligible jobs in order; who follows a job that waits must be predicted to end by its limit."""
        started: list[int] = []
        self._expiries = {}
        limit: int | None = None
        kept: list[int] = []
        for position, job in enumerate(self._queue):
            if limit is not None and time >= limit:
                kept += self._queue[position:]
                break
            placement = self.cluster.place(job) if self.cluster.fits(job) else None
            if placement is not None and self._may_start(job, placement, time, limit):
                self.start(job, placement, time)
                started.append(job)
                continue
            kept.append(job)
            if limit is None and self._is_limited:
                limit = self._limit(job)
        self._queue = kept
        return started

    def _may_start(self, job: int, placement: JobPlacement, time: int, limit: int | None) -> bool:
        """Return whether a job with a placement need not wait for a better one, nor for the head of the queue."""
        if not self.is_consolidated(job, placement):
            deadline = self.hold_until(job, placement, time)
            if time < deadline:
                self._expiries[job] = deadline
                return False
        return limit is None or time - (-self._prediction[job] * placement.alpha // 1) <= limit

    def _limit(self, job: int) -> int:
        """Return the tick by which all jobs that overtake this one are predicted to have ended."""
        return self._eligible[job] + int(self.parameters.patience * self._completion[job] / self.units_per_tick)


class Consolidation(NamedTuple):
    """Necessary conditions for a placement x of a shape with alpha(x) <= limit on the free GPUs; ours.

    Every stage then runs on kinds with (Q + S - 1) p <= limit: Hall's test with these kinds must pass. Let c be the
    least comm(x) of a placement on two servers or more: if it splits a stage, a server sends the ring bytes of that
    stage, else the activations between two stages on different servers; either at the highest bandwidth. If
    (Q + S - 1) max_s min_h p[s,h] + c exceeds the limit, one server must hold the whole job.
    """

    shape_of: NDArray[np.int64]  # (jobs,)
    class_of: NDArray[np.int64]  # (shapes,), class of Hall's test; 0 for shapes without a limit
    single_kinds: NDArray[np.int64]  # (shapes,), kinds of which one server must have `gang` free GPUs; 0 for no need
    gang: NDArray[np.int64]  # (shapes,), gang size; larger than any server if one must hold the job and no kind can
    failed_at: NDArray[np.int64]  # (shapes,), version of the cluster at which the shape was last held or blocked


def consolidation(shapes: JobShapes, classes: FitClasses, limit_of: Callable[[int], Fraction | None]) -> Consolidation:
    """Examine every shape once.

    Parameters
    ----------
    classes
        Where the classes of Hall's tests are added; the caller finishes it afterwards.
    limit_of
        Limit of a heavy job; None for a job that is not heavy, whose shape has no conditions.
    """
    size = len(shapes.first_job)
    class_of, single_kinds, gang = (np.zeros(size, dtype=np.int64) for _ in range(3))
    failed_at = np.full(size, -1, dtype=np.int64)
    instance, arrays = shapes.instance, shapes.arrays
    for shape, job in enumerate(shapes.first_job):
        limit = limit_of(job)
        if limit is None:
            continue
        rows = instance.stages_of(job)
        slots = int(arrays.slots[job])
        times: list[list[int]] = arrays.time_of[rows].tolist()
        threshold = limit // slots
        masks = [sum(1 << kind for kind, ticks in enumerate(row) if 0 < ticks <= threshold) for row in times]
        class_of[shape] = classes.add(masks, instance.replicas[rows].tolist(), shapes.pool(job))
        gang[shape] = instance.gang_size[job]
        least = slots * max(min(ticks for ticks in row if ticks > 0) for row in times)
        traffic = _least_traffic(shapes, rows)
        if traffic is not None and least + traffic <= limit:
            continue
        common = reduce(and_, masks)
        single_kinds[shape] = common or -1
        if not common:
            gang[shape] = int(instance.num_gpus_of.max()) + 1
    return Consolidation(shapes.shape_of, class_of, single_kinds, gang, failed_at)


def _least_traffic(shapes: JobShapes, rows: slice) -> Fraction | None:
    """Return the least comm(x) over placements on two servers or more; None for a single GPU, which has none."""
    instance = shapes.instance
    replicas = instance.replicas[rows].tolist()
    rings = instance.parameter_bytes[rows].tolist()
    sent = [Fraction(2 * (k - 1) * ring, k) for k, ring in zip(replicas, rings, strict=True) if k > 1]
    sent += [Fraction(act) for act in instance.activation_bytes[rows].tolist()[:-1]]
    if not sent:
        return None
    fastest = max(map(instance.nic_bytes_per_tick, range(instance.num_servers)))
    return min(sent) / fastest


_FOREVER = np.iinfo(np.int64).max


class WorkConservingPolicy(GuidedPolicy):
    """The work-conserving mode of docs/methods/a_srpt.md, section 4; nothing is proved about it.

    (a) All eligible jobs are tried in order; a blocked or held one stops no other. (b) Jobs still on the virtual
    machine are tried in its order (remaining work, or the weighted rule's), heavy ones only if consolidated; they stay
    on the machine. Parameters as in `GuidedPolicy`.
    """

    def __init__(self, shapes: JobShapes, parameters: ASrptParameters, *, is_weighted: bool) -> None:
        super().__init__(shapes, parameters, is_weighted=is_weighted)
        num_jobs = shapes.instance.num_jobs
        self._eligible_queue, self._virtual_queue = WaitingQueue(), WaitingQueue()
        self._expiries: list[tuple[int, int]] = []
        # When a job needs no consolidated placement any more: in queue (a), 0 until it is held first; in queue (b).
        self._ready: NDArray[np.int64] = np.zeros(num_jobs, dtype=np.int64)
        self._ready_early: NDArray[np.int64] = np.zeros(num_jobs, dtype=np.int64)

    def begin(self, cluster: ClusterState) -> None:
        """Take the cluster and examine the shapes."""
        super().begin(cluster)
        self._consolidation = consolidation(self.shapes, cluster.classes, self._limit_if_heavy)
        cluster.classes.finish()

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Put a job on the virtual machine."""
        first = self.machine.first()
        if first is not None and len(self._virtual_queue) and self._virtual_queue.jobs[0] == first[2]:
            self._virtual_queue.lower_first(first)  # it was served meanwhile: the only key that changes
        super().arrive(job, time, prediction)

    def wait_virtually(self, job: int, key: tuple[Any, ...]) -> None:
        """Put a job in queue (b)."""
        self._ready_early[job] = _FOREVER if self.is_heavy(job) else 0
        self._virtual_queue.insert(key, job)

    def become_eligible(self, job: int) -> None:
        """Move a job from queue (b), where it stands first, to the end of queue (a), unless it has started."""
        if job in self.cluster.started:
            return
        if self._virtual_queue.remove(0) != job:
            raise RuntimeError(f"job {job}: expected it first in the order of the virtual machine.")
        self._eligible_queue.insert((self._completion[job],), job)

    def next_event(self) -> int | None:
        """Return the next eligibility or the end of a hold."""
        while self._expiries and self._expiries[0][1] in self.cluster.started:
            heapq.heappop(self._expiries)
        times = [end for end, _ in self._expiries[:1]]
        eligibility = self.next_eligibility()
        return min(times if eligibility is None else [*times, eligibility], default=None)

    def dispatch(self, time: int) -> list[int]:
        """Scan the eligible jobs, then those on the virtual machine."""
        while self._expiries and self._expiries[0][0] <= time:
            heapq.heappop(self._expiries)
        return self._scan(self._eligible_queue, self._ready, time) + self._scan(
            self._virtual_queue, self._ready_early, time
        )

    def _scan(self, queue: WaitingQueue, ready: NDArray[np.int64], time: int) -> list[int]:
        """Try every job of a queue once."""
        started: list[int] = []
        cluster, position = self.cluster, 0
        while True:
            position = self._next(queue, position, ready, time)
            if position == len(queue):
                return started
            job = int(queue.jobs[position])
            placement = cluster.place(job)
            if placement is None or self._must_wait(job, placement, ready, time):
                self._consolidation.failed_at[self.shapes.shape_of[job]] = cluster.version
                position += 1
                continue
            queue.remove(position)
            self.start(job, placement, time)
            started.append(job)

    def _must_wait(self, job: int, placement: JobPlacement, ready: NDArray[np.int64], time: int) -> bool:
        """Return whether a job waits for a consolidated placement; record its deadline the first time it does."""
        if self.is_consolidated(job, placement):
            return False
        if ready is self._ready and job not in self._deadline:
            ready[job] = self.hold_until(job, placement, time)
            if ready[job] > time:
                heapq.heappush(self._expiries, (int(ready[job]), job))
        return bool(ready[job] > time)

    def _next(self, queue: WaitingQueue, begin: int, ready: NDArray[np.int64], time: int) -> int:
        """Return the next position whose job may start, as far as this is known without a placement."""
        cluster = self.cluster
        cluster.refresh()
        return int(
            _next_candidate(
                queue.jobs[: len(queue)],
                begin,
                time,
                ready,
                cluster.class_of,
                cluster.classes.has_place,
                cluster.classes.most_free,
                self._consolidation,
                cluster.version,
            )
        )

    def _limit_if_heavy(self, job: int) -> Fraction | None:
        """Return the limit of a heavy job on alpha, None for another one."""
        return self.alpha_limit(job) if self.is_heavy(job) else None


@kernel
def _next_candidate(
    jobs: NDArray[np.int64],
    begin: int,
    time: int,
    ready: NDArray[np.int64],
    class_of: NDArray[np.int64],
    has_place: NDArray[np.bool_],
    most_free: NDArray[np.int64],
    test: Consolidation,
    version: int,
) -> int:
    """Return the first position from `begin` on whose job may start, the number of jobs if there is none.

    A job that needs a consolidated placement is passed over where its shape has none: it failed on these free GPUs
    already, or a necessary condition fails.
    """
    shape_of, consolidated_class_of, single_kinds, gang, failed_at = test
    for position in range(begin, len(jobs)):
        job = jobs[position]
        if not has_place[class_of[job]]:
            continue
        if ready[job] <= time:
            return position
        shape = shape_of[job]
        if failed_at[shape] == version or not has_place[consolidated_class_of[shape]]:
            continue
        if single_kinds[shape] == 0:
            return position
        for kind in range(len(most_free)):
            if single_kinds[shape] >> kind & 1 and most_free[kind] >= gang[shape]:
                return position
    return len(jobs)


MODES: dict[str, Callable[..., GuidedPolicy]] = {
    "provable": ProvablePolicy,
    "overtaking": OvertakingPolicy,
    "unblocked": partial(OvertakingPolicy, is_limited=False),
    "work_conserving": WorkConservingPolicy,
}


@online_method()
def a_srpt(
    instance: JobsInstance,
    objective: JobsObjective,
    *,
    mode: str = "provable",
    theta: Rational = "3/2",
    tau: Rational = "1/4",
    eps: Rational = "1/50",
    phi: Rational | None = None,
    patience: Rational = 4,
    speed: Rational = 1,
) -> GuidedPolicy:
    """Start jobs in the order in which a virtual machine, as fast as all GPUs, completes their predicted work.

    Parameters
    ----------
    objective
        Total completion: the virtual machine serves the least remaining work. Weighted completion, where weights
        differ: the largest weight per work.
    mode
        ``provable``: no job overtakes the head of the queue, which has a bound and idles on purpose;
        ``overtaking``: eligible jobs overtake where they are predicted to end in time, which has a bound too (ours);
        ``unblocked``: every eligible job that fits starts, without a bound (a control);
        ``work_conserving``: every job that fits starts, eligible or not, without a bound.
    theta, tau, eps, phi, patience, speed
        See `ASrptParameters`; exact rationals, a text such as "1/50" or a decimal number.

    Raises
    ------
    ValueError
        If the mode is unknown or a parameter is out of range.

    Notes
    -----
    With weights 1, in the provable mode with Heavy-Edge, and mu1, mu2, rho, b as measured afterwards: sum C is at most
    (mu2 (1 + tau + mu1 rho G / b) + rho) OPT + N; in the overtaking mode 1 + tau + patience nu stands for 1 + tau, with
    nu the largest duration over its prediction. For other speeds see docs/methods/a_srpt.md, section 8.2. The theorems
    are ours, not those of the paper.

    References
    ----------
    Luo, Liu, Lee and Shroff (2025), Prediction-assisted online distributed deep learning workload scheduling in GPU
    clusters, INFOCOM, arXiv 2501.05563, abstract: predictions, virtual single machine with preemptive SRPT. Iteration
    times, placement, the test for heavy jobs, holds, modes and parameters are a reconstruction of ours.
    """
    parameters = ASrptParameters.of(theta=theta, tau=tau, eps=eps, phi=phi, patience=patience, speed=speed)
    return a_srpt_policy(instance, objective, parameters, mode)


def a_srpt_policy(
    instance: JobsInstance, objective: JobsObjective, parameters: ASrptParameters | None = None, mode: str = "provable"
) -> GuidedPolicy:
    """Return the policy, for one simulation; parameters as in `a_srpt`, the defaults if None.

    Raises a `ValueError` if the mode is unknown.
    """
    one_of(mode, MODES, "mode")
    chosen = ASrptParameters() if parameters is None else parameters
    is_weighted = (
        JobsObjective(objective) is JobsObjective.WEIGHTED_COMPLETION and len(set(instance.weight.tolist())) > 1
    )
    return MODES[mode](JobShapes(instance, chosen.phi), chosen, is_weighted=is_weighted)
