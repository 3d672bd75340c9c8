"""The verifier's own iteration times, term by term as the formula stands; nobody else calls them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.jobs.jobs_instance import JobsInstance

Placement = list[dict[int, int]]
"""For each stage of a job its replicas on each server that holds some."""


def verified_parts(instance: JobsInstance, job: int, stages: Placement) -> tuple[int, Fraction]:
    """Return comp(x) and comm(x) of a placement that is right, in ticks."""
    base = int(instance.stage_offsets[job])
    slowest = max(
        int(instance.time_of[base + stage, instance.server_kind[server]])
        for stage, placed in enumerate(stages)
        for server in placed
    )
    comp = (int(instance.micro_batches[job]) + len(stages) - 1) * slowest
    comm = Fraction(0)
    used = {server for placed in stages for server in placed}
    for server in used:
        bandwidth = Fraction(int(instance.nic_numerator[server]), int(instance.nic_denominator[server]))
        comm = max(comm, verified_bytes(instance, job, [placed.get(server, 0) for placed in stages]) / bandwidth)
    racks = instance.racks
    if racks is not None:
        rack_of = {server: int(racks.rack_of_server[server]) for server in used}
        for rack in set(rack_of.values()):
            if rack < 0:
                continue  # in no rack
            behind = {server for server in used if rack_of[server] == rack}
            counts = [sum(placed.get(server, 0) for server in behind) for placed in stages]
            bandwidth = Fraction(int(racks.uplink_numerator[rack]), int(racks.uplink_denominator[rack]))
            comm = max(comm, verified_bytes(instance, job, counts) / bandwidth)
    return comp, comm


def verified_bytes(instance: JobsInstance, job: int, counts: Sequence[int]) -> Fraction:
    """Return the bytes per iteration that leave servers which together hold so many replicas of each stage."""
    base, num_stages = int(instance.stage_offsets[job]), len(counts)
    leaving = Fraction(0)
    share = [Fraction(count, int(instance.replicas[base + stage])) for stage, count in enumerate(counts)]
    for stage in range(num_stages - 1):
        here, there = share[stage], share[stage + 1]
        activations = int(instance.activation_bytes[base + stage])
        leaving += activations * (here * (1 - there) + there * (1 - here))
    for stage in range(num_stages):
        if 0 < share[stage] < 1:
            replicas = int(instance.replicas[base + stage])
            leaving += Fraction(2 * (replicas - 1), replicas) * int(instance.parameter_bytes[base + stage])
    return leaving
