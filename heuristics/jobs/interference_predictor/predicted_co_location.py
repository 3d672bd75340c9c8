"""Running jobs at predicted speeds, for simulators in which policies are trained."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from heuristics.jobs.interference_predictor.features import RunningJob, predicted_speed
from heuristics.jobs.placements.running_jobs import InterferingJobs
from instances.jobs.co_location import CoLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heuristics.jobs.interference_predictor.predictor import InterferencePredictor
    from instances.jobs.co_location import Gpu, ResourceDemand
    from instances.jobs.instance import JobsInstance


def predicted_jobs(instance: JobsInstance, predictor: InterferencePredictor) -> InterferingJobs:
    """Return a model of the completions of an instance at predicted speeds, with nothing running yet.

    It is for training only: all reported numbers come from the true model.

    Raises a `ValueError` if the instance has no interference.
    """
    jobs = InterferingJobs(instance)
    jobs.together = PredictedCoLocation(instance, predictor)
    return jobs


class PredictedCoLocation(CoLocation):
    """The running jobs of an instance, each at the speed that its largest predicted y of any server allows.

    The instance has interference; its pairs of classes are ignored.
    """

    def __init__(self, instance: JobsInstance, predictor: InterferencePredictor) -> None:
        super().__init__(instance)
        self._instance, self._predictor = instance, predictor
        self._y: dict[int, dict[int, float]] = {}

    def start(self, job: int, time: int, ticks: int, demand: ResourceDemand, gpus: Iterable[Gpu] = ()) -> None:
        """Let a job start; see `CoLocation.start`."""
        self._y.pop(job, None)  # of an earlier run
        super().start(job, time, ticks, demand, gpus)

    def what_if(
        self, job: int, demand: ResourceDemand, gpus: Sequence[Gpu] = ()
    ) -> tuple[int, dict[int, tuple[int, int]]]:
        """Return the predicted speed of a job if it started, and the speeds of its neighbours before and after.

        The state does not change. Jobs whose predicted speed stays the same are not listed; a prediction may rise.
        """
        own_y: list[float] = []
        y_of: dict[int, dict[int, float]] = {}
        for server in demand.servers:
            there = [self._running_job(other, server, new=(job, gpus)) for other in self._own.get(server, ())]
            there.append(self._placed_job(job, server, demand, gpus))
            y = self._predictor.predict(self._instance, server, there).tolist()
            own_y.append(y[-1])
            for one, value in zip(there, y[:-1], strict=False):
                y_of.setdefault(one.job, dict(self._y[one.job]))[server] = value
        changed = {}
        for other, values in y_of.items():
            before, then = self.speed(other), _speed(values.values())
            if then != before:
                changed[other] = (before, then)
        return _speed(own_y), changed

    def _update(self, servers: Iterable[int], time: int) -> None:
        """Predict the speeds of all jobs on some servers again."""
        touched: dict[int, None] = {}
        for server in servers:
            there = [self._running_job(job, server) for job in self._own.get(server, ())]
            y = self._predictor.predict(self._instance, server, there).tolist()
            for one, value in zip(there, y, strict=True):
                self._y.setdefault(one.job, {})[server] = value
                touched[one.job] = None
        for job in touched:
            run, speed = self._running[job], _speed(self._y[job].values())
            if speed != run.speed:
                run.left -= run.speed * (time - run.since)
                run.since, run.speed = time, speed
                run.end = time - (-run.left // speed)
                heapq.heappush(self._ends, (run.end, job))

    def _running_job(self, job: int, server: int, new: tuple[int, Sequence[Gpu]] | None = None) -> RunningJob:
        """Return a running job on a server, with or without a `new` one on GPUs."""
        run = self._running[job]
        return self._placed_job(job, server, run.demand, run.gpus, new)

    def _placed_job(
        self,
        job: int,
        server: int,
        demand: ResourceDemand,
        gpus: Sequence[Gpu],
        new: tuple[int, Sequence[Gpu]] | None = None,
    ) -> RunningJob:
        """Return a job on a server under a placement."""
        here = [gpu for gpu in gpus if gpu[0] == server]
        others = {other for gpu in here for other in self.occupants(gpu)} - {job}
        if new is not None and set(here) & set(new[1]):
            others.add(new[0])
        own = demand.own[demand.servers.index(server)]
        return RunningJob(
            job=job,
            replicas=len(here) or self._replicas(job, demand, server),
            own=own,
            sens=demand.sens,
            partners=tuple(sorted({self._class_of[other] for other in others})),
        )

    def _replicas(self, job: int, demand: ResourceDemand, server: int) -> int:
        """Return the replicas of a job on a server: the demand of all of them over that of one.

        A job without demands is assumed to be spread evenly; interference hardly depends on it.
        """
        use = self._interference.use[job].tolist()
        own = demand.own[demand.servers.index(server)]
        for each, together in zip(use, own, strict=True):
            if each:
                return int(together) // int(each)
        return max(1, int(self._instance.gang_size[job]) // len(demand.servers))


def _speed(y: Iterable[float]) -> int:
    """Return the speed at the largest y, in per mille."""
    return int(predicted_speed(max(y)))
