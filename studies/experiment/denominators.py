"""What the gaps of a study are measured against, and the alarm where a proof and a schedule disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solvers.run.contradiction import raise_contradiction
from studies.experiment.stored_documents import stored_schedule

if TYPE_CHECKING:
    from sqlite3 import Row

    from studies.experiment.store import StudyStore

EXTREMES = """
SELECT sha256, max(bound) AS bound, min(objective) AS objective, max(is_infeasible) AS is_infeasible
FROM runs WHERE state = 'finished' GROUP BY sha256
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denominator:
    """Best proven bound of an instance over all runs, and whether a verified schedule reaches it.

    Parameters
    ----------
    bound
        The best bound; None if nothing is proven.
    is_optimum
        Whether gaps to it are optimality gaps proper.
    """

    bound: int | None
    is_optimum: bool


def denominators(store: StudyStore) -> dict[str, Denominator]:
    """Return the denominator of every instance that has a finished run, by content hash.

    Runs of earlier versions of the specification count too: a proof stays a proof.

    Raises
    ------
    ContradictionError
        If a bound is above the objective of a verified schedule, or an instance without any schedule has one: a
        negative gap is an error in this software, never a result. A reproducer file is left.
    """
    found = {}
    for row in store.select(EXTREMES):
        _refuse_contradiction(store, row)
        reached = row["bound"] is not None and row["bound"] == row["objective"]
        found[row["sha256"]] = Denominator(bound=row["bound"], is_optimum=reached)
    return found


def check_contradictions(store: StudyStore) -> None:
    """Hold all schedules of a study against all its proofs.

    Raises
    ------
    ContradictionError
        As in `denominators`.
    """
    for row in store.select(EXTREMES):
        _refuse_contradiction(store, row)


def _refuse_contradiction(store: StudyStore, row: Row) -> None:
    """Raise where the best bound of an instance is above its best schedule, or should not exist."""
    sha256, bound, objective = row["sha256"], row["bound"], row["objective"]
    if objective is None or not (row["is_infeasible"] or (bound is not None and bound > objective)):
        return
    condition = "is_infeasible = 1" if row["is_infeasible"] else f"bound = {bound}"
    runs = "SELECT method, seed, bound_method, schedule FROM runs WHERE state = 'finished' AND sha256 = ?"
    (claimant, *_) = store.select(f"{runs} AND {condition} ORDER BY position", sha256)
    (holder, *_) = store.select(f"{runs} AND objective = {objective} ORDER BY position", sha256)
    claim = "no schedule exists" if row["is_infeasible"] else f"a bound of {bound}"
    prover = claimant["bound_method"] or claimant["method"]
    instance = store.instance(sha256)
    raise_contradiction(
        instance,
        f"{prover} claims {claim} for {instance.name!r}, {holder['method']} has a verified schedule of {objective}.",
        schedule=stored_schedule(instance, holder["schedule"]),
        other_schedule=stored_schedule(instance, claimant["schedule"]),
        claims={prover: claim, holder["method"]: f"a schedule of {objective}"},
        evidence={"study": str(store.folder.name), "seed": holder["seed"]},
    )
