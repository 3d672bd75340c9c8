"""From a claimed row of the store to the order that an executor carries out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from solvers.bound import Bound
from studies.experiment.budget import Budget
from studies.experiment.execute_run import RunOrder

if TYPE_CHECKING:
    from studies.experiment.study_store import StudyStore

BEST_BOUND = """
SELECT bound, bound_method, bound_proof FROM runs WHERE sha256 = ? AND bound IS NOT NULL
ORDER BY bound DESC, position LIMIT 1
"""


class RunOrders:
    """Makes orders; names and files of instances are looked up once.

    Parameters
    ----------
    store
        Of the study, with its plan.
    objective
        What is minimised.
    """

    def __init__(self, store: StudyStore, objective: str) -> None:
        self._store = store
        self._objective = objective
        self._known: dict[str, tuple[str, str]] = {}

    def order(self, row: dict[str, Any]) -> RunOrder:
        """Return what a worker needs to know."""
        return RunOrder(
            instance_path=self._instance(row["sha256"])[1],
            sha256=row["sha256"],
            kind=row["kind"],
            method=row["method"],
            parameters=json.loads(row["parameters"]),
            objective=self._objective,
            budget=Budget(evaluations=row["budget_evaluations"], seconds=row["budget_seconds"]),
            seed=row["seed"],
            threads=row["threads"],
            bound=self._best_bound(row["sha256"]),
            weights_sha256=None if ":" in row["method"] else json.loads(row["all_parameters"]).get("weights"),
        )

    def title(self, row: dict[str, Any]) -> str:
        """Return a run in a few words."""
        return f"{row['label']} on {self._instance(row['sha256'])[0]}"

    def _instance(self, sha256: str) -> tuple[str, str]:
        """Return name and file of an instance; another process may have planned it after this one began."""
        if sha256 not in self._known:
            (row,) = self._store.select("SELECT name FROM instances WHERE sha256 = ?", sha256)
            self._known[sha256] = (str(row["name"]), str(self._store.instance_path(sha256).resolve()))
        return self._known[sha256]

    def _best_bound(self, sha256: str) -> Bound | None:
        """Return the best bound that is stored for an instance; another process may have proved it just now."""
        rows = self._store.select(BEST_BOUND, sha256)
        if not rows:
            return None
        (row,) = rows
        return Bound(
            value=row["bound"],
            method=row["bound_method"],
            proof=row["bound_proof"],
            objective_name=self._objective,
        )
