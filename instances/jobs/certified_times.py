"""Iteration times and durations that no placement beats, or exceeds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.replicas_fit import replicas_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance


def fastest_kind_time(instance: JobsInstance, job: int) -> int:
    """Return a lower bound on alpha(x) over all placements x in ticks: every stage on its fastest kind.

    (Q + S - 1) * max_s min_h p[s,h], as t[s](x) >= min_h p[s,h] and comm(x) >= 0.
    """
    rows = instance.time_of[instance.stages_of(job)].tolist()
    slowest = max(min(ticks for ticks in row if ticks > 0) for row in rows)
    return _pipeline_slots(instance, job) * int(slowest)


def least_iteration_time(instance: JobsInstance, job: int) -> int:
    """Return alpha^lb, a lower bound on alpha(x) over all placements x in ticks, never below `fastest_kind_time`.

    (Q + S - 1) * T, where T is the smallest of the p[s,h] such that all replicas fit on the GPUs of the empty servers
    where stage s may only use kinds with p[s,h] <= T: a placement with max_s t[s](x) = T is such an assignment.

    Raises
    ------
    ValueError
        If the job fits nowhere.
    """
    rows = instance.time_of[instance.stages_of(job)].tolist()
    replicas = instance.replicas[instance.stages_of(job)].tolist()
    capacity = gpus_of_kind(instance).tolist()
    for threshold in sorted({ticks for row in rows for ticks in row if ticks > 0}):
        allowed = [[0 < ticks <= threshold for ticks in row] for row in rows]
        if all(map(any, allowed)) and replicas_fit(replicas, allowed, capacity):
            return _pipeline_slots(instance, job) * int(threshold)
    raise ValueError(f"jobs[{job}].stages: expected replicas that fit on allowed GPUs, got {replicas}.")


def largest_iteration_time(instance: JobsInstance, job: int) -> Fraction:
    """Return alpha^ub, an upper bound on alpha(x) over all placements x in ticks.

    (Q + S - 1) * (largest allowed p[s,h]) + (sum_{s<S} act[s] + sum_s 2 (k[s] - 1) / k[s] par[s]) / B, as
    u (1 - u') + u' (1 - u) <= 1 on the unit square; B is the least bandwidth of a network interface or uplink.
    """
    return _largest(instance, job, _slowest_link(instance))


def least_durations(instance: JobsInstance) -> NDArray[np.int64]:
    """Return d^lb = n * alpha^lb of every job in ticks, shape (jobs,): no placement makes a job shorter."""
    iterations = instance.iterations.tolist()
    values = [iterations[job] * least_iteration_time(instance, job) for job in range(instance.num_jobs)]
    return np.array(values, dtype=np.int64)


def largest_durations(instance: JobsInstance) -> list[int]:
    """Return ceil(n * alpha^ub) of every job in ticks, as integers of any size."""
    slowest = _slowest_link(instance)
    iterations = instance.iterations.tolist()
    return [-(-iterations[job] * _largest(instance, job, slowest) // 1) for job in range(instance.num_jobs)]


def gpus_of_kind(instance: JobsInstance) -> NDArray[np.int64]:
    """Return the number of GPUs of each kind, shape (kinds,)."""
    counts = np.zeros(instance.num_kinds, dtype=np.int64)
    np.add.at(counts, instance.server_kind, instance.num_gpus_of)
    return counts


def _slowest_link(instance: JobsInstance) -> Fraction:
    """Return the least bandwidth of a network interface or uplink."""
    links = list(map(instance.nic_bytes_per_tick, range(instance.num_servers)))
    if instance.racks is not None:
        links += map(instance.racks.uplink_bytes_per_tick, range(instance.racks.num_racks))
    return min(links)


def _pipeline_slots(instance: JobsInstance, job: int) -> int:
    """Return Q + S - 1."""
    return int(instance.micro_batches[job]) + instance.num_stages_of(job) - 1


def _largest(instance: JobsInstance, job: int, slowest_link: Fraction) -> Fraction:
    """Return alpha^ub."""
    rows = instance.stages_of(job)
    activations = sum(instance.activation_bytes[rows].tolist()[:-1])
    stages = zip(instance.replicas[rows].tolist(), instance.parameter_bytes[rows].tolist(), strict=True)
    rings = sum((Fraction(2 * (k - 1) * parameters, k) for k, parameters in stages), Fraction(0))
    comp = _pipeline_slots(instance, job) * int(instance.time_of[rows].max())
    return Fraction(comp + (activations + rings) / slowest_link)
