"""The runs of a method on an instance at a budget in one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

KEY = ["instance", "label", "budget"]


def cell_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per instance, label and budget, in the order of the frame.

    Parameters
    ----------
    frame
        One row per run, as `studies.experiment.study_frame.to_frame` returns it.

    Returns
    -------
    DataFrame
        `KEY`; `num_runs`, and of these `num_failed`, `num_without_schedule` (they ended well) and `num_optimal`; best,
        median and worst objective (`best`, `median`, `worst`), `mean_gap` and `mean_seconds`, each over the runs that
        have one, NaN where none has.
    """
    status = frame["status"]
    marked = frame.assign(
        is_failed=status.eq("failed"),
        is_without_schedule=frame["objective"].isna() & status.ne("failed"),
        is_optimal=status.eq("optimal"),
    )
    return (
        marked.groupby(KEY, sort=False)
        .agg(
            num_runs=("status", "size"),
            num_failed=("is_failed", "sum"),
            num_without_schedule=("is_without_schedule", "sum"),
            num_optimal=("is_optimal", "sum"),
            best=("objective", "min"),
            median=("objective", "median"),
            worst=("objective", "max"),
            mean_gap=("gap", "mean"),
            mean_seconds=("seconds", "mean"),
        )
        .reset_index()
    )
