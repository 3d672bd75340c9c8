"""A complete search over starts and placements of jobs that slow each other down, for tiny instances."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.jobs.placement_patterns import TooManyPatternsError, stage_placements
from instances.jobs.co_location import ResourceDemand, resource_demand, running_speed, slowdown
from instances.jobs.interference import FULL_SPEED, NOT_TOGETHER
from instances.jobs.iteration_time import duration_for, iteration_parts_on
from instances.jobs.objective import objective_weights
from instances.jobs.schedule import JobsSchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from instances.jobs.co_location import Amount
    from instances.jobs.instance import JobsInstance
    from instances.jobs.objective import JobsObjective


MAX_PLACEMENTS = 5_000
"""Placements per job that are examined."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlacementOption:
    """One way to place a job.

    Parameters
    ----------
    placement
        Replicas by stage and server, shape (stages of the job, servers).
    usage
        GPUs that it holds on each of the demand's servers.
    demand
        Resources that it takes of its servers.
    duration
        d(x), its run time in ticks when alone.
    """

    placement: NDArray[np.int64]
    usage: tuple[int, ...]
    demand: ResourceDemand
    duration: int


def placement_options(
    instance: JobsInstance, job: int, *, max_placements: int = MAX_PLACEMENTS
) -> list[PlacementOption]:
    """Return the placements of a job on the empty servers that other jobs, or its own duration, can tell apart.

    Other jobs notice usage and demand; the speed of a job follows from its own demand and sensitivities and from the
    jobs that run with it. Of placements that agree in all that and in duration, one is kept. There is at least one;
    they come by duration, then as found. Raises a `TooManyPatternsError` if there are more than `max_placements`
    placements.
    """
    rows = instance.stages_of(job)
    replicas = instance.replicas[rows].tolist()
    allowed = (instance.time_of[rows] > 0)[:, instance.server_kind].tolist()
    iterations = int(instance.iterations[job])
    found: dict[object, PlacementOption] = {}
    for number, counts in enumerate(stage_placements(replicas, allowed, instance.num_gpus_of.tolist())):
        if number == max_placements:
            raise TooManyPatternsError(f"jobs[{job}]: expected at most {max_placements} placements, got more.")
        placement = np.array(counts, dtype=np.int64)
        servers = np.flatnonzero(placement.any(axis=0)).tolist()
        own = placement[:, servers].tolist()
        comp, comm = iteration_parts_on(instance, job, servers, own)
        demand = ResourceDemand(servers=tuple(servers), own=((),) * len(servers), sens=())
        if instance.interference is not None:
            demand = resource_demand(instance, job, servers, own)
        usage = tuple(placement[:, servers].sum(axis=0).tolist())
        duration = duration_for(iterations, comp + comm)
        key = (duration, demand, usage)
        if key not in found:
            found[key] = PlacementOption(placement=placement, usage=usage, demand=demand, duration=duration)
    return sorted(found.values(), key=lambda option: option.duration)


Held = tuple[int, int, tuple[tuple[int, int], ...]]
"""A running job: its number, the number of its option, and its GPUs where they are named."""

MAX_KNOWN = 500_000
"""Largest number of states that are remembered."""

_BETWEEN_CHECKS = 64


@dataclass(frozen=True, slots=True)
class _Start:
    """A start that was decided, and the starts before it."""

    held: Held
    time: int
    earlier: _Start | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What is decided up to a tick; waiting jobs numbered below `following` do not start at this tick any more."""

    time: int
    is_event: bool
    cost: int
    running: tuple[Held, ...]
    left: tuple[int, ...]
    before: tuple[Held, ...]
    waiting: tuple[int, ...]
    following: int
    history: _Start | None


class CoLocationSearch:
    """Depth-first search through time, which decides at every tick that matters which jobs start where.

    *Which ticks matter.* Under interference an optimal schedule need not start jobs as early as they fit, because a job
    that waits may spare another one. But in an optimal schedule with the least sum of starts, a job that starts where
    no job completes or arrives slows some running job; otherwise it could start one tick earlier at no cost. So a job
    that slows none waits for the next event, and at events everything is tried (proof: docs/formulations.md, section
    12.4; ours).

    *What is cut.* States that cannot cost less than the best known one even if every job runs at full speed from now
    on, and states that were met before at no higher cost. GPUs of a server with the same occupants are exchanged
    freely.

    The search is complete, so the best schedule after a search to the end is an optimum; it suits a handful of jobs.

    Raises a `TooManyPatternsError` if a job has too many placements.
    """

    def __init__(self, instance: JobsInstance, objective: JobsObjective) -> None:
        """List placements."""
        self._instance = instance
        self._class_of: list[int] = []
        self._pair: list[list[int]] = []
        if instance.interference is not None:
            self._class_of, self._pair = instance.interference.job_class.tolist(), instance.interference.pair.tolist()
        self._release: list[int] = instance.release.tolist()
        self._weight: list[int] = objective_weights(instance, objective).tolist()
        self._options = [placement_options(instance, job) for job in range(instance.num_jobs)]
        self._least = [own[0].duration for own in self._options]
        self._speeds: dict[tuple[Held, ...], tuple[int, ...]] = {}

    def run(
        self,
        at_most: int | None,
        should_stop: Callable[[], bool] = lambda: False,
        report: Callable[[int], None] = lambda value: None,
        *,
        lower_bound: int = 0,
    ) -> tuple[JobsSchedule | None, bool]:
        """Search for schedules that cost less than `at_most` and return the best, None without one.

        Parameters
        ----------
        at_most
            Objective of a known schedule; None if none is known.
        should_stop
            Called now and then; the search ends once it returns True.
        report
            Receives every better objective.
        lower_bound
            A proven bound: no schedule costs less.

        Returns
        -------
        tuple
            The schedule, and whether the search was completed: then no other schedule costs less.
        """
        best = at_most
        found: _State | None = None
        known: dict[object, int] = {}
        jobs = tuple(range(self._instance.num_jobs))
        begin = min(self._release, default=0)
        stack = [
            _State(
                time=begin,
                is_event=True,
                cost=0,
                running=(),
                left=(),
                before=(),
                waiting=jobs,
                following=0,
                history=None,
            )
        ]
        steps = 0
        while stack and (best is None or best > lower_bound):
            if steps % _BETWEEN_CHECKS == 0 and should_stop():
                return self._schedule(found), False
            steps += 1
            state = stack.pop()
            if not state.running and not state.waiting:
                if best is None or state.cost < best:
                    best, found = state.cost, state
                    report(best)
                continue
            if best is not None and state.cost + self._at_least(state) >= best:
                continue
            if state.following == 0:
                key = (state.time, state.is_event, self._canonical(state), state.waiting)
                if known.get(key, state.cost + 1) <= state.cost:
                    continue
                if len(known) < MAX_KNOWN:
                    known[key] = state.cost
            later = self._later(state)
            if later is not None:
                stack.append(later)
            stack += reversed(list(self._starts(state)))
        return self._schedule(found), True

    def _at_least(self, state: _State) -> int:
        """Return what the jobs that are not done cost at least."""
        running = sum(
            self._weight[held[0]] * (state.time - (-left // FULL_SPEED))
            for held, left in zip(state.running, state.left, strict=True)
        )
        return running + sum(
            self._weight[job] * (max(state.time, self._release[job]) + self._least[job]) for job in state.waiting
        )

    def _starts(self, state: _State) -> Iterator[_State]:
        """Yield the states with one more start at this tick."""
        for job in state.waiting:
            if job < state.following or self._release[job] > state.time:
                continue
            for number, option in enumerate(self._options[job]):
                for gpus in self._gpus(state.running, job, option):
                    held = (job, number, gpus)
                    if not state.is_event and not self._slows(state.before, held):
                        continue
                    yield _State(
                        time=state.time,
                        is_event=state.is_event,
                        cost=state.cost,
                        running=(*state.running, held),
                        left=(*state.left, FULL_SPEED * option.duration),
                        before=state.before,
                        waiting=tuple(other for other in state.waiting if other != job),
                        following=job + 1,
                        history=_Start(held, state.time, state.history),
                    )

    def _later(self, state: _State) -> _State | None:
        """Return the state at the next tick that matters if no further job starts now; None if there is none."""
        speeds = self._speeds_of(state.running)
        ends = [state.time - (-left // speed) for left, speed in zip(state.left, speeds, strict=True)]
        arrivals = [self._release[job] for job in state.waiting if self._release[job] > state.time]
        events = [*ends, *arrivals]
        if not events:
            return None
        time = min(events)
        if time > state.time + 1 and self._may_slow(state):
            time = state.time + 1
        left = [units - speed * (time - state.time) for units, speed in zip(state.left, speeds, strict=True)]
        still = [place for place, units in enumerate(left) if units > 0]
        done = [held[0] for held, units in zip(state.running, left, strict=True) if units <= 0]
        running = tuple(state.running[place] for place in still)
        return _State(
            time=time,
            is_event=bool(done) or time in arrivals,
            cost=state.cost + sum(self._weight[job] * time for job in done),
            running=running,
            left=tuple(left[place] for place in still),
            before=running,
            waiting=state.waiting,
            following=0,
            history=state.history,
        )

    def _may_slow(self, state: _State) -> bool:
        """Say whether a job that has arrived and waits could start now and would slow a running job."""
        return any(
            self._slows(state.running, (job, number, gpus))
            for job in state.waiting
            if self._release[job] <= state.time
            for number, option in enumerate(self._options[job])
            for gpus in self._gpus(state.running, job, option)
        )

    def _slows(self, running: tuple[Held, ...], held: Held) -> bool:
        """Say whether a further job would slow a running one."""
        return self._speeds_of((*running, held))[:-1] != self._speeds_of(running)

    def _gpus(
        self, running: tuple[Held, ...], job: int, option: PlacementOption
    ) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yield the choices of GPUs that differ by their occupants; one empty one where GPUs are not named."""
        servers = option.demand.servers
        if self._instance.share == 1:
            used = dict.fromkeys(servers, 0)
            for other, number, _ in running:
                beside = self._options[other][number]
                for server, count in zip(beside.demand.servers, beside.usage, strict=True):
                    if server in used:
                        used[server] += count
            capacity = self._instance.num_gpus_of
            if all(
                used[server] + count <= capacity[server] for server, count in zip(servers, option.usage, strict=True)
            ):
                yield ()
            return
        on_gpu: dict[tuple[int, int], list[int]] = {}
        for other, _, gpus in running:
            for gpu in gpus:
                on_gpu.setdefault(gpu, []).append(other)
        choices = []
        for server, count in zip(servers, option.usage, strict=True):
            groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
            for number in range(int(self._instance.num_gpus_of[server])):
                beside_it = tuple(sorted(on_gpu.get((server, number), ())))
                if all(self._may_share(job, other) for other in beside_it) and len(beside_it) < self._instance.share:
                    groups.setdefault(beside_it, []).append((server, number))
            choices.append([*_take(count, list(groups.values()))])
        for parts in itertools.product(*choices):
            yield tuple(sorted(gpu for part in parts for gpu in part))

    def _may_share(self, job: int, other: int) -> bool:
        """Say whether two jobs may share a GPU."""
        return self._pair[self._class_of[job]][self._class_of[other]] != NOT_TOGETHER

    def _speeds_of(self, running: tuple[Held, ...]) -> tuple[int, ...]:
        """Return the speed of every running job in per mille."""
        if running not in self._speeds:
            demands = [self._options[job][number].demand for job, number, _ in running]
            loads: dict[int, tuple[Amount, ...]] = {}
            for demand in demands:
                for server, own in zip(demand.servers, demand.own, strict=True):
                    known = loads.get(server, (0,) * len(own))
                    loads[server] = tuple(a + b for a, b in zip(known, own, strict=True))
            speeds = []
            for (job, _, gpus), demand in zip(running, demands, strict=True):
                slow = [
                    slowdown(own, loads[server], demand.sens)
                    for server, own in zip(demand.servers, demand.own, strict=True)
                ]
                pairs = [
                    self._pair[self._class_of[job]][self._class_of[other]]
                    for other, _, others in running
                    if other != job and set(gpus) & set(others)
                ]
                speeds.append(running_speed(slow, pairs))
            self._speeds[running] = tuple(speeds)
        return self._speeds[running]

    def _canonical(self, state: _State) -> object:
        """Return the running jobs in a form that is equal for states that differ by the numbers of GPUs only."""
        jobs = tuple(
            sorted((job, number, left) for (job, number, _), left in zip(state.running, state.left, strict=True))
        )
        if self._instance.share == 1:
            return jobs
        on_gpu: dict[tuple[int, int], list[int]] = {}
        for job, _, gpus in state.running:
            for gpu in gpus:
                on_gpu.setdefault(gpu, []).append(job)
        return jobs, tuple(sorted((server, tuple(sorted(there))) for (server, _), there in on_gpu.items()))

    def _schedule(self, done: _State | None) -> JobsSchedule | None:
        """Return the schedule that the starts of a state describe in which all jobs are done."""
        if done is None:
            return None
        last = done.history
        size = self._instance.num_jobs
        start = [0] * size
        placements = [own[0].placement for own in self._options]
        gpus: list[dict[int, list[int]]] = [{} for _ in range(size)]
        while last is not None:
            job, number, own = last.held
            start[job], placements[job] = last.time, self._options[job][number].placement
            for server, gpu in own:
                gpus[job].setdefault(server, []).append(gpu)
            last = last.earlier
        return JobsSchedule.from_placements(
            self._instance, start, placements, gpus if self._instance.share > 1 else None
        )


def _take(count: int, groups: list[list[tuple[int, int]]]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the ways to take `count` GPUs out of groups of equal ones, the first of each group."""
    if not groups:
        if count == 0:
            yield ()
        return
    for taken in range(min(count, len(groups[0])) + 1):
        for rest in _take(count - taken, groups[1:]):
            yield (*groups[0][:taken], *rest)
