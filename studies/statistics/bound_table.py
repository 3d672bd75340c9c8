"""The sources of bounds side by side: how near each comes to the best proven bound and to the optimum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from studies.statistics.bound_ratios import bound_summary
from studies.statistics.cell_text import NONE
from studies.statistics.gap_statistics import grouping_column
from studies.statistics.table_view import TableView

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

HEADINGS = ("bound", "runs", "mean", "least", "best", "mean*", "least*", "opt*", "mean s")
"""Of the table; ratios with three decimals."""


def bound_table(ratios: pd.DataFrame, by: Sequence[str] = ()) -> TableView:
    """Return the table of the bounds of a study.

    Parameters
    ----------
    ratios
        As `bound_ratios` returns them, with the columns of the groups.
    by
        Columns within whose values the sources stand one by one, such as ``family`` or ``size``.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    columns = [grouping_column(ratios, name) for name in by]
    summary = bound_summary(ratios, columns)
    if columns:
        summary = summary.sort_values(columns, kind="stable", ignore_index=True)
    rows = []
    for row in summary.to_dict("records"):
        budget = "" if row["budget"] == NONE else f", {row['budget']}"
        name = f"{row['label']}{budget}"
        rows.append(
            (
                *(str(row[column]) for column in columns),
                name,
                str(row["num_runs"]),
                _ratio(row["mean_ratio"]),
                _ratio(row["least_ratio"]),
                f"{row['num_best']}/{row['num_bounds']}",
                _ratio(row["mean_optimum_ratio"]),
                _ratio(row["least_optimum_ratio"]),
                f"{row['num_optima']}/{row['num_known_optima']}",
                _seconds(row["mean_seconds"]),
            )
        )
    within = f" by {', '.join(columns)}" if columns else ""
    instances = ratios["sha256"].nunique()
    proven = ratios.loc[ratios["is_optimum"], "sha256"].nunique()
    return TableView(
        name="bounds",
        title=f"Ratio of lower bounds to the best proven bound{within}",
        frame=summary,
        headings=(*columns, *HEADINGS),
        rows=tuple(rows),
        notes=(
            f"Over {instances} instances. mean, least: bound over the best proven bound of the instance, rounded down; "
            f"best: on how many it is the best one. *: the same on the {proven} instances with a proven optimum, where "
            "the best bound is that optimum.",
        ),
        num_names=1 + len(columns),
    )


def _ratio(value: float) -> str:
    """Return a ratio rounded down, so that only a bound that always is the best one shows 1.000."""
    return NONE if math.isnan(value) else f"{int(value * 1000 + 1e-9) / 1000:.3f}"


def _seconds(value: float) -> str:
    """Return seconds with three digits."""
    return NONE if math.isnan(value) else f"{value:.3g}"
