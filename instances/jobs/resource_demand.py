"""What a placed job asks of its servers, and how sensitive it is to getting less."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from instances.jobs.interference import FULL_SPEED
from instances.jobs.iteration_time import bytes_leaving, iteration_parts_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.jobs.jobs_instance import JobsInstance

Amount = int | Fraction
"""Per mille, exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDemand:
    """The demand of one job under one placement, exact.

    Parameters
    ----------
    servers
        That hold replicas of it.
    own
        For each of them own[z], what the job asks there of each resource, in per mille of the server's capacity.
    sens
        Per mille of its iteration that is bound by each resource; at most 1000 together.
    """

    servers: tuple[int, ...]
    own: tuple[tuple[Amount, ...], ...]
    sens: tuple[Amount, ...]


def resource_demand(
    instance: JobsInstance, job: int, servers: Sequence[int], counts: Sequence[Sequence[int]]
) -> ResourceDemand:
    """Return the demand of a job: section 2 of the reference, a reconstruction of ours.

    own[v,z] = use[z] times the replicas on v, and sens[z] is that of the job. For the resource ``nic`` ::

        own[v,nic] = 1000 bytes[v] / (B[v] alpha(x))         sens[nic] = 1000 comm(x) / alpha(x)

    and if all sens together then exceed 1000, the others are multiplied by (1000 - sens[nic]) / their sum.

    Parameters
    ----------
    instance
        What is scheduled, with interference.
    job
        Whose demand.
    servers
        Different servers, those that hold replicas.
    counts
        For each stage its replicas on each of them.

    Raises
    ------
    ValueError
        If it is no placement of the job, or the instance has no interference.
    """
    interference = instance.interference
    if interference is None:
        raise ValueError("interference: expected an instance with interference, got one without.")
    use: list[int] = interference.use[job].tolist()
    sens: list[Amount] = interference.sens[job].tolist()
    own: list[list[Amount]] = []
    for position in range(len(servers)):
        number = sum(row[position] for row in counts)
        own.append([amount * number for amount in use])
    nic = interference.nic
    if nic is not None:
        comp, comm = iteration_parts_on(instance, job, servers, counts)
        if comm:  # otherwise the columns are 0 already
            alpha = comp + comm
            sent, denominator = bytes_leaving(instance, job, list(zip(*counts, strict=True)))
            for row, server, leaving in zip(own, servers, sent, strict=True):
                row[nic] = FULL_SPEED * leaving / (denominator * instance.nic_bytes_per_tick(server) * alpha)
            share, others = FULL_SPEED * comm / alpha, sum(sens)
            if share + others > FULL_SPEED:
                sens = [amount * (FULL_SPEED - share) / others for amount in sens]
            sens[nic] = share
    return ResourceDemand(servers=tuple(servers), own=tuple(map(tuple, own)), sens=tuple(sens))
