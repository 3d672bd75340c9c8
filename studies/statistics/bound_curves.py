"""Incumbent and bound of exact methods over seconds, both held against what is known in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.anytime import logarithmic_grid, mean_over_repetitions, quartiles

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

COLUMNS = (
    *("label", "budget", "at"),
    *(f"{side}_{statistic}" for side in ("incumbent", "bound") for statistic in ("median", "lower", "upper")),
    *("share_with_schedule", "share_proven", "num_instances"),
)
"""Of `bound_curves`."""


def bound_curves(points: pd.DataFrame, instances: pd.DataFrame, *, num_points: int = 120) -> pd.DataFrame:
    """Return how the two sides of every exact method close in on the best proven bound.

    Parameters
    ----------
    points
        As `studies.experiment.bound_traces.bound_traces` returns them: what a run of an exact method had when.
    instances
        One row per instance: `sha256` and `best`, the best proven bound; those without one above 0 are left out.
    num_points
        Of the grid, which is logarithmic from the first point to the last.

    Returns
    -------
    DataFrame
        `COLUMNS`: per label, budget and second, over instances (means over repetitions) median and quartiles of
        objective / best bound - 1 (infinite before the first schedule) and of bound / best bound - 1 (at most 0; -1
        before the first bound, for 0 always is one); the share of runs that have a schedule, and of those whose bound
        has met their schedule.

    Raises
    ------
    ValueError
        If a bound is above the best one: it would be no best one.
    """
    import pandas as pd

    best = points["sha256"].map(instances.set_index("sha256")["best"]).to_numpy(np.float64, na_value=np.nan)
    points = points.assign(best=best)[best > 0]
    if not len(points):
        return pd.DataFrame(columns=list(COLUMNS))
    excess = points["bound"] > points["best"]
    if excess.any():
        row = points[excess].iloc[0]
        raise ValueError(
            f"bound: expected at most the best one {row['best']:.0f} of {row['instance']!r}, got {row['bound']:.0f}."
        )
    positive = points.loc[points["seconds"] > 0, "seconds"]
    first = float(positive.min()) if len(positive) else 1e-3
    grid = logarithmic_grid(first, float(points["seconds"].max()), num_points)
    parts = []
    for (label, budget), group in points.groupby(["label", "budget"], sort=False):
        runs = list(group.groupby(["instance", "repetition"], sort=False))
        names = np.array([name for (name, _), _ in runs], dtype=object)
        incumbents = np.array([_on_grid(run, grid, "objective", np.inf) for _, run in runs])
        bounds = np.array([_on_grid(run, grid, "bound", -1.0) for _, run in runs])
        columns: dict[str, object] = {"label": label, "budget": budget, "at": grid}
        for side, values in (("incumbent", incumbents), ("bound", bounds)):
            found = quartiles(mean_over_repetitions(values, names))
            columns |= {f"{side}_{statistic}": value for statistic, value in found.items()}
        columns["share_with_schedule"] = np.isfinite(incumbents).mean(axis=0)
        columns["share_proven"] = (incumbents <= bounds + 1e-12).mean(axis=0)
        columns["num_instances"] = len(set(names))
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _on_grid(run: pd.DataFrame, grid: NDArray[np.float64], column: str, before: float) -> NDArray[np.float64]:
    """Return value / best bound - 1 at every point of a grid: the best that the run had until then."""
    known = run[run[column].notna()].sort_values("seconds", kind="stable")
    values = (known[column] / known["best"] - 1.0).to_numpy(np.float64)
    improve = np.minimum if column == "objective" else np.maximum
    steps = np.append(before, values)
    found: NDArray[np.float64] = improve.accumulate(steps)[
        np.searchsorted(known["seconds"].to_numpy(np.float64), grid, side="right")
    ]
    return found
