"""Chosen pairs of methods held against each other: a difference with its interval and a test, instance by instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from instances.fields import one_of
from solvers.table import Column, Table
from studies.analysis.gaps import study_gaps
from studies.analysis.intervals import bootstrap_interval
from studies.analysis.paired_tests import holm, wilcoxon
from studies.analysis.ranks import LEVEL
from studies.text import NONE, p_text, percent, points, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd


def contrasts(
    frame: pd.DataFrame, pairs: Sequence[tuple[str, str]], by: str | None = None, budget: str | None = None
) -> pd.DataFrame:
    """Hold pairs of methods against each other.

    Parameters
    ----------
    frame, budget
        As for `study_gaps`.
    pairs
        Labels: the first of each is held against the second. They were chosen before the results were known, or the
        caller says that they were not.
    by
        Column within whose values the instances are compared; None for all together.

    Returns
    -------
    DataFrame
        One row per group and pair: value of the column (``group``), ``label``, ``other``, instances where both have a
        gap (``num_pairs``), mean gaps over them (``gap``, ``other_gap``), the mean of the differences with its 95 %
        bootstrap interval over instances (``difference``, ``low``, ``high``; below 0 where the first is better), on how
        many instances the first is ``better``, the two-sided Wilcoxon signed-rank test (``p_value``), the same after
        Holm's correction over all rows (``holm_p_value``), and the least that this could be with so many instances
        (``least_holm_p_value``). Gaps are means over repetitions.

    Raises
    ------
    ValueError
        If no method has one of the labels, or there is no such column.
    """
    import pandas as pd

    if by is not None:
        one_of(by, list(frame.columns), "by")
    groups = [("all", frame)] if by is None else [(str(value), part) for value, part in frame.groupby(by, sort=True)]
    rows: list[dict[str, Any]] = []
    for group, part in groups:
        means = study_gaps(part, budget).mean_gaps()
        for label, other in pairs:
            for name in (label, other):
                one_of(name, list(means.columns), "pairs")
            both = means[[label, other]].dropna()
            differences = (both[label] - both[other]).to_numpy(dtype=np.float64)
            test, interval = wilcoxon(differences), bootstrap_interval(differences, "mean")
            rows.append(
                {
                    "group": group,
                    "label": label,
                    "other": other,
                    "num_pairs": len(differences),
                    "gap": float(both[label].mean()),
                    "other_gap": float(both[other].mean()),
                    "difference": float(differences.mean()) if len(differences) else None,
                    "low": None if interval is None else interval.low,
                    "high": None if interval is None else interval.high,
                    "better": int((np.round(differences, 12) < 0).sum()),
                    "p_value": None if test is None else test.p_value,
                }
            )
    tests = sum(row["p_value"] is not None for row in rows)
    for row, adjusted in zip(rows, holm([row["p_value"] for row in rows]), strict=True):
        row["holm_p_value"] = adjusted
        row["least_holm_p_value"] = min(1.0, tests * 2.0 ** (1 - row["num_pairs"])) if row["num_pairs"] else None
    return pd.DataFrame(rows)


def contrast_table(
    frame: pd.DataFrame, pairs: Sequence[tuple[str, str]], by: str | None = None, budget: str | None = None
) -> Table:
    """Return the table of `contrasts`; raises as that."""
    found = contrasts(frame, pairs, by, budget)
    columns = (
        *([] if by is None else [Column(by, "group")]),
        Column("method", "label"),
        Column("against", "other"),
        Column("gaps in %", lambda row: f"{percent(row['gap'])} against {percent(row['other_gap'])}", is_number=True),
        Column("difference", "difference", points, is_number=True),
        Column("95 % interval", lambda row: within(points(row["low"]), points(row["high"])), is_number=True),
        Column("better on", lambda row: f"{row['better']}/{row['num_pairs']}", is_number=True),
        Column("p Holm", "holm_p_value", p_text, is_number=True),
    )
    records = found.to_dict("records")
    return Table.of(
        columns,
        records,
        name="contrasts",
        title="Pairs of methods" + ("" if by is None else f" by {by}"),
        notes=[
            "difference: mean over instances of the gap of the method less that of the other, in percentage points, "
            "with a bootstrap interval over instances; below 0 where the method is better. p Holm: two-sided Wilcoxon "
            f"signed-rank test over instances after Holm's correction for the {len(records)} rows; with so many "
            f"instances {_power(records)}",
        ],
        records=records,
        fields=list(found.columns),
    )


def _power(records: Sequence[Mapping[str, Any]]) -> str:
    """Say how small a p-value can be at all, and which groups have too few instances to show anything."""
    least = {row["group"]: row["least_holm_p_value"] or 1.0 for row in records}
    smallest = min(least.values(), default=1.0)
    told = f"no p-value of this table can be below {p_text(smallest)}"
    if smallest > LEVEL:
        return f"{told}: THE TABLE CAN SHOW NO SIGNIFICANCE."
    weak = [f"{group} ({p_text(value)})" for group, value in least.items() if value > LEVEL]
    return f"{told}; NO SIGNIFICANCE CAN BE SHOWN by the rows of {', '.join(weak)}." if weak else f"{told}."


def factor_table(frame: pd.DataFrame, headings: Sequence[str], by: str, separator: str = "; ") -> Table:
    """Return mean gaps of a design whose labels name a level of every factor, such as ``network; rank; 1/2; nothing``.

    Parameters
    ----------
    headings
        Of the factors, in the order of the labels; a label with another number of levels stands in the first column.
    by
        Column whose values get a column each.
    """
    means = frame.pivot_table(index="label", columns=by, values="gap", aggfunc="mean", sort=False)
    counts = frame.groupby(by)["sha256"].nunique()
    groups = sorted(means.columns)
    rows, records = [], []
    for label, row in means.iterrows():
        levels = str(label).split(separator)
        cells = levels if len(levels) == len(headings) else [str(label), *[NONE] * (len(headings) - 1)]
        rows.append([*cells, *(percent(float(row[group])) for group in groups)])
        records.append({"label": label, **{str(group): float(row[group]) for group in groups}})
    rows.append(["instances", *[""] * (len(headings) - 1), *(str(counts[group]) for group in groups)])
    return Table(
        headings=[*headings, *(f"{by} {group}" for group in groups)],
        rows=rows,
        numbers=[f"{by} {group}" for group in groups],
        num_footers=1,
        title=f"Mean gaps in % by {by}",
        records=records,
        name="factors",
    )
