"""The best schedule so far, over evaluations or seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.run_steps import TRACE_COLUMNS as TRACE_COLUMNS
from studies.statistics.run_steps import Axis, run_steps

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from studies.statistics.study_gaps import StudyGaps

COLUMNS = ("label", "at", "median", "lower", "upper", "mean", "share", "num_instances")
"""Of `anytime_curves`."""


def anytime_curves(
    gaps: StudyGaps, traces: pd.DataFrame, axis: Axis = "evaluations", *, num_points: int = 120
) -> pd.DataFrame:
    """Return the gap of the incumbent over evaluations or seconds, for every method that has traces.

    A run keeps its last schedule when it is over. Where a run has none yet its gap is infinite, so that medians and
    quartiles are those of all runs and a mean is there only from where every run has a schedule.

    Parameters
    ----------
    gaps
        The runs; failed ones and those without a schedule count as never having one.
    traces
        With the columns `TRACE_COLUMNS`, at any budget; those of other budgets are left out.
    axis
        Over what.
    num_points
        Of the grid, which is logarithmic from the first schedule to the end of the longest run.

    Returns
    -------
    DataFrame
        Columns `label`, `at`, `median`, `lower`, `upper` (quartiles, as observed), `mean`, over the instances with a
        bound above 0, of the mean over repetitions; `share` of the runs that have a schedule; `num_instances`.

    Raises
    ------
    ValueError
        If columns of the traces are missing.
    """
    import pandas as pd

    steps = run_steps(gaps, traces, axis)
    if not (steps.at > 0).any():
        return pd.DataFrame(columns=list(COLUMNS))
    first, last = float(steps.at[steps.at > 0].min()), float(steps.at.max())
    grid = logarithmic_grid(first, last, num_points)
    if axis == "evaluations":
        grid = np.unique(np.rint(grid))
    labels, instances = steps.runs["label"].to_numpy(), steps.runs["instance"].to_numpy()
    parts = []
    for label in dict.fromkeys(labels):
        rows = np.flatnonzero(labels == label)
        found = steps.on_grid(rows, grid)
        of_instance = mean_over_repetitions(found, instances[rows])
        parts.append(
            pd.DataFrame(
                {
                    "label": label,
                    "at": grid,
                    **quartiles(of_instance),
                    "mean": of_instance.mean(axis=0),
                    "share": np.isfinite(found).mean(axis=0),
                    "num_instances": len(of_instance),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def logarithmic_grid(first: float, last: float, num_points: int) -> NDArray[np.float64]:
    """Return points from the first to the last, both exactly, evenly apart in logarithms."""
    grid = np.geomspace(first, max(first, last), num_points)
    grid[0], grid[-1] = first, max(first, last)  # geomspace may miss its ends by rounding
    return grid


def mean_over_repetitions(values: NDArray[np.float64], instances: NDArray[np.object_]) -> NDArray[np.float64]:
    """Return the mean of the rows of every instance, in the order of their first rows; shape (instances, points)."""
    import pandas as pd

    codes = pd.factorize(instances)[0]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums: NDArray[np.float64] = np.add.reduceat(values[order], starts, axis=0)
    return sums / np.diff(np.append(starts, len(codes)))[:, None]


def quartiles(values: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return median, lower and upper quartile over the rows; the quartiles as observed, for some may be infinite."""
    ordered = np.sort(values, axis=0)
    count = len(ordered)
    low, high = ordered[(count - 1) // 2], ordered[count // 2]
    return {
        "median": np.where(low == high, low, (low + high) / 2),
        "lower": ordered[max(0, -(-count // 4) - 1)],
        "upper": ordered[max(0, -(-3 * count // 4) - 1)],
    }
