"""All tables of a study, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from studies.statistics.bound_table import bound_table
from studies.statistics.compare import compare
from studies.statistics.grouped_comparison import grouped_comparison
from studies.statistics.interference_table import interference_tables
from studies.statistics.jct_table import jct_tables
from studies.statistics.jct_tests import jct_test_table
from studies.statistics.reductions import reductions
from studies.statistics.study_gaps import study_gaps
from studies.statistics.target_table import TARGETS, target_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


class StudyTable(Protocol):
    """What every table of a study can be turned into."""

    def to_text(self) -> str:
        """For the terminal."""

    def to_markdown(self) -> str:
        """For a page."""

    def to_latex(self) -> str:
        """For the package booktabs."""

    def to_csv(self) -> str:
        """Numbers unrounded."""

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""


def study_tables(
    frame: pd.DataFrame,
    *,
    parts: Sequence[str] = ("gaps",),
    budgets: Sequence[str],
    baseline: str | None = None,
    by: Sequence[str] = (),
    statistic: str = "mean",
    reductions_of: str | None = None,
    traces: pd.DataFrame | None = None,
    targets: Sequence[float] = TARGETS,
    ratios: pd.DataFrame | None = None,
) -> list[StudyTable]:
    """Return the tables that are asked for.

    Parameters
    ----------
    frame
        One row per run, as `study_gaps` takes it.
    parts
        Some of "gaps", "jct", "interference", "bounds" and "targets"; the second and the third show something only in
        studies of jobs.
    budgets
        At which gaps, JCT, interference and targets are shown.
    baseline, statistic
        As for `grouped_comparison`; mean JCT is tested against the baseline too.
    by
        Groups of instances: each gives a table of gaps at every budget beside the overall one, and one of bounds.
    reductions_of
        Label whose percentage reductions against all others are shown beside the gaps, None for none.
    traces, targets
        As for `target_table`; without traces there is none.
    ratios
        As for `bound_table`; without there is none.

    Raises
    ------
    ValueError
        As `compare`, `grouped_comparison`, `reductions`, `target_table` and `bound_table`.
    """
    tables: list[StudyTable] = []
    if "gaps" in parts:
        for budget in budgets:
            tables.append(compare(frame, budget=budget, baseline=baseline))
            for column in by:
                tables.append(grouped_comparison(frame, column, budget=budget, baseline=baseline, statistic=statistic))
        if reductions_of is not None:
            tables += [reductions(frame, reductions_of, budget=budget) for budget in budgets]
    if "jct" in parts and "jct_mean" in frame.columns:
        for budget in budgets:
            tables += jct_tables(frame, budget)
            if baseline is not None:
                tables.append(jct_test_table(frame, baseline, budget))
    if "interference" in parts and "jct_mean" in frame.columns:
        for budget in budgets:
            tables += interference_tables(frame, budget)
    if "targets" in parts and traces is not None:
        for budget in budgets:
            tables += target_table(study_gaps(frame, budget), traces, targets)
    if "bounds" in parts and ratios is not None:
        tables.append(bound_table(ratios))
        tables += [bound_table(ratios, column.split("+")) for column in by]
    return tables
