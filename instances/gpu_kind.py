"""What is known of a kind of GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_WIDER = {"fp8": "fp16", "fp16": "tf32", "tf32": "fp32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuKind:
    """Datasheet figures of one GPU; vendors' decimal units, memory in GiB of the nominal size.

    Parameters
    ----------
    name
        Vendor's name with the memory where several sizes exist, such as ``A100-40GB``.
    memory_bytes
        Nominal memory.
    memory_bandwidth
        Bytes per second.
    peak_flops
        Peak floating-point operations per second without sparsity, by precision (``fp64, fp32, tf32, fp16``, ...).
    pcie_bandwidth
        Bytes per second in one direction.
    nvlink_bandwidth
        Bytes per second in one direction over all links of the GPU, None without NVLink.
    nvlink_peers
        How many GPUs a group of NVLink joins: 2 for a bridge, None for any number.
    source
        The datasheet.
    """

    name: str
    memory_bytes: int
    memory_bandwidth: float
    peak_flops: Mapping[str, float]
    pcie_bandwidth: float
    nvlink_bandwidth: float | None
    nvlink_peers: int | None = None
    source: str

    def flops(self, precision: str) -> float:
        """Return the peak at a precision; where the GPU lacks it, at the best wider one.

        Raises
        ------
        ValueError
            If the precision is unknown, or the datasheet gives neither it nor a wider one.
        """
        known = precision
        while known not in self.peak_flops:
            if known not in _WIDER:
                known_here = ", ".join(self.peak_flops)
                raise ValueError(f"precision: expected one that {self.name} has ({known_here}), got {precision!r}.")
            known = _WIDER[known]
        return self.peak_flops[known]

    def roofline_seconds(
        self, flops: NDArray[np.float64], moved_bytes: NDArray[np.float64], *, precision: str, efficiency: float = 1.0
    ) -> NDArray[np.float64]:
        """Return the roofline time of tasks in seconds: the larger of computing and moving data.

        Parameters
        ----------
        flops, moved_bytes
            Work of each task, shape (n,).
        precision
            Of the arithmetic.
        efficiency
            Reached share of both peaks, in (0, 1].

        References
        ----------
        Williams, Waterman and Patterson (2009), Roofline, Communications of the ACM 52(4).
        """
        compute = np.asarray(flops, dtype=np.float64) / self.flops(precision)
        memory = np.asarray(moved_bytes, dtype=np.float64) / self.memory_bandwidth
        return np.maximum(compute, memory) / efficiency

    def work_from_seconds(
        self, seconds: NDArray[np.float64], *, precision: str, balance: NDArray[np.float64] | float = 1.0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the FLOPs and moved bytes whose roofline time on this GPU is the given time (the reverse).

        Parameters
        ----------
        seconds
            Measured time of each task, shape (n,).
        precision
            Of the arithmetic.
        balance
            Computing time over data time: above 1 the task is bound by arithmetic, below by memory. An assumption.
        """
        seconds, balance = np.asarray(seconds, dtype=np.float64), np.asarray(balance, dtype=np.float64)
        flops = seconds * self.flops(precision) * np.minimum(1.0, balance)
        moved_bytes = seconds * self.memory_bandwidth * np.minimum(1.0, 1.0 / balance)
        return flops, moved_bytes
