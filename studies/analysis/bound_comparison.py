"""Lower bounds of many instances side by side: one row per instance, one column per method, ready for a paper."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from instances.dag.contention import Contention
from solvers.bound_table import RECORD_COLUMNS, record_frame
from solvers.problem import DAG, problem_of
from solvers.run.versions import hardware
from solvers.table import DAGGER, Table, Tabular, latex_heading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from solvers.bound_table import BoundTable
    from solvers.run.bound import Bound


OPTIMUM, CONFIRMED = "*", DAGGER
"""Marks of the best bound: a verified schedule meets it; a second model refutes that a schedule below it exists."""


class BoundComparison(Tabular):
    """Bound tables of several instances.

    The tables are those of `solvers.lower_bound`. Raises a `ValueError` if they bound different objectives, or under
    different rules of contention, or of different problems.
    """

    def __init__(self, tables: Sequence[BoundTable]) -> None:
        objectives = sorted({table.objective_name for table in tables})
        if len(objectives) > 1:
            raise ValueError(f"tables: expected one objective, got {' and '.join(objectives)}.")
        rules = sorted({str(table.contention) for table in tables})
        if len(rules) > 1:
            raise ValueError(f"tables: expected one rule of contention, got {' and '.join(rules)}.")
        sizes = list(dict.fromkeys(tuple(problem_of(table.instance).sizes_of(table.instance)) for table in tables))
        if len(sizes) > 1:
            raise ValueError("tables: expected instances of one problem, got DAGs of tasks and jobs.")
        self.sizes = tuple(size.removeprefix("num_").replace("gpus", "GPUs") for size in (*sizes, DAG.sizes)[0])
        self.rule = rules[0] if rules and rules[0] != Contention.NONE else None
        self.tables = tuple(tables)
        self.objective_name = objectives[0] if objectives else ""
        self.methods = tuple(dict.fromkeys(bound.method for table in tables for bound in table))

    def ratios(self, method: str) -> list[float]:
        """Return bound over optimum of a method, for the instances where it has a bound and the optimum is proven.

        Every ratio is at most 1, which means that the bound meets the optimum. An optimum of 0 has no ratio.
        """
        pairs = [(_of(table, method), table.best) for table in self.tables]
        return [
            bound.value / best.value
            for bound, best in pairs
            if bound is not None and best is not None and best.is_optimum and best.value > 0
        ]

    def records(self) -> list[dict[str, object]]:
        """Return one flat row per instance and bound, as `BoundTable.records`."""
        return [record for table in self.tables for record in table.records()]

    def headings(self) -> list[str]:
        """Return the headings of `rows`."""
        return ["instance", *self.sizes, *self.methods, "best"]

    def rows(self) -> list[list[str]]:
        """Return one row of texts per instance; a dash where there is no bound."""
        return [
            [
                table.instance.name,
                *_sizes(table),
                *("-" if bound is None else str(bound.value) for bound in self._bounds(table)),
                _best_text(table),
            ]
            for table in self.tables
        ]

    def mean_ratios(self) -> list[str]:
        """Return the mean of `ratios` for every method as text with three decimals, rounded down."""
        # Down, so that only a bound that always is the optimum shows 1.000.
        means = [statistics.fmean(found) if (found := self.ratios(method)) else None for method in self.methods]
        return ["-" if mean is None else f"{int(mean * 1000 + 1e-9) / 1000:.3f}" for mean in means]

    def table(self) -> Table:
        """Return the table with one row per instance, and with the mean of bound over optimum below several."""
        rows = self.rows()
        has_means = len(self.tables) > 1 and any(self.ratios(method) for method in self.methods)
        if has_means:
            rows.append(["mean of bound/optimum", "", "", "", *self.mean_ratios(), ""])
        return Table(
            headings=self.headings(),
            rows=rows,
            num_footers=int(has_means),
            title=self._title(),
            notes=self._notes(),
            records=self.records(),
            fields=RECORD_COLUMNS,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return `records` as a data frame."""
        return record_frame(self.records())

    def to_latex(self, headings: Mapping[str, str] | None = None) -> str:
        """Return the table for the package booktabs; comments name solvers, hardware and content hashes.

        Parameters
        ----------
        headings
            Other headings for some of the methods, already LaTeX; by default their names, which wrap at hyphens.
        """
        solvers = sorted({bound.solver for table in self.tables for bound in table if bound.solver is not None})
        hashes = [f"{table.instance.name}: sha256 {table.instance.sha256}" for table in self.tables]
        return self.table().to_latex(
            {name: latex_heading(name) for name in self.methods} | dict(headings or {}),
            comments=[", ".join([*solvers, hardware()]), *hashes],
        )

    def _bounds(self, table: BoundTable) -> list[Bound | None]:
        """Return the bounds of an instance in the order of the methods."""
        return [_of(table, method) for method in self.methods]

    def _title(self) -> str:
        """Say what is bounded."""
        rule = "" if self.rule is None else f" with contention {self.rule}"
        return f"Lower bounds on the {self.objective_name.replace('_', ' ')}{rule}"

    def _notes(self) -> list[str]:
        """Say what the marks mean, if they are there."""
        marks = "".join(_best_text(table) for table in self.tables)
        notes = []
        if OPTIMUM in marks:
            notes.append(f"{OPTIMUM} the optimum: a verified schedule meets the bound.")
        if CONFIRMED in marks:
            notes.append(f"{CONFIRMED} confirmed: a second model refutes that a schedule below it exists.")
        return notes


def _of(table: BoundTable, method: str) -> Bound | None:
    """Return the bound of a method, None where it has none or no schedule exists."""
    if table.infeasible_by:
        return None
    return next((bound for bound in table if bound.method == method), None)


def _best_text(table: BoundTable) -> str:
    """Return the best bound with its marks."""
    if table.infeasible_by:
        return "infeasible"
    best = table.best
    if best is None:
        return "-"
    equals = [bound for bound in table if bound.value == best.value]
    is_confirmed = any(bound.confirmed_by is not None for bound in equals)
    return f"{best.value}{OPTIMUM if best.is_optimum else ''}{CONFIRMED if is_confirmed else ''}"


def _sizes(table: BoundTable) -> list[str]:
    """Return the sizes of an instance."""
    return [str(size) for size in problem_of(table.instance).sizes_of(table.instance).values()]
