"""Jobs instances of any size whose optimum is known, because a schedule and its proof are planted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.cluster import parse_cluster
from instances.generators.jobs.jobs_servers import jobs_servers
from instances.generators.jobs.plant_equal_gangs import plant_equal_gangs
from instances.generators.jobs.plant_full_slots import plant_full_slots
from instances.generators.parameter_checks import check_integer, check_number
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_objective import JobsObjective
from instances.jobs.jobs_schedule import JobsSchedule

if TYPE_CHECKING:
    from instances.cluster import Cluster

DEFAULT_CLUSTER = "4xV100-16GB,4xV100-16GB,4xT4,2xP100"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlantedJobs:
    """An instance, an optimal schedule of it, and its objective.

    Parameters
    ----------
    instance, schedule
        What is scheduled, and the planted schedule.
    objective
        What the schedule is optimal for.
    optimum
        Its value, which no schedule beats.
    """

    instance: JobsInstance
    schedule: JobsSchedule
    objective: JobsObjective
    optimum: int


def planted_jobs(
    *,
    jobs: int,
    seed: int,
    objective: str = "weighted_completion",
    cluster: Cluster | None = None,
    slots: int | None = None,
    gang: int | None = None,
    max_stages: int = 3,
    max_slowdown: float = 2.0,
    forbidden: float = 0.2,
    tightness: float = 0.5,
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
    max_stages
        Largest number of stages.
    max_slowdown
        Largest factor of the time of a stage on a kind that is not planted.
    forbidden
        Share of pairs of a stage and a kind other than the planted one that are not allowed.
    tightness
        Share of jobs that arrive when they start in the planted schedule; the others arrive at a random time before.
    tick_seconds
        Length of a tick in seconds; with the cluster it gives bandwidths.
    name
        Name of the instance; the default tells objective, number of jobs and seed.

    Returns
    -------
    PlantedJobs
        Instance, schedule and optimum.

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
    max_stages = check_integer("max_stages", max_stages, low=1)
    max_slowdown = check_number("max_slowdown", max_slowdown, low=1.0, high=1e3)
    forbidden = check_number("forbidden", forbidden, low=0.0, high=1.0)
    tightness = check_number("tightness", tightness, low=0.0, high=1.0)
    tick_seconds = check_number("tick_seconds", tick_seconds, low=1e-12, high=1e6)
    servers = jobs_servers(where, tick_seconds)
    rng = np.random.default_rng(check_integer("seed", seed, low=0))
    shape = {"max_stages": max_stages, "max_slowdown": max_slowdown, "forbidden": forbidden, "tightness": tightness}
    if chosen is JobsObjective.WEIGHTED_COMPLETION:
        if gang is not None:
            raise ValueError(f"gang: expected none with weighted_completion, got {gang}.")
        plan = plant_full_slots(rng, servers, jobs=jobs, slots=slots, **shape)
    else:
        if slots is not None:
            raise ValueError(f"slots: expected none with total_completion, got {slots}.")
        plan = plant_equal_gangs(rng, servers, jobs=jobs, gang=gang, **shape)
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
