"""Jobs that have nothing to do with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.jobs.model_mix import checked_models, draw_training_job
from instances.generators.jobs.run_times import Tail, run_times
from instances.generators.parameter_checks import check_integer, check_number
from instances.jobs.job import Job

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.cluster import Cluster


def independent_jobs(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    models: Sequence[str] | None,
    max_gang: int,
    median_seconds: float,
    spread: float,
    tail: Tail,
) -> list[Job]:
    """Draw jobs with a network, a gang size and a run time each; see `poisson` for the parameters."""
    jobs = check_integer("jobs", jobs, low=1)
    names = checked_models(models)
    max_gang = min(check_integer("max_gang", max_gang, low=1), len(cluster.kinds))
    median_seconds = check_number("median_seconds", median_seconds, low=1e-6)
    spread = check_number("spread", spread, low=0.0, high=10.0)
    if tail not in ("lognormal", "pareto"):
        raise ValueError(f"tail: expected lognormal or pareto, got {tail!r}.")
    seconds = run_times(rng, jobs, median_seconds=median_seconds, spread=spread, tail=tail)
    made = []
    for run_time in seconds.tolist():
        training = draw_training_job(rng, cluster, tick_seconds, names, max_gang=max_gang)
        made.append(
            Job(
                stages=training.stages,
                iterations=iterations_for(run_time, training.least_ticks, tick_seconds),
                micro_batches=training.micro_batches,
                model_tag=training.model_tag,
            )
        )
    return made


def iterations_for(seconds: float, least_ticks: int, tick_seconds: float) -> int:
    """Return the iterations that take about this long on the fastest kinds without traffic, at least 1."""
    return max(1, round(seconds / (least_ticks * tick_seconds)))
