"""How much the runs of a method differ by nothing but their seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from studies.analysis.gaps import StudyGaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Spread of a method over seeds, as shares of the best proven bound.

    Parameters
    ----------
    is_deterministic
        Whether the method draws nothing at random, so that there is no spread to measure.
    num_instances
        With at least two runs and a bound above 0; the means are over these, None where there are none.
    mean_iqr
        Mean over instances of the interquartile range of the objective over the bound.
    mean_range
        Mean over instances of (worst - best) / bound.
    largest_range
        The largest of these.
    """

    is_deterministic: bool
    num_instances: int
    mean_iqr: float | None
    mean_range: float | None
    largest_range: float | None


def spreads(gaps: StudyGaps) -> pd.DataFrame:
    """Return `num_runs`, `iqr` and `range` for every label and instance with at least two schedules.

    All are shares of the best proven bound: a gap is the objective over that bound, less one, so that the spread of
    gaps is the spread of objectives over the bound. Quartiles are interpolated linearly.
    """
    import pandas as pd

    found = gaps.runs[gaps.runs["gap"].notna()]
    keys = found.groupby(["label", "instance"], sort=False)
    number, gap = keys.ngroup().to_numpy(), found["gap"].to_numpy(np.float64)
    order = np.lexsort((gap, number))
    ordered = gap[order]
    counts = np.bincount(number) if len(number) else np.zeros(0, dtype=np.int64)
    first = np.cumsum(counts) - counts
    quartiles = [_interpolated(ordered, first, np.float64(share) * (counts - 1)) for share in (0.25, 0.75)]
    table = pd.DataFrame(found[["label", "instance"]].drop_duplicates(ignore_index=True))
    table["num_runs"] = counts
    table["iqr"] = quartiles[1] - quartiles[0]
    table["range"] = ordered[first + counts - 1] - ordered[first]
    return table[table["num_runs"] >= 2].reset_index(drop=True)


def _interpolated(
    ordered: NDArray[np.float64], first: NDArray[np.int64], place: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the value at a place between two neighbours of every group, whose values begin at `first`."""
    below = np.floor(place).astype(np.int64)
    above = np.ceil(place).astype(np.int64)
    low, high = ordered[first + below], ordered[first + above]
    value: NDArray[np.float64] = low + (place - below) * (high - low)
    return value


def stability(gaps: StudyGaps) -> dict[str, Stability]:
    """Return the spread of every method over its seeds, by label."""
    table, found = spreads(gaps), {}
    of_label = dict(iter(table.groupby("label", sort=False)))
    fixed = deterministic_labels(gaps)
    for label in gaps.labels:
        rows = of_label.get(label, table.iloc[:0])
        found[label] = Stability(
            is_deterministic=label in fixed,
            num_instances=len(rows),
            mean_iqr=float(rows["iqr"].mean()) if len(rows) else None,
            mean_range=float(rows["range"].mean()) if len(rows) else None,
            largest_range=float(rows["range"].max()) if len(rows) else None,
        )
    return found


def deterministic_labels(gaps: StudyGaps) -> set[str]:
    """Return the labels of the methods that draw nothing at random.

    These are the constructions and policies that the study gave no seed, which is written as 0: a plan gives every
    method that draws anything a seed of its own per instance and repetition. Without a column of seeds nothing is
    claimed.
    """
    if "seed" not in gaps.runs.columns:
        return set()
    is_fixed = gaps.runs["kind"].isin(["construction", "policy"]) & gaps.runs["seed"].eq(0)
    is_fixed &= gaps.runs["repetition"].eq(0)  # repetitions without seeds are values of a parameter
    return {str(label) for label, fixed in is_fixed.groupby(gaps.runs["label"], sort=False).all().items() if fixed}
