"""What the bounds of a stored study are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.study_record import study_record
from studies.statistics.bound_ratios import bound_ratios

if TYPE_CHECKING:
    import pandas as pd

    from studies.experiment.study_store import StudyStore

COORDINATES = ("family", "cluster", "tasks", "jobs", "gpus", "ccr", "load", "heterogeneity")
"""Columns of instances that tables may be grouped by."""


def study_bound_ratios(store: StudyStore) -> pd.DataFrame:
    """Return the ratios of all bounds and exact references, one row per run, with the coordinates of the instances.

    Returns
    -------
    pandas.DataFrame
        As `bound_ratios`, and those of `COORDINATES` that the store has.

    Raises
    ------
    ContradictionError
        If a bound is above a verified schedule; a reproducer file is left.
    """
    record = study_record(store)
    ratios = bound_ratios(record.references, record.instances)
    known = [name for name in COORDINATES if name in record.instances.columns]
    return ratios.merge(record.instances[["sha256", *known]], on="sha256", how="left")
