"""Columns of the table of a comparison: heading and how a cell is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.percent import percent
from studies.statistics.cell_text import NONE, decimal, interval_text, p_text, points

if TYPE_CHECKING:
    from collections.abc import Callable

    from studies.statistics.method_summary import MethodSummary, Rivalry


def _of_rivalry(cell: Callable[[Rivalry], str]) -> Callable[[MethodSummary], str]:
    """Return a column about the baseline: a dash where there is nothing to compare."""
    return lambda row: NONE if row.rivalry is None else cell(row.rivalry)


def _spread(name: str) -> Callable[[MethodSummary], str]:
    """Return a column about the spread over seeds; methods that draw nothing are called fixed."""
    return lambda row: "fixed" if row.stability.is_deterministic else percent(getattr(row.stability, name))


def _share(row: MethodSummary) -> str:
    """Return the share of runs that reach the optimum; only all of them are 100."""
    if row.share_optimal is None:
        return NONE
    text = f"{100 * row.share_optimal:.1f}"
    if row.num_optimal < row.num_with_known_optimum and text == "100.0":
        return ">99.9"
    return "<0.1" if row.num_optimal and text == "0.0" else text


COLUMNS: dict[str, Callable[[MethodSummary], str]] = {
    "method": lambda row: row.label,
    "kind": lambda row: row.kind,
    "inst": lambda row: str(row.num_instances),
    "runs": lambda row: str(row.num_runs),
    "fail": lambda row: str(row.num_failed),
    "none": lambda row: str(row.num_without_schedule),
    "opt %": _share,
    "mean %": lambda row: percent(row.mean_gap),
    "q25 %": lambda row: percent(row.lower_quartile),
    "med %": lambda row: percent(row.median_gap),
    "q75 %": lambda row: percent(row.upper_quartile),
    "q90 %": lambda row: percent(row.high_gap),
    "worst %": lambda row: percent(row.worst_gap),
    "seconds": lambda row: decimal(row.mean_seconds, 4),
    "rank": lambda row: decimal(row.average_rank),
    "IQR %": _spread("mean_iqr"),
    "range %": _spread("mean_range"),
    "pairs": _of_rivalry(lambda rival: str(rival.num_pairs)),
    "diff": _of_rivalry(lambda rival: points(rival.median_difference)),
    "95 % interval": _of_rivalry(lambda rival: interval_text(rival.interval)),
    "p": _of_rivalry(lambda rival: p_text(rival.p_value)),
    "p Holm": _of_rivalry(lambda rival: p_text(rival.holm_p_value)),
    "effect": _of_rivalry(lambda rival: decimal(rival.effect)),
}
"""Heading to text; gaps and spreads in percent of the bound, differences in percentage points."""

SPREAD_COLUMNS = ("IQR %", "range %")
"""Columns about the spread over seeds."""

RIVALRY_COLUMNS = ("pairs", "diff", "95 % interval", "p", "p Holm", "effect")
"""Columns that hold something only where there is a baseline."""
