"""A jobs instance as flat arrays for Numba kernels, with slow kinds of GPU left out on request."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from instances.jobs.instance import NOT_ALLOWED
from instances.jobs.iteration_time import gpus_of_kind
from instances.jobs.replicas_fit import replicas_fit
from instances.jobs.servers import NO_RACK

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance


def restricted_times(instance: JobsInstance, phi: Fraction | int | None) -> NDArray[np.int64]:
    """Return the time of every stage on every kind, ``NOT_ALLOWED`` where it is slower than phi times its fastest.

    A job that fits no longer on the empty servers keeps all its kinds. A restriction of policies, not of the problem:
    bounds know nothing of it.

    Parameters
    ----------
    phi
        At least 1, exact; None stands for infinity.

    Returns
    -------
    NDArray[np.int64]
        Ticks, shape (stages, kinds), read-only.

    Raises
    ------
    ValueError
        If `phi` is below 1.
    """
    if phi is None:
        return instance.time_of
    if phi < 1:
        raise ValueError(f"phi: expected at least 1, got {phi}.")
    times, capacity = instance.time_of.tolist(), gpus_of_kind(instance).tolist()
    limits = [phi * min(ticks for ticks in row if ticks > 0) for row in times]
    allowed = [[0 < ticks <= limit for ticks in row] for row, limit in zip(times, limits, strict=True)]
    keep = np.array(allowed, dtype=bool).reshape(instance.time_of.shape)
    for job in range(instance.num_jobs):
        rows = instance.stages_of(job)
        if not replicas_fit(instance.replicas[rows].tolist(), allowed[rows], capacity):
            keep[rows] = True
    restricted: NDArray[np.int64] = np.where(keep, instance.time_of, NOT_ALLOWED)
    restricted.flags.writeable = False
    return restricted


LARGEST = 2**62
"""No number that a kernel forms exceeds it; jobs whose numbers might are left to `plain_heavy_edge`."""

_MOST_KINDS = 62  # a set of kinds is a mask of bits


class JobsArrays(NamedTuple):
    """Everything a kernel needs; ticks and bytes as in `JobsInstance`.

    Bytes of a job are integers over the common denominator of the job, so that all sums and comparisons are exact.
    """

    server_kind: NDArray[np.int64]  # (servers,)
    num_gpus_of: NDArray[np.int64]  # (servers,)
    nic_numerator: NDArray[np.int64]  # (servers,)
    nic_denominator: NDArray[np.int64]  # (servers,)
    uplinks: NDArray[np.int64]  # (servers, 3): rack or -1, bandwidth of its uplink as a fraction; (0, 3) without racks
    gang_size: NDArray[np.int64]  # (jobs,)
    slots: NDArray[np.int64]  # (jobs,), Q + S - 1
    denominator: NDArray[np.int64]  # (jobs,), of the bytes below; 0 where 64 bits do not suffice
    stage_offsets: NDArray[np.int64]  # (jobs + 1,)
    replicas: NDArray[np.int64]  # (stages,)
    time_of: NDArray[np.int64]  # (stages, kinds), -1 where not allowed
    allowed_kinds: NDArray[np.int64]  # (stages,), mask of bits
    ring_bytes: NDArray[np.int64]  # (stages,), leave every server that has a part of the stage: 2 (k - 1) / k par
    ring_weight: NDArray[np.int64]  # (stages,), of an edge between neighbours in the ring; 0 where there is none
    cut_bytes: NDArray[np.int64]  # (stages,), between a replica and one of the next stage: act / (k k'); 0 at the last
    cut_weight: NDArray[np.int64]  # (stages,), of the edge between them: twice that
    threshold_offsets: NDArray[np.int64]  # (jobs + 1,)
    thresholds: NDArray[np.int64]  # distinct allowed times of each job, ascending


_KNOWN: WeakKeyDictionary[JobsInstance, dict[Fraction | int | None, JobsArrays]] = WeakKeyDictionary()


def jobs_arrays(instance: JobsInstance, phi: Fraction | int | None = None) -> JobsArrays:
    """Return the arrays of an instance; made once per instance and restriction, for instances never change.

    Parameters
    ----------
    phi
        At least 1: kinds that are more than `phi` times slower for a stage than its fastest are not allowed, see
        `restricted_times`. None: no restriction.

    Raises
    ------
    ValueError
        If there are more than 62 kinds, or `phi` is below 1.
    """
    known = _KNOWN.setdefault(instance, {})
    if phi not in known:
        known[phi] = _make(instance, phi)
    return known[phi]


def _make(instance: JobsInstance, phi: Fraction | int | None) -> JobsArrays:
    """Flatten the instance."""
    if instance.num_kinds > _MOST_KINDS:
        raise ValueError(f"kinds: expected at most {_MOST_KINDS}, got {instance.num_kinds}.")
    time_of = restricted_times(instance, phi)
    columns = np.zeros((4, len(instance.replicas)), dtype=np.int64)
    denominator = np.zeros(instance.num_jobs, dtype=np.int64)
    thresholds, threshold_offsets = [], [0]
    for job in range(instance.num_jobs):
        rows = instance.stages_of(job)
        denominator[job] = _scaled_bytes(instance, rows, columns[:, rows])
        thresholds += sorted({ticks for row in time_of[rows].tolist() for ticks in row if ticks > 0})
        threshold_offsets.append(len(thresholds))
    ring_bytes, ring_weight, cut_bytes, cut_weight = columns
    bits = np.left_shift(1, np.arange(instance.num_kinds, dtype=np.int64))
    return JobsArrays(
        server_kind=instance.server_kind,
        num_gpus_of=instance.num_gpus_of,
        nic_numerator=instance.nic_numerator,
        nic_denominator=instance.nic_denominator,
        uplinks=_uplinks(instance),
        gang_size=instance.gang_size,
        slots=instance.micro_batches + np.diff(instance.stage_offsets) - 1,
        denominator=denominator,
        stage_offsets=instance.stage_offsets,
        replicas=instance.replicas,
        time_of=time_of,
        allowed_kinds=np.where(time_of > 0, bits, 0).sum(axis=1).astype(np.int64),
        ring_bytes=ring_bytes,
        ring_weight=ring_weight,
        cut_bytes=cut_bytes,
        cut_weight=cut_weight,
        threshold_offsets=np.array(threshold_offsets, dtype=np.int64),
        thresholds=np.array(thresholds, dtype=np.int64),
    )


def _uplinks(instance: JobsInstance) -> NDArray[np.int64]:
    """Return rack and uplink of every server, nothing without racks."""
    racks = instance.racks
    if racks is None:
        return np.zeros((0, 3), dtype=np.int64)
    rows = []
    for rack in racks.rack_of_server.tolist():
        bandwidth = (1, 1) if rack == NO_RACK else racks.uplink_bytes_per_tick(rack).as_integer_ratio()
        rows.append([rack, *bandwidth])
    return np.array(rows, dtype=np.int64)


def _scaled_bytes(instance: JobsInstance, rows: slice, columns: NDArray[np.int64]) -> int:
    """Write the bytes of the stages of a job over a common denominator and return it, 0 if a kernel might overflow.

    With D the denominator, a server sends at most D * (sum act + sum 2 (k - 1) / k par) and a replica has edges of
    weight 4 D (sum act + sum par) at most, for at most two ring edges and 2 act / k of edges to either side meet in it.
    """
    k = instance.replicas[rows].tolist()
    act, par = instance.activation_bytes[rows].tolist(), instance.parameter_bytes[rows].tolist()
    scale = math.lcm(*(a * b for a, b in itertools.pairwise(k)), *k)
    most = 4 * scale * (sum(act) + sum(par))
    above, below = int(instance.nic_numerator.max()), int(instance.nic_denominator.max())
    if instance.racks is not None:
        above = max(above, int(instance.racks.uplink_numerator.max(initial=1)))
        below = max(below, int(instance.racks.uplink_denominator.max(initial=1)))
    if most * below > LARGEST or scale * above > LARGEST:
        return 0
    following = [*k[1:], 1]
    columns[0] = [2 * (a - 1) * b * (scale // a) for a, b in zip(k, par, strict=True)]
    columns[1] = [ring * (2 if a == 2 else 1) for a, ring in zip(k, columns[0].tolist(), strict=True)]
    columns[2] = [a * (scale // (b * c)) for a, b, c in zip(act, k, following, strict=True)]
    columns[3] = 2 * columns[2]
    return scale
