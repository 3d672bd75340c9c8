"""Jobs that share servers or GPUs: what each demands, how fast each runs, and when each completes."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from instances.jobs.interference import FULL_SPEED
from instances.jobs.iteration_time import bytes_leaving, iteration_parts_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from instances.jobs.instance import JobsInstance


Amount = int | Fraction
"""Per mille, exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDemand:
    """The demand of one job under one placement, exact.

    Parameters
    ----------
    servers
        Servers that hold replicas of the job.
    own
        For each of them own[z], the demand of the job for each resource there, in per mille of the server's capacity.
    sens
        Per mille of its iteration that is bound by each resource; at most 1000 together.
    """

    servers: tuple[int, ...]
    own: tuple[tuple[Amount, ...], ...]
    sens: tuple[Amount, ...]


def resource_demand(
    instance: JobsInstance, job: int, servers: Sequence[int], counts: Sequence[Sequence[int]]
) -> ResourceDemand:
    """Return the demand of a job: docs/methods/multi_agent.md, section 2, a reconstruction of ours.

    own[v,z] = use[z] times the replicas on v, and sens[z] is that of the job. For the resource ``nic`` ::

        own[v,nic] = 1000 bytes[v] / (B[v] alpha(x))         sens[nic] = 1000 comm(x) / alpha(x)

    and if all sens together then exceed 1000, the others are multiplied by (1000 - sens[nic]) / their sum.

    Parameters
    ----------
    instance
        An instance with interference.
    servers
        Different servers, those that hold replicas.
    counts
        For each stage its replicas on each of them.

    Raises
    ------
    ValueError
        If it is no placement of the job, or the instance has no interference.
    """
    interference = instance.interference
    if interference is None:
        raise ValueError("interference: expected an instance with interference, got one without.")
    use: list[int] = interference.use[job].tolist()
    sens: list[Amount] = interference.sens[job].tolist()
    own: list[list[Amount]] = []
    for position in range(len(servers)):
        number = sum(row[position] for row in counts)
        own.append([amount * number for amount in use])
    nic = interference.nic
    if nic is not None:
        comp, comm = iteration_parts_on(instance, job, servers, counts)
        if comm:  # otherwise the columns are 0 already
            alpha = comp + comm
            sent, denominator = bytes_leaving(instance, job, list(zip(*counts, strict=True)))
            for row, server, leaving in zip(own, servers, sent, strict=True):
                row[nic] = FULL_SPEED * leaving / (denominator * instance.nic_bytes_per_tick(server) * alpha)
            share, others = FULL_SPEED * comm / alpha, sum(sens)
            if share + others > FULL_SPEED:
                sens = [amount * (FULL_SPEED - share) / others for amount in sens]
            sens[nic] = share
    return ResourceDemand(servers=tuple(servers), own=tuple(map(tuple, own)), sens=tuple(sens))


def slowdown(own: Sequence[Amount], load: Sequence[Amount], sens: Sequence[Amount]) -> Fraction:
    """Return how much longer a job's iterations take because of one server, in per mille: 1000 for no longer.

    ::

        slow = 1000 + sum_z sens[z] * ( max(1000, load[z]) / max(1000, own[z]) - 1 )

    If one job alone exceeds the capacity, its own times already include that slowdown.

    Parameters
    ----------
    own
        What the job asks of each resource of the server in per mille of its capacity.
    load
        What all jobs on it ask of each resource together, the job among them.
    sens
        Per mille of the job's iteration that is bound by each resource.
    """
    slow = Fraction(FULL_SPEED)
    for mine, everybody, share in zip(own, load, sens, strict=True):
        base = max(FULL_SPEED, mine)
        if share and everybody > base:
            slow += share * (Fraction(everybody) / base - 1)
    return slow


def running_speed(slowdowns: Iterable[Fraction], pairs: Iterable[int] = ()) -> int:
    """Return the speed of a job in per mille, 1 to 1000: what it does per tick of its 1000 d(x) units.

    ::

        speed = max(1, floor( (10^6 / max_v slow[v]) * m / 1000 )),    m = least of `pairs`, 1000 if there is none

    Maximum and minimum, as a synchronous gang waits for its slowest replica.

    Parameters
    ----------
    slowdowns
        slow[v] of each of its servers, at least one.
    pairs
        pair[c, c'] of each of its GPUs that another job shares.
    """
    slow, least = max(slowdowns), min(pairs, default=FULL_SPEED)
    return max(1, FULL_SPEED * least * slow.denominator // slow.numerator)


Gpu = tuple[int, int]
"""A server, and the number of a GPU on it."""


@dataclass(slots=True)
class _Running:
    """One running job; `left` units were left at tick `since`, and `speed` of them go per tick from then on."""

    demand: ResourceDemand
    gpus: tuple[Gpu, ...]
    left: int
    since: int
    end: int = 0
    speed: int = 0
    slow: dict[int, Fraction] = field(default_factory=dict)


class CoLocation:
    """The running jobs of an instance with interference, event by event, in integers.

    A job needs 1000 d(x) units and consumes its speed per tick; it completes at the first tick by which the sum reaches
    them. Speeds change at starts and completions only, and only those of jobs on the same servers: an event costs as
    much as there are such jobs. The model is ours: docs/methods/multi_agent.md, section 2.

    Parameters
    ----------
    instance
        An instance with interference.
    """

    def __init__(self, instance: JobsInstance) -> None:
        """Start with nothing running."""
        interference = instance.interference
        if interference is None:
            raise ValueError("interference: expected an instance with interference, got one without.")
        self._interference = interference
        self._class_of: list[int] = interference.job_class.tolist()
        self._pair: list[list[int]] = interference.pair.tolist()
        self._idle: tuple[Amount, ...] = (0,) * len(interference.resources)
        self._running: dict[int, _Running] = {}
        self._own: dict[int, dict[int, tuple[Amount, ...]]] = {}
        self._load: dict[int, tuple[Amount, ...]] = {}
        self._on_gpu: dict[Gpu, list[int]] = {}
        self._ends: list[tuple[int, int]] = []

    def load(self, server: int) -> tuple[Amount, ...]:
        """Return what the jobs on a server ask of each resource together, in per mille of its capacity, exactly."""
        return self._load.get(server, self._idle)

    def speed(self, job: int) -> int:
        """Return the speed of a running job in per mille."""
        return self._running[job].speed

    def running(self) -> list[int]:
        """Return the jobs that run, in order of start."""
        return list(self._running)

    def units_left(self, job: int, time: int) -> int:
        """Return the units that a running job still needs at a tick, if nothing has happened since the last event."""
        run = self._running[job]
        return max(0, run.left - run.speed * (time - run.since))

    def occupants(self, gpu: Gpu) -> list[int]:
        """Return the jobs on a GPU, in order of start; only where GPUs are named."""
        return self._on_gpu.get(gpu, [])

    def start(self, job: int, time: int, ticks: int, demand: ResourceDemand, gpus: Iterable[Gpu] = ()) -> None:
        """Let a job start.

        Parameters
        ----------
        job
            A job that does not run.
        time
            Tick of the start, not before the last event.
        ticks
            d(x), the duration of the job without others.
        gpus
            GPUs of the job; only where they are named.
        """
        run = _Running(demand, tuple(gpus), left=FULL_SPEED * ticks, since=time)
        self._running[job] = run
        for server, own in zip(demand.servers, demand.own, strict=True):
            self._own.setdefault(server, {})[job] = own
            self._load[server] = tuple(a + b for a, b in zip(self.load(server), own, strict=True))
        for gpu in run.gpus:
            self._on_gpu.setdefault(gpu, []).append(job)
        self._update(demand.servers, time)

    def next_completion(self) -> int | None:
        """Return when the next job completes if nobody starts before; None if nothing runs."""
        while self._ends:
            end, job = self._ends[0]
            if job in self._running and self._running[job].end == end:
                return end
            heapq.heappop(self._ends)
        return None

    def complete(self, time: int) -> list[int]:
        """End the jobs that complete at this tick, the next completion, and return them in order of number."""
        done = []
        while self.next_completion() == time:
            done.append(heapq.heappop(self._ends)[1])
            self._running[done[-1]].end = -1  # listed once
        touched: dict[int, None] = {}
        for job in done:
            run = self._running.pop(job)
            touched |= dict.fromkeys(run.demand.servers)
            for gpu in run.gpus:
                self._on_gpu[gpu].remove(job)
            for server in run.demand.servers:
                self._remove(server, job)
        self._update(touched, time)
        return done

    def what_if(
        self, job: int, demand: ResourceDemand, gpus: Sequence[Gpu] = ()
    ) -> tuple[int, dict[int, tuple[int, int]]]:
        """Return the speed that a job would have and those of its neighbours before and after its start, in per mille.

        The parameters are those of `start`; nothing changes. Neighbours that would not slow down are not listed.
        """
        job_class, partners = self._class_of[job], set[int]()
        own_pairs = []
        for gpu in gpus:
            for other in self.occupants(gpu):
                partners.add(other)
                own_pairs.append(self._pair[job_class][self._class_of[other]])
        loads = {
            server: tuple(a + b for a, b in zip(self.load(server), own, strict=True))
            for server, own in zip(demand.servers, demand.own, strict=True)
        }
        slowdowns = [
            slowdown(own, loads[server], demand.sens) for server, own in zip(demand.servers, demand.own, strict=True)
        ]
        changed = {}
        for other in dict.fromkeys(each for server in demand.servers for each in self._own.get(server, ())):
            run = self._running[other]
            slow = dict(run.slow)
            for server, own in zip(run.demand.servers, run.demand.own, strict=True):
                if server in loads:
                    slow[server] = slowdown(own, loads[server], run.demand.sens)
            pairs = self._pairs(other)
            if other in partners:
                pairs.append(self._pair[self._class_of[other]][job_class])
            then = running_speed(slow.values(), pairs)
            if then != run.speed:
                changed[other] = (run.speed, then)
        return running_speed(slowdowns, own_pairs), changed

    def _remove(self, server: int, job: int) -> None:
        """Take a job from a server."""
        own = self._own[server].pop(job)
        if self._own[server]:
            self._load[server] = tuple(a - b for a, b in zip(self._load[server], own, strict=True))
        else:
            del self._own[server], self._load[server]

    def _update(self, servers: Iterable[int], time: int) -> None:
        """Recompute the speeds of all jobs on some servers."""
        touched: dict[int, None] = {}
        for server in servers:
            load = self.load(server)
            for job, own in self._own.get(server, {}).items():
                run = self._running[job]
                run.slow[server] = slowdown(own, load, run.demand.sens)
                touched[job] = None
        for job in touched:
            run = self._running[job]
            speed = running_speed(run.slow.values(), self._pairs(job))
            if speed == run.speed:
                continue
            run.left -= run.speed * (time - run.since)
            run.since, run.speed = time, speed
            run.end = time - (-run.left // speed)
            heapq.heappush(self._ends, (run.end, job))

    def _pairs(self, job: int) -> list[int]:
        """Return the speeds of a job as the partner of each other job on its GPUs."""
        own, found = self._class_of[job], []
        for gpu in self._running[job].gpus:
            found += [self._pair[own][self._class_of[other]] for other in self._on_gpu[gpu] if other != job]
        return found
