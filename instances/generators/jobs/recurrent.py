"""Jobs of users who run the same things again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from instances.generators.jobs.generate import JobStream
from instances.generators.jobs.independent import bursty_arrivals, iterations_for, poisson_arrivals, run_times
from instances.generators.jobs.training_job import checked_models, draw_training_job
from instances.generators.parameter_checks import check_integer, check_number
from instances.jobs.instance import Job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.clusters.cluster import Cluster
    from instances.generators.jobs.training_job import TrainingJob


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """One recurring job: its runs differ in the number of iterations only."""

    user: str
    name: str
    training: TrainingJob
    seconds: float


def recurrent(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    users: int = 20,
    groups_per_user: int = 5,
    zipf: float = 1.0,
    run_spread: float = 0.3,
    arrivals: Literal["poisson", "bursty"] = "poisson",
    burst_size: float = 10.0,
    burst_speed: float = 20.0,
    models: Sequence[str] | None = None,
    max_gang: int = 32,
    median_seconds: float = 600.0,
    spread: float = 1.5,
    tail: Literal["lognormal", "pareto"] = "lognormal",
) -> JobStream:
    """Make jobs that are runs of recurring groups, each of one user, some much more frequent than others.

    Parameters
    ----------
    rng, cluster, tick_seconds, jobs
        As in `poisson`.
    users
        Number of users; user number k submits with a frequency proportional to 1 / k**zipf.
    groups_per_user
        Recurring groups of each user, with frequencies of the same form.
    zipf
        Exponent of the frequencies; 0 makes all equal.
    run_spread
        Standard deviation of the logarithm of iterations among the runs of a group; 0 makes them equal.
    arrivals
        ``poisson`` or ``bursty``.
    burst_size, burst_speed
        As in `bursty`.
    models, max_gang
        As in `poisson`; drawn once per group.
    median_seconds, spread, tail
        As in `poisson`, of the median run time of groups.

    Returns
    -------
    JobStream
        Jobs with user, group and model tag.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range, or no network fits on the cluster.

    References
    ----------
    Most jobs in GPU clusters recur: Weng et al. (2022), MLaaS in the wild, NSDI. Zipf (1949) for frequencies. The
    construction is ours.
    """
    jobs = check_integer("jobs", jobs, low=1)
    users, groups_per_user = (
        check_integer(name, value, low=1) for name, value in (("users", users), ("groups_per_user", groups_per_user))
    )
    zipf = check_number("zipf", zipf, low=0.0, high=10.0)
    run_spread = check_number("run_spread", run_spread, low=0.0, high=10.0)
    burst_size = check_number("burst_size", burst_size, low=1.0)
    burst_speed = check_number("burst_speed", burst_speed, low=1.0)
    median_seconds = check_number("median_seconds", median_seconds, low=1e-6)
    spread = check_number("spread", spread, low=0.0, high=10.0)
    if tail not in ("lognormal", "pareto"):
        raise ValueError(f"tail: expected lognormal or pareto, got {tail!r}.")
    if arrivals not in ("poisson", "bursty"):
        raise ValueError(f"arrivals: expected poisson or bursty, got {arrivals!r}.")
    names = checked_models(models)
    max_gang = min(check_integer("max_gang", max_gang, low=1), len(cluster.kinds))

    medians = run_times(rng, users * groups_per_user, median_seconds=median_seconds, spread=spread, tail=tail)
    groups = [
        _Group(
            user=f"u{number // groups_per_user}",
            name=f"u{number // groups_per_user}-g{number % groups_per_user}",
            training=draw_training_job(rng, cluster, tick_seconds, names, max_gang=max_gang),
            seconds=seconds,
        )
        for number, seconds in enumerate(medians.tolist())
    ]
    chosen = rng.choice(users, size=jobs, p=_frequencies(users, zipf)) * groups_per_user
    chosen += rng.choice(groups_per_user, size=jobs, p=_frequencies(groups_per_user, zipf))
    factors = np.exp(run_spread * rng.standard_normal(jobs))
    if arrivals == "poisson":
        times = poisson_arrivals(rng, jobs)
    else:
        times = bursty_arrivals(rng, jobs, burst_size=burst_size, burst_speed=burst_speed)
    runs = zip(chosen.tolist(), factors.tolist(), strict=True)
    return JobStream(jobs=[_run(groups[number], factor, tick_seconds) for number, factor in runs], arrivals=times)


def _run(group: _Group, factor: float, tick_seconds: float) -> Job:
    """Return one run of a group."""
    training = group.training
    return Job(
        stages=training.stages,
        iterations=iterations_for(group.seconds * factor, training.least_ticks, tick_seconds),
        micro_batches=training.micro_batches,
        user=group.user,
        group=group.name,
        model_tag=training.model_tag,
    )


def _frequencies(count: int, exponent: float) -> NDArray[np.float64]:
    """Return frequencies proportional to 1 / k**exponent for k = 1, 2, ..."""
    shares = np.arange(1, count + 1) ** -exponent
    frequencies: NDArray[np.float64] = shares / shares.sum()
    return frequencies
