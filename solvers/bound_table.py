"""Lower bounds of one instance, and the forms in which they are shown and cited."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

from instances.dag.contention import Contention
from solvers.problem import DAG, problem_of
from solvers.run.bound import Bound, best_bound
from solvers.run.versions import hardware, version_of, versions
from solvers.table import Table, Tabular

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from instances.readers.optgap_json import Instance
    from solvers.confirmation.claim import Confirmation


BOUND_COLUMNS = tuple(Bound.__dataclass_fields__)
"""Fields of a bound, in their order: columns of the CSV file and of the data frame after those of the instance."""


class BoundTable(Tabular, list[Bound]):
    """Bounds in the order in which they were asked for; a list with views.

    Attributes
    ----------
    infeasible_by
        Exact methods that proved that no schedule exists; then the bounds are true and say nothing.
    confirmations
        What second models said, where they were asked.
    failures
        Why exact methods gave up, by method.
    left_out
        Methods that did not come to a bound, because of Ctrl-C or the time limit.
    is_interrupted
        Whether Ctrl-C ended an exact method.
    """

    def __init__(
        self,
        bounds: Iterable[Bound] = (),
        *,
        instance: Instance,
        objective: str,
        contention: Contention | str = Contention.NONE,
    ) -> None:
        super().__init__(bounds)
        self.instance = instance
        self.contention = Contention(contention)
        self.objective_name = str(objective)
        self.infeasible_by: list[str] = []
        self.confirmations: list[Confirmation] = []
        self.failures: dict[str, str] = {}
        self.left_out: list[str] = []
        self.is_interrupted = False

    def unless_interrupted(self) -> Self:
        """Return the table itself for callers that need all of it; raise `KeyboardInterrupt` if Ctrl-C cut it short."""
        if self.is_interrupted:
            raise KeyboardInterrupt
        return self

    @property
    def best(self) -> Bound | None:
        """The largest bound; None without one, and where no schedule exists."""
        return None if self.infeasible_by else best_bound(self)

    @property
    def title(self) -> str:
        """What is bounded."""
        rule = "" if self.contention is Contention.NONE else f" with contention {self.contention}"
        return f"Lower bounds on the {self.objective_name.replace('_', ' ')} of {self.instance.name}{rule}"

    def caption(self) -> str:
        """Say which bound is the best, what nothing confirms, and whether there is a schedule at all."""
        best, lines = self.best, []
        if self.infeasible_by:
            lines.append(f"no schedule exists (proved by {', '.join(self.infeasible_by)}): the instance is infeasible")
        if best is not None:
            lines.append(f"best: {best.value}{', the optimum' if best.is_optimum else ''}")
        lines += [str(item) for item in self.confirmations if item.confirmed_by is None]
        lines += [f"{method} failed: {reason}" for method, reason in self.failures.items()]
        if self.left_out:
            reason = "interrupted" if self.is_interrupted else "time limit reached"
            lines.append(f"{reason}; left out: {', '.join(self.left_out)}")
        return "\n".join(lines)

    def headings(self) -> list[str]:
        """Return the headings of `rows`; what confirms a bound is a column where anything was to be confirmed."""
        asked = bool(self.confirmations) or any(bound.confirmed_by is not None for bound in self)
        return ["bound", "method", "proved by", *(["confirmed by"] if asked else []), "seconds"]

    def rows(self) -> list[list[str]]:
        """Return one row of texts per bound, under `headings`."""
        asked = "confirmed by" in self.headings()
        return [
            [
                str(bound.value),
                bound.method,
                bound.proof,
                *([bound.confirmed_by or "-"] if asked else []),
                f"{bound.seconds:.3f}",
            ]
            for bound in self
        ]

    def to_dicts(self) -> list[dict[str, object]]:
        """Return the fields of every bound."""
        return [bound.to_dict() for bound in self]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        best = self.best
        return {
            "instance": self.instance.name,
            "instance_sha256": self.instance.sha256,
            **problem_of(self.instance).sizes_of(self.instance),
            "objective_name": self.objective_name,
            "contention": str(self.contention),
            "lower_bound": None if best is None else best.value,
            "is_optimum": best is not None and best.is_optimum,
            "is_infeasible": bool(self.infeasible_by),
            "infeasible_by": list(self.infeasible_by),
            "bounds": self.to_dicts(),
            "confirmations": [item.to_dict() for item in self.confirmations],
            "left_out": list(self.left_out),
            **({"failures": dict(self.failures)} if self.failures else {}),
            "versions": versions(),
            "hardware": hardware(),
        }

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def records(self) -> list[dict[str, object]]:
        """Return one flat row per bound: the instance, its size and hash, the version of optgap, all fields."""
        about = {
            "instance": self.instance.name,
            "instance_sha256": self.instance.sha256,
            **problem_of(self.instance).sizes_of(self.instance),
            "is_infeasible": bool(self.infeasible_by),
            "optgap": version_of("optgap"),
        }
        return [{**about, **bound.to_dict()} for bound in self]

    def table(self) -> Table:
        """Return the table with one row per bound; `studies.analysis.bound_comparison` makes one row per instance."""
        best = self.best
        return Table(
            headings=self.headings(),
            rows=self.rows(),
            numbers=("bound", "seconds"),
            bold=None if best is None else list(self).index(best),
            title=self.title,
            notes=self.caption().splitlines(),
            records=self.records(),
            fields=RECORD_COLUMNS,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return `records` as a data frame."""
        return record_frame(self.records())

    def to_latex(self) -> str:
        """Return the table for the package booktabs; comments name the content hash, the version and the hardware."""
        return self.table().to_latex(comments=[f"sha256 {self.instance.sha256}", hardware()])


RECORD_COLUMNS = ("instance", "instance_sha256", *DAG.sizes, "is_infeasible", "optgap", *BOUND_COLUMNS)
"""Columns of `BoundTable.records` of DAG instances; those of jobs instances have other sizes."""


def record_frame(records: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Return rows of `BoundTable.records` as a data frame; integers stay integers beside unknown ones."""
    import pandas as pd

    columns = list(records[0] if records else RECORD_COLUMNS)
    return pd.DataFrame.from_records(list(records), columns=columns).astype({"threads": "Int64", "seed": "Int64"})
