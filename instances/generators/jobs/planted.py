"""Jobs instances of any size whose optimum is known, because a schedule and its proof are planted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.objective import JobsObjective
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import jobs_servers
from instances.parameters import check_integer, check_number, fields_as_parameters, set_checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.clusters.cluster import Cluster
    from instances.jobs.servers import JobsServer


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedJobShape:
    """Shape of the planted jobs.

    Parameters
    ----------
    max_stages
        Largest number of stages.
    max_slowdown
        Largest factor of the time of a stage on a kind that is not planted.
    forbidden
        Share of pairs of a stage and a kind other than the planted one that are not allowed.
    tightness
        Share of jobs that arrive when they start in the planted schedule; the others arrive at a random time before.
    """

    max_stages: int = 3
    max_slowdown: float = 2.0
    forbidden: float = 0.2
    tightness: float = 0.5

    def __post_init__(self) -> None:
        """Check the ranges."""
        set_checked(
            self,
            max_stages=check_integer("max_stages", self.max_stages, low=1),
            max_slowdown=check_number("max_slowdown", self.max_slowdown, low=1.0, high=1e3),
            forbidden=check_number("forbidden", self.forbidden, low=0.0, high=1.0),
            tightness=check_number("tightness", self.tightness, low=0.0, high=1.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedJob:
    """A job, and where and when it is planted.

    Parameters
    ----------
    server
        Server that holds all of it.
    start, duration
        Ticks.
    """

    job: Job
    server: int
    start: int
    duration: int


def planted_job(
    rng: np.random.Generator,
    servers: Sequence[JobsServer],
    *,
    server: int,
    gang: int,
    start: int,
    duration: int,
    weight: int,
    shape: PlantedJobShape,
) -> PlantedJob:
    """Make a job that takes `duration` ticks on a server and cannot take less anywhere.

    The duration is cut into n iterations of Q + S - 1 steps of p ticks, all of which divide it: the slowest stage takes
    p on the planted kind, and at least p on every other. So (Q + S - 1) p n is the duration on the server, where the
    job has no traffic, and a lower bound everywhere.
    """
    kinds = list(dict.fromkeys(item.kind for item in servers))
    own = servers[server].kind
    steps = _divisor(rng, duration, 4 * shape.max_stages)
    num_stages = int(rng.integers(1, min(shape.max_stages, steps, gang) + 1))
    slowest = _divisor(rng, duration // steps, duration)
    replicas = (1 + rng.multinomial(gang - num_stages, np.full(num_stages, 1.0 / num_stages))).tolist()
    bottleneck = int(rng.integers(num_stages))
    one_tick_of_traffic = math.ceil(max(item.nic_bytes_per_tick for item in servers))
    stages = []
    for stage in range(num_stages):
        base = slowest if stage == bottleneck else int(rng.integers(1, slowest + 1))
        times: dict[str, int | None] = {own: base}
        for kind in kinds:
            if kind != own and rng.random() >= shape.forbidden:
                times[kind] = max(base, math.ceil(base * rng.uniform(1.0, shape.max_slowdown)))
        activations = 0 if stage == num_stages - 1 else int(rng.integers(1, 4 * slowest + 1)) * one_tick_of_traffic
        parameters = int(rng.integers(1, 4 * slowest + 1)) * one_tick_of_traffic
        stages.append(
            Stage(times=times, replicas=replicas[stage], activation_bytes=activations, parameter_bytes=parameters)
        )
    job = Job(
        stages=stages,
        iterations=duration // (steps * slowest),
        release=start if rng.random() < shape.tightness else int(rng.integers(start + 1)),
        weight=weight,
        micro_batches=steps - num_stages + 1,
    )
    return PlantedJob(job=job, server=server, start=start, duration=duration)


def _divisor(rng: np.random.Generator, number: int, largest: int) -> int:
    """Draw a divisor of a number, at most `largest`."""
    choices = [value for value in range(1, min(number, largest) + 1) if number % value == 0]
    return int(rng.choice(choices))


DURATIONS = (12, 24, 36, 48, 60, 72, 96, 120, 144, 180, 240)
"""Lengths of slots in ticks: numbers with many divisors, so that jobs differ."""

MAX_UNIT_WEIGHT = 20
"""Largest weight per GPU."""


def plant_full_slots(
    rng: np.random.Generator, servers: Sequence[JobsServer], *, jobs: int, slots: int | None, shape: PlantedJobShape
) -> list[PlantedJob]:
    """Fill every server in every slot with jobs; the proof stands in `planted_jobs`.

    Raises a `ValueError` if the jobs are too few or too many for the slots.
    """
    sizes = np.array([server.gpus for server in servers], dtype=np.int64)
    fewest, most = len(sizes), int(sizes.sum())
    if jobs < fewest:
        raise ValueError(f"jobs: expected at least {fewest}, one per server, got {jobs}.")
    if slots is None:
        slots = min(max(-(-jobs // most), round(jobs / (1.5 * fewest))), jobs // fewest)
    slots = check_integer("slots", slots, low=-(-jobs // most), high=jobs // fewest)
    counts = _shares(rng, jobs, np.tile(sizes, (slots, 1)))
    plan, start = [], 0
    for row, (length, unit) in zip(counts.tolist(), _lengths_and_units(rng, slots), strict=True):
        for server, count in enumerate(row):
            for gang in (1 + rng.multinomial(int(sizes[server]) - count, np.full(count, 1.0 / count))).tolist():
                plan.append(
                    planted_job(
                        rng,
                        servers,
                        server=server,
                        gang=gang,
                        start=start,
                        duration=length,
                        weight=unit * gang,
                        shape=shape,
                    )
                )
        start += length
    return [plan[index] for index in rng.permutation(len(plan))]


def _lengths_and_units(rng: np.random.Generator, slots: int) -> list[tuple[int, int]]:
    """Draw a length and a weight per GPU for each slot, in the order of falling weight per GPU and tick."""
    drawn = [(int(rng.choice(DURATIONS)), int(rng.integers(1, MAX_UNIT_WEIGHT + 1))) for _ in range(slots)]
    return sorted(drawn, key=lambda slot: Fraction(slot[0], slot[1]))


def _shares(rng: np.random.Generator, jobs: int, capacity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Spread jobs over servers and slots: at least one each, at most one per GPU."""
    counts = np.ones_like(capacity)
    while (left := jobs - int(counts.sum())) > 0:
        free = (capacity - counts).ravel()
        drawn = rng.multinomial(left, free / free.sum()).reshape(capacity.shape)
        counts = np.minimum(counts + drawn, capacity)
    return counts


def plant_equal_gangs(
    rng: np.random.Generator, servers: Sequence[JobsServer], *, jobs: int, gang: int | None, shape: PlantedJobShape
) -> list[PlantedJob]:
    """Deal jobs in order of duration to shares of servers; the proof stands in `planted_jobs`.

    Raises a `ValueError` if the gang does not divide the GPUs of every server.
    """
    widest = math.gcd(*(server.gpus for server in servers))
    divisors = [value for value in range(1, widest + 1) if widest % value == 0]
    width = int(rng.choice(divisors)) if gang is None else check_integer("gang", gang, low=1)
    if width not in divisors:
        expected = " or ".join(map(str, divisors))
        raise ValueError(f"gang: expected {expected}, which divide the GPUs of every server, got {width}.")
    homes = [number for number, server in enumerate(servers) for _ in range(server.gpus // width)]
    homes = [homes[index] for index in rng.permutation(len(homes))]
    free_at = [0] * len(homes)
    plan = []
    for number, duration in enumerate(sorted(rng.choice(DURATIONS, size=jobs).tolist())):
        place = number % len(homes)
        plan.append(
            planted_job(
                rng,
                servers,
                server=homes[place],
                gang=width,
                start=free_at[place],
                duration=duration,
                weight=1,
                shape=shape,
            )
        )
        free_at[place] += duration
    return [plan[index] for index in rng.permutation(jobs)]


DEFAULT_CLUSTER = "4xV100-16GB,4xV100-16GB,4xT4,2xP100"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlantedJobs:
    """An instance, an optimal schedule of it, and its objective.

    Parameters
    ----------
    objective
        Objective for which the schedule is optimal.
    optimum
        Value of the objective, which no schedule beats.
    """

    instance: JobsInstance
    schedule: JobsSchedule
    objective: JobsObjective
    optimum: int


@fields_as_parameters
def planted_jobs(
    *,
    jobs: int,
    seed: int,
    objective: str = "weighted_completion",
    cluster: Cluster | None = None,
    slots: int | None = None,
    gang: int | None = None,
    shape: PlantedJobShape = PlantedJobShape(),
    tick_seconds: float = 1e-3,
    name: str | None = None,
) -> PlantedJobs:
    """Make a jobs instance around a schedule that is optimal by construction.

    Parameters
    ----------
    jobs
        Number of jobs; for ``weighted_completion`` at least one per server.
    seed
        At least 0.
    objective
        ``weighted_completion``: jobs of all widths fill every server in every slot of time. ``total_completion``: jobs
        of equal width in order of duration.
    cluster
        Servers of one kind of GPU each; default 14 GPUs of three kinds on four servers.
    slots
        Number of slots of time, with ``weighted_completion`` only; default one per three jobs and two servers.
    gang
        Width of all jobs, with ``total_completion`` only; it divides the GPUs of every server. Default random.
    tick_seconds
        Length of a tick in seconds; with the cluster it gives bandwidths.
    name
        Name of the instance; the default states objective, number of jobs and seed.

    Raises
    ------
    TypeError
        If a parameter is not of its kind.
    ValueError
        If a parameter is out of range or belongs to the other objective.

    Notes
    -----
    In both cases a job is planted on one server, so that it has no traffic and takes a whole number of ticks, and no
    stage is faster on any other kind: its planted duration D is the shortest that it can have. Arrivals lie between 0
    and the planted start; they leave the planted schedule feasible, and the proofs below do not use them.

    *weighted_completion.* Slot b is the time from T[b-1] to T[b] = T[b-1] + D[b]; its jobs all start at its beginning,
    take D[b] ticks and hold all G GPUs together. Job i in slot b has weight c[b] g[i], with c[b] / D[b] never rising
    from slot to slot. Take any schedule with completions C[i] and count job i during its last D[b] ticks only, where it
    holds g[i] GPUs; the mean of these times is C[i] - D[b] / 2. So ::

        sum_i w[i] (C[i] - D[b] / 2) = integral over t of t * sum_b c[b] / D[b] * (GPUs counted at t for slot b) dt.

    Slot b needs G D[b] GPU-ticks in all and at most G GPUs are counted at once. Under these two conditions the integral
    is smallest if all G GPUs serve the slots one after the other by falling c[b] / D[b] (exchanging work moves the
    larger factor to the smaller time), which is slot b from T[b-1] to T[b]: sum_b c[b] G (T[b-1] + T[b]) / 2. Adding
    sum_i w[i] D[b] / 2 = sum_b c[b] G D[b] / 2 gives sum_b c[b] G T[b], the objective of the planted schedule.

    *total_completion.* All jobs have g GPUs, and g divides the number of GPUs of every server, so at most P = G / g
    jobs run at once under any placement. A schedule is thus one of P machines with durations of at least D[i]; the
    smallest sum of completions with durations D[i] and no arrivals is that of shortest jobs first, dealt to the
    machines in turn (Conway, Maxwell and Miller 1967), and this is the planted schedule.

    References
    ----------
    The first is mean busy time (Goemans, Queyranne, Schulz, Skutella and Wang 2002) with slots that leave no gap; both
    constructions are ours.
    """
    chosen = JobsObjective(objective)
    where = parse_cluster(DEFAULT_CLUSTER) if cluster is None else cluster
    jobs = check_integer("jobs", jobs, low=1)
    tick_seconds = check_number("tick_seconds", tick_seconds, low=1e-12, high=1e6)
    servers = jobs_servers(where, tick_seconds)
    rng = np.random.default_rng(check_integer("seed", seed, low=0))
    if chosen is JobsObjective.WEIGHTED_COMPLETION:
        if gang is not None:
            raise ValueError(f"gang: expected none with weighted_completion, got {gang}.")
        plan = plant_full_slots(rng, servers, jobs=jobs, slots=slots, shape=shape)
    else:
        if slots is not None:
            raise ValueError(f"slots: expected none with total_completion, got {slots}.")
        plan = plant_equal_gangs(rng, servers, jobs=jobs, gang=gang, shape=shape)
    instance = JobsInstance.from_parts(
        servers,
        [planted.job for planted in plan],
        name=f"planted-{chosen.replace('_', '-')}-n{jobs}-s{seed}" if name is None else name,
        tick_seconds=tick_seconds,
    )
    placements = []
    for planted in plan:
        placement = np.zeros((len(planted.job.stages), len(servers)), dtype=np.int64)
        placement[:, planted.server] = [stage.replicas for stage in planted.job.stages]
        placements.append(placement)
    weights = [planted.job.weight if chosen is JobsObjective.WEIGHTED_COMPLETION else 1 for planted in plan]
    finishes = [planted.start + planted.duration for planted in plan]
    return PlantedJobs(
        instance=instance,
        schedule=JobsSchedule.from_placements(instance, [planted.start for planted in plan], placements),
        objective=chosen,
        optimum=sum(weight * finish for weight, finish in zip(weights, finishes, strict=True)),
    )
