"""JCT of the policies of a study of jobs, in ticks and in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.online.online_summary import KEYS, LEVEL, PLACE, online_summary
from studies.statistics.cell_text import NONE, number_text, within
from studies.statistics.over_instances import seed_interval, seed_means
from studies.statistics.study_gaps import ANY_BUDGET
from studies.statistics.table_view import TableView

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

POINTS = ("jct_p50", "jct_p95", "jct_p99", "jct_max")
"""Of the JCTs of a run; the mean stands apart."""

SEEDS = ("jct_mean_seeds_low", "jct_mean_seeds_high")
"""Interval over seeds."""

MEASURES = ("jct_mean", "jct_mean_low", "jct_mean_high", *SEEDS, *POINTS)
"""Columns of `jct_summary` in ticks; those in seconds end in ``_seconds``."""

HEADINGS = ("method", "inst", "mean", "interval", "over seeds", "median", "p95", "p99", "max")
"""Of the tables, after those of the places; over seeds only where a method has several."""

UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
"""To their number in a second."""


def jct_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per place and method.

    Parameters
    ----------
    frame
        Of a study of jobs at one budget, as `to_frame` returns it.

    Returns
    -------
    DataFrame
        `PLACE`, `label`, `instances`, `without_schedule` (runs), and `MEASURES` in ticks and in seconds: over instances
        the mean of mean JCT (of the means over repetitions, with its bootstrap interval), Student's interval of that
        mean over repetitions, and the means of the JCT that 50, 95, 99 and 100 % of the jobs of a run do not exceed.
        NaN where nothing is known, and in ticks where the instances have ticks of several lengths.
    """
    import pandas as pd

    ticks = _with_seeds(frame)
    seconds = _with_seeds(frame.assign(**{name: frame[name] * frame["tick_seconds"] for name in ("jct_mean", *POINTS)}))
    is_mixed = frame.groupby([*PLACE, "label"], sort=False, dropna=False)["tick_seconds"].nunique().to_numpy() > 1
    table = ticks[[*PLACE, "label", "instances", "without_schedule"]].copy()
    for name in MEASURES:
        table[name] = pd.to_numeric(ticks[name]).astype(np.float64).mask(is_mixed)
        table[f"{name}_seconds"] = pd.to_numeric(seconds[name]).astype(np.float64)
    return table


def _with_seeds(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the summary with an interval of mean JCT over seeds."""
    summary = online_summary(frame)
    intervals = [
        seed_interval(seed_means(group.dropna(subset=["objective"]), "jct_mean"), level=LEVEL) or (np.nan, np.nan)
        for _, group in frame.groupby(KEYS, sort=False, dropna=False)
    ]
    return summary.assign(**{name: [interval[end] for interval in intervals] for end, name in enumerate(SEEDS)})


def jct_tables(frame: pd.DataFrame, budget: str) -> list[TableView]:
    """Return the tables of `jct_summary` in ticks and in seconds; none without any schedule.

    Parameters
    ----------
    frame
        Of a study of jobs.
    budget
        Of its searches; policies, which need none, are in every table.

    Returns
    -------
    list of TableView
        Numbers of the second one are in seconds, its texts in the unit of its title.
    """
    summary = jct_summary(frame[frame["budget"].isin([budget, ANY_BUDGET])])
    places = [name for name in PLACE if summary[name].nunique(dropna=False) > 1]
    # Places in the order of the study, the shortest mean JCT on top in each.
    order = summary.groupby(PLACE, sort=False, dropna=False).ngroup()
    summary = summary.assign(order=order).sort_values(["order", "jct_mean_seconds"], kind="stable")
    summary = summary.drop(columns="order").reset_index(drop=True)
    at = "" if budget == ANY_BUDGET else f" at {budget}"
    has_seeds = bool(summary[f"{SEEDS[0]}_seconds"].notna().any())
    unit = readable_unit(summary["jct_mean_seconds"].max())
    tables = (("jct_ticks", "ticks", "", 1.0), ("jct_seconds", unit, "_seconds", UNITS[unit]))
    return [
        TableView(
            name=name,
            title=f"JCT in {shown_in}{at}",
            frame=summary[
                [*PLACE, "label", "instances", "without_schedule", *(f"{measure}{end}" for measure in MEASURES)]
            ],
            headings=(*places, *(name for name in HEADINGS if has_seeds or name != "over seeds")),
            rows=tuple(_row(record, places, end, factor, has_seeds) for record in summary.to_dict("records")),
            notes=_notes(summary),
            num_names=len(places) + 1,
        )
        for name, shown_in, end, factor in tables
        if summary[f"jct_mean{end}"].notna().any()
    ]


def readable_unit(longest: float) -> str:
    """Return the largest unit in which a time, given in seconds, is at least 1, or the smallest unit; s for 0."""
    return next((name for name, factor in UNITS.items() if factor * longest >= 1), [*UNITS][-1 if longest > 0 else 0])


def _notes(summary: pd.DataFrame) -> tuple[str, ...]:
    """Say what the columns mean, and what is missing."""
    notes = [
        "JCT: completion less arrival. mean: of mean JCT over instances (means over seeds first), with the "
        f"{100 * LEVEL:.0f} % bootstrap interval over instances (percentiles); median, p95, p99, max: JCT that 50, 95, "
        "99 and 100 % of the jobs of a run do not exceed, mean over runs."
    ]
    if summary[f"{SEEDS[0]}_seconds"].notna().any():
        notes.append(
            f"over seeds: Student's {100 * LEVEL:.0f} % interval of the mean over seeds or trainings, instances fixed."
        )
    lost = summary[summary["without_schedule"] > 0].groupby("label", sort=False)["without_schedule"].sum()
    notes += [
        f"{label}: {count} run{'' if count == 1 else 's'} without a schedule; its columns are over the others."
        for label, count in lost.items()
    ]
    return tuple(notes)


def _row(record: Mapping[str, object], places: list[str], end: str, factor: float, has_seeds: bool) -> tuple[str, ...]:
    """Return the texts of a method at a place, times in the unit of which `factor` make one of the record's."""
    mean, low, high, seeds_low, seeds_high, *points = (
        number_text(factor * float(str(record[f"{name}{end}"]))) for name in MEASURES
    )
    return (
        *(NONE if record[name] != record[name] else str(record[name]) for name in places),
        str(record["label"]),
        str(record["instances"]),
        mean,
        within(low, high),
        *([within(seeds_low, seeds_high)] if has_seeds else []),
        *points,
    )
