"""Percentage reductions against baselines, as papers report them, beside the gaps that they do not show."""

from __future__ import annotations

import csv
import io
import textwrap
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from solvers.latex import booktabs, latex_text
from studies.analysis.gaps import study_gaps
from studies.tables import NOTE_WIDTH, latex_cell
from studies.text import percent
from studies.text_tables import markdown_table, text_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """How much shorter a method's schedules are than a baseline's.

    The reduction on an instance is (B - M) / B, where B and M are the means of the objectives over repetitions; below 0
    where the baseline is better.

    Parameters
    ----------
    baseline
        Label.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reductions:
    """Reductions of one method against every other one, in the order of the frame."""

    method: str
    budget: str
    rows: tuple[Reduction, ...]

    def headings(self) -> list[str]:
        """Return the headings of `cells`."""
        return ["baseline", "instances", "mean %", "largest %", "smallest %", "worse on", "gap %", "baseline gap %"]

    def cells(self) -> list[list[str]]:
        """Return one row of texts per baseline."""
        return [
            [
                row.baseline,
                str(row.num_instances),
                *(_signed(value) for value in (row.mean, row.largest, row.smallest)),
                str(row.num_worse),
                percent(row.mean_gap),
                percent(row.baseline_gap),
            ]
            for row in self.rows
        ]

    @property
    def title(self) -> str:
        """Say what was reduced against what."""
        budget = "" if self.budget == "-" else f" at {self.budget}"
        return f"Reductions of {self.method}{budget}"

    def notes(self) -> str:
        """Say how to read the numbers."""
        return (
            f"Reduction: (baseline - {self.method}) / baseline, of the mean objectives over repetitions, per instance; "
            "worse on: instances where the baseline is better. Gaps are to the best proven bounds: a large reduction "
            "may come from a weak baseline, a gap cannot."
        )

    def to_text(self) -> str:
        """Return the table for the terminal."""
        headings = self.headings()
        return text_table(headings, self.cells(), title=self.title, caption=self.notes(), numbers=headings[1:])

    def to_markdown(self) -> str:
        """Return the table for a page."""
        headings = self.headings()
        return f"**{self.title}**\n\n{markdown_table(headings, self.cells(), numbers=headings[1:])}\n{self.notes()}\n"

    def to_latex(self) -> str:
        """Return a table for the package booktabs."""
        rows = [[latex_text(row[0]), *(latex_cell(cell) for cell in row[1:])] for row in self.cells()]
        headings = [latex_text(heading) for heading in self.headings()]
        notes = [latex_text(line) for line in textwrap.wrap(self.notes(), NOTE_WIDTH)]
        return booktabs("l" + "r" * (len(headings) - 1), headings, rows, notes=notes)

    def to_csv(self) -> str:
        """Return one line per baseline, numbers as fractions, with one heading line."""
        stream = io.StringIO()
        names = ["method", "budget", *(field.name for field in fields(Reduction))]
        writer = csv.DictWriter(stream, names, lineterminator="\n")
        writer.writeheader()
        for row in self.rows:
            writer.writerow({"method": self.method, "budget": self.budget, **asdict(row)})
        return stream.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values, numbers as fractions."""
        return {"method": self.method, "budget": self.budget, "rows": [asdict(row) for row in self.rows]}


def reductions(frame: pd.DataFrame, method: str, *, budget: str | None = None) -> Reductions:
    """Compare a method with every other one in the way of Du et al. (2025): (baseline - method) / baseline.

    Parameters
    ----------
    frame
        One row per run, as `study_gaps` takes it.
    method
        Label of the method.
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
    if method not in gaps.labels:
        raise ValueError(f"method: expected one of {', '.join(gaps.labels)}, got {method!r}.")
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


def _signed(share: float | None) -> str:
    """Return a reduction in percent; a minus says that the baseline is better."""
    return "-" if share is None else f"{100 * share:.2f}"
