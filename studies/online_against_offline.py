"""Online policies on many jobs instances, held against the offline optimum or a proven bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from heuristics.jobs.policies.a_srpt import a_srpt_policy
from heuristics.jobs.policies.a_srpt_parameters import ASrptParameters
from heuristics.jobs.policies.run_policy import run_policy
from instances.generators.jobs.generate_jobs import generate_jobs
from instances.generators.jobs.releases_at_load import load_factor
from instances.jobs.jobs_objective import JobsObjective
from solvers.bound import best_bound
from solvers.jobs.lower_bound_jobs import lower_bound_jobs
from solvers.jobs.solve_jobs import solve_jobs
from studies.online.measured_guarantee import measured_guarantee
from studies.paired_seed import paired_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import pandas as pd

    from heuristics.callback import Callback
    from heuristics.jobs.simulation import Simulation
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule
    from solvers.bound import Bound
    from solvers.jobs.jobs_result import JobsResult
    from studies.online.policy_entry import PolicyEntry


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OnlineInstance:
    """An instance of a study and where it stands in it.

    Parameters
    ----------
    instance
        What is scheduled.
    scenario
        Family or trace.
    load
        As asked for; None where nobody asked.
    """

    instance: JobsInstance
    scenario: str
    load: float | None = None


def generated_instances(
    family: str, *, loads: Sequence[float], seeds: Sequence[int], jobs: int, **options: Any
) -> list[OnlineInstance]:
    """Return instances of a family, at every load with every seed; the jobs of a seed are the same at all loads.

    Parameters
    ----------
    family, jobs, options
        As of `generate_jobs`.
    loads, seeds
        What varies.
    """
    return [
        OnlineInstance(
            instance=generate_jobs(family, jobs=jobs, seed=seed, load=load, **options), scenario=family, load=load
        )
        for load in loads
        for seed in seeds
    ]


def online_against_offline(
    instances: Sequence[OnlineInstance],
    entries: Sequence[PolicyEntry],
    *,
    objective: JobsObjective | str = JobsObjective.TOTAL_COMPLETION,
    exact: str | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
    on_run: Callable[[str, int, int], None] = lambda doing, done, total: None,
) -> pd.DataFrame:
    """Run every policy on every instance.

    Parameters
    ----------
    instances
        What is scheduled.
    entries
        Policies with their parameters.
    objective
        What is minimised.
    exact
        Exact method that proves the optimum, or a bound, of every instance first; None for the bounds without search.
    time_limit
        Seconds for that, on every instance.
    threads
        For that.
    seed
        Of the study: every policy gets the same seed on an instance.
    on_run
        Told of what goes on, of the runs done and of all runs.

    Returns
    -------
    pandas.DataFrame
        One row per instance and policy: the objective, JCT and other figures of `JobsStatistics` in ticks, the best
        proven bound and whether it is the optimum, the gap; for A-SRPT in its provable mode the constants and the upper
        bound of `measured_guarantee`.

    Raises
    ------
    ContradictionError
        If a schedule is below a proven bound; a reproducer file is left.
    RuntimeError
        If a run of A-SRPT is above its proved upper bound.
    """
    import pandas as pd

    objective = JobsObjective(objective)
    rows: list[dict[str, object]] = []
    total = len(instances) * len(entries)
    for item in instances:
        on_run(f"{item.instance.name}: bounding", len(rows), total)
        bounds = _bounds(item.instance, objective, exact, time_limit, threads)
        for entry in entries:
            on_run(f"{item.instance.name}: {entry.label}", len(rows), total)
            rows.append(_row(item, entry, objective, bounds, paired_seed(seed, item.instance)))
    on_run("done", total, total)
    return pd.DataFrame.from_records(rows)


def _bounds(
    instance: JobsInstance, objective: JobsObjective, exact: str | None, time_limit: float | None, threads: int
) -> list[Bound]:
    """Return the bounds without search and, if one is wanted, that of an exact method."""
    bounds = list(lower_bound_jobs(instance, objective=objective))
    if exact is not None:
        bounds += lower_bound_jobs(
            instance, objective=objective, methods=[exact], time_limit=time_limit, threads=threads
        )
    return bounds


def _row(
    item: OnlineInstance, entry: PolicyEntry, objective: JobsObjective, bounds: Sequence[Bound], seed: int
) -> dict[str, object]:
    """Run one policy on one instance."""
    instance, best = item.instance, best_bound(bounds)
    result, guarantee = _run(instance, entry, objective, bounds, seed)
    if guarantee is not None and result.objective is not None and result.objective > guarantee["upper_bound_floor"]:
        raise RuntimeError(
            f"{entry.label} on {instance.name}: expected at most {guarantee['upper_bound_floor']}, as is proved, "
            f"got {result.objective}."
        )
    figures = {} if result.statistics is None else result.statistics.to_dict()
    lower = None if best is None or not best.value else best.value
    return {
        "scenario": item.scenario,
        "load": load_factor(instance) if item.load is None else item.load,
        "instance": instance.name,
        "instance_sha256": instance.sha256,
        "num_jobs": instance.num_jobs,
        "num_gpus": instance.num_gpus,
        "tick_seconds": instance.tick_seconds,
        "label": entry.label,
        "method": entry.method,
        "parameters": ", ".join(f"{key}={value}" for key, value in entry.parameters.items()),
        "seed": seed,
        "objective_name": str(objective),
        "objective": result.objective,
        "lower_bound": lower,
        "bound_method": None if best is None else best.method,
        "is_optimum": best is not None and best.is_optimum,
        "gap": None if result.objective is None or lower is None else (result.objective - lower) / lower,
        **figures,
        "runtime_seconds": result.runtime_seconds,
        **{name: None if guarantee is None else guarantee[name] for name in GUARANTEE},
    }


GUARANTEE = ("mu1", "mu2", "rho", "gpus_over_free", "tau", "factor", "upper_bound")
"""Columns of the measured guarantee."""


def _run(
    instance: JobsInstance, entry: PolicyEntry, objective: JobsObjective, bounds: Sequence[Bound], seed: int
) -> tuple[JobsResult, dict[str, Any] | None]:
    """Solve; where something is proved about the policy, keep its log to measure the constants."""
    if not _has_guarantee(entry, objective):
        result = solve_jobs(instance, entry.method, objective=objective, seed=seed, bounds=bounds, **entry.parameters)
        return result, None
    chosen = {key: value for key, value in entry.parameters.items() if key in ("theta", "tau", "eps", "phi")}
    parameters = ASrptParameters.of(**{"theta": "3/2", "tau": "1/4", "eps": "1/50", "phi": None, **chosen})
    log: list[Simulation] = []

    def a_srpt_with_log(
        instance: JobsInstance, objective: JobsObjective, rng: np.random.Generator, callback: Callback
    ) -> JobsSchedule | None:
        simulation = run_policy(
            a_srpt_policy(instance, objective, parameters, "provable"),
            rng,
            callback,
            predictor=entry.parameters.get("predictor", "oracle"),
            predictor_parameters=entry.parameters.get("predictor_parameters"),
            phi=parameters.phi,
        )
        if simulation is None:
            return None
        log.append(simulation)
        return simulation.schedule

    result = solve_jobs(instance, a_srpt_with_log, objective=objective, seed=seed, bounds=bounds)
    guarantee = measured_guarantee(instance, log[0], tau=parameters.tau, phi=parameters.phi) if log else None
    if guarantee is None:
        return result, None
    floor = int(guarantee.upper_bound // Fraction(1))
    return result, {**guarantee.to_dict(), "upper_bound_floor": floor}


def _has_guarantee(entry: PolicyEntry, objective: JobsObjective) -> bool:
    """Say whether an upper bound is proved for an entry: A-SRPT, provable mode, Heavy-Edge, weights 1."""
    return (
        entry.method == "a-srpt"
        and objective is JobsObjective.TOTAL_COMPLETION
        and entry.parameters.get("mode", "provable") == "provable"
        and entry.parameters.get("placement", "heavy-edge") == "heavy-edge"
    )
