"""What a store says of a study beside its runs' gaps: as tidy data frames, ready for a report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studies.experiment.denominators import denominators

if TYPE_CHECKING:
    from sqlite3 import Row

    import pandas as pd

    from studies.experiment.store import StudyStore


INNER_COLUMNS = ("origin", "file", "position")
"""Columns of stored instances that a reader need not see."""

PROOF_COLUMNS = ("bound", "bound_method", "bound_proof", "bound_seconds", "is_optimum", "is_infeasible")
SCHEDULE_COLUMNS = ("objective", "objective_label", "gap")
"""What `StudyRecord.instances` knows of every instance beside its coordinates."""

RUN_COLUMNS = (
    "instance",
    "sha256",
    "phase",
    "kind",
    "label",
    "method",
    "parameters",
    "budget",
    "repetition",
    "seed",
    "threads",
    "state",
    "objective",
    "bound",
    "bound_method",
    "bound_proof",
    "is_infeasible",
    "termination",
    "seconds",
    "evaluations",
    "error",
    "ended_at",
    "environment",
)
"""Columns of `StudyRecord.runs`."""

_RUNS = f"""
SELECT instances.name AS instance, {", ".join(f"runs.{name}" for name in RUN_COLUMNS[1:])}
FROM runs JOIN instances USING (sha256) WHERE is_planned = 1 ORDER BY runs.position
"""

_PROOFS = """
SELECT sha256, bound, bound_method, bound_proof, method, seconds FROM runs
WHERE state = 'finished' AND bound IS NOT NULL ORDER BY bound DESC, is_planned DESC, position
"""

_SCHEDULES = """
SELECT sha256, objective, label FROM runs
WHERE state = 'finished' AND objective IS NOT NULL ORDER BY objective, is_planned DESC, position
"""

_INFEASIBLE = "SELECT DISTINCT sha256 FROM runs WHERE state = 'finished' AND is_infeasible"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudyRecord:
    """What was planned, run, proved and used.

    Parameters
    ----------
    name, objective, seed, specification
        Of the study, as stored; the specification is the text of its TOML file.
    instances
        One row per instance of the plan, in its order: its name, content hash (`sha256`) and coordinates (whatever
        columns the store has: family, sizes, ratios), the best proven bound over all runs with what proved it first
        and in how many seconds (`PROOF_COLUMNS`), the best objective over all runs with the label of who had it
        first, and the gap between the two. None or NaN where there is nothing.
    runs
        One row per planned run, references included, in the order of the plan: `RUN_COLUMNS`. `state` is "pending",
        "running", "finished" or "failed"; `parameters` are those given, as JSON.
    environments
        One row per environment that runs were made in: `environment`, `revision`, `hardware`, `num_runs`, `first` and
        `last` (when runs ended, UTC). Runs that were killed from outside may have none.
    versions
        One row per environment and software: `environment`, `software`, `version`.
    num_set_aside
        Runs of earlier versions of the specification that ended well; only their proofs count.
    """

    name: str
    objective: str
    seed: int
    specification: str
    instances: pd.DataFrame
    runs: pd.DataFrame
    environments: pd.DataFrame
    versions: pd.DataFrame
    num_set_aside: int

    @property
    def references(self) -> pd.DataFrame:
        """Return the runs that give denominators only: bounds and exact references."""
        return self.runs[self.runs["phase"] != "method"]

    @property
    def failures(self) -> pd.DataFrame:
        """Return the runs that ended in an error, references included."""
        return self.runs[self.runs["state"] == "failed"]

    @property
    def without_schedule(self) -> pd.DataFrame:
        """Return the runs of methods and exact references that ended well but have no schedule."""
        ended = self.runs[(self.runs["state"] == "finished") & (self.runs["phase"] != "bound")]
        return ended[ended["objective"].isna()]

    @property
    def unproved(self) -> pd.DataFrame:
        """Return the instances whose optimum is not known, and which are not known to be infeasible."""
        return self.instances[~self.instances["is_optimum"] & ~self.instances["is_infeasible"]]

    def counts(self) -> pd.DataFrame:
        """Return the number of planned runs in every state, one row per phase, label and budget."""
        states = self.runs.groupby(["phase", "label", "method", "kind", "parameters", "budget"], sort=False)["state"]
        table = states.value_counts().unstack("state", fill_value=0)
        return table.reindex(columns=["finished", "failed", "running", "pending"], fill_value=0).reset_index()


def study_record(store: StudyStore) -> StudyRecord:
    """Read what a store says of its study.

    Raises a `ValueError` if nothing was planned in it yet, and a `ContradictionError` if a proof contradicts a
    schedule; a reproducer file is left.
    """
    import pandas as pd

    rows = store.select("SELECT name, objective, seed, specification FROM study")
    if not rows:
        raise ValueError("study: expected a store with a plan, got an empty one.")
    runs = pd.DataFrame.from_records([tuple(row) for row in store.select(_RUNS)], columns=list(RUN_COLUMNS))
    for column in ("objective", "bound", "seconds", "evaluations"):
        runs[column] = pd.to_numeric(runs[column])  # a column of None alone would hold objects
    environments, versions = _environments(store, runs)
    return StudyRecord(
        **dict(rows[0]),
        instances=_instances(store, set(runs["sha256"])),
        runs=runs,
        environments=environments,
        versions=versions,
        num_set_aside=store.select("SELECT count(*) FROM runs WHERE is_planned = 0 AND state = 'finished'")[0][0],
    )


def _instances(store: StudyStore, planned: set[str]) -> pd.DataFrame:
    """Return the planned instances with the best that is known of them."""
    import pandas as pd

    known = denominators(store)
    proofs: dict[str, Row] = {}
    schedules: dict[str, Row] = {}
    for row in store.select(_PROOFS):
        proofs.setdefault(row["sha256"], row)
    for row in store.select(_SCHEDULES):
        schedules.setdefault(row["sha256"], row)
    infeasible = {row["sha256"] for row in store.select(_INFEASIBLE)}
    records = []
    for row in store.select("SELECT * FROM instances ORDER BY position"):
        sha256 = row["sha256"]
        if sha256 not in planned:
            continue
        record = {name: row[name] for name in row.keys() if name not in INNER_COLUMNS}  # noqa: SIM118 (no mapping)
        proof, schedule, best = proofs.get(sha256), schedules.get(sha256), known.get(sha256)
        bound = None if proof is None else proof["bound"]
        objective = None if schedule is None else schedule["objective"]
        record |= {
            "bound": bound,
            "bound_method": None if proof is None else proof["bound_method"] or proof["method"],
            "bound_proof": None if proof is None else proof["bound_proof"],
            "bound_seconds": None if proof is None else proof["seconds"],
            "is_optimum": best is not None and best.is_optimum,
            "is_infeasible": sha256 in infeasible,
            "objective": objective,
            "objective_label": None if schedule is None else schedule["label"],
            "gap": None if objective is None or not bound else (objective - bound) / bound,
        }
        records.append(record)
    frame = pd.DataFrame.from_records(records).rename(columns={"name": "instance"})
    for column in ("bound", "bound_seconds", "objective", "gap"):
        frame[column] = pd.to_numeric(frame[column])
    return frame


def _environments(store: StudyStore, runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the environments of the planned runs, and the versions of the software in each."""
    import pandas as pd

    contents = {row["id"]: json.loads(row["content"]) for row in store.select("SELECT id, content FROM environments")}
    used, versions = [], []
    for number, group in runs[runs["environment"].notna()].groupby("environment"):
        content = contents[int(number)]
        used.append(
            {
                "environment": int(number),
                "revision": content.get("revision"),
                "hardware": content.get("hardware"),
                "num_runs": len(group),
                "first": group["ended_at"].min(),
                "last": group["ended_at"].max(),
            }
        )
        for software, version in content.get("versions", {}).items():
            versions.append({"environment": int(number), "software": software, "version": version})
    return (
        pd.DataFrame(used, columns=["environment", "revision", "hardware", "num_runs", "first", "last"]),
        pd.DataFrame(versions, columns=["environment", "software", "version"]),
    )
