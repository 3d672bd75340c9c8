"""A server as it is written by hand, before it becomes a row of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsServer:
    """GPUs of one kind with one network interface; input of `JobsInstance.from_parts`, checked there.

    Parameters
    ----------
    kind
        Kind of its GPUs.
    gpus
        How many.
    nic_bytes_per_tick
        Bandwidth of the network interface in bytes per tick and direction, exact.
    name
        Free text; None stands for s0, s1, ...
    """

    kind: str
    gpus: int
    nic_bytes_per_tick: Fraction | int
    name: str | None = None
