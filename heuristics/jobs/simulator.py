"""Simulation of an online policy, event by event, and what it returns: the schedule, and why jobs waited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.cluster_state import ClusterState
from heuristics.jobs.placements.running_jobs import running_jobs
from instances.jobs.schedule import JobsSchedule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heuristics.jobs.placements.placement import Placer
    from heuristics.jobs.placements.running_jobs import RunningJobs
    from heuristics.jobs.policy import Policy
    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.search.progress import Callback
    from instances.jobs.instance import JobsInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulation:
    """The schedule of a policy and the log of its decisions.

    The wait of a job, start less release, is virtual wait plus held plus blocked.

    Parameters
    ----------
    completion
        Completion time of each job in ticks, shape (jobs,).
    prediction
        Predicted iterations of each job, shape (jobs,); None where the policy asks for none.
    eligible
        Tick from which the policy's order lets each job start, shape (jobs,): e of A-SRPT, else its release. A-SRPT in
        its work-conserving mode may start it earlier.
    virtual_wait
        Ticks until each job was eligible, or until it started if that was earlier, shape (jobs,).
    held
        Ticks for which each job was held back for a better placement, shape (jobs,): from the first hold until its
        start or deadline.
    blocked
        Remaining ticks of waiting, for GPUs or for jobs ahead of it, shape (jobs,).
    virtual_work
        P of each job in GPU-ticks; None where there is no virtual machine.
    virtual_completion
        T of each job in 1/G ticks, 1/(a G) for a virtual machine of speed a/b; None where there is no virtual machine.
    """

    schedule: JobsSchedule
    completion: NDArray[np.int64]
    prediction: NDArray[np.int64] | None
    eligible: NDArray[np.int64]
    virtual_wait: NDArray[np.int64]
    held: NDArray[np.int64]
    blocked: NDArray[np.int64]
    virtual_work: tuple[int, ...] | None
    virtual_completion: tuple[int, ...] | None
    num_dispatches: int
    num_placements: int


_REPORTS = 200
"""Approximate number of reports to a callback per simulation."""


def simulate(
    instance: JobsInstance,
    policy: Policy,
    predictor: Predictor | None,
    placer: Placer,
    callback: Callback | None = None,
    *,
    running: RunningJobs | None = None,
) -> Simulation | None:
    """Run a policy on the jobs as they arrive.

    Parameters
    ----------
    instance, policy, predictor, placer
        See `Simulator`.
    callback
        Receives ``jobs_started``, ``num_jobs`` and ``ticks`` through `on_round` about 200 times; may ask to stop.
    running
        See `Simulator`.

    Returns
    -------
    Simulation or None
        None if the callback asked to stop before all jobs had started.

    Raises
    ------
    ValueError
        If the policy asks for predictions and there is no predictor, or the predictor answers less than 1.
    """
    if callback is not None and callback.wants_stop:
        return None
    simulator = Simulator(instance, policy, predictor, placer, running=running)
    num_jobs, reported = instance.num_jobs, 0
    for time in simulator.ticks():
        policy.dispatch(time)
        num_started = simulator.num_started
        if callback is not None and (num_started - reported) * _REPORTS >= num_jobs:
            reported = num_started
            callback.on_round({"jobs_started": num_started, "num_jobs": num_jobs, "ticks": time})
            if callback.wants_stop and num_started < num_jobs:
                return None
    return simulator.finish()


class Simulator:
    """A simulation that pauses whenever its policy may start jobs; `simulate` runs it to its end.

    Inside a tick: completions (by job), the policy's own events that are due (eligibilities, in order of the virtual
    machine), arrivals (by job), hold expiries; then the policy dispatches once, which the caller does. A job's
    GPUs are free again at the tick of its completion. A reconstruction of ours: docs/methods/a_srpt.md, section 5.
    Under interference a completion depends on every job that runs on the same servers until then.

    Parameters
    ----------
    instance
        Its `iterations` end the jobs; only the predictor learns them, at completion.
    predictor
        A fresh one; may be None where the policy asks for no predictions.
    placer
        The placement rule, under the same restriction of kinds as the policy's shapes.
    running
        Computes the completions, with nothing running yet; the true model if None. Others, such as `predicted_jobs`,
        are for training only: their schedules have other completions when they are replayed.

    Raises
    ------
    ValueError
        If the policy asks for predictions and there is no predictor.
    """

    def __init__(
        self,
        instance: JobsInstance,
        policy: Policy,
        predictor: Predictor | None,
        placer: Placer,
        *,
        running: RunningJobs | None = None,
    ) -> None:
        if policy.uses_predictions and predictor is None:
            raise ValueError("predictor: expected one, because the policy uses predictions, got None.")
        self._instance, self._policy, self._predictor = instance, policy, predictor
        self._running = running_jobs(instance) if running is None else running
        self._cluster = ClusterState(policy.shapes, placer, self._running)
        self._completion = np.zeros(instance.num_jobs, dtype=np.int64)
        self._prediction = np.zeros(instance.num_jobs, dtype=np.int64)
        self._num_dispatches = 0
        policy.begin(self._cluster)

    @property
    def num_started(self) -> int:
        """Jobs that have started."""
        return len(self._cluster.started)

    def ticks(self) -> Iterator[int]:
        """Yield every tick with an event, once the policy knows of it; the caller then lets the policy dispatch once.

        The iterator ends once all jobs have started.

        Raises a `ValueError` if the predictor answers less than 1, and a `RuntimeError` if jobs wait and there are no
        further events.
        """
        num_jobs, policy, predictor = self._instance.num_jobs, self._policy, self._predictor
        running, cluster, completion, prediction = self._running, self._cluster, self._completion, self._prediction
        release = self._instance.release.tolist()
        arrivals = sorted(range(num_jobs), key=lambda job: (release[job], job))
        arrived, started = 0, cluster.started
        while len(started) < num_jobs:
            end = running.next_completion()
            times = [] if end is None else [end]
            if arrived < num_jobs:
                times.append(release[arrivals[arrived]])
            own = policy.next_event()
            if own is not None:
                times.append(own)
            if not times:
                raise RuntimeError(f"policy: expected it to start all {num_jobs} jobs, got {len(started)} starts.")
            time = min(times)
            for job in running.complete(time) if time == end else ():
                completion[job] = time
                cluster.complete(job)
                if predictor is not None:
                    predictor.observe(job, time)
                policy.complete(job, time)
            policy.advance(time)
            while arrived < num_jobs and release[arrivals[arrived]] == time:
                job = arrivals[arrived]
                arrived += 1
                if policy.uses_predictions and predictor is not None:
                    prediction[job] = predictor.predict(job, time)
                    if prediction[job] < 1:
                        raise ValueError(f"prediction of job {job}: expected at least 1, got {prediction[job]}.")
                policy.arrive(job, time, int(prediction[job]))
            self._num_dispatches += 1
            yield time

    def finish(self) -> Simulation:
        """Let the jobs that still run complete, after the last start, and return schedule and log."""
        while (end := self._running.next_completion()) is not None:
            self._completion[self._running.complete(end)] = end
        return _simulation(
            self._instance, self._policy, self._cluster, self._completion, self._prediction, self._num_dispatches
        )


def _simulation(
    instance: JobsInstance,
    policy: Policy,
    cluster: ClusterState,
    completion: np.ndarray,
    prediction: np.ndarray,
    num_dispatches: int,
) -> Simulation:
    """Gather schedule and log."""
    jobs = range(instance.num_jobs)
    start = np.array([cluster.started[job] for job in jobs], dtype=np.int64)
    account = policy.account()
    eligible = np.array([account.eligible.get(job, int(instance.release[job])) for job in jobs], dtype=np.int64)
    held = np.array([account.held.get(job, 0) for job in jobs], dtype=np.int64)
    virtual_wait = np.minimum(start, eligible) - instance.release
    work, virtual_completion = account.virtual_work, account.virtual_completion
    return Simulation(
        schedule=_schedule(instance, cluster, start),
        completion=completion,
        prediction=prediction if policy.uses_predictions else None,
        eligible=eligible,
        virtual_wait=virtual_wait,
        held=held,
        blocked=start - instance.release - virtual_wait - held,
        virtual_work=None if work is None else tuple(work[job] for job in jobs),
        virtual_completion=(None if virtual_completion is None else tuple(virtual_completion[job] for job in jobs)),
        num_dispatches=num_dispatches,
        num_placements=cluster.num_placements,
    )


def _schedule(instance: JobsInstance, cluster: ClusterState, start: np.ndarray) -> JobsSchedule:
    """Return the schedule; its entries are in order of job, stage and server."""
    empty = np.zeros(0, dtype=np.int64)
    placements = [cluster.placement_of[job] for job in range(instance.num_jobs)]
    sizes = [
        np.bincount(placement.stage, minlength=instance.num_stages_of(job)) for job, placement in enumerate(placements)
    ]
    return JobsSchedule(
        start=start,
        entry_offsets=np.concatenate([[0], np.cumsum(np.concatenate([empty, *sizes]))]).astype(np.int64),
        entry_server=np.concatenate([empty, *(placement.server for placement in placements)]),
        entry_count=np.concatenate([empty, *(placement.count for placement in placements)]),
        gpu=_dealt(cluster, instance.num_jobs) if instance.share > 1 else None,
        instance_name=instance.name,
        instance_sha256=instance.sha256,
    )


def _dealt(cluster: ClusterState, num_jobs: int) -> np.ndarray:
    """Return the GPU of every replica: the stages of a job take its GPUs on a server in order."""
    dealt: list[int] = []
    for job in range(num_jobs):
        left: dict[int, list[int]] = {}
        for server, gpu in cluster.gpus_of[job]:
            left.setdefault(server, []).append(gpu)
        placement = cluster.placement_of[job]
        for server, count in zip(placement.server.tolist(), placement.count.tolist(), strict=True):
            dealt += left[server][:count]
            left[server] = left[server][count:]
    return np.array(dealt, dtype=np.int64)
