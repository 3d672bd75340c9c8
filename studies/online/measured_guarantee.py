"""The upper bound that is proved for A-SRPT in its provable mode, with constants measured after the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from formulations.jobs.bounds.virtual_machine_jobs import VirtualMachineJobs
from formulations.jobs.bounds.virtual_srpt import srpt_value
from heuristics.jobs.restricted_times import restricted_times
from instances.jobs.certified_times import gpus_of_kind, least_durations
from instances.jobs.jobs_objective import JobsObjective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heuristics.jobs.simulation import Simulation
    from instances.jobs.jobs_instance import JobsInstance


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
    factor
        mu2 (1 + tau + mu1 rho G / b) + rho: sum C is at most this times the optimum plus the number of jobs.
    upper_bound
        mu2 (1 + tau + mu1 rho G / b) SRPT(q) + rho sum d^lb + number of jobs, in ticks: sum C is never above it.
    """

    mu1: Fraction
    mu2: Fraction
    rho: Fraction
    gpus_over_free: Fraction
    tau: Fraction
    factor: Fraction
    upper_bound: Fraction

    def to_dict(self) -> dict[str, float]:
        """Return the values as floats, for tables."""
        return {name: float(value) for name, value in asdict(self).items()}


def measured_guarantee(
    instance: JobsInstance, simulation: Simulation, *, tau: Fraction, phi: Fraction | None = None
) -> MeasuredGuarantee | None:
    """Return the guarantee of a run of A-SRPT in its provable mode on total completion.

    The theorem is ours, not the paper's. Its conditions: provable mode, Heavy-Edge, weights 1, tau and phi as given,
    and no interference: a job that runs is not slowed down by others.

    Parameters
    ----------
    instance
        What was scheduled.
    simulation
        The run.
    tau, phi
        Parameters of the policy.

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
    order = mu2 * (1 + tau + mu1 * rho * over)
    srpt = srpt_value(VirtualMachineJobs.of(instance, JobsObjective.TOTAL_COMPLETION))
    return MeasuredGuarantee(
        mu1=mu1,
        mu2=mu2,
        rho=rho,
        gpus_over_free=over,
        tau=tau,
        factor=order + rho,
        upper_bound=order * srpt + rho * sum(least) + instance.num_jobs,
    )


def _common_gpus(instance: JobsInstance, phi: Fraction | None) -> list[int]:
    """Return for each job |E|, the GPUs of kinds that the policy allows for every one of its stages."""
    allowed = restricted_times(instance, phi) > 0
    capacity = gpus_of_kind(instance)
    return [int(capacity[allowed[instance.stages_of(job)].all(axis=0)].sum()) for job in range(instance.num_jobs)]


def _largest_ratio(above: Sequence[int], below: Sequence[int]) -> Fraction:
    """Return the largest quotient, at least 1."""
    return max(Fraction(1), *(Fraction(a, b) for a, b in zip(above, below, strict=True)))
