"""What every run had found when, as flat arrays that are fast to ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from studies.statistics.study_gaps import ANY_BUDGET

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from studies.statistics.study_gaps import StudyGaps

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
    gaps
        The runs.
    traces
        With the columns `TRACE_COLUMNS`, at any budget; those of other budgets are left out.
    axis
        Over what.
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
