"""What is known of a kind of GPU, and the datasheet figures of the kinds that this package knows by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from instances.fields import one_of

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
        The vendor's document that the figures are taken from.
    looked_up
        Which figures were compared in November 2026 with what others publish of the GPU, and where; the vendor's
        documents themselves could not be opened then.
    """

    name: str
    memory_bytes: int
    memory_bandwidth: float
    peak_flops: Mapping[str, float]
    pcie_bandwidth: float
    nvlink_bandwidth: float | None
    nvlink_peers: int | None = None
    source: str
    looked_up: str = "not verified"

    def flops(self, precision: str) -> float:
        """Return the peak at a precision; where the GPU lacks it, at the best wider one.

        Raises a `ValueError` if the precision is unknown, or the datasheet gives neither it nor a wider one.
        """
        known = precision
        while known not in self.peak_flops:
            if known not in _WIDER:
                known_here = ", ".join(self.peak_flops)
                raise ValueError(f"precision: expected one that {self.name} has ({known_here}), got {precision!r}.")
            known = _WIDER[known]
        return self.peak_flops[known]

    def roofline_seconds(
        self,
        flops: NDArray[np.float64],
        moved_bytes: NDArray[np.float64],
        *,
        precision: str,
        efficiency: NDArray[np.float64] | float = 1.0,
    ) -> NDArray[np.float64]:
        """Return the roofline time of tasks in seconds: the larger of computing and moving data.

        Parameters
        ----------
        flops, moved_bytes
            Work of each task, shape (n,).
        efficiency
            Reached share of both peaks, in (0, 1], of all tasks or of each.

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
        balance
            Computing time over data time: above 1 the task is bound by arithmetic, below by memory. An assumption.
        """
        seconds, balance = np.asarray(seconds, dtype=np.float64), np.asarray(balance, dtype=np.float64)
        flops = seconds * self.flops(precision) * np.minimum(1.0, balance)
        moved_bytes = seconds * self.memory_bandwidth * np.minimum(1.0, 1.0 / balance)
        return flops, moved_bytes


GIB = 2**30
GIGA = 1e9
TERA = 1e12

PCIE_3 = 15.75e9
"""PCIe 3.0 with 16 lanes in bytes per second, one direction: 8 GT/s, 128b/130b."""

PCIE_4 = 31.5e9
"""PCIe 4.0 with 16 lanes, one direction."""

PCIE_5 = 63e9
"""PCIe 5.0 with 16 lanes, one direction."""

_V100 = GpuKind(
    name="V100-16GB",
    memory_bytes=16 * GIB,
    memory_bandwidth=900 * GIGA,
    peak_flops={"fp64": 7.8 * TERA, "fp32": 15.7 * TERA, "fp16": 125 * TERA},
    pcie_bandwidth=PCIE_3,
    nvlink_bandwidth=150 * GIGA,
    source="NVIDIA V100 datasheet (January 2020), SXM2 16 GB; NVLink 300 GB/s in both directions",
    looked_up="memory, bandwidth and peaks agree with hmc-tech.com and sysrqmts.com (897 GB/s); NVLink not verified",
)

_A100 = GpuKind(
    name="A100-40GB",
    memory_bytes=40 * GIB,
    memory_bandwidth=1555 * GIGA,
    peak_flops={"fp64": 19.5 * TERA, "fp32": 19.5 * TERA, "tf32": 156 * TERA, "fp16": 312 * TERA},
    pcie_bandwidth=PCIE_4,
    nvlink_bandwidth=300 * GIGA,
    source="NVIDIA A100 datasheet, SXM4 40 GB; fp64 of the tensor cores; NVLink 600 GB/s in both directions",
    looked_up="all agree with glennklockwood.com, which cites the datasheet, and with Paderborn's PC2",
)

_H100 = GpuKind(
    name="H100",
    memory_bytes=80 * GIB,
    memory_bandwidth=3350 * GIGA,
    peak_flops={
        "fp64": 67 * TERA,
        "fp32": 67 * TERA,
        "tf32": 494.5 * TERA,
        "fp16": 989.5 * TERA,
        "fp8": 1979 * TERA,
    },
    pcie_bandwidth=PCIE_5,
    nvlink_bandwidth=450 * GIGA,
    source="NVIDIA H100 datasheet, SXM5 80 GB; fp64 of the tensor cores; tf32, fp16, fp8 are given with sparsity "
    "(989, 1979, 3958 TFLOPS) and halved here; NVLink 900 GB/s in both directions",
    looked_up="all agree with glennklockwood.com within 0.2 %",
)

_KINDS = (
    GpuKind(
        name="K80",  # one of the two GPUs of a board: half of the board's figures
        memory_bytes=12 * GIB,
        memory_bandwidth=240 * GIGA,
        peak_flops={"fp64": 1.455 * TERA, "fp32": 4.365 * TERA},
        pcie_bandwidth=PCIE_3,  # both GPUs share the lanes of the board; either alone reaches this
        nvlink_bandwidth=None,
        source="NVIDIA Tesla K80 datasheet: 2.91 and 8.73 TFLOPS with GPU Boost, 24 GB and 480 GB/s per board",
        looked_up="memory, bandwidth and peaks agree with hardwareluxx.de and anandtech.com (2014)",
    ),
    GpuKind(
        name="P100",
        memory_bytes=16 * GIB,
        memory_bandwidth=732 * GIGA,
        peak_flops={"fp64": 4.7 * TERA, "fp32": 9.3 * TERA, "fp16": 18.7 * TERA},
        pcie_bandwidth=PCIE_3,
        nvlink_bandwidth=None,
        source="NVIDIA Tesla P100 for PCIe-based servers datasheet, 16 GB",
        looked_up="memory and bandwidth agree with sysrqmts.com, peaks with tech4gamers.com (2016)",
    ),
    _V100,
    replace(
        _V100,
        name="V100-32GB",
        memory_bytes=32 * GIB,
        source="NVIDIA V100 datasheet (January 2020), SXM2 32 GB; NVLink 300 GB/s in both directions",
    ),
    GpuKind(
        name="T4",
        memory_bytes=16 * GIB,
        memory_bandwidth=300 * GIGA,
        peak_flops={"fp32": 8.1 * TERA, "fp16": 65 * TERA},
        pcie_bandwidth=PCIE_3,
        nvlink_bandwidth=None,
        source="NVIDIA T4 datasheet",
        looked_up="memory and peaks agree with hmc-tech.com; sysrqmts.com and NeuSight say 320 GB/s",
    ),
    GpuKind(
        name="RTX-2080-Ti",
        memory_bytes=11 * GIB,
        memory_bandwidth=616 * GIGA,
        peak_flops={"fp32": 13.4 * TERA, "fp16": 53.8 * TERA},
        pcie_bandwidth=PCIE_3,
        nvlink_bandwidth=50 * GIGA,
        nvlink_peers=2,  # a bridge
        source="NVIDIA Turing GPU Architecture whitepaper, RTX 2080 Ti reference; fp16 tensor with fp32 accumulation; "
        "NVLink 100 GB/s in both directions",
        looked_up="memory, bandwidth and fp32 agree with gpu.spicedreamphone.com; fp16 and NVLink not verified",
    ),
    GpuKind(
        name="A10",
        memory_bytes=24 * GIB,
        memory_bandwidth=600 * GIGA,
        peak_flops={"fp32": 31.2 * TERA, "tf32": 62.5 * TERA, "fp16": 125 * TERA},
        pcie_bandwidth=PCIE_4,
        nvlink_bandwidth=None,
        source="NVIDIA A10 datasheet",
        looked_up="memory, bandwidth and fp32 agree with sysrqmts.com and baseten.co; tf32 and fp16 not verified",
    ),
    GpuKind(
        name="A40",
        memory_bytes=48 * GIB,
        memory_bandwidth=696 * GIGA,
        peak_flops={"fp32": 37.4 * TERA, "tf32": 74.8 * TERA, "fp16": 149.7 * TERA},
        pcie_bandwidth=PCIE_4,
        nvlink_bandwidth=56.25 * GIGA,
        nvlink_peers=2,  # a bridge
        source="NVIDIA A40 datasheet; NVLink 112.5 GB/s in both directions",
        looked_up="all agree with ecer.com, which repeats the datasheet's table",
    ),
    _A100,
    replace(
        _A100,
        name="A100-80GB",
        memory_bytes=80 * GIB,
        memory_bandwidth=2039 * GIGA,
        source="NVIDIA A100 datasheet, SXM4 80 GB; fp64 of the tensor cores; NVLink 600 GB/s in both directions",
    ),
    GpuKind(
        name="L4",
        memory_bytes=24 * GIB,
        memory_bandwidth=300 * GIGA,
        peak_flops={"fp32": 30.3 * TERA, "tf32": 60 * TERA, "fp16": 121 * TERA, "fp8": 242.5 * TERA},
        pcie_bandwidth=PCIE_4,
        nvlink_bandwidth=None,
        source="NVIDIA L4 datasheet; tensor figures are given with sparsity (120, 242, 485 TFLOPS) and halved here",
        looked_up="all but fp16 agree with store.sourcecode.com and fpsbench.com; fp16 not verified",
    ),
    GpuKind(
        name="L40S",
        memory_bytes=48 * GIB,
        memory_bandwidth=864 * GIGA,
        peak_flops={"fp32": 91.6 * TERA, "tf32": 183 * TERA, "fp16": 362.05 * TERA, "fp8": 733 * TERA},
        pcie_bandwidth=PCIE_4,
        nvlink_bandwidth=None,
        source="NVIDIA L40S datasheet; tensor figures without sparsity",
        looked_up="all agree with mullet.se, which repeats the datasheet's table",
    ),
    _H100,
    replace(
        _H100,
        name="H200",
        memory_bytes=141 * GIB,
        memory_bandwidth=4800 * GIGA,
        source=_H100.source.replace("H100 datasheet, SXM5 80 GB", "H200 datasheet, SXM 141 GB"),
        looked_up="memory, bandwidth and NVLink agree with saulelectric.com; peaks, those of the H100, not verified",
    ),
)

GPU_KINDS: dict[str, GpuKind] = {kind.name: kind for kind in _KINDS}
"""Kinds of GPU by name; peaks are dense ones, of the tensor cores where the GPU has them at that precision."""


def gpu_kind(name: str) -> GpuKind:
    """Return a kind of GPU by its name in the catalogue.

    Raises a `ValueError` if the catalogue does not have it; the message lists the nearest names.
    """
    one_of(name, GPU_KINDS, "GPU kind")
    return GPU_KINDS[name]
