"""One row of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.statistics.bootstrap import Interval
    from studies.statistics.stability import Stability


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivalry:
    """A method against the baseline, over the instances where both have a schedule.

    Parameters
    ----------
    num_pairs
        Of instances.
    median_difference
        Of mean gap minus the baseline's mean gap; above 0 where the baseline is better.
    interval
        Bootstrap 95 % interval of that, None for fewer than two pairs.
    p_value, holm_p_value
        Of the two-sided Wilcoxon signed-rank test, as it is and after Holm's correction over all rivals.
    effect
        Matched-pairs rank-biserial correlation, in [-1, 1]; above 0 where the baseline is better.
    """

    num_pairs: int
    median_difference: float | None
    interval: Interval | None
    p_value: float | None
    holm_p_value: float | None
    effect: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSummary:
    """What is known of a method at one budget; gaps are None where no run has one.

    Parameters
    ----------
    label, kind
        Of the method.
    num_instances
        On which it has a gap.
    num_runs, num_failed, num_without_schedule
        All runs; those that ended in an error; those that ended well but without a schedule.
    num_optimal, num_with_known_optimum
        Runs that reach a proven optimum, of the runs on instances where one is proven, failed ones included.
    mean_gap, lower_quartile, median_gap, upper_quartile, high_gap, worst_gap
        Over the runs with a gap; quantiles (0.25, 0.5, 0.75, 0.9) interpolated linearly.
    mean_seconds
        Of the runs that did not fail, None where the frame has no times.
    average_rank
        Over the instances on which all ranked methods have a gap; None where it has none on any.
    stability
        Spread over seeds.
    rivalry
        Against the baseline, None for the baseline itself or without one.
    """

    label: str
    kind: str
    num_instances: int
    num_runs: int
    num_failed: int
    num_without_schedule: int
    num_optimal: int
    num_with_known_optimum: int
    mean_gap: float | None
    lower_quartile: float | None
    median_gap: float | None
    upper_quartile: float | None
    high_gap: float | None
    worst_gap: float | None
    mean_seconds: float | None
    average_rank: float | None
    stability: Stability
    rivalry: Rivalry | None

    @property
    def share_optimal(self) -> float | None:
        """Share of runs that reach the optimum where it is proven, None where it never is."""
        return self.num_optimal / self.num_with_known_optimum if self.num_with_known_optimum else None

    def record(self) -> dict[str, object]:
        """Return everything in one flat row; None for what is unknown."""
        row: dict[str, object] = {
            name: getattr(self, name) for name in self.__slots__ if name not in ("stability", "rivalry")
        }
        row["share_optimal"] = self.share_optimal
        row |= {name: getattr(self.stability, name) for name in ("is_deterministic", "mean_iqr", "mean_range")}
        rival, interval = self.rivalry, None if self.rivalry is None else self.rivalry.interval
        for name in ("num_pairs", "median_difference", "p_value", "holm_p_value", "effect"):
            row[name] = None if rival is None else getattr(rival, name)
        row["interval_low"] = None if interval is None else interval.low
        row["interval_high"] = None if interval is None else interval.high
        return row
