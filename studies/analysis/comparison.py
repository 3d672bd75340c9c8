"""Methods of a study side by side: gaps, failures, stability, ranks and tests, in every form that a paper needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.fields import one_of
from solvers.table import Table, Tabular
from studies.analysis.gaps import study_gaps
from studies.analysis.intervals import bootstrap_interval, interval_text
from studies.analysis.paired_tests import holm, rank_biserial, wilcoxon
from studies.analysis.ranks import LEVEL, average_ranks, critical_difference, friedman
from studies.analysis.stability import stability
from studies.text import NONE, decimal, p_text, percent, points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from studies.analysis.gaps import StudyGaps
    from studies.analysis.grouped_comparison import GroupedComparison
    from studies.analysis.intervals import Interval
    from studies.analysis.paired_tests import WilcoxonTest
    from studies.analysis.ranks import FriedmanTest
    from studies.analysis.stability import Stability


def compare_methods(frame: pd.DataFrame, *, budget: str | None = None, baseline: str | None = None) -> MethodComparison:
    """Compare the methods of a study at one budget.

    Parameters
    ----------
    frame
        One row per run, as `study_gaps` takes it.
    budget
        Which one; may be left out where there is only one. Constructions are compared with all.
    baseline
        Label of the method that every other one is tested against; without one nothing is tested.

    Returns
    -------
    Comparison
        Methods by median gap (then mean, then label). Tests are over instances, on the means over repetitions, each on
        the instances where both have a schedule; ranks on those where all have one. Methods without any gap are not
        ranked.

    Raises
    ------
    ValueError
        As `study_gaps`, or if no method has the label of the baseline.
    """
    gaps = study_gaps(frame, budget)
    if baseline is not None:
        one_of(baseline, gaps.labels, "baseline")
    means = gaps.mean_gaps()
    ranked = [label for label in gaps.labels if means[label].notna().any()]
    block = means[ranked].dropna().to_numpy() if ranked else np.empty((0, 0))
    ranks = dict(zip(ranked, average_ranks(block).tolist(), strict=True)) if len(block) else {}
    rivals = {} if baseline is None else _rivalries(means, baseline)
    spread = stability(gaps)
    methods = [_summary(gaps, label, ranks.get(label), spread[label], rivals.get(label)) for label in gaps.labels]
    return MethodComparison(
        budget=gaps.budget,
        baseline=baseline,
        methods=tuple(sorted(methods, key=_order)),
        num_instances=len(gaps.instances),
        num_proven=gaps.num_optima,
        denominators=gaps.denominators(),
        num_ranked_instances=len(block),
        friedman=friedman(block) if len(block) else None,
        critical_difference=critical_difference(len(ranked), len(block)) if len(block) and len(ranked) > 1 else None,
        incomplete=gaps.incomplete(),
        partial=gaps.partial(),
        frame=frame,
    )


def _rivalries(means: pd.DataFrame, baseline: str) -> dict[str, Rivalry]:
    """Hold every method against the baseline on their common instances; Holm over all of them."""
    labels = [label for label in means.columns if label != baseline]
    differences = [(means[label] - means[baseline]).dropna().to_numpy() for label in labels]
    tests: list[WilcoxonTest | None] = [wilcoxon(values) for values in differences]
    p_values = [None if test is None else test.p_value for test in tests]
    return {
        label: Rivalry(
            num_pairs=len(values),
            median_difference=float(np.median(values)) if len(values) else None,
            interval=bootstrap_interval(values),
            p_value=p_value,
            holm_p_value=adjusted,
            effect=rank_biserial(values),
        )
        for label, values, p_value, adjusted in zip(labels, differences, p_values, holm(p_values), strict=True)
    }


def _summary(
    gaps: StudyGaps, label: str, rank: float | None, spread: Stability, rivalry: Rivalry | None
) -> MethodSummary:
    """Summarise the runs of a method."""
    runs = gaps.runs[gaps.runs["label"] == label]
    found = runs["gap"].dropna().to_numpy()
    quantiles = [None] * 4 if not len(found) else [float(value) for value in np.quantile(found, (0.25, 0.5, 0.75, 0.9))]
    ended_well = runs[~runs["is_failed"]]
    seconds = ended_well["seconds"].dropna() if "seconds" in runs.columns else []
    return MethodSummary(
        label=label,
        kind=str(runs["kind"].iloc[0]),
        num_instances=int(runs.loc[runs["gap"].notna(), "instance"].nunique()),
        num_runs=len(runs),
        num_failed=int(runs["is_failed"].sum()),
        num_without_schedule=int((~ended_well["has_schedule"]).sum()),
        num_optimal=int(runs["is_optimal"].sum()),
        num_with_known_optimum=int(runs["is_optimum"].sum()),
        mean_gap=float(found.mean()) if len(found) else None,
        lower_quartile=quantiles[0],
        median_gap=quantiles[1],
        upper_quartile=quantiles[2],
        high_gap=quantiles[3],
        worst_gap=float(found.max()) if len(found) else None,
        mean_seconds=float(np.mean(seconds)) if len(seconds) else None,
        average_rank=rank,
        stability=spread,
        rivalry=rivalry,
    )


def _order(row: MethodSummary) -> tuple[bool, float, float, str]:
    """Sort by median, then mean, then label; methods without any gap stand last."""
    return (row.median_gap is None, row.median_gap or 0.0, row.mean_gap or 0.0, row.label)


MAIN = ("method", "runs", "fail", "none", "opt %", "mean %", "med %", "q90 %", "worst %", "rank")
"""Columns of the first table; gaps in percent."""

STANDING = ("method", "IQR %", "range %", "pairs", "diff", "95 % interval", "p Holm", "effect")
"""Columns of the second: spread over seeds, and the method against the baseline."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class MethodComparison(Tabular):
    """What `compare` found.

    Parameters
    ----------
    budget, baseline
        At which the methods ran, and against which they are tested (None: against none).
    methods
        By median gap, then mean, then label.
    num_instances, num_proven
        In the frame at that budget, and those whose optimum is proven.
    denominators
        What the gaps are measured against, in words.
    num_ranked_instances
        On which every ranked method has a gap.
    friedman, critical_difference
        Of the ranks; None where there is too little to say.
    incomplete
        Per label, on how many instances it has no gap although one is defined; labels without any are left out.
    partial
        Per label, on how many instances some of its runs have a gap and others have not; likewise.
    frame
        What all this was computed from, for `by`.
    """

    budget: str
    baseline: str | None
    methods: tuple[MethodSummary, ...]
    num_instances: int
    num_proven: int
    denominators: str
    num_ranked_instances: int
    friedman: FriedmanTest | None
    critical_difference: float | None
    incomplete: dict[str, int]
    partial: dict[str, int]
    frame: pd.DataFrame

    def __getitem__(self, label: str) -> MethodSummary:
        """Return the row of a method."""
        for method in self.methods:
            if method.label == label:
                return method
        raise KeyError(label)

    def by(self, column: str, statistic: str = "mean") -> GroupedComparison:
        """Compare within every value of a column of the frame; see `grouped_comparison`.

        Holm's correction is made within each group, over its rivals; over all groups together it would be stricter.
        """
        from studies.analysis.grouped_comparison import grouped_comparison

        return grouped_comparison(self.frame, column, budget=self.budget, baseline=self.baseline, statistic=statistic)

    @property
    def title(self) -> str:
        """Say what is compared."""
        budget = "" if self.budget == "-" else f" at {self.budget}"
        return f"Gaps on {self.num_instances} instances{budget}"

    def rows(self, columns: Sequence[str]) -> list[list[str]]:
        """Return one row of texts per method, under these headings of `COLUMNS`.

        Raises a `ValueError` if there is no such column.
        """
        return [[cell(row) for cell in _cells(columns)] for row in self.methods]

    def notes(self) -> list[str]:
        """Say what the columns mean and over what they are taken; one paragraph per subject."""
        notes = [
            f"{self.denominators} Gaps are over runs. opt: runs that reach a proven optimum, of those where one is "
            "proven; q90: 90 % of the runs are at most that; fail: runs that ended in an error; none: runs without a "
            "schedule. Both have no gap."
        ]
        notes += [
            f"{label} has no gap on {count} of {self.num_instances} instances: its columns are over the others, and "
            "pairs are those that both methods have."
            for label, count in self.incomplete.items()
        ]
        notes += [
            f"{label} lacks some runs on {count} of {self.num_instances} instances: its means are over the others."
            for label, count in self.partial.items()
        ]
        notes.append(self._rank_note())
        notes.append(
            "IQR, range: interquartile range and worst less best over seeds, both over the bound, mean over instances; "
            "fixed: the method draws nothing at random."
        )
        if self.baseline is not None:
            notes.append(self._test_note())
        return [note for note in notes if note]

    def table(self, columns: Sequence[str] | None = None) -> Table:
        """Return one table with some of the `COLUMNS`, by default all that hold something."""
        chosen = self._columns(columns)
        return Table(
            headings=chosen, rows=self.rows(chosen), title=self.title, notes=self.notes(), records=self._records()
        )

    def to_text(self) -> str:
        """Return two tables for the terminal, which fit 80 columns."""
        standing = self._standing()
        against = "" if self.baseline is None else f", and against {self.baseline}"
        tables = (
            Table(headings=MAIN, rows=self.rows(MAIN), title=self.title),
            Table(headings=standing, rows=self.rows(standing), title=f"Spread over seeds{against}", notes=self.notes()),
        )
        return "\n\n".join(table.to_text() for table in tables)

    def to_markdown(self, columns: Sequence[str] | None = None) -> str:
        """Return the table in Markdown with its notes below."""
        return self.table(columns).to_markdown()

    def to_latex(self, columns: Sequence[str] | None = None) -> str:
        """Return the table for the package booktabs; title and version stand in a comment, notes below the table."""
        return self.table(columns).to_latex()

    def __repr__(self) -> str:
        """Name the comparison in one line."""
        return f"<MethodComparison: {self.title}, {len(self.methods)} methods, baseline {self.baseline}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the frame as JSON values."""
        test = self.friedman
        return {
            "budget": self.budget,
            "baseline": self.baseline,
            "num_instances": self.num_instances,
            "num_proven": self.num_proven,
            "num_ranked_instances": self.num_ranked_instances,
            "denominators": self.denominators,
            "friedman": None if test is None else {"statistic": test.statistic, "p_value": test.p_value},
            "critical_difference": self.critical_difference,
            "incomplete": dict(self.incomplete),
            "partial": dict(self.partial),
            "methods": [row.record() for row in self.methods],
            "notes": self.notes(),
        }

    def _records(self) -> list[dict[str, object]]:
        """Return one flat row per method."""
        return [{"budget": self.budget, "baseline": self.baseline, **row.record()} for row in self.methods]

    def _standing(self) -> tuple[str, ...]:
        """Return the columns of the second table; without a baseline there are no tests."""
        return STANDING if self.baseline is not None else (STANDING[0], *SPREAD_COLUMNS)

    def _columns(self, columns: Sequence[str] | None) -> list[str]:
        """Return the columns asked for, or all that hold something."""
        chosen = [*MAIN, *self._standing()[1:]] if columns is None else list(columns)
        _cells(chosen)
        return [column for column in chosen if self.baseline is not None or column not in RIVALRY_COLUMNS]

    def _rank_note(self) -> str:
        """Say over what the ranks are, and which differences mean something."""
        if not self.num_ranked_instances:
            return "No ranks: there is no instance on which all methods have a gap."
        where = "the instance" if self.num_ranked_instances == 1 else f"the {self.num_ranked_instances} instances"
        note = f"rank: of the mean gap over seeds, averaged over {where} where all "
        left_out = [row.label for row in self.methods if row.average_rank is None]
        but = f" but {', '.join(left_out)}" if left_out else ""
        note += f"methods{but} have one"
        if self.critical_difference is not None:
            note += f"; ranks closer than {self.critical_difference:.2f} do not differ significantly (Nemenyi, {LEVEL})"
        if self.friedman is not None:
            note += f"; Friedman p {p_text(self.friedman.p_value)}"
        return f"{note}."

    def _test_note(self) -> str:
        """Say what was tested, and where so few instances can show nothing."""
        rivals = [row.rivalry for row in self.methods if row.rivalry is not None]
        tests = sum(rival.p_value is not None for rival in rivals)
        note = (
            f"diff: median over instances of the mean gap less that of {self.baseline}, in percentage points, with a "
            "bootstrap interval (percentiles, instances drawn); p Holm: two-sided Wilcoxon signed-rank test over "
            f"instances, zeros by Pratt, after Holm's correction for {tests} rivals; effect: rank-biserial, "
            f"above 0 where {self.baseline} is better."
        )
        least = self.least_holm_p_value
        if least is not None and least > LEVEL:
            pairs = max(rival.num_pairs for rival in rivals)
            few = "1 instance" if pairs == 1 else f"{pairs} instances"
            note += f" With {few} no smallest p can be below {least:.4f} after the correction."
        return note

    @property
    def least_holm_p_value(self) -> float | None:
        """Smallest p-value that so many instances could give for any rival after Holm's correction; None untested."""
        rivals = [row.rivalry for row in self.methods if row.rivalry is not None]
        pairs = max((rival.num_pairs for rival in rivals), default=0)
        tests = sum(rival.p_value is not None for rival in rivals)
        return min(1.0, tests * 2.0 ** (1 - pairs)) if pairs else None


def _cells(columns: Sequence[str]) -> list[Callable[[MethodSummary], str]]:
    """Return how the cells of these columns are written."""
    return [COLUMNS[one_of(column, COLUMNS, "columns")] for column in columns]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivalry:
    """A method against the baseline, over the instances where both have a schedule.

    Parameters
    ----------
    num_pairs
        Of instances.
    median_difference
        Of mean gap minus the baseline's mean gap; above 0 where the baseline is better.
    interval
        Bootstrap 95 % interval of that, None for fewer than two pairs.
    p_value, holm_p_value
        Of the two-sided Wilcoxon signed-rank test, as it is and after Holm's correction over all rivals.
    effect
        Matched-pairs rank-biserial correlation, in [-1, 1]; above 0 where the baseline is better.
    """

    num_pairs: int
    median_difference: float | None
    interval: Interval | None
    p_value: float | None
    holm_p_value: float | None
    effect: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSummary:
    """What is known of a method at one budget; gaps are None where no run has one.

    Parameters
    ----------
    num_instances
        On which it has a gap.
    num_runs, num_failed, num_without_schedule
        All runs; those that ended in an error; those that ended well but without a schedule.
    num_optimal, num_with_known_optimum
        Runs that reach a proven optimum, of the runs on instances where one is proven, failed ones included.
    mean_gap, lower_quartile, median_gap, upper_quartile, high_gap, worst_gap
        Over the runs with a gap; quantiles (0.25, 0.5, 0.75, 0.9) interpolated linearly.
    mean_seconds
        Of the runs that did not fail, None where the frame has no times.
    average_rank
        Over the instances on which all ranked methods have a gap; None where it has none on any.
    stability
        Spread over seeds.
    rivalry
        Against the baseline, None for the baseline itself or without one.
    """

    label: str
    kind: str
    num_instances: int
    num_runs: int
    num_failed: int
    num_without_schedule: int
    num_optimal: int
    num_with_known_optimum: int
    mean_gap: float | None
    lower_quartile: float | None
    median_gap: float | None
    upper_quartile: float | None
    high_gap: float | None
    worst_gap: float | None
    mean_seconds: float | None
    average_rank: float | None
    stability: Stability
    rivalry: Rivalry | None

    @property
    def share_optimal(self) -> float | None:
        """Share of runs that reach the optimum where it is proven, None where it never is."""
        return self.num_optimal / self.num_with_known_optimum if self.num_with_known_optimum else None

    def record(self) -> dict[str, object]:
        """Return everything in one flat row; None for what is unknown."""
        row: dict[str, object] = {
            name: getattr(self, name) for name in self.__slots__ if name not in ("stability", "rivalry")
        }
        row["share_optimal"] = self.share_optimal
        row |= {name: getattr(self.stability, name) for name in ("is_deterministic", "mean_iqr", "mean_range")}
        rival, interval = self.rivalry, None if self.rivalry is None else self.rivalry.interval
        for name in ("num_pairs", "median_difference", "p_value", "holm_p_value", "effect"):
            row[name] = None if rival is None else getattr(rival, name)
        row["interval_low"] = None if interval is None else interval.low
        row["interval_high"] = None if interval is None else interval.high
        return row


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
