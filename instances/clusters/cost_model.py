"""What a workload costs on a cluster: times, transfers and memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """How a workload costs time and memory on a cluster.

    Parameters
    ----------
    tick_seconds
        Length of a tick in seconds; None chooses it so that the mean duration is `mean_ticks`.
    mean_ticks
        Mean duration over all allowed pairs, used where `tick_seconds` is None.
    precision, efficiency
        Of the roofline (`GpuKind.roofline_seconds`).
    heterogeneity
        Standard deviation of the logarithm of the noise on each (task, kind of GPU); 0 leaves the roofline as it is.
        GPUs of one kind have equal durations.
    consistency
        Share of tasks whose durations are sorted so that the kinds rank as they do for the whole workload: 1 gives
        consistent matrices, 0 leaves the rank of a kind to each task's roofline and noise.
    ccr
        Communication-to-computation ratio: mean transfer delay, over edges with data and links, over mean duration. The
        bytes on edges are scaled to it, and latencies that alone are beyond half of it; None keeps both. No delay with
        data is below one tick, so the smallest ratio above 0 that can be reached is one tick.
    memory_tightness
        Memory of all tasks together over memory of all GPUs together, in (0, 1]. The capacities are scaled to it, never
        below the largest task, and then enlarged in steps of 2 % until a greedy packing of all tasks exists: so the
        instance is feasible. None keeps the GPUs' own capacities, 0 drops the limits.
    forbidden
        Share of (task, kind) pairs that are not allowed; each task keeps at least one.

    References
    ----------
    Ali, Siegel, Maheswaran, Hensgen and Ali (2000), Representing Task and Machine Heterogeneities for Heterogeneous
    Computing Systems: consistency, by sorting rows. Topcuoglu, Hariri and Wu (2002): CCR. The noise is ours.

    Examples
    --------
    >>> import optgap
    >>> optgap.generate("chains", tasks=6, seed=1, cost=optgap.CostModel(tick_seconds=1e-8)).tick_seconds
    1e-08
    """

    tick_seconds: float | None = None
    mean_ticks: float = 100.0
    precision: str = "fp16"
    efficiency: float = 0.5
    heterogeneity: float = 0.25
    consistency: float = 0.0
    ccr: float | None = None
    memory_tightness: float | None = None
    forbidden: float = 0.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, low, high in (
            ("heterogeneity", 0.0, 10.0),
            ("consistency", 0.0, 1.0),
            ("ccr", 0.0, 1e6),
            ("memory_tightness", 0.0, 1.0),
            ("forbidden", 0.0, 1.0),
            ("efficiency", 1e-6, 1.0),
            ("mean_ticks", 1.0, 1e9),
        ):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name}: expected a number in {low:g}..{high:g}, got {value}.")
