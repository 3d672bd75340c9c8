"""Servers as they are written by hand or follow from a cluster, and racks of servers behind one uplink each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.frozen_array import ReadOnly, free_texts, frozen_integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from instances.clusters.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsServer:
    """GPUs of one kind with one network interface; input of `JobsInstance.from_parts`, checked there.

    Parameters
    ----------
    kind
        Kind of its GPUs.
    nic_bytes_per_tick
        Bandwidth of the network interface in bytes per tick and direction, exact.
    name
        Free text; None stands for s0, s1, ...
    """

    kind: str
    gpus: int
    nic_bytes_per_tick: Fraction | int
    name: str | None = None


def jobs_servers(cluster: Cluster, tick_seconds: float) -> list[JobsServer]:
    """Return the servers with the bandwidth of their network interfaces in bytes per tick, exactly.

    Links inside a server do not count: traffic there is part of the times of stages. The length of a tick is taken as
    the decimal number that it is written as. Raises a `ValueError` if a server has GPUs of several kinds.
    """
    servers = []
    for server in cluster.servers:
        kinds = list(dict.fromkeys(kind.name for kind in server.kinds))
        if len(kinds) > 1:
            raise ValueError(
                f"cluster: expected one kind of GPU per server, got {' and '.join(kinds)} on {server.name}."
            )
        bandwidth = Fraction(repr(float(server.nic_bandwidth))) * Fraction(repr(float(tick_seconds)))
        servers.append(
            JobsServer(kind=kinds[0], gpus=len(server.kinds), nic_bytes_per_tick=bandwidth, name=server.name)
        )
    return servers


NO_RACK = -1
"""Rack of a server that stands in none: its traffic passes no uplink."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Racks(ReadOnly):
    """Which servers share an uplink; checked when it is made, read-only afterwards. `Racks.of` makes one by hand.

    What a job sends out of a rack passes its uplink and lengthens the iteration, see `iteration_time`. Uplinks are not
    shared between jobs in this model: each job sees the whole bandwidth.

    Parameters
    ----------
    names
        Free text, one per rack.
    rack_of_server
        Rack of each server, shape (servers,), int64; ``NO_RACK`` for none.
    uplink_numerator, uplink_denominator
        Bandwidth of each uplink in bytes per tick and direction as an exact fraction, shape (racks,) each, both at
        least 1; kept in lowest terms.

    Raises
    ------
    TypeError
        If an array does not hold integers, or a name is not text.
    ValueError
        If shapes do not agree, a value is out of range, or a rack has no server.
    """

    names: tuple[str, ...]
    rack_of_server: NDArray[np.int64]
    uplink_numerator: NDArray[np.int64]
    uplink_denominator: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Take private, read-only copies and check everything once."""
        object.__setattr__(self, "names", free_texts(self.names, place="racks[{}].name", length=len(self.names)))
        rack_of = frozen_integers(self.rack_of_server, place="servers[].rack", shape=(None,))
        object.__setattr__(self, "rack_of_server", rack_of)
        place, shape = "racks[].uplink_bytes_per_tick", (self.num_racks,)
        above = frozen_integers(self.uplink_numerator, place=place, shape=shape)
        below = frozen_integers(self.uplink_denominator, place=place, shape=shape)
        for rack in np.flatnonzero((above < 1) | (below < 1)):
            value = min(above[rack], below[rack])
            raise ValueError(f"racks[{rack}].uplink_bytes_per_tick: expected at least 1, got {value}.")
        divisor = np.gcd(above, below)
        for name, values in (("uplink_numerator", above), ("uplink_denominator", below)):
            object.__setattr__(self, name, frozen_integers(values // divisor, place=place, shape=shape))
        for server in np.flatnonzero((rack_of < NO_RACK) | (rack_of >= self.num_racks)):
            expected = f"a rack in 0..{self.num_racks - 1} or none"
            raise ValueError(f"servers[{server}].rack: expected {expected}, got {rack_of[server]}.")
        for empty in sorted(set(range(self.num_racks)) - set(rack_of.tolist())):
            raise ValueError(f"racks[{empty}]: expected at least one server, got none.")

    @classmethod
    def of(
        cls,
        rack_of_server: ArrayLike,
        uplink_bytes_per_tick: Sequence[Fraction | int],
        names: Sequence[str] | None = None,
    ) -> Racks:
        """Make racks by hand; names are r0, r1, ... where none are given. Raises as `Racks`."""
        uplinks = [Fraction(value) for value in uplink_bytes_per_tick]
        return cls(
            names=tuple(f"r{rack}" for rack in range(len(uplinks))) if names is None else tuple(names),
            rack_of_server=np.array(rack_of_server),
            uplink_numerator=np.array([value.numerator for value in uplinks], dtype=np.int64),
            uplink_denominator=np.array([value.denominator for value in uplinks], dtype=np.int64),
        )

    @property
    def num_racks(self) -> int:
        """Number of racks."""
        return len(self.names)

    def uplink_bytes_per_tick(self, rack: int) -> Fraction:
        """Return the bandwidth of an uplink."""
        return Fraction(int(self.uplink_numerator[rack]), int(self.uplink_denominator[rack]))
