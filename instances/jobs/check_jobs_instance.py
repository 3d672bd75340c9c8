"""The checks that every jobs instance passes when it is made; messages name places as in the JSON file."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from instances.frozen_array import MAX_INTEGER
from instances.jobs.certified_times import gpus_of_kind, largest_durations
from instances.jobs.interference import FULL_SPEED
from instances.jobs.replicas_fit import replicas_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance


def check_jobs_instance(instance: JobsInstance) -> None:
    """Check values and references of an instance whose shapes are right.

    Raises
    ------
    ValueError
        If a value is out of range, a reference dangles, a job fits nowhere, or the times are too large for exact
        arithmetic.
    """
    if not np.isfinite(instance.tick_seconds) or instance.tick_seconds <= 0:
        raise ValueError(f"tick_seconds: expected a positive number, got {instance.tick_seconds}.")
    _check_servers(instance)
    _check_jobs(instance)
    _check_stages(instance)
    _check_fit(instance)
    _check_parts(instance)
    _check_horizon(instance)


def _check_servers(instance: JobsInstance) -> None:
    """Check servers and that the kinds are theirs, in order."""
    if instance.num_servers == 0:
        raise ValueError("servers: expected at least one server, got none.")
    for server in np.flatnonzero((instance.server_kind < 0) | (instance.server_kind >= instance.num_kinds)):
        kind = instance.server_kind[server]
        raise ValueError(f"servers[{server}].kind: expected a kind in 0..{instance.num_kinds - 1}, got {kind}.")
    if len(set(instance.kinds)) < instance.num_kinds:
        raise ValueError(f"kinds: expected each kind once, got {', '.join(instance.kinds)}.")
    seen = list(dict.fromkeys(instance.server_kind.tolist()))
    if seen != list(range(instance.num_kinds)):
        raise ValueError(
            f"kinds: expected the kinds of the servers in the order of the first server of each, got {instance.kinds}."
        )
    for name, place in (
        ("num_gpus_of", "gpus"),
        ("nic_numerator", "nic_bytes_per_tick"),
        ("nic_denominator", "nic_bytes_per_tick"),
    ):
        _check_at_least(getattr(instance, name), 1, f"servers[{{}}].{place}")
    total = sum(instance.num_gpus_of.tolist())
    if total > MAX_INTEGER:
        raise ValueError(f"servers: expected at most 2**53 GPUs together, got {total}.")


def _check_jobs(instance: JobsInstance) -> None:
    """Check what is said of jobs, and that each has its stages."""
    _check_at_least(instance.release, 0, "jobs[{}].release")
    _check_at_least(instance.weight, 1, "jobs[{}].weight")
    _check_at_least(instance.iterations, 1, "jobs[{}].iterations")
    _check_at_least(instance.micro_batches, 1, "jobs[{}].micro_batches")
    offsets = instance.stage_offsets
    for job in np.flatnonzero(np.diff(offsets) < 1):
        raise ValueError(f"jobs[{job}].stages: expected at least one stage, got {offsets[job + 1] - offsets[job]}.")
    if offsets[0] != 0 or offsets[-1] != len(instance.replicas):
        raise ValueError(f"jobs[].stages: expected offsets from 0 to {len(instance.replicas)}, got {offsets.tolist()}.")


def _check_stages(instance: JobsInstance) -> None:
    """Check what is said of stages."""
    for name, low in (("replicas", 1), ("activation_bytes", 0), ("parameter_bytes", 0)):
        values = getattr(instance, name)
        for stage in np.flatnonzero(values < low):
            raise ValueError(f"{_place(instance, stage)}.{name}: expected at least {low}, got {values[stage]}.")
    for stage, kind in np.argwhere((instance.time_of < -1) | (instance.time_of == 0)):
        ticks = instance.time_of[stage, kind]
        raise ValueError(f"{_place(instance, stage)}.times[{kind}]: expected at least 1 or not allowed, got {ticks}.")
    for stage in np.flatnonzero((instance.time_of < 0).all(axis=1)):
        raise ValueError(f"{_place(instance, stage)}.times: expected at least one allowed kind, got none.")
    lasts = instance.stage_offsets[1:] - 1
    for stage in lasts[instance.activation_bytes[lasts] != 0]:
        data = instance.activation_bytes[stage]
        raise ValueError(f"{_place(instance, stage)}.activation_bytes: expected 0 at the last stage, got {data}.")


def _check_fit(instance: JobsInstance) -> None:
    """Check that every job has a placement on empty servers."""
    total, capacity = instance.num_gpus, gpus_of_kind(instance).tolist()
    replicas, allowed = instance.replicas.tolist(), (instance.time_of > 0).tolist()
    offsets = instance.stage_offsets.tolist()
    for job, (first, last) in enumerate(itertools.pairwise(offsets)):
        gang = sum(replicas[first:last])
        if gang > total:
            raise ValueError(f"jobs[{job}].stages: expected at most {total} replicas, one per GPU, got {gang}.")
        if not replicas_fit(replicas[first:last], allowed[first:last], capacity):
            raise ValueError(
                f"jobs[{job}].stages: expected replicas that fit on GPUs of allowed kinds, got {replicas[first:last]}."
            )


def _check_parts(instance: JobsInstance) -> None:
    """Check that interference and racks speak of these jobs and servers."""
    if instance.interference is not None and instance.interference.num_jobs != instance.num_jobs:
        got = instance.interference.num_jobs
        raise ValueError(f"jobs[].use: expected {instance.num_jobs} entries, one per job, got {got}.")
    if instance.racks is not None and len(instance.racks.rack_of_server) != instance.num_servers:
        got = len(instance.racks.rack_of_server)
        raise ValueError(f"servers[].rack: expected {instance.num_servers} entries, one per server, got {got}.")


def _check_horizon(instance: JobsInstance) -> None:
    """Check that one job after the other ends by 2**53 ticks, wherever they are placed, and as slow as can be."""
    if instance.num_jobs == 0:
        return
    latest, weights = int(instance.release.max()), max(sum(instance.weight.tolist()), 1)
    slowest = 1 if instance.interference is None else FULL_SPEED  # the least speed is 1 per mille
    estimate = latest + slowest * _estimated_work(instance)
    if estimate < MAX_INTEGER / 2 and estimate * weights < 2.0**61:
        return  # far from the limits: the exact value need not be known
    horizon = latest + slowest * sum(largest_durations(instance))
    if horizon > MAX_INTEGER:
        raise ValueError(f"jobs: expected a horizon of at most 2**53 ticks, got {horizon}; use longer ticks.")
    if horizon * weights > 2**62:
        raise ValueError(f"jobs: expected weights whose sum times the horizon of {horizon} ticks is below 2**62.")


def _estimated_work(instance: JobsInstance) -> float:
    """Return the sum of the largest durations in floating point, which is fast and right to many digits."""
    first, replicas = instance.stage_offsets[:-1], instance.replicas.astype(np.float64)
    rings = 2.0 * (replicas - 1.0) / replicas * instance.parameter_bytes
    data = np.add.reduceat(instance.activation_bytes + rings, first)
    slowest = np.maximum.reduceat(instance.time_of.max(axis=1).astype(np.float64), first)
    steps = instance.micro_batches.astype(np.float64) + np.diff(instance.stage_offsets) - 1.0
    bandwidth = (instance.nic_numerator / instance.nic_denominator).min()
    if instance.racks is not None and instance.racks.num_racks:
        bandwidth = min(bandwidth, (instance.racks.uplink_numerator / instance.racks.uplink_denominator).min())
    comm = data / bandwidth
    return float((instance.iterations * (steps * slowest + comm) + 1.0).sum())


def _check_at_least(values: NDArray[np.int64], low: int, place: str) -> None:
    """Check that all values are at least `low`."""
    for index in np.flatnonzero(values < low):
        raise ValueError(f"{place.format(index)}: expected at least {low}, got {values[index]}.")


def _place(instance: JobsInstance, stage: int | np.integer) -> str:
    """Return where a stage stands in the file."""
    job = int(np.searchsorted(instance.stage_offsets, stage, side="right")) - 1
    return f"jobs[{job}].stages[{stage - instance.stage_offsets[job]}]"
