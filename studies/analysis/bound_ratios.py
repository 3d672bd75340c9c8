"""How near every source of bounds comes to the best proven bound of an instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.analysis.record import study_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from studies.experiment.store import StudyStore


SUMMARY_COLUMNS = (
    "label",
    "budget",
    "num_runs",
    "num_bounds",
    "mean_ratio",
    "least_ratio",
    "num_best",
    "num_optima",
    "num_known_optima",
    "mean_optimum_ratio",
    "least_optimum_ratio",
    "mean_seconds",
    "largest_seconds",
)
"""Columns of `bound_summary`."""


def bound_ratios(references: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """Return the ratio of every bound to the best proven bound of its instance.

    Parameters
    ----------
    references
        One row per run: `sha256`, `instance`, `label`, `budget`, `state`, `bound` and `seconds`.
    instances
        One row per instance: `sha256`, the best proven `bound`, and whether that `is_optimum`.

    Returns
    -------
    DataFrame
        The rows of the references that ended, with `best`, `is_optimum` and `ratio`: in [0, 1], NaN where the run has
        no bound or the best bound is not above 0.
    """
    best = instances.set_index("sha256")
    found = references[references["state"].isin(["finished", "failed"])].copy()
    found["best"] = found["sha256"].map(best["bound"]).astype(np.float64)
    found["is_optimum"] = found["sha256"].map(best["is_optimum"]).astype(bool)
    found["ratio"] = found["bound"].astype(np.float64) / found["best"].where(found["best"] > 0)
    return found


def bound_summary(ratios: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return one row per source of bounds: label and budget.

    Parameters
    ----------
    ratios
        As `bound_ratios` returns them.
    by
        Columns of the ratios within whose values the sources are summarised one by one; they come first.

    Returns
    -------
    DataFrame
        `SUMMARY_COLUMNS`: runs that ended, runs with a ratio, mean and smallest ratio over the latter, on how many of
        them the bound is the best one, on how many it is the proven optimum; on how many the optimum is proven at all,
        with mean and smallest ratio to it; and seconds of the runs that did not fail.
        A mean over fewer bounds than runs is over other instances than that of another source.
    """
    import pandas as pd

    rows = []
    for key, group in ratios.groupby([*by, "label", "budget"], sort=False, dropna=False):
        known, ended = group[group["ratio"].notna()], group[group["state"] == "finished"]
        reached, proven = known["bound"] == known["best"], known[known["is_optimum"]]["ratio"]
        rows.append(
            {
                **dict(zip([*by, "label", "budget"], key, strict=True)),
                "num_runs": len(group),
                "num_bounds": len(known),
                "mean_ratio": known["ratio"].mean(),
                "least_ratio": known["ratio"].min(),
                "num_best": int(reached.sum()),
                "num_optima": int((reached & known["is_optimum"]).sum()),
                "num_known_optima": len(proven),
                "mean_optimum_ratio": proven.mean(),
                "least_optimum_ratio": proven.min(),
                "mean_seconds": ended["seconds"].mean(),
                "largest_seconds": ended["seconds"].max(),
            }
        )
    return pd.DataFrame(rows, columns=[*by, *SUMMARY_COLUMNS])


COORDINATES = ("family", "cluster", "tasks", "jobs", "gpus", "ccr", "load", "heterogeneity")
"""Columns of instances that tables may be grouped by."""


def study_bound_ratios(store: StudyStore) -> pd.DataFrame:
    """Return the ratios of all bounds and exact references, one row per run, with the coordinates of the instances.

    The rows are those of `bound_ratios`, with those of `COORDINATES` that the store has. Raises a `ContradictionError`
    if a bound is above a verified schedule; a reproducer file is left.
    """
    record = study_record(store)
    ratios = bound_ratios(record.references, record.instances)
    known = [name for name in COORDINATES if name in record.instances.columns]
    return ratios.merge(record.instances[["sha256", *known]], on="sha256", how="left")
