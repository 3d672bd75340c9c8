"""Virtual SRPT: all GPUs as one machine, interrupted at will, the shortest remaining job first."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from formulations.jobs.bounds.preemptive_machine import served
from formulations.jobs.bounds.virtual_machine_jobs import VirtualMachineJobs

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective


def virtual_srpt(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return L1, rounded up: a lower bound on sum w C in ticks.

    With q[i] = g[i] d^lb[i] / G, L1 is the least sum of completion times of preemptive jobs of lengths q[i] on one
    machine of speed 1, which shortest remaining processing time first attains (Schrage 1968); in integers with releases
    r[i] G and lengths g[i] d^lb[i], divided by G at the end.

    Proof. Take any schedule and give job i the speed g[i] / G while it runs. At most G GPUs are busy, so the speeds sum
    to at most 1, and job i receives at least q[i] by C[i]. Served in time slices by earliest C[i], this is a preemptive
    one-machine schedule with completions of at most C[i]. Kinds enter through d^lb alone.

    Weights: with 0 = v_0 < v_1 < ... the different weights, sum w[i] C[i] = sum_l (v_l - v_(l-1)) (sum of C[i] over the
    jobs of weight at least v_l), and every layer has its bound of equal weights. With all weights 1 that is L1 itself;
    the layers are ours.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    jobs = VirtualMachineJobs.of(instance, objective)
    return -(-srpt_value(jobs) // 1)


def srpt_value(jobs: VirtualMachineJobs) -> Fraction:
    """Return L1 before rounding, in ticks, layer by layer of weight."""
    total, below = 0, 0
    for level in sorted(set(jobs.weight)):
        layer = jobs.part([job for job, weight in enumerate(jobs.weight) if weight >= level])
        total += (level - below) * sum(srpt_times(layer))
        below = level
    return Fraction(total, jobs.num_gpus)


def srpt_times(jobs: VirtualMachineJobs) -> list[int]:
    """Return the completion time of each job under shortest remaining processing time first, in 1 / G ticks."""
    times = [0] * len(jobs.release)
    for job, _, until in served(jobs.scaled_release, jobs.work, lambda _, left: left):
        times[job] = until
    return times
