"""The time of one iteration of a job under a placement, and its bounds over all placements; not for the verifier."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.replicas_fit import replicas_fit
from instances.jobs.servers import NO_RACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance


def iteration_time(instance: JobsInstance, job: int, placement: NDArray[np.int64]) -> Fraction:
    """Return alpha(x), the time of one iteration in ticks, exactly.

    Parameters
    ----------
    placement
        Replicas x[s,v] of each of its stages on each server, shape (stages of the job, servers).

    Returns
    -------
    Fraction
        ``comp(x) + comm(x)``.

    Raises
    ------
    ValueError
        If it is no placement of the job: its shape is another one, a count is negative, a stage has more or fewer
        replicas than the job asks for, or a kind is not allowed.

    Notes
    -----
    With p the time per micro-batch, k the replicas, u[s,v] = x[s,v] / k[s], Q micro-batches and S stages, ::

        t[s]     = max{ p[s,kind(v)] : x[s,v] > 0 }
        comp     = (Q + S - 1) * max_s t[s]
        bytes[v] = sum_{s<S} act[s] * ( u[s,v] (1 - u[s+1,v]) + u[s+1,v] (1 - u[s,v]) )
                   + sum_{s: 0 < x[s,v] < k[s]} 2 (k[s] - 1) / k[s] * par[s]
        comm     = max_v bytes[v] / B[v]

    With racks R, comm is the larger one of that and max_R bytes[R] / B[R], with x[s,R] = sum of x[s,v] over v in R in
    the place of x[s,v]: a rack is like a large server, its uplink like a network interface.

    Traffic inside a server is part of p. That a ring over n participants moves 2 (n - 1) / n times the bytes of one,
    and that activations count twice, is DAPPLE's planner (Fan et al. 2021, github AlibabaPAI/DAPPLE); the rest is a
    reconstruction of ours.
    """
    comp, comm = iteration_parts(instance, job, placement)
    return comp + comm


def iteration_parts(instance: JobsInstance, job: int, placement: NDArray[np.int64]) -> tuple[int, Fraction]:
    """Return comp(x) and comm(x), whose sum is alpha(x), in ticks; see `iteration_time`."""
    expected = (instance.num_stages_of(job), instance.num_servers)
    if placement.shape != expected:
        raise ValueError(f"placement: expected shape {expected}, got {placement.shape}.")
    servers = np.flatnonzero(placement.any(axis=0))
    return iteration_parts_on(instance, job, servers.tolist(), placement[:, servers].tolist())


def iteration_parts_on(
    instance: JobsInstance, job: int, servers: Sequence[int], counts: Sequence[Sequence[int]]
) -> tuple[int, Fraction]:
    """Return comp(x) and comm(x) of a placement that is given on some servers only.

    Parameters
    ----------
    instance, job
        As in `iteration_time`.
    servers
        Different servers, all that hold replicas among them.
    counts
        For each stage its replicas on each of these servers.

    Raises
    ------
    ValueError
        As `iteration_time`.
    """
    rows = instance.stages_of(job)
    replicas = instance.replicas[rows].tolist()
    kinds = [int(instance.server_kind[server]) for server in servers]
    times = instance.time_of[rows].tolist()
    slowest = 0
    for stage, row in enumerate(counts):
        if sum(row) != replicas[stage] or min(row, default=0) < 0:
            raise ValueError(f"placement[{stage}]: expected {replicas[stage]} replicas, got {list(row)}.")
        for kind, count in zip(kinds, row, strict=True):
            if count == 0:
                continue
            if times[stage][kind] < 0:
                raise ValueError(f"placement[{stage}]: expected allowed kinds, got {instance.kinds[kind]!r}.")
            slowest = max(slowest, times[stage][kind])
    comp = (int(instance.micro_batches[job]) + len(replicas) - 1) * slowest
    if sum(any(row[column] for row in counts) for column in range(len(servers))) == 1:
        return comp, Fraction(0)
    return comp, _communication(instance, job, servers, counts)


def bytes_leaving(instance: JobsInstance, job: int, columns: Iterable[Sequence[int]]) -> tuple[list[int], int]:
    """Return the bytes per iteration that leave servers, or groups of them, as integers over one denominator.

    Parameters
    ----------
    instance, job
        As in `iteration_time`.
    columns
        For each server or group the replicas of every stage there.
    """
    rows = instance.stages_of(job)
    k = instance.replicas[rows].tolist()
    act, par = instance.activation_bytes[rows].tolist(), instance.parameter_bytes[rows].tolist()
    denominator = math.lcm(*(a * b for a, b in itertools.pairwise(k)), *k)
    numerators = []
    for x in columns:
        numerator = 0
        for s in range(len(k)):
            if 0 < x[s] < k[s]:
                numerator += 2 * (k[s] - 1) * par[s] * (denominator // k[s])
            if s + 1 < len(k):
                crossing = x[s] * (k[s + 1] - x[s + 1]) + x[s + 1] * (k[s] - x[s])
                numerator += act[s] * crossing * (denominator // (k[s] * k[s + 1]))
        numerators.append(numerator)
    return numerators, denominator


def _communication(
    instance: JobsInstance, job: int, servers: Sequence[int], counts: Sequence[Sequence[int]]
) -> Fraction:
    """Return comm(x)."""
    columns: list[Sequence[int]] = list(zip(*counts, strict=True))
    bandwidths = [instance.nic_bytes_per_tick(server) for server in servers]
    if instance.racks is not None:
        behind: dict[int, list[Sequence[int]]] = {}
        for server, column in zip(servers, columns, strict=True):
            behind.setdefault(int(instance.racks.rack_of_server[server]), []).append(column)
        behind.pop(NO_RACK, None)
        for rack, own in behind.items():
            columns.append([sum(counts_of_stage) for counts_of_stage in zip(*own, strict=True)])
            bandwidths.append(instance.racks.uplink_bytes_per_tick(rack))
    numerators, denominator = bytes_leaving(instance, job, columns)
    comm = Fraction(0)
    for numerator, bandwidth in zip(numerators, bandwidths, strict=True):
        if numerator:
            comm = max(comm, Fraction(numerator, denominator) / bandwidth)
    return comm


def duration(instance: JobsInstance, job: int, placement: NDArray[np.int64]) -> int:
    """Return d(x) = ceil(n * alpha(x)), the duration of a job in ticks; see `iteration_time`."""
    return duration_for(int(instance.iterations[job]), iteration_time(instance, job, placement))


def duration_for(iterations: int, alpha: Fraction | int) -> int:
    """Return ceil(iterations * alpha) in ticks, exactly."""
    return math.ceil(iterations * alpha)


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

    Raises a `ValueError` if the job fits nowhere.
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
