"""Percentage reductions against baselines, as papers report them, beside the gaps that they do not show."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from instances.fields import one_of
from solvers.table import Column, Table, Tabular
from studies.analysis.gaps import study_gaps
from studies.text import NONE, percent

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """How much shorter a method's schedules are than a baseline's.

    The reduction on an instance is (B - M) / B, where B and M are the means of the objectives over repetitions; below 0
    where the baseline is better.

    Parameters
    ----------
    num_instances
        Where both have a schedule and B is above 0; the reductions are over these.
    mean, largest, smallest
        Of the reductions; None without an instance. Headlines of papers ("up to") are the largest.
    num_worse
        Instances on which the baseline is better.
    mean_gap, baseline_gap
        Mean gap of method and baseline to the best proven bounds, over the instances that have one; None without.
    """

    baseline: str
    num_instances: int
    mean: float | None
    largest: float | None
    smallest: float | None
    num_worse: int
    mean_gap: float | None
    baseline_gap: float | None


def _signed(share: float | None) -> str:
    """Return a reduction in percent; it is below 0 where the baseline is better."""
    return NONE if share is None else f"{100 * share:.2f}"


COLUMNS = (
    Column("baseline", "baseline"),
    Column("instances", "num_instances", is_number=True),
    Column("mean %", "mean", _signed, is_number=True),
    Column("largest %", "largest", _signed, is_number=True),
    Column("smallest %", "smallest", _signed, is_number=True),
    Column("worse on", "num_worse", is_number=True),
    Column("gap %", "mean_gap", percent, is_number=True),
    Column("baseline gap %", "baseline_gap", percent, is_number=True),
)
"""Columns of the table, from the fields of `Reduction`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reductions(Tabular):
    """Reductions of one method against every other one, in the order of the frame."""

    method: str
    budget: str
    rows: tuple[Reduction, ...]

    @property
    def title(self) -> str:
        """Say what was reduced against what."""
        budget = "" if self.budget == "-" else f" at {self.budget}"
        return f"Reductions of {self.method}{budget}"

    def table(self) -> Table:
        """Return the table with one row per baseline; its numbers are fractions."""
        note = (
            f"Reduction: (baseline - {self.method}) / baseline, of the mean objectives over repetitions, per instance; "
            "worse on: instances where the baseline is better. Gaps are to the best proven bounds: a large reduction "
            "may come from a weak baseline, a gap cannot."
        )
        names = [field.name for field in fields(Reduction)]
        return Table.of(
            COLUMNS,
            [asdict(row) for row in self.rows],
            title=self.title,
            notes=[note],
            records=[{"method": self.method, "budget": self.budget, **asdict(row)} for row in self.rows],
            fields=["method", "budget", *names],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values, numbers as fractions."""
        return {"method": self.method, "budget": self.budget, "rows": [asdict(row) for row in self.rows]}


def reductions(frame: pd.DataFrame, method: str, *, budget: str | None = None) -> Reductions:
    """Compare a method with every other one in the way of Du et al. (2025): (baseline - method) / baseline.

    Parameters
    ----------
    frame
        One row per run, as `study_gaps` takes it.
    budget
        As in `study_gaps`.

    Raises
    ------
    ValueError
        As `study_gaps`, or if no method has that label.

    References
    ----------
    Du, Wu, Hou, Nie, Song (2025), Big Data Cogn. Comput. 9(11):284: reductions of completion time. Means over
    repetitions first, and the gaps beside them, are ours.
    """
    gaps = study_gaps(frame, budget)
    one_of(method, gaps.labels, "method")
    found = gaps.runs[gaps.runs["has_schedule"]]
    objectives = found.groupby(["instance", "label"], sort=False)["objective"].mean().unstack("label")
    mean_gaps = gaps.mean_gaps()
    rows = []
    for label in gaps.labels:
        if label == method:
            continue
        if label in objectives.columns and method in objectives.columns:
            pair = objectives[[method, label]].dropna()
            pair = pair[pair[label] > 0]
            shares = (pair[label] - pair[method]) / pair[label]
        else:
            shares = objectives.iloc[:0, 0]
        both = mean_gaps[[method, label]].dropna()
        rows.append(
            Reduction(
                baseline=label,
                num_instances=len(shares),
                mean=_number(shares.mean()),
                largest=_number(shares.max()),
                smallest=_number(shares.min()),
                num_worse=int((shares < 0).sum()),
                mean_gap=_number(both[method].mean()),
                baseline_gap=_number(both[label].mean()),
            )
        )
    return Reductions(method=method, budget=gaps.budget, rows=tuple(rows))


def _number(value: float) -> float | None:
    """Return a number, None for NaN."""
    return None if value != value else float(value)
