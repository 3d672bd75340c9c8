"""The best schedule so far, over evaluations or seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from studies.statistics.study_gaps import StudyGaps

Axis = Literal["evaluations", "seconds"]

TRACE_COLUMNS = ("instance", "label", "budget", "repetition", "evaluations", "seconds", "objective")
"""Columns of a frame of traces: one row whenever a run found a better schedule."""


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
    """
    import pandas as pd

    runs = list(steps(gaps, traces, axis))
    ends = [float(at[-1]) for _, _, at, _ in runs if len(at)]
    starts = [float(at[at > 0].min()) for _, _, at, _ in runs if (at > 0).any()]
    columns = ["label", "at", "median", "lower", "upper", "mean", "share", "num_instances"]
    if not starts:
        return pd.DataFrame(columns=columns)
    grid = np.geomspace(min(starts), max(max(ends), min(starts)), num_points)
    grid[0], grid[-1] = min(starts), max(ends)  # geomspace may miss its ends by rounding
    if axis == "evaluations":
        grid = np.unique(np.rint(grid))
    parts = []
    for label in dict.fromkeys(label for label, *_ in runs):
        of_runs: dict[str, list[NDArray[np.float64]]] = {}
        for name, instance, at, gap in runs:
            if name == label:
                of_runs.setdefault(instance, []).append(_on_grid(grid, at, gap))
        of_instance = np.array([np.mean(values, axis=0) for values in of_runs.values()])
        parts.append(
            pd.DataFrame(
                {
                    "label": label,
                    "at": grid,
                    "median": np.median(of_instance, axis=0),
                    "lower": np.quantile(of_instance, 0.25, axis=0, method="inverted_cdf"),
                    "upper": np.quantile(of_instance, 0.75, axis=0, method="inverted_cdf"),
                    "mean": of_instance.mean(axis=0),
                    "share": np.isfinite(np.concatenate(list(of_runs.values()))).mean(axis=0),
                    "num_instances": len(of_runs),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def steps(
    gaps: StudyGaps, traces: pd.DataFrame, axis: Axis
) -> Iterator[tuple[str, str, NDArray[np.float64], NDArray[np.float64]]]:
    """Yield label, instance, times and gaps of every search run on an instance with a bound above 0.

    The times ascend, the gaps descend; both are empty for a run without a schedule. A run ends where its row says, at
    its own objective, whether or not its trace goes that far. Runs with a schedule that do not count what the axis
    says (exact methods make no evaluations) are left out.

    Raises
    ------
    ValueError
        If columns of the traces are missing.
    """
    missing = [column for column in TRACE_COLUMNS if column not in traces.columns]
    if missing:
        raise ValueError(f"traces: expected the columns {', '.join(TRACE_COLUMNS)}, got none named {missing[0]}.")
    points = _points(traces[traces["budget"] == gaps.budget], axis)
    runs = gaps.runs[(gaps.runs["budget"] == gaps.budget) & (gaps.runs["reference"] > 0)]
    ends = runs[axis].to_numpy(np.float64, na_value=np.nan) if axis in runs.columns else np.full(len(runs), np.nan)
    keys = zip(runs["label"], runs["instance"], runs["repetition"], strict=True)
    numbers = zip(ends, runs["objective"], runs["reference"], runs["has_schedule"], strict=True)
    nothing = np.empty(0)
    for key, (end, last, reference, has_schedule) in zip(keys, numbers, strict=True):
        at, objective = points.get(key, (nothing, nothing)) if has_schedule else (nothing, nothing)
        if has_schedule and not np.isnan(end):
            at = np.append(at, max(end, at[-1]) if len(at) else end)
            objective = np.append(objective, last)
        elif has_schedule and not len(at):
            continue
        yield key[0], key[1], at, np.minimum.accumulate((objective - reference) / reference)


def _points(
    traces: pd.DataFrame, axis: Axis
) -> dict[tuple[str, str, int], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return times and objectives of every run by label, instance and repetition, times ascending."""
    known = traces[traces["objective"].notna() & traces[axis].notna()]
    names = known.groupby(["label", "instance", "repetition"], sort=False)
    number = names.ngroup().to_numpy()
    at, objective = known[axis].to_numpy(np.float64), known["objective"].to_numpy(np.float64)
    order = np.lexsort((at, number))  # stable: points at the same time keep their order
    cuts = np.flatnonzero(np.diff(number[order])) + 1
    parts = zip(np.split(at[order], cuts), np.split(objective[order], cuts), strict=True)
    keys = known[["label", "instance", "repetition"]].drop_duplicates().itertuples(index=False, name=None)
    return dict(zip(keys, parts, strict=True)) if len(known) else {}


def _on_grid(grid: NDArray[np.float64], at: NDArray[np.float64], gap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gap of the incumbent at every point of the grid, infinite before the first."""
    found: NDArray[np.float64] = np.append(np.inf, gap)[np.searchsorted(at, grid, side="right")]
    return found
