"""Running a method on jobs together with whatever more is known of its run than its schedule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import wraps
from typing import TYPE_CHECKING, Any

from formulations.jobs.bounds.single_machine import VirtualMachineJobs, srpt_value
from heuristics.jobs.placements.arrays import restricted_times
from heuristics.jobs.policies.a_srpt import a_srpt
from heuristics.jobs.policies.guided_policy import exact
from instances.jobs.iteration_time import gpus_of_kind, iteration_parts, least_durations
from instances.jobs.objective import JobsObjective
from solvers.run.contradiction import raise_contradiction
from solvers.solve import solve
from studies.experiment.checked_method import AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from heuristics.jobs.marl.environment import AgentsRun
    from heuristics.jobs.simulator import Simulation
    from heuristics.search.progress import Callback
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule
    from solvers.result import Result


def solve_with_figures(
    instance: JobsInstance,
    method: str | Callable[..., JobsSchedule | None],
    *,
    parameters: Mapping[str, Any],
    **options: Any,
) -> tuple[Result[JobsInstance, JobsSchedule], dict[str, float]]:
    """Run `solve`, and return what is proved about the run, or what its agents did, beside the result.

    What is known are the fields of `MeasuredGuarantee` or `AgentsFigures`; no fields where neither is known. Raises as
    `solve_with_guarantee`.
    """
    if method != AGENTS:
        result, guarantee = solve_with_guarantee(instance, method, parameters=parameters, **options)
        return result, {} if guarantee is None else guarantee.to_dict()
    from heuristics.jobs.marl.policy import marl, marl_run

    log: list[AgentsRun] = []

    @wraps(marl)
    def with_log(
        instance: JobsInstance, rng: np.random.Generator, callback: Callback | None = None, **named: Any
    ) -> JobsSchedule | None:
        run = marl_run(instance, rng, callback, **named)
        if run is None:
            return None
        log.append(run)
        return run.simulation.schedule

    result, _ = solve_with_guarantee(instance, with_log, parameters=parameters, **options)
    figures = agents_figures(log[0]) if log else None
    return result, {} if figures is None else figures.to_dict()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsFigures:
    """Counts of one run.

    Parameters
    ----------
    num_decisions
        Decisions with more than one possible action; the only action is taken without asking.
    num_rounds
        Ticks with an arrival or completion, up to the last start.
    """

    num_agents: int
    num_decisions: int
    num_rounds: int
    forwards_mean: float

    def to_dict(self) -> dict[str, float]:
        """Return the fields for JSON."""
        return asdict(self)


def agents_figures(run: AgentsRun) -> AgentsFigures | None:
    """Return the counts of a run; None without jobs."""
    forwards = run.rounds.num_forwards
    if not len(forwards):
        return None
    return AgentsFigures(
        num_agents=run.rounds.num_agents,
        num_decisions=run.rounds.num_decisions,
        num_rounds=run.simulation.num_dispatches,
        forwards_mean=float(forwards.mean()),
    )


def solve_with_guarantee(
    instance: JobsInstance,
    method: str | Callable[..., JobsSchedule | None],
    *,
    objective: JobsObjective | str = JobsObjective.TOTAL_COMPLETION,
    seed: int = 0,
    parameters: Mapping[str, Any],
    **options: Any,
) -> tuple[Result[JobsInstance, JobsSchedule], MeasuredGuarantee | None]:
    """Run `solve`, and measure the guarantee of the run where there is one.

    The guarantee is None where nothing is proved about the run. Raises a `ContradictionError` if the run is above its
    proved upper bound, or as `solve`; a reproducer file is left.
    """
    objective = JobsObjective(objective)
    if not has_guarantee(method, parameters, objective):
        return solve(instance, method, objective=objective, seed=seed, **options, **parameters), None
    log: list[Simulation] = []

    @wraps(a_srpt)
    def with_log(*arguments: Any, **named: Any) -> JobsSchedule | None:
        simulation = a_srpt.simulation(*arguments, **named)
        if simulation is None:
            return None
        log.append(simulation)
        return simulation.schedule

    result = solve(instance, with_log, objective=objective, seed=seed, **options, **parameters)
    if result.objective is None or not log:
        return result, None
    tau, speed = exact("tau", parameters.get("tau", "1/4"), 0), exact("speed", parameters.get("speed", 1), 0)
    phi = None if parameters.get("phi") is None else exact("phi", parameters["phi"], 1)
    is_overtaking = parameters.get("mode") == "overtaking"
    patience = exact("patience", parameters.get("patience", 4), 0) if is_overtaking else Fraction(0)
    guarantee = measured_guarantee(instance, log[0], tau=tau, phi=phi, patience=patience, speed=speed)
    if guarantee is not None and result.objective > guarantee.upper_bound:
        proved, found = f"at most {int(guarantee.upper_bound)}", f"a schedule of {result.objective}"
        raise_contradiction(
            instance,
            f"a-srpt on {instance.name!r}: expected {proved}, as is proved, got {found}.",
            schedule=result.schedule,
            claims={"measured_guarantee": proved, "a-srpt": found},
            evidence={"parameters": {key: str(value) for key, value in parameters.items()}, "seed": seed}
            | {name: float(value) for name, value in guarantee.to_dict().items()},
        )
    return result, guarantee


def has_guarantee(method: object, parameters: Mapping[str, Any], objective: JobsObjective) -> bool:
    """Say whether an upper bound is proved for a method: A-SRPT, provable or overtaking, Heavy-Edge, weights 1."""
    return (
        method == "a-srpt"
        and JobsObjective(objective) is JobsObjective.TOTAL_COMPLETION
        and parameters.get("mode", "provable") in ("provable", "overtaking")
        and parameters.get("placement", "heavy-edge") == "heavy-edge"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredGuarantee:
    """Constants of one run and the right-hand side that they give, exact.

    Parameters
    ----------
    mu1, mu2
        q / mu1 <= p <= mu2 q for all jobs, q the virtual lengths with true iterations and the shortest iterations of
        any placement, p those of the policy: error of the predictions and of alpha^min together. Both at least 1.
    rho
        Largest duration over the shortest that any placement could have.
    gpus_over_free
        G / b, b the least number of GPUs that are busy while a job is blocked.
    tau
        Longest hold over virtual length.
    delay
        patience nu, nu the largest duration over the one that was predicted when the job started, at least 1: time lost
        to jobs that overtake, over virtual completion. 0 where nobody overtakes.
    factor
        order + rho, order = mu2 max(1, 1 / speed) (1 + delay + speed (tau + mu1 rho G / b)) and the speed that of the
        virtual machine: sum C is at most this times the optimum plus the number of jobs.
    upper_bound
        order SRPT(q) + rho sum d^lb + number of jobs, in ticks: sum C is never above.
    """

    mu1: Fraction
    mu2: Fraction
    rho: Fraction
    gpus_over_free: Fraction
    tau: Fraction
    delay: Fraction
    factor: Fraction
    upper_bound: Fraction

    def to_dict(self) -> dict[str, float]:
        """Return the values as floats, for tables."""
        return {name: float(value) for name, value in asdict(self).items()}


def measured_guarantee(
    instance: JobsInstance,
    simulation: Simulation,
    *,
    tau: Fraction,
    phi: Fraction | None = None,
    patience: Fraction = Fraction(0),
    speed: Fraction = Fraction(1),
) -> MeasuredGuarantee | None:
    """Return the guarantee of a run of A-SRPT in its provable or overtaking mode on total completion.

    The theorem is ours, not the paper's. Its conditions: one of these modes, Heavy-Edge, weights 1, tau, phi,
    speed and patience as given (0 in the provable mode), and no interference: a job that runs is not slowed down by
    others.

    Returns
    -------
    MeasuredGuarantee or None
        None without jobs, under interference, or where b < 1: some job may use fewer GPUs of kinds common to all its
        stages than it needs, and nothing is proved.
    """
    if instance.num_jobs == 0 or instance.interference is not None or simulation.virtual_work is None:
        return None
    least = least_durations(instance).tolist()
    gang = instance.gang_size.tolist()
    work = [g * d for g, d in zip(gang, least, strict=True)]
    common = _common_gpus(instance, phi)
    b = min(e - g + 1 for e, g in zip(common, gang, strict=True))
    if b < 1:
        return None
    durations = (simulation.completion - simulation.schedule.start).tolist()
    mu1, mu2 = _largest_ratio(work, simulation.virtual_work), _largest_ratio(simulation.virtual_work, work)
    rho = _largest_ratio(durations, least)
    over = Fraction(instance.num_gpus, b)
    delay = patience * _largest_ratio(durations, _predicted_durations(instance, simulation)) if patience else patience
    order = mu2 * max(Fraction(1), 1 / speed) * (1 + delay + speed * (tau + mu1 * rho * over))
    srpt = srpt_value(VirtualMachineJobs.of(instance, JobsObjective.TOTAL_COMPLETION))
    return MeasuredGuarantee(
        mu1=mu1,
        mu2=mu2,
        rho=rho,
        gpus_over_free=over,
        tau=tau,
        delay=delay,
        factor=order + rho,
        upper_bound=order * srpt + rho * sum(least) + instance.num_jobs,
    )


def _predicted_durations(instance: JobsInstance, simulation: Simulation) -> list[int]:
    """Return the duration of every job under its placement with its predicted iterations, in ticks."""
    assert simulation.prediction is not None  # A-SRPT asks for them
    schedule, predicted = simulation.schedule, simulation.prediction.tolist()
    alphas = [sum(iteration_parts(instance, job, schedule.placement(instance, job))) for job in range(len(predicted))]
    return [-(-count * alpha // 1) for count, alpha in zip(predicted, alphas, strict=True)]


def _common_gpus(instance: JobsInstance, phi: Fraction | None) -> list[int]:
    """Return for each job |E|, the GPUs of kinds that the policy allows for every one of its stages."""
    allowed = restricted_times(instance, phi) > 0
    capacity = gpus_of_kind(instance)
    return [int(capacity[allowed[instance.stages_of(job)].all(axis=0)].sum()) for job in range(instance.num_jobs)]


def _largest_ratio(above: Sequence[int], below: Sequence[int]) -> Fraction:
    """Return the largest quotient, at least 1."""
    return max(Fraction(1), *(Fraction(a, b) for a, b in zip(above, below, strict=True)))
