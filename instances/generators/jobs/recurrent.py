"""Jobs of users who run the same things again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from instances.generators.jobs.generate import JobStream
from instances.generators.jobs.independent import Bursts, TrainingMix, iterations_for, poisson_arrivals
from instances.jobs.instance import Job
from instances.parameters import check_integer, check_number, fields_as_parameters

if TYPE_CHECKING:
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


@fields_as_parameters
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
    bursts: Bursts = Bursts(),
    mix: TrainingMix = TrainingMix(),
) -> JobStream:
    """Make jobs that are runs of recurring groups, each of one user, some much more frequent than others.

    Parameters
    ----------
    users
        Number of users; user number k submits with a frequency proportional to 1 / k**zipf.
    groups_per_user
        Recurring groups of each user, with frequencies of the same form.
    zipf
        Exponent of the frequencies; 0 makes all equal.
    run_spread
        Standard deviation of the logarithm of iterations among the runs of a group; 0 makes them equal.
    bursts
        Used with bursty arrivals only.
    mix
        Drawn once per group; run times are the medians of groups.

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
    if arrivals not in ("poisson", "bursty"):
        raise ValueError(f"arrivals: expected poisson or bursty, got {arrivals!r}.")
    groups = [
        _Group(
            user=f"u{number // groups_per_user}",
            name=f"u{number // groups_per_user}-g{number % groups_per_user}",
            training=mix.draw_job(rng, cluster, tick_seconds),
            seconds=seconds,
        )
        for number, seconds in enumerate(mix.run_times(rng, users * groups_per_user).tolist())
    ]
    chosen = rng.choice(users, size=jobs, p=_frequencies(users, zipf)) * groups_per_user
    chosen += rng.choice(groups_per_user, size=jobs, p=_frequencies(groups_per_user, zipf))
    factors = np.exp(run_spread * rng.standard_normal(jobs))
    times = poisson_arrivals(rng, jobs) if arrivals == "poisson" else bursts.arrivals(rng, jobs)
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
