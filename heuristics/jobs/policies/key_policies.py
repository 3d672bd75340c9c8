"""Policies that take waiting jobs in the order of a key: the first one blocks the others, or is skipped."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from numba import njit

from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.placements.waiting_queue import WaitingQueue
from heuristics.jobs.policies.run_policy import run_policy, schedule_of_simulation
from heuristics.jobs.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.search.progress import Callback
    from instances.jobs.instance import JobsInstance
    from instances.jobs.objective import JobsObjective
    from instances.jobs.schedule import JobsSchedule

    Key = Callable[[JobShapes, int, int], int | tuple[int, int]]
    """Key of a job from shapes, job and predicted iterations; smaller keys go first (ties: arrival, index)."""


def by_arrival(shapes: JobShapes, job: int, prediction: int) -> int:
    """Return 0: arrivals break the tie."""
    return 0


def by_duration(shapes: JobShapes, job: int, prediction: int) -> int:
    """Return the predicted duration ceil(prediction * alpha_min) in ticks."""
    return shapes.predicted_duration(job, prediction)


def by_workload(shapes: JobShapes, job: int, prediction: int) -> int:
    """Return gang size times predicted duration, in GPU-ticks."""
    return int(shapes.instance.gang_size[job]) * shapes.predicted_duration(job, prediction)


class BlockingPolicy(Policy):
    """Takes waiting jobs in order of key and stops at the first one without a placement.

    Parameters
    ----------
    shapes
        As in `Policy`.
    key
        Key of a job.
    uses_predictions
        Whether the key looks at the prediction.
    """

    def __init__(self, shapes: JobShapes, key: Key, *, uses_predictions: bool = True) -> None:
        """Start with nobody waiting."""
        super().__init__(shapes)
        self.uses_predictions = uses_predictions
        self._key = key
        self._heap: list[tuple[int | tuple[int, int], int, int]] = []

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Let a job wait."""
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
    """Tries every waiting job once, in order of key. Parameters as in `BlockingPolicy`."""

    def __init__(self, shapes: JobShapes, key: Key, *, uses_predictions: bool = True) -> None:
        """Start with nobody waiting."""
        super().__init__(shapes)
        self.uses_predictions = uses_predictions
        self._key = key
        self._queue = WaitingQueue()

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Let a job wait."""
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


@njit(cache=True)
def _next_with_place(
    jobs: NDArray[np.int64], begin: int, end: int, class_of: NDArray[np.int64], has_place: NDArray[np.bool_]
) -> int:
    """Return the first position from `begin` on whose job has a placement, `end` if there is none."""
    for position in range(begin, end):
        if has_place[class_of[jobs[position]]]:
            return position
    return end


def fifo(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of arrival.

    Waiting jobs start in order of arrival; the first one without a placement blocks all others. A reconstruction of
    ours. With the placement ``load-balance`` it is the gang form of the FIFO among the baselines of DL2 (github
    pengyanghua/DL2), which gives each job up to 16 workers on the least-loaded servers.

    Parameters
    ----------
    instance
        What is scheduled.
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
    """
    return schedule_of_simulation(run_policy(fifo_policy(instance), rng, callback, placement=placement))


def fifo_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return BlockingPolicy(JobShapes(instance), by_arrival, uses_predictions=False)


def spjf(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of predicted duration.

    The first one without a placement blocks all others. A reconstruction
    of ours: the published abstract of A-SRPT names no baselines.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of predictor and placement.
    callback
        See `simulate`.
    predictor, predictor_parameters, placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown.
    """
    simulation = run_policy(
        spjf_policy(instance),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )
    return schedule_of_simulation(simulation)


def spjf_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return BlockingPolicy(JobShapes(instance), by_duration)


def spwf(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of predicted GPU-ticks.

    The first one without a placement blocks all others. A reconstruction
    of ours: the published abstract of A-SRPT names no baselines.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of predictor and placement.
    callback
        See `simulate`.
    predictor, predictor_parameters, placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown.
    """
    simulation = run_policy(
        spwf_policy(instance),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )
    return schedule_of_simulation(simulation)


def spwf_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return BlockingPolicy(JobShapes(instance), by_workload)


_POLICIES = {"blocks": BlockingPolicy, "skips": SkippingPolicy}


def srtf(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    head: str = "skips",
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of ceil(n * alpha_min) with their true iterations n: no online policy, a yardstick.

    Without preemption the remaining time of a waiting job is its whole duration, so that shortest remaining time first
    is shortest job first. With a head that blocks and the placement ``load-balance`` it is the gang form of the SRTF
    among the baselines of DL2 (github pengyanghua/DL2), a reconstruction of ours: there the key is the fraction of a
    job that is left, which is 1 for all gangs that wait. `spjf` with that placement is the same with predictions.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of the placement.
    callback
        See `simulate`.
    head
        ``skips``: jobs without a placement are skipped; ``blocks``: the first one blocks all others.
    placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If `head` is something else, or the placement is unknown.

    References
    ----------
    The rule that skips is the shortest job first of the simulator of github alibaba/clusterdata,
    cluster-trace-gpu-v2020; the one that blocks is a reconstruction of ours.
    """
    return schedule_of_simulation(
        run_policy(srtf_policy(instance, head), rng, callback, predictor="oracle", placement=placement)
    )


def srtf_policy(instance: JobsInstance, head: str = "skips") -> Policy:
    """Return the policy, for one simulation with the oracle."""
    if head not in _POLICIES:
        raise ValueError(f"head: expected one of {', '.join(_POLICIES)}, got {head!r}.")
    return _POLICIES[head](JobShapes(instance), by_duration)


def wcs_duration(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start whoever fits, in order of predicted duration.

    Every waiting job is tried; those without a placement are skipped.
    A reconstruction of ours: the published abstract of A-SRPT names no baselines.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of predictor and placement.
    callback
        See `simulate`.
    predictor, predictor_parameters, placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown.
    """
    simulation = run_policy(
        wcs_duration_policy(instance),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )
    return schedule_of_simulation(simulation)


def wcs_duration_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return SkippingPolicy(JobShapes(instance), by_duration)


def wcs_workload(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start whoever fits, in order of predicted GPU-ticks.

    Every waiting job is tried; those without a placement are skipped.
    A reconstruction of ours: the published abstract of A-SRPT names no baselines.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of predictor and placement.
    callback
        See `simulate`.
    predictor, predictor_parameters, placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown.
    """
    simulation = run_policy(
        wcs_workload_policy(instance),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )
    return schedule_of_simulation(simulation)


def wcs_workload_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return SkippingPolicy(JobShapes(instance), by_workload)


def wcs_subtime(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start whoever fits, in order of arrival.

    Every waiting job is tried; those without a placement are skipped. A reconstruction of ours.

    Parameters
    ----------
    instance
        What is scheduled.
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
    """
    return schedule_of_simulation(run_policy(wcs_subtime_policy(instance), rng, callback, placement=placement))


def wcs_subtime_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return SkippingPolicy(JobShapes(instance), by_arrival, uses_predictions=False)


def load_balancing(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
) -> JobsSchedule | None:
    """Start whoever fits, in order of arrival, on the least-loaded servers.

    Every waiting job is tried; those without a placement are skipped. It is `wcs_subtime` with the placement
    `LoadBalance`, and costs the same and a sort of the servers per placement.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Not looked at: nothing is drawn.
    callback
        See `simulate`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    References
    ----------
    A baseline that Zhao and Wu (2022), arXiv 2112.13354, may have had: their abstract states none. The rule is a
    reconstruction of ours.
    """
    return schedule_of_simulation(run_policy(wcs_subtime_policy(instance), rng, callback, placement="load-balance"))


def bin_packing(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
) -> JobsSchedule | None:
    """Start whoever fits, in order of arrival, on the server with the fewest free GPUs that hosts the job.

    A job that no single server hosts goes to those with the most free GPUs. Every waiting job is tried; those without a
    placement are skipped. It is `wcs_subtime` with the placement `BestFit`, and costs the same and a look at all
    servers per placement.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Not looked at: nothing is drawn.
    callback
        See `simulate`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    References
    ----------
    Best fit is textbook; the rule for gangs is a reconstruction of ours.
    """
    return schedule_of_simulation(run_policy(wcs_subtime_policy(instance), rng, callback, placement="best-fit"))


def least_interference(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
) -> JobsSchedule | None:
    """Start whoever fits, in order of arrival, on the servers with the least load of all resources together.

    Every waiting job is tried; those without a placement are skipped. It is `wcs_subtime` with the placement
    `LeastLoad`. Without interference all loads are 0, and it takes the first servers by number.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Not looked at: nothing is drawn.
    callback
        See `simulate`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    References
    ----------
    A rule by hand for what Zhao and Wu (2022), arXiv 2112.13354, learn; a reconstruction of ours.
    """
    return schedule_of_simulation(run_policy(wcs_subtime_policy(instance), rng, callback, placement="least-load"))


_KNOWS_FROM_THE_START = ("oracle", "noisy-oracle")
_NEVER_KNOWS = "none"


def qssf(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of estimated duration times GPUs, or of GPUs alone where there is no estimate.

    The first one without a placement blocks all others. There is no estimate before the first job has completed, but
    for an oracle, which always has one, and for ``none``, which never has. So it differs from `spwf` there only.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of predictor and placement.
    callback
        See `simulate`.
    predictor, predictor_parameters, placement
        See `run_policy`. A predictor that is no name counts as one that learns.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown.

    References
    ----------
    Hu et al. (2021), Characterization and prediction of deep learning workloads in large-scale GPU datacenters, SC, and
    github S-Lab-System-Group/HeliosArtifact: the rule. Deviations: our predictors; estimates are iterations times
    alpha_min.
    """
    simulation = run_policy(
        qssf_policy(instance, predictor),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )
    return schedule_of_simulation(simulation)


def qssf_policy(instance: JobsInstance, predictor: str | Predictor) -> QssfPolicy:
    """Return the policy, for one simulation with this predictor."""
    return QssfPolicy(JobShapes(instance), knows=predictor in _KNOWS_FROM_THE_START, learns=predictor != _NEVER_KNOWS)


class QssfPolicy(BlockingPolicy):
    """Knows whether there are estimates.

    Parameters
    ----------
    shapes
        As in `Policy`.
    knows
        Whether there are estimates before any job has completed.
    learns
        Whether there are afterwards.
    """

    def __init__(self, shapes: JobShapes, *, knows: bool, learns: bool) -> None:
        """Start with nobody waiting."""
        super().__init__(shapes, self._workload)
        self._has_estimates = knows
        self._learns = learns

    def complete(self, job: int, time: int) -> None:
        """Take note of the first completion."""
        self._has_estimates |= self._learns

    def _workload(self, shapes: JobShapes, job: int, prediction: int) -> int:
        """Return GPUs times estimated duration, or GPUs."""
        gpus = int(shapes.instance.gang_size[job])
        return gpus * shapes.predicted_duration(job, prediction) if self._has_estimates else gpus
