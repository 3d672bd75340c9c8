"""Policies that take waiting jobs in the order of a key: the first one blocks the others, or is skipped.

Those that differ in order, key and placement rule alone are the rows at the end. All are reconstructions of ours where
their text names no source: the published abstract of A-SRPT names no baselines.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.placements.waiting_queue import WaitingQueue
from heuristics.jobs.policies.run_policy import OnlineMethod, online_method
from heuristics.jobs.policy import Policy
from instances.fields import one_of
from instances.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.predictors.predictor import Predictor
    from instances.jobs.instance import JobsInstance


class Key(NamedTuple):
    """What waiting jobs are ordered by: smaller values go first (ties: arrival, index)."""

    value: Callable[[JobShapes, int, int], int]  # of shapes, job and predicted iterations
    uses_predictions: bool = True


def _workload(shapes: JobShapes, job: int, prediction: int) -> int:
    """Return gang size times predicted duration, in GPU-ticks."""
    return int(shapes.instance.gang_size[job]) * shapes.predicted_duration(job, prediction)


ARRIVAL = Key(lambda shapes, job, prediction: 0, uses_predictions=False)
DURATION = Key(JobShapes.predicted_duration)
WORKLOAD = Key(_workload)


class BlockingPolicy(Policy):
    """Takes waiting jobs in order of a key and stops at the first one without a placement."""

    def __init__(self, shapes: JobShapes, key: Key) -> None:
        super().__init__(shapes)
        self.uses_predictions = key.uses_predictions
        self._key = key.value
        self._heap: list[tuple[int, int, int]] = []

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Add a job to the waiting ones."""
        heapq.heappush(self._heap, (self._key(self.shapes, job, prediction), time, job))

    def dispatch(self, time: int) -> list[int]:
        """Start jobs until one has no placement."""
        started: list[int] = []
        while self._heap:
            job = self._heap[0][2]
            placement = self.cluster.place(job) if self.cluster.fits(job) else None
            if placement is None:
                break
            heapq.heappop(self._heap)
            self.cluster.start(job, placement, time)
            started.append(job)
        return started


class SkippingPolicy(Policy):
    """Tries every waiting job once, in order of a key."""

    def __init__(self, shapes: JobShapes, key: Key) -> None:
        super().__init__(shapes)
        self.uses_predictions = key.uses_predictions
        self._key = key.value
        self._queue = WaitingQueue()

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Add a job to the waiting ones."""
        self._queue.insert((self._key(self.shapes, job, prediction), time, job), job)

    def dispatch(self, time: int) -> list[int]:
        """Start every job that has a placement when its turn comes."""
        started: list[int] = []
        cluster, queue, position = self.cluster, self._queue, 0
        while True:
            cluster.refresh()
            position = _next_with_place(queue.jobs, position, len(queue), cluster.class_of, cluster.classes.has_place)
            if position == len(queue):
                return started
            job = int(queue.jobs[position])
            placement = cluster.place(job)
            if placement is None:
                position += 1
                continue
            queue.remove(position)
            cluster.start(job, placement, time)
            started.append(job)


@kernel
def _next_with_place(
    jobs: NDArray[np.int64], begin: int, end: int, class_of: NDArray[np.int64], has_place: NDArray[np.bool_]
) -> int:
    """Return the first position from `begin` on whose job has a placement, `end` if there is none."""
    for position in range(begin, end):
        if has_place[class_of[jobs[position]]]:
            return position
    return end


ORDERS: dict[str, type[BlockingPolicy | SkippingPolicy]] = {"blocks": BlockingPolicy, "skips": SkippingPolicy}
"""What happens where the first job in the order has no placement: it blocks all others, or it is skipped."""


def _row(name: str, order: str, key: Key, text: str, *, placement: str | None = None) -> OnlineMethod:
    """Return a row of the table: its name, order, key and description, and its placement rule if that is fixed."""

    def make(instance: JobsInstance) -> Policy:
        return ORDERS[order](JobShapes(instance), key)

    make.__name__, make.__doc__ = name, text
    return OnlineMethod(
        make,
        predictor="oracle" if key.uses_predictions else None,
        placement=placement or "heavy-edge",
        fixed=() if placement is None else ("placement",),
    )


fifo = _row(
    "fifo",
    "blocks",
    ARRIVAL,
    """Start waiting jobs in order of arrival.

    With the placement ``load-balance`` it is the gang form of the FIFO among the baselines of DL2 (github
    pengyanghua/DL2), which gives each job up to 16 workers on the least-loaded servers.
    """,
)
spjf = _row("spjf", "blocks", DURATION, """Start waiting jobs in order of predicted duration.""")
spwf = _row("spwf", "blocks", WORKLOAD, """Start waiting jobs in order of predicted GPU-ticks.""")
wcs_duration = _row("wcs_duration", "skips", DURATION, """Start every job that fits, in order of predicted duration.""")
wcs_workload = _row(
    "wcs_workload", "skips", WORKLOAD, """Start every job that fits, in order of predicted GPU-ticks."""
)
wcs_subtime = _row("wcs_subtime", "skips", ARRIVAL, """Start every job that fits, in order of arrival.""")
load_balancing = _row(
    "load_balancing",
    "skips",
    ARRIVAL,
    """Start every job that fits, in order of arrival, on the least-loaded servers.

    A baseline that Zhao and Wu (2022), arXiv 2112.13354, may have had: their abstract states none.
    """,
    placement="load-balance",
)
bin_packing = _row(
    "bin_packing",
    "skips",
    ARRIVAL,
    """Start every job that fits, in order of arrival, on the server with the fewest free GPUs that hosts the job.

    A job that no single server hosts goes to those with the most free GPUs. Best fit is textbook; the rule for gangs
    is a reconstruction of ours.
    """,
    placement="best-fit",
)
least_interference = _row(
    "least_interference",
    "skips",
    ARRIVAL,
    """Start every job that fits, in order of arrival, on the servers with the least load of all resources together.

    Without interference all loads are 0, and it takes the first servers by number. A rule by hand for what Zhao and Wu
    (2022), arXiv 2112.13354, learn.
    """,
    placement="least-load",
)


@online_method(fixed=("predictor",))
def srtf(instance: JobsInstance, *, head: str = "skips") -> Policy:
    """Start waiting jobs in order of ceil(n * alpha_min) with their true iterations n: no online policy, a yardstick.

    Without preemption the remaining time of a waiting job is its whole duration, so that shortest remaining time first
    is shortest job first. With a head that blocks and the placement ``load-balance`` it is the gang form of the SRTF
    among the baselines of DL2 (github pengyanghua/DL2), a reconstruction of ours: there the key is the fraction of a
    job that is left, which is 1 for all gangs that wait. `spjf` with that placement is the same with predictions.

    Parameters
    ----------
    head
        ``skips``: jobs without a placement are skipped; ``blocks``: the first one blocks all others.

    Raises
    ------
    ValueError
        If `head` is something else.

    References
    ----------
    The rule that skips is the shortest job first of the simulator of github alibaba/clusterdata,
    cluster-trace-gpu-v2020; the one that blocks is a reconstruction of ours.
    """
    one_of(head, ORDERS, "head")
    return ORDERS[head](JobShapes(instance), DURATION)


_HAS_ESTIMATES_AT_ONCE = ("oracle", "noisy-oracle")
_NEVER_HAS_ESTIMATES = "none"


@online_method()
def qssf(instance: JobsInstance, predictor: str | Predictor) -> QssfPolicy:
    """Start waiting jobs in order of estimated duration times GPUs, or of GPUs alone where there is no estimate.

    The first one without a placement blocks all others. Before the first job has completed only the oracles have an
    estimate; ``none`` never has one. In all other cases the order is that of `spwf`. A predictor that is not given by
    name counts as one that learns.

    References
    ----------
    Hu et al. (2021), Characterization and prediction of deep learning workloads in large-scale GPU datacenters, SC, and
    github S-Lab-System-Group/HeliosArtifact: the rule. Deviations: our predictors; estimates are iterations times
    alpha_min.
    """
    return QssfPolicy(
        JobShapes(instance), has_estimates=predictor in _HAS_ESTIMATES_AT_ONCE, learns=predictor != _NEVER_HAS_ESTIMATES
    )


class QssfPolicy(BlockingPolicy):
    """Orders jobs by GPUs alone until the first completion, unless there are estimates from the start.

    Parameters
    ----------
    has_estimates
        Whether there are estimates before any job has completed.
    learns
        Whether there are estimates afterwards.
    """

    def __init__(self, shapes: JobShapes, *, has_estimates: bool, learns: bool) -> None:
        super().__init__(shapes, Key(self._estimate))
        self._has_estimates = has_estimates
        self._learns = learns

    def complete(self, job: int, time: int) -> None:
        """Take note of the first completion."""
        self._has_estimates |= self._learns

    def _estimate(self, shapes: JobShapes, job: int, prediction: int) -> int:
        """Return GPUs times estimated duration, or GPUs."""
        return _workload(shapes, job, prediction) if self._has_estimates else int(shapes.instance.gang_size[job])
