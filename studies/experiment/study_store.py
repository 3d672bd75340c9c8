"""The store of a study: one SQLite file, and the instances beside it."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.whole_file import whole_file
from studies.experiment.read_instance import read_instance, write_instance
from studies.experiment.study_database import StudyDatabase
from studies.experiment.study_schema import ANSWER_COLUMNS, SCHEMA_VERSION

if TYPE_CHECKING:
    import sqlite3

    from instances.dag_instance import DagInstance
    from instances.jobs.jobs_instance import JobsInstance
    from studies.experiment.run_answer import RunAnswer
    from studies.experiment.study_plan import StudyPlan
    from studies.experiment.study_spec import StudySpec

DATABASE = "study.sqlite"
INSTANCES = "instances"

PLACES = ("name", "origin", "family", "cluster", "ccr", "load", "heterogeneity", "jobs", "tick_seconds", "position")
"""Columns of an instance that the specification decides, or that stores of version 1 did not have."""


class StudyStore(StudyDatabase):
    """Plan, claims and answers of a study; several threads and processes may use one folder at a time.

    Parameters
    ----------
    folder
        Where the database is.
    create
        Whether the folder and the database are made where they do not exist.

    Raises
    ------
    FileNotFoundError
        If there is no database and none may be made.
    ValueError
        If there is another database, or one of a later version.
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = Path(folder)
        if create:
            (self.folder / INSTANCES).mkdir(parents=True, exist_ok=True)
        elif not (self.folder / DATABASE).is_file():
            raise FileNotFoundError(2, "no study there", str(self.folder / DATABASE))
        super().__init__(self.folder / DATABASE, create=create)

    def stored_instance(self, origin: str) -> DagInstance | JobsInstance | None:
        """Return the instance that was made from an origin before, None where there is none."""
        rows = self.select("SELECT sha256 FROM instances WHERE origin = ?", origin)
        return self.instance(rows[0]["sha256"]) if rows else None

    def instance_path(self, sha256: str) -> Path:
        """Return the file of an instance."""
        (row,) = self.select("SELECT file FROM instances WHERE sha256 = ?", sha256)
        return self.folder / INSTANCES / str(row["file"])

    def instance(self, sha256: str) -> DagInstance | JobsInstance:
        """Read an instance.

        Raises
        ------
        ValueError
            If the file was changed since, or is gone.
        """
        path = self.instance_path(sha256)
        try:
            return read_instance(path, sha256)
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            raise ValueError(f"{INSTANCES}/{path.name}: expected a file that can be read, got: {said}.") from error
        except ValueError as error:
            raise ValueError(f"{INSTANCES}/{path.name}, {error}") from error

    def write_plan(self, plan: StudyPlan) -> None:
        """Write instances and runs; runs that are there keep their answers, those no longer planned are set aside.

        Raises
        ------
        ValueError
            As in `check_same`.
        """
        self.check_same(plan.spec)
        for item in plan.instances:
            path = self.folder / INSTANCES / item.file_name
            if not path.is_file():
                with whole_file(path) as partial:
                    write_instance(item.instance, partial)
        spec = plan.spec
        with self._transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO study VALUES (1, ?, ?, ?, ?, ?, ?)",
                (SCHEMA_VERSION, spec.name, spec.problem, str(spec.objective), spec.seed, spec.text),
            )
            database.executemany(
                "INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                f" ON CONFLICT (sha256) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in PLACES)}",
                [
                    (
                        item.instance.sha256,
                        name,
                        item.file_name,
                        item.origin,
                        item.family,
                        item.cluster,
                        item.ccr,
                        item.load,
                        item.heterogeneity,
                        item.num_tasks,
                        item.instance.num_jobs,
                        item.instance.num_gpus,
                        item.num_edges,
                        item.instance.tick_seconds,
                        position,
                    )
                    for position, (item, name) in enumerate(zip(plan.instances, _names(plan), strict=True))
                ],
            )
            database.execute("UPDATE runs SET is_planned = 0")
            database.executemany(
                "INSERT INTO runs (key, sha256, phase, kind, label, method, parameters, all_parameters, budget,"
                " budget_evaluations, budget_seconds, repetition, seed, threads, position, is_planned, state)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 'pending') ON CONFLICT (key) DO UPDATE"
                " SET is_planned = 1, position = excluded.position, label = excluded.label, phase = excluded.phase",
                [
                    (
                        run.key,
                        run.sha256,
                        run.phase,
                        run.kind,
                        run.label,
                        run.method,
                        json.dumps(dict(run.parameters), sort_keys=True),
                        json.dumps(dict(run.all_parameters), sort_keys=True, default=str),
                        str(run.budget),
                        run.budget.evaluations,
                        run.budget.seconds,
                        run.repetition,
                        run.seed,
                        run.threads,
                        position,
                    )
                    for position, run in enumerate(plan.runs)
                ],
            )

    def check_same(self, spec: StudySpec) -> None:
        """Refuse a specification that the store cannot hold.

        Raises
        ------
        ValueError
            If it is of another problem or objective: bounds of the one are none of the other.
        """
        for row in self.select("SELECT problem, objective FROM study"):
            for name in ("problem", "objective"):
                found = str(getattr(spec, name))
                if found != row[name]:
                    raise ValueError(f"study.{name}: expected {row[name]}, as the store has it, got {found}.")

    def claim(self, owner: str, phase: str, threads: int) -> dict[str, Any] | None:
        """Take the next run of a phase, None where all are taken; nobody else gets it."""
        with self._transaction() as database:
            row = database.execute(
                "SELECT * FROM runs WHERE is_planned = 1 AND state = 'pending' AND phase = ? AND threads = ?"
                " ORDER BY position LIMIT 1",
                (phase, threads),
            ).fetchone()
            if row is None:
                return None
            database.execute("UPDATE runs SET state = 'running', owner = ? WHERE key = ?", (owner, row["key"]))
        return dict(row)

    def finish(self, key: str, owner: str, answer: RunAnswer, environment: str | None) -> bool:
        """Write an answer; False, and nothing written, where the run is not the owner's any more."""
        values = [getattr(answer, column) for column in ANSWER_COLUMNS]
        state = "finished" if answer.error is None else "failed"
        with self._transaction() as database:
            number = None if environment is None else _environment(database, environment)
            done = database.execute(
                f"UPDATE runs SET {', '.join(f'{column} = ?' for column in ANSWER_COLUMNS)}, state = ?, owner = NULL,"
                " ended_at = ?, environment = ? WHERE key = ? AND owner = ? AND state = 'running'",
                (*values, state, datetime.now(UTC).isoformat(timespec="seconds"), number, key, owner),
            )
        return done.rowcount == 1

    def release(self, owner: str, key: str | None = None) -> None:
        """Give back one run, or all that an owner has taken and not answered."""
        which, values = ("", [owner]) if key is None else (" AND key = ?", [owner, key])
        with self._transaction() as database:
            database.execute(
                f"UPDATE runs SET state = 'pending', owner = NULL WHERE state = 'running' AND owner = ?{which}", values
            )

    def forget_failures(self) -> None:
        """Let all failed runs be made again."""
        with self._transaction() as database:
            database.execute("UPDATE runs SET state = 'pending', error = NULL WHERE state = 'failed'")

    def write_owner(self, owner: str, host: str, pid: int, beat: float) -> None:
        """Say that an owner is alive."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)", (owner, host, pid, beat))

    def drop_owner(self, owner: str) -> None:
        """Give back an owner's runs and forget the owner."""
        self.release(owner)
        with self._transaction() as database:
            database.execute("DELETE FROM owners WHERE id = ?", (owner,))

    def counts(self) -> dict[str, int]:
        """Return the number of planned runs in every state."""
        rows = self.select("SELECT state, count(*) AS number FROM runs WHERE is_planned = 1 GROUP BY state")
        return {"pending": 0, "running": 0, "finished": 0, "failed": 0, **{row["state"]: row["number"] for row in rows}}

    def done_keys(self) -> set[str]:
        """Return the keys of all runs that will not be made again."""
        return {row["key"] for row in self.select("SELECT key FROM runs WHERE state IN ('finished', 'failed')")}


def _names(plan: StudyPlan) -> list[str]:
    """Return a name for every instance, with a piece of its hash where another one has the same name."""
    names = [item.instance.name for item in plan.instances]
    number = Counter(names)
    return [
        name if number[name] == 1 else f"{name} ({item.instance.sha256[:8]})"
        for item, name in zip(plan.instances, names, strict=True)
    ]


def _environment(database: sqlite3.Connection, content: str) -> int:
    """Return the number of an environment, written once."""
    database.execute("INSERT OR IGNORE INTO environments (content) VALUES (?)", (content,))
    row = database.execute("SELECT id FROM environments WHERE content = ?", (content,)).fetchone()
    return int(row["id"])
