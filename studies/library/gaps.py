"""The gaps of methods on the reference library against the bounds of its ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solvers.run.contradiction import raise_contradiction
from solvers.run.versions import version_of
from solvers.table import Table
from studies.text import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from instances.library.library import Library


SIZE_CLASSES = {"dag": (16, 50, 100, 400), "jobs": (12, 100, 300)}
"""Largest number of tasks, or of jobs, of each class of sizes."""

ALL, MEDIAN = "all", "median"
"""Columns of the mean and the median gap over all sizes."""

OPTIMA, WITHOUT = "optima %", "none"
"""Columns of the share of known optima that a method reaches, and of the number of instances without a schedule."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LibraryGaps:
    """Runs of methods on the library with their gaps.

    Parameters
    ----------
    problem
        ``dag`` or ``jobs``.
    runs
        One row per run of the study's frame. ``family`` and ``size`` are those of the catalogue, ``bound`` is the
        larger one of study and ledger, ``is_optimum`` says whether a schedule reaches it, and ``gap`` refers to it.
    """

    library: Library
    problem: str
    objective_name: str
    runs: pd.DataFrame

    def by_size(self) -> pd.DataFrame:
        """Return mean gaps, one row per method and one column per class of sizes, best method first.

        The last columns are mean and median over all instances, `OPTIMA` and `WITHOUT`; a mean is over the instances
        where the method has a schedule.
        """
        import pandas as pd

        label = self.runs["size"].map(self._size_class)
        table = self.runs.assign(size_class=label).pivot_table(
            index="label", columns="size_class", values="gap", aggfunc="mean", sort=False
        )
        table = table.reindex(columns=[name for name in self._class_names() if name in set(label)])
        table = table.reindex(index=list(dict.fromkeys(self.runs["label"])))
        methods = self.runs.groupby("label", sort=False)
        table[ALL], table[MEDIAN] = methods["gap"].mean(), methods["gap"].median()
        known = self.runs[self.runs["is_optimum"]]
        reached = (known["objective"] == known["bound"]).fillna(False).groupby(known["label"], sort=False).mean()
        table[OPTIMA] = pd.to_numeric(reached.reindex(table.index))
        table[WITHOUT] = methods["objective"].apply(lambda values: int(values.isna().sum()))
        return table.sort_values(ALL, kind="stable")

    def by_family(self) -> pd.DataFrame:
        """Return mean gaps, one row per family and one column per method, in the order of `by_size`."""
        table = self.runs.pivot_table(index="family", columns="label", values="gap", aggfunc="mean", sort=False)
        order = [entry.family for entry in self.library.catalogue.values() if entry.problem == self.problem]
        return table.reindex(index=list(dict.fromkeys(order)), columns=list(self.by_size().index))

    def denominators(self) -> str:
        """Explain in two sentences what the gaps are measured against."""
        proved = self.runs.groupby("instance")["is_optimum"].first()
        return (
            f"{len(proved)} instances of {self.library.identifier} (ledger {self.library.revision[:23]}), optgap "
            f"{version_of('optgap')}, objective {self.objective_name}. The optimum is known for {int(proved.sum())} of "
            "them; on the others the gap is to the best proven lower bound, and the optimality gap is at most that."
        )

    def to_text(self) -> str:
        """Return the table by sizes for the terminal."""
        headings, rows = self._size_cells()
        return Table(headings=headings, rows=rows, title="Mean gaps in %", notes=_notes(self)).to_text()

    def to_markdown(self) -> str:
        """Return both tables."""
        return "\n".join([self.denominators() + " Mean gaps in %.\n", *(each.to_markdown() for each in self.tables())])

    def tables(self) -> list[Table]:
        """Return the tables by sizes and by families."""
        headings, rows = self._size_cells()
        table = self.by_family()
        family_headings = ["family", *map(str, table.columns)]
        family_rows = [[str(family), *(_cell(gap) for gap in row)] for family, *row in table.itertuples()]
        return [Table(headings=headings, rows=rows), Table(headings=family_headings, rows=family_rows)]

    def to_csv(self) -> str:
        """Return one line per run: instance, family, size, method, objective, bound and gap."""
        columns = ["instance", "family", "size", "gpus", "label", "budget", "objective", "bound", "is_optimum", "gap"]
        return str(self.runs[columns].to_csv(index=False, lineterminator="\n"))

    def to_dict(self) -> dict[str, Any]:
        """Return both tables as JSON values."""
        return {
            "identifier": self.library.identifier,
            "ledger_revision": self.library.revision,
            "version": version_of("optgap"),
            "objective_name": self.objective_name,
            "by_size": _records(self.by_size()),
            "by_family": _records(self.by_family()),
        }

    def _size_cells(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and cells of the table by sizes."""
        table = self.by_size()
        rows = []
        for label, *values in table.itertuples():
            *gaps, without = values
            rows.append([str(label), *(_cell(gap) for gap in gaps), str(without)])
        return ["method", *map(str, table.columns)], rows

    def _size_class(self, size: int) -> str:
        """Return the name of the class of a size."""
        limits = SIZE_CLASSES[self.problem]
        return self._class_names()[next(index for index, limit in enumerate(limits) if size <= limit)]

    def _class_names(self) -> list[str]:
        """Return the names of the classes, such as "to 50"."""
        *limits, _ = SIZE_CLASSES[self.problem]
        return [*(f"to {limit}" for limit in limits), f"above {limits[-1]}"]


def library_gaps(frame: pd.DataFrame, library: Library, *, objective_name: str) -> LibraryGaps:
    """Measure the runs of a study against the ledger of a library.

    Parameters
    ----------
    frame
        Frame of `studies.analysis.frames.to_frame`. Instances are identified by their content hash; runs on instances
        that are not in the library are left out.

    Raises
    ------
    ContradictionError
        If the objective of a run is below a bound of the ledger; a reproducer file is left.
    ValueError
        If no run is on an instance of the library with this objective, or runs have different budgets.
    """
    import pandas as pd

    of_hash = {entry.sha256: entry for entry in library.catalogue.values() if objective_name in entry.objectives}
    runs = frame[frame["sha256"].isin(list(of_hash))].reset_index(drop=True)
    if runs.empty:
        raise ValueError(f"instances: expected some of {library.identifier}, got none in this study.")
    budgets = [budget for budget in dict.fromkeys(runs["budget"]) if budget != "-"]
    if len(budgets) > 1:
        raise ValueError(f"budgets: expected one, got {' and '.join(budgets)}.")
    entries = [library.entry(of_hash[sha256].name, objective_name) for sha256 in runs["sha256"]]
    ledger_bound = pd.Series([None if entry.bound is None else entry.bound.value for entry in entries], dtype=float)
    best_known = pd.Series(
        [None if entry.schedule is None else entry.schedule.objective for entry in entries], dtype=float
    )
    bound = pd.concat([runs["bound"].astype(float), ledger_bound], axis=1).max(axis=1)
    objective = runs["objective"].astype(float)
    for index in runs.index[objective < bound]:
        found = f"{runs.loc[index, 'label']} has {int(objective[index])}"
        claim = f"the ledger or the study proves {int(bound[index])}, {found}"
        _refuse(library, runs.loc[index].to_dict(), claim, objective_name)
    for index in runs.index[best_known < bound]:
        claim = f"the study proves {int(bound[index])}, the ledger has a schedule with {int(best_known[index])}"
        _refuse(library, runs.loc[index].to_dict(), claim, objective_name)
    least = pd.concat([objective.groupby(runs["sha256"]).transform("min"), best_known], axis=1).min(axis=1)
    runs = runs.assign(
        family=[of_hash[sha256].family for sha256 in runs["sha256"]],
        size=[of_hash[sha256].size for sha256 in runs["sha256"]],
        objective=objective.astype("Int64"),
        bound=bound.astype("Int64"),
        is_optimum=bound == least,
        gap=(objective - bound) / bound.where(bound > 0),
    )
    problem = next(entry.problem for entry in of_hash.values() if entry.sha256 == runs["sha256"].iloc[0])
    return LibraryGaps(library=library, problem=problem, objective_name=objective_name, runs=runs)


def _refuse(library: Library, run: dict[str, Any], claim: str, objective_name: str) -> None:
    """Raise an error, because a schedule is better than a proven bound."""
    name = next(entry.name for entry in library.catalogue.values() if entry.sha256 == run["sha256"])
    entry = library.entry(name, objective_name)
    raise_contradiction(
        library.instance(name),
        f"{name}, {objective_name}: {claim}.",
        schedule=None,
        evidence={"ledger": entry.to_dict(), "run": {key: str(value) for key, value in run.items()}},
    )


def _cell(gap: float) -> str:
    """Return a mean gap, or a dash."""
    return "-" if gap != gap else percent(gap)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, with None for NaN."""
    records: Sequence[dict[str, Any]] = table.reset_index().to_dict("records")
    return [{str(key): None if value != value else value for key, value in record.items()} for record in records]


def _notes(gaps: LibraryGaps) -> list[str]:
    """Return the notes below the table by sizes."""
    return [
        gaps.denominators(),
        "Sizes: tasks, or jobs. optima %: share of the known optima that are reached. none: instances without a "
        "schedule.",
    ]
