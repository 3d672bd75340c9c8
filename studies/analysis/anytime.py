"""The best schedule and the best bound so far, over evaluations or seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from studies.analysis.gaps import ANY_BUDGET

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from studies.analysis.gaps import StudyGaps


Axis = Literal["evaluations", "seconds"]

TRACE_COLUMNS = ("instance", "label", "budget", "repetition", "evaluations", "seconds", "objective")
"""Columns of a frame of traces: one row whenever a run found a better schedule."""

KEY = ["label", "instance", "repetition"]
"""What names a run at one budget."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RunSteps:
    """Runs on instances with a bound above 0, and the falling gap of each one's incumbent.

    Parameters
    ----------
    runs
        One row per run: `label`, `instance`, `repetition`, `is_optimum` (of the instance), `spent` (evaluations or
        seconds of the whole run, NaN where that is not known).
    run
        Row in `runs` of every step, ascending, shape (steps,), int64.
    at, gap
        Evaluations or seconds, ascending within a run, and the gap from then on, never rising within a run.
    """

    runs: pd.DataFrame
    run: NDArray[np.int64]
    at: NDArray[np.float64]
    gap: NDArray[np.float64]

    def times_to(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return when every run first had a gap of at most its target, infinite where it never had; shape (runs,)."""
        reached = np.flatnonzero(self.gap <= targets[self.run] + 1e-12)
        times = np.full(len(self.runs), np.inf)
        which, first = np.unique(self.run[reached], return_index=True)
        times[which] = self.at[reached[first]]
        return times

    def on_grid(self, rows: NDArray[np.int64], grid: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gap of some runs at every point of an ascending grid, infinite before the first schedule.

        Shape (rows, grid).
        """
        place = np.full(len(self.runs), -1)
        place[rows] = np.arange(len(rows))
        mine = np.flatnonzero(place[self.run] >= 0)
        start = np.searchsorted(grid, self.at[mine], side="left")
        mine, start = mine[start < len(grid)], start[start < len(grid)]
        found = np.full((len(rows), len(grid)), np.inf)
        np.minimum.at(found, (place[self.run[mine]], start), self.gap[mine])
        return np.minimum.accumulate(found, axis=1)


def run_steps(gaps: StudyGaps, traces: pd.DataFrame, axis: Axis, *, constructions: bool = False) -> RunSteps:
    """Lay out the runs at a budget with their traces.

    A run ends where its row says, at its own objective, whether or not its trace goes that far. Runs that do not count
    what the axis says are left out, such as those of exact methods, which make no evaluations; all other runs without
    a schedule are there and have no steps.

    Parameters
    ----------
    traces
        With the columns `TRACE_COLUMNS`, at any budget; those of other budgets are left out.
    constructions
        Whether methods that need no budget are there too, each with a single step at its end.

    Raises
    ------
    ValueError
        If columns of the traces are missing.
    """
    import pandas as pd

    missing = [column for column in TRACE_COLUMNS if column not in traces.columns]
    if missing:
        raise ValueError(f"traces: expected the columns {', '.join(TRACE_COLUMNS)}, got none named {missing[0]}.")
    budgets = {gaps.budget, ANY_BUDGET} if constructions else {gaps.budget}
    frame = gaps.runs[gaps.runs["budget"].isin(budgets) & (gaps.runs["reference"] > 0)].reset_index(drop=True)
    number, time, objective = _points(frame, traces[traces["budget"] == gaps.budget], axis)
    has_schedule = frame["has_schedule"].to_numpy(bool)
    spent = frame[axis].to_numpy(np.float64, na_value=np.nan) if axis in frame.columns else np.full(len(frame), np.nan)
    has_points = np.bincount(number, minlength=len(frame)) > 0
    counts = axis == "seconds" or frame["kind"].ne("exact").to_numpy(bool)
    kept = (~has_schedule & counts) | ~np.isnan(spent) | has_points
    last = np.full(len(frame), -np.inf)
    np.maximum.at(last, number, time)
    ending = np.flatnonzero(has_schedule & ~np.isnan(spent))
    number = np.concatenate([number, ending])
    time = np.concatenate([time, np.maximum(spent[ending], last[ending])])
    objective = np.concatenate([objective, frame["objective"].to_numpy(np.float64)[ending]])
    order = np.lexsort((time, number))  # stable: points at the same time keep their order, ends come last
    number, time, objective = number[order], time[order], objective[order]
    reference = frame["reference"].to_numpy(np.float64)[number]
    gap = pd.Series((objective - reference) / reference).groupby(number).cummin().to_numpy(np.float64)
    renumbered = np.cumsum(kept) - 1
    shown = kept[number]
    return RunSteps(
        runs=frame.loc[kept, [*KEY, "is_optimum"]].assign(spent=spent[kept]).reset_index(drop=True),
        run=renumbered[number[shown]].astype(np.int64),
        at=time[shown],
        gap=gap[shown],
    )


def _points(
    frame: pd.DataFrame, traces: pd.DataFrame, axis: Axis
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return run, time and objective of every point of a trace that belongs to a run with a schedule."""
    import pandas as pd

    objective = pd.to_numeric(traces["objective"]).to_numpy(np.float64, na_value=np.nan)
    time = pd.to_numeric(traces[axis]).to_numpy(np.float64, na_value=np.nan)
    number = pd.MultiIndex.from_frame(frame[KEY]).get_indexer(pd.MultiIndex.from_frame(traces[KEY]))
    known = (number >= 0) & ~np.isnan(objective) & ~np.isnan(time)
    known[known] = frame["has_schedule"].to_numpy(bool)[number[known]]
    return number[known].astype(np.int64), time[known], objective[known]


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


BOUND_CURVE_COLUMNS = (
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
        As `studies.analysis.frames.bound_traces` returns them: what a run of an exact method had when.
    instances
        One row per instance: `sha256` and `best`, the best proven bound; those without one above 0 are left out.
    num_points
        Of the grid, which is logarithmic from the first point to the last.

    Returns
    -------
    DataFrame
        `BOUND_CURVE_COLUMNS`: per label, budget and second, over instances (means over repetitions) median and
        quartiles of objective / best bound - 1 (infinite before the first schedule) and of bound / best bound - 1 (at
        most 0; -1 before the first bound, for 0 always is one); the share of runs that have a schedule, and of those
        whose bound has met their schedule.

    Raises
    ------
    ValueError
        If a bound is above the best one: it would be no best one.
    """
    import pandas as pd

    best = points["sha256"].map(instances.set_index("sha256")["best"]).to_numpy(np.float64, na_value=np.nan)
    points = points.assign(best=best)[best > 0]
    if not len(points):
        return pd.DataFrame(columns=list(BOUND_CURVE_COLUMNS))
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
