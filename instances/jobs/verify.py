"""The verifier of schedules of jobs: iteration times and a replay of its own, no code shared with any method."""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from instances.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from instances.jobs.instance import JobsInstance
    from instances.jobs.interference import Interference
    from instances.jobs.schedule import JobsSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherInstance(Violation):
    """The schedule was made for another instance."""

    line = "instance_sha256: expected {0.expected:.16}..., got {0.found:.16}..."
    expected: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongNumberOfJobs(Violation):
    """The schedule has another number of jobs than the instance."""

    line = "jobs: expected {0.expected} jobs, got {0.scheduled}."
    expected: int
    scheduled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongNumberOfStages(Violation):
    """The schedule has another number of stages than the instance, all jobs together."""

    line = "jobs[].stages: expected {0.expected} stages of all jobs together, got {0.scheduled}."
    expected: int
    scheduled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownServer(Violation):
    """A stage sits on a server that is not in the instance."""

    job: int
    stage: int
    server: int
    num_servers: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        place = f"jobs[{self.job}].stages[{self.stage}]"
        return f"{place}: expected servers in 0..{self.num_servers - 1}, got {self.server}."


@dataclass(frozen=True, slots=True, kw_only=True)
class BadReplicaCount(Violation):
    """A server is said to hold no replica of a stage, or a negative number of them."""

    line = "jobs[{0.job}].stages[{0.stage}]: expected at least 1 replica on server {0.server}, got {0.replicas}."
    job: int
    stage: int
    server: int
    replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongReplicas(Violation):
    """A stage has more or fewer replicas than the instance states."""

    line = "jobs[{0.job}].stages[{0.stage}]: expected {0.expected} replicas, got {0.placed}."
    job: int
    stage: int
    expected: int
    placed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindNotAllowed(Violation):
    """A stage sits on a server whose kind of GPU may not run it."""

    line = "jobs[{0.job}].stages[{0.stage}]: expected an allowed kind of GPU, got {0.kind!r} of server {0.server}."
    job: int
    stage: int
    server: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartBeforeRelease(Violation):
    """A job starts before it arrives."""

    line = "jobs[{0.job}].start: {0.ticks} ticks before the release of the job."
    job: int
    ticks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityExceeded(Violation):
    """For a stretch of time the jobs on a server hold more GPUs than it has."""

    server: int
    begin: int
    end: int
    gpus: int
    capacity: int
    jobs: tuple[int, ...]

    def __str__(self) -> str:
        """Describe the violation in one line."""
        names = ", ".join(map(str, self.jobs))
        return (
            f"servers[{self.server}]: expected at most {self.capacity} GPUs in use, got up to {self.gpus} from tick "
            f"{self.begin} to {self.end}, by jobs {names}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusNotNamed(Violation):
    """GPUs may be shared, and the schedule does not say who is on which."""

    line = "jobs[].stages: expected GPUs with every entry, as {0.share} jobs may share one, got none."
    share: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuNotOnServer(Violation):
    """A job sits on a GPU that its server does not have."""

    job: int
    server: int
    gpu: int
    num_gpus: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"jobs[{self.job}]: expected GPUs in 0..{self.num_gpus - 1} of server {self.server}, got {self.gpu}."


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTwice(Violation):
    """Two replicas of one job sit on one GPU."""

    line = "jobs[{0.job}]: expected a GPU for each replica, got GPU {0.gpu} of server {0.server} twice."
    job: int
    server: int
    gpu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuOverbooked(Violation):
    """For a stretch of time more jobs sit on a GPU than may share it."""

    server: int
    gpu: int
    begin: int
    end: int
    jobs: tuple[int, ...]
    share: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return (
            f"servers[{self.server}], GPU {self.gpu}: expected at most {self.share} jobs at a time, got "
            f"{', '.join(map(str, self.jobs))} from tick {self.begin} to {self.end}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairNotAllowed(Violation):
    """Two jobs whose classes may not share a GPU do."""

    line = (
        "servers[{0.server}], GPU {0.gpu}: expected jobs whose classes may share it, got {0.jobs[0]} and "
        "{0.jobs[1]} from tick {0.begin} to {0.end}."
    )
    server: int
    gpu: int
    begin: int
    end: int
    jobs: tuple[int, int]


JobsViolation = (
    OtherInstance
    | WrongNumberOfJobs
    | WrongNumberOfStages
    | UnknownServer
    | BadReplicaCount
    | WrongReplicas
    | KindNotAllowed
    | StartBeforeRelease
    | CapacityExceeded
    | GpusNotNamed
    | GpuNotOnServer
    | GpuTwice
    | GpuOverbooked
    | PairNotAllowed
)


def verify_jobs_schedule(instance: JobsInstance, schedule: JobsSchedule) -> list[JobsViolation]:
    """List every violation of the jobs problem's constraints; an empty list means the schedule is right.

    Durations are computed here, from the formula and by code of its own: `iteration_time` is not called. A job holds
    its GPUs from its start, without interruption, for ceil(n * alpha(x)) ticks; under interference until a replay of
    all starts and completions, by code of its own too, says that it completes.

    Returns
    -------
    list[JobsViolation]
        Which job, stage or server, and by how much. If the schedule is for another instance, has another number of
        jobs or stages, or names no GPUs although two jobs may share one, only that is listed. If a job is misplaced,
        its duration is undefined, and capacities are not checked.
    """
    if schedule.instance_sha256 != instance.sha256:
        return [OtherInstance(expected=instance.sha256, found=schedule.instance_sha256)]
    if len(schedule.start) != instance.num_jobs:
        return [WrongNumberOfJobs(expected=instance.num_jobs, scheduled=len(schedule.start))]
    if len(schedule.entry_offsets) - 1 != len(instance.replicas):
        return [WrongNumberOfStages(expected=len(instance.replicas), scheduled=len(schedule.entry_offsets) - 1)]
    if instance.share > 1 and schedule.gpu is None:
        return [GpusNotNamed(share=instance.share)]
    placements = _placements(instance, schedule)
    misplaced = [wrong for job, stages in enumerate(placements) for wrong in _misplaced(instance, job, stages)]
    early = [*_early_starts(instance, schedule)]
    if misplaced:
        return misplaced + early
    gpus = _gpus(instance, schedule)
    if wrong := [violation for job, own in enumerate(gpus) for violation in misnamed(instance, job, own)]:
        return wrong + early
    start = schedule.start.tolist()
    ends = _ends(instance, start, placements, gpus)
    found: Iterator[JobsViolation] = iter(())
    if instance.share == 1:
        found = _exceeded(instance, start, ends, placements)
    return [*early, *found, *overbooked(instance, start, ends, gpus)]


def _placements(instance: JobsInstance, schedule: JobsSchedule) -> list[Placement]:
    """Read the placement of every job out of the rows."""
    first, servers, counts = (
        schedule.entry_offsets.tolist(),
        schedule.entry_server.tolist(),
        schedule.entry_count.tolist(),
    )
    stages = [dict(zip(servers[begin:end], counts[begin:end], strict=True)) for begin, end in itertools.pairwise(first)]
    offsets = instance.stage_offsets.tolist()
    return [stages[begin:end] for begin, end in itertools.pairwise(offsets)]


def _misplaced(instance: JobsInstance, job: int, stages: Placement) -> Iterator[JobsViolation]:
    """Find unknown servers, kinds that are not allowed, and wrong numbers of replicas."""
    base = int(instance.stage_offsets[job])
    for stage, placed in enumerate(stages):
        for server, count in placed.items():
            if not 0 <= server < instance.num_servers:
                yield UnknownServer(job=job, stage=stage, server=server, num_servers=instance.num_servers)
                continue
            if count < 1:
                yield BadReplicaCount(job=job, stage=stage, server=server, replicas=count)
            kind = int(instance.server_kind[server])
            if instance.time_of[base + stage, kind] < 0:
                yield KindNotAllowed(job=job, stage=stage, server=server, kind=instance.kinds[kind])
        expected, total = int(instance.replicas[base + stage]), sum(placed.values())
        if total != expected:
            yield WrongReplicas(job=job, stage=stage, expected=expected, placed=total)


def _early_starts(instance: JobsInstance, schedule: JobsSchedule) -> Iterator[JobsViolation]:
    """Find jobs that start before they arrive."""
    for job, (start, release) in enumerate(zip(schedule.start.tolist(), instance.release.tolist(), strict=True)):
        if start < release:
            yield StartBeforeRelease(job=job, ticks=release - start)


def _gpus(instance: JobsInstance, schedule: JobsSchedule) -> list[Gpus]:
    """Read the GPUs of every job out of the rows; empty where they are not named."""
    found: list[Gpus] = [{} for _ in range(instance.num_jobs)]
    if schedule.gpu is None:
        return found
    names = iter(schedule.gpu.tolist())
    stage_ends, entry = instance.stage_offsets.tolist(), 0
    servers, counts = schedule.entry_server.tolist(), schedule.entry_count.tolist()
    for job in range(instance.num_jobs):
        while entry < int(schedule.entry_offsets[stage_ends[job + 1]]):
            found[job].setdefault(servers[entry], []).extend(itertools.islice(names, counts[entry]))
            entry += 1
    return found


def _ends(
    instance: JobsInstance, start: Sequence[int], placements: Sequence[Placement], gpus: Sequence[Gpus]
) -> list[int]:
    """Return when every job completes."""
    if instance.interference is not None:
        return replayed_ends(instance, instance.interference, start, placements, gpus)
    ends = []
    for job, stages in enumerate(placements):
        comp, comm = verified_parts(instance, job, stages)
        ends.append(start[job] + math.ceil(int(instance.iterations[job]) * (comp + comm)))
    return ends


def _exceeded(
    instance: JobsInstance, starts: Sequence[int], ends: Sequence[int], placements: Sequence[Placement]
) -> Iterator[JobsViolation]:
    """Sweep over the starts and ends on every server and find stretches of time with too many GPUs in use."""
    changes: list[list[tuple[int, int, int]]] = [[] for _ in range(instance.num_servers)]
    for job, (start, end, stages) in enumerate(zip(starts, ends, placements, strict=True)):
        held: dict[int, int] = {}
        for placed in stages:
            for server, count in placed.items():
                held[server] = held.get(server, 0) + count
        for server, count in held.items():
            changes[server] += [(start, count, job), (end, -count, job)]
    for server, events in enumerate(changes):
        yield from _overfull(server, int(instance.num_gpus_of[server]), sorted(events))


def _overfull(server: int, capacity: int, events: list[tuple[int, int, int]]) -> Iterator[JobsViolation]:
    """Sweep over one server: at equal times ends come before starts, as their change is negative."""
    in_use, running = 0, set[int]()
    begin, peak, involved = 0, 0, set[int]()
    for tick, change, job in events:
        was_over = in_use > capacity
        in_use += change
        if change > 0:
            running.add(job)
        else:
            running.discard(job)
        if in_use > capacity:
            if not was_over:
                begin, peak, involved = tick, 0, set()
            peak = max(peak, in_use)
            involved |= running
        elif was_over:
            yield CapacityExceeded(
                server=server, begin=begin, end=tick, gpus=peak, capacity=capacity, jobs=tuple(sorted(involved))
            )


Gpus = dict[int, list[int]]
"""GPUs of a job by server."""


def misnamed(instance: JobsInstance, job: int, gpus: Gpus) -> Iterator[JobsViolation]:
    """Find GPUs that a server does not have, and two replicas of a job on one GPU."""
    for server, numbers in gpus.items():
        count = int(instance.num_gpus_of[server])
        for gpu in numbers:
            if not 0 <= gpu < count:
                yield GpuNotOnServer(job=job, server=server, gpu=gpu, num_gpus=count)
        for gpu in sorted({gpu for gpu in numbers if numbers.count(gpu) > 1}):
            yield GpuTwice(job=job, server=server, gpu=gpu)


def overbooked(
    instance: JobsInstance, start: Sequence[int], end: Sequence[int], gpus: Sequence[Mapping[int, Sequence[int]]]
) -> Iterator[JobsViolation]:
    """Find stretches of time with more jobs on a GPU than may share it, or with two that may not share it."""
    users: dict[tuple[int, int], list[int]] = {}
    for job, own in enumerate(gpus):
        for server, numbers in own.items():
            for gpu in numbers:
                users.setdefault((server, gpu), []).append(job)
    for (server, gpu), jobs in sorted(users.items()):
        there: list[int] = []
        for job in sorted(jobs, key=lambda job: (start[job], job)):
            begin = start[job]
            there = [other for other in there if end[other] > begin]
            for other in there:
                if not _may_share(instance, job, other):
                    pair, until = (min(job, other), max(job, other)), min(end[job], end[other])
                    yield PairNotAllowed(server=server, gpu=gpu, begin=begin, end=until, jobs=pair)
            there.append(job)
            if len(there) > instance.share:
                until = sorted(end[other] for other in there)[-instance.share - 1]
                together = tuple(sorted(there))
                yield GpuOverbooked(server=server, gpu=gpu, begin=begin, end=until, jobs=together, share=instance.share)


def _may_share(instance: JobsInstance, one: int, other: int) -> bool:
    """Say whether the classes of two jobs may share a GPU."""
    if instance.interference is None or instance.share == 1:
        return True  # that they share at all is a violation of its own
    classes = instance.interference.job_class
    return int(instance.interference.pair[classes[one], classes[other]]) >= 1


Placement = list[dict[int, int]]
"""For each stage of a job its replicas on each server that holds some."""


def verified_parts(instance: JobsInstance, job: int, stages: Placement) -> tuple[int, Fraction]:
    """Return comp(x) and comm(x) of a placement that is right, in ticks."""
    base = int(instance.stage_offsets[job])
    slowest = max(
        int(instance.time_of[base + stage, instance.server_kind[server]])
        for stage, placed in enumerate(stages)
        for server in placed
    )
    comp = (int(instance.micro_batches[job]) + len(stages) - 1) * slowest
    comm = Fraction(0)
    used = {server for placed in stages for server in placed}
    for server in used:
        bandwidth = Fraction(int(instance.nic_numerator[server]), int(instance.nic_denominator[server]))
        comm = max(comm, verified_bytes(instance, job, [placed.get(server, 0) for placed in stages]) / bandwidth)
    racks = instance.racks
    if racks is not None:
        rack_of = {server: int(racks.rack_of_server[server]) for server in used}
        for rack in set(rack_of.values()):
            if rack < 0:
                continue  # in no rack
            behind = {server for server in used if rack_of[server] == rack}
            counts = [sum(placed.get(server, 0) for server in behind) for placed in stages]
            bandwidth = Fraction(int(racks.uplink_numerator[rack]), int(racks.uplink_denominator[rack]))
            comm = max(comm, verified_bytes(instance, job, counts) / bandwidth)
    return comp, comm


def verified_bytes(instance: JobsInstance, job: int, counts: Sequence[int]) -> Fraction:
    """Return the bytes per iteration that leave servers which together hold so many replicas of each stage."""
    base, num_stages = int(instance.stage_offsets[job]), len(counts)
    leaving = Fraction(0)
    share = [Fraction(count, int(instance.replicas[base + stage])) for stage, count in enumerate(counts)]
    for stage in range(num_stages - 1):
        here, there = share[stage], share[stage + 1]
        activations = int(instance.activation_bytes[base + stage])
        leaving += activations * (here * (1 - there) + there * (1 - here))
    for stage in range(num_stages):
        if 0 < share[stage] < 1:
            replicas = int(instance.replicas[base + stage])
            leaving += Fraction(2 * (replicas - 1), replicas) * int(instance.parameter_bytes[base + stage])
    return leaving


@dataclass(slots=True)
class _Job:
    """The demand of a job and the state of its run."""

    asks: dict[int, list[Fraction]]  # of each resource, by server, in per mille
    bound: list[Fraction]  # per mille of the iteration, by resource
    gpus: frozenset[tuple[int, int]]
    work: Fraction  # ticks that it would still run alone, as of `seen`
    seen: int = 0
    rate: Fraction = Fraction(0)  # of such ticks per tick
    end: int = 0


def replayed_ends(
    instance: JobsInstance,
    interference: Interference,
    start: Sequence[int],
    placements: Sequence[Placement],
    gpus: Sequence[Mapping[int, Sequence[int]]],
) -> list[int]:
    """Return when every job completes, given starts, placements that are right, and GPUs by server (none unnamed)."""
    jobs = [
        _job(instance, interference, job, stages, own)
        for job, (stages, own) in enumerate(zip(placements, gpus, strict=True))
    ]
    waiting = sorted(range(len(jobs)), key=lambda job: start[job], reverse=True)
    on_server: dict[int, set[int]] = {}
    on_gpu: dict[tuple[int, int], set[int]] = {}
    planned: list[tuple[int, int]] = []
    active = set[int]()
    while waiting or active:
        now = min([start[job] for job in waiting[-1:]] + [end for end, _ in planned[:1]])
        changed = set[int]()
        ending = set[int]()
        while planned and planned[0][0] == now:
            ending.add(heapq.heappop(planned)[1])
        for job in ending & active:
            if jobs[job].end != now:
                continue  # planned before its speed changed
            active.remove(job)
            for server in jobs[job].asks:
                on_server[server].remove(job)
                changed.add(server)
            for gpu in jobs[job].gpus:
                on_gpu[gpu].remove(job)
        while waiting and start[waiting[-1]] == now:
            job = waiting.pop()
            active.add(job)
            jobs[job].seen = now
            for server in jobs[job].asks:
                on_server.setdefault(server, set()).add(job)
                changed.add(server)
            for gpu in jobs[job].gpus:
                on_gpu.setdefault(gpu, set()).add(job)
        for job in {job for server in changed for job in on_server[server]}:
            own = jobs[job]
            own.work -= own.rate * (now - own.seen)
            own.seen = now
            own.rate = Fraction(_speed(interference, jobs, job, on_server, on_gpu), 1000)
            own.end = now + math.ceil(own.work / own.rate)
            heapq.heappush(planned, (own.end, job))
    return [job.end for job in jobs]


def _job(
    instance: JobsInstance, interference: Interference, job: int, stages: Placement, gpus: Mapping[int, Sequence[int]]
) -> _Job:
    """Compute the demand of a job."""
    comp, comm = verified_parts(instance, job, stages)
    iterations = int(instance.iterations[job])
    bound = [Fraction(int(value)) for value in interference.sens[job]]
    asks: dict[int, list[Fraction]] = {}
    for server in {server for placed in stages for server in placed}:
        replicas = sum(placed.get(server, 0) for placed in stages)
        asks[server] = [Fraction(int(value)) * replicas for value in interference.use[job]]
    if "nic" in interference.resources:
        z = interference.resources.index("nic")
        for server, row in asks.items():
            bandwidth = Fraction(int(instance.nic_numerator[server]), int(instance.nic_denominator[server]))
            leaving = verified_bytes(instance, job, [placed.get(server, 0) for placed in stages])
            row[z] = 1000 * leaving / (bandwidth * (comp + comm))
        from_nic = 1000 * comm / (comp + comm)
        others = sum(bound)
        if from_nic + others > 1000:
            bound = [value * (1000 - from_nic) / others for value in bound]
        bound[z] = from_nic
    return _Job(
        asks=asks,
        bound=bound,
        gpus=frozenset((server, gpu) for server, own in gpus.items() for gpu in own),
        work=Fraction(math.ceil(iterations * (comp + comm))),
    )


def _speed(
    interference: Interference,
    jobs: Sequence[_Job],
    job: int,
    on_server: Mapping[int, set[int]],
    on_gpu: Mapping[tuple[int, int], set[int]],
) -> int:
    """Return the speed of a job among those that run now, in per mille, exactly by the formula."""
    own = jobs[job]
    worst = Fraction(1000)
    for server, asked in own.asks.items():
        slow = Fraction(1000)
        for z, (mine, bound) in enumerate(zip(asked, own.bound, strict=True)):
            load = sum((jobs[other].asks[server][z] for other in on_server[server]), Fraction(0))
            slow += bound * (max(Fraction(1000), load) / max(Fraction(1000), mine) - 1)
        worst = max(worst, slow)
    pair = 1000
    for gpu in own.gpus:
        for other in on_gpu[gpu]:
            if other != job:
                here, there = int(interference.job_class[job]), int(interference.job_class[other])
                pair = min(pair, int(interference.pair[here, there]))
    return max(1, math.floor(Fraction(10**6) / worst * pair / 1000))
