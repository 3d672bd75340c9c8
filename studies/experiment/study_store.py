"""The store of a study: one SQLite file, and the instances beside it."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from instances.dag_json import read_dag_instance, write_dag_instance
from studies.experiment.study_schema import ANSWER_COLUMNS, SCHEMA, SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from instances.dag_instance import DagInstance
    from studies.experiment.run_answer import RunAnswer
    from studies.experiment.study_plan import StudyPlan

DATABASE = "study.sqlite"
INSTANCES = "instances"
BUSY_SECONDS, JOURNAL_TRIES = 60.0, 100


class StudyStore:
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
        If there is another database, or one of another version.
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = Path(folder)
        path = self.folder / DATABASE
        if create:
            (self.folder / INSTANCES).mkdir(parents=True, exist_ok=True)
        elif not path.is_file():
            raise FileNotFoundError(2, "no study there", str(path))
        self._lock = threading.RLock()
        self._database = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._database.row_factory = sqlite3.Row
        try:
            self._prepare(create)
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(f"{DATABASE}: expected the store of a study, got: {error}.") from error
        except ValueError:
            self.close()
            raise

    def _prepare(self, create: bool) -> None:
        """Make the tables where they may be made, and check their version."""
        if create:
            self._begin_journal()
            self._database.execute("PRAGMA synchronous = NORMAL")  # survives any kill of a process
            with self._transaction() as database:
                for statement in SCHEMA.split(";\n"):
                    if statement.strip():
                        database.execute(statement)
        row = self._database.execute("SELECT schema_version FROM study").fetchone()
        if row is not None and row[0] != SCHEMA_VERSION:
            raise ValueError(f"{DATABASE}: expected a store of version {SCHEMA_VERSION}, got {row[0]}.")

    def _begin_journal(self) -> None:
        """Switch to write-ahead logging; SQLite does not wait by itself where another process does so now."""
        for _ in range(JOURNAL_TRIES):
            try:
                self._database.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                time.sleep(0.05)
            else:
                return
        self._database.execute("PRAGMA journal_mode = WAL")

    def __enter__(self) -> Self:
        """Return the store; leaving closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the database."""
        self.close()

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Enter a transaction that may write; other threads and processes wait."""
        with self._lock:
            try:
                self._database.execute("BEGIN IMMEDIATE")
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def stored_instance(self, origin: str) -> DagInstance | None:
        """Return the instance that was made from an origin before, None where there is none."""
        rows = self.select("SELECT sha256 FROM instances WHERE origin = ?", origin)
        return self.instance(rows[0]["sha256"]) if rows else None

    def instance_path(self, sha256: str) -> Path:
        """Return the file of an instance."""
        (row,) = self.select("SELECT file FROM instances WHERE sha256 = ?", sha256)
        return self.folder / INSTANCES / str(row["file"])

    def instance(self, sha256: str) -> DagInstance:
        """Read an instance.

        Raises
        ------
        ValueError
            If the file was changed since.
        """
        path = self.instance_path(sha256)
        instance = read_dag_instance(path)
        if instance.sha256 != sha256:
            raise ValueError(f"{path.name}: expected the content {sha256[:16]}..., got {instance.sha256[:16]}...")
        return instance

    def write_plan(self, plan: StudyPlan) -> None:
        """Write instances and runs; runs that are there keep their answers, those no longer planned are set aside."""
        for item in plan.instances:
            path = self.folder / INSTANCES / item.file_name
            if not path.is_file():
                part = path.with_suffix(f".{os.getpid()}.part")
                write_dag_instance(item.instance, part)
                part.replace(path)  # whole or not there
        spec = plan.spec
        with self._transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO study VALUES (1, ?, ?, ?, ?, ?)",
                (SCHEMA_VERSION, spec.name, str(spec.objective), spec.seed, spec.text),
            )
            database.executemany(
                "INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (sha256) DO UPDATE SET position = excluded.position, name = excluded.name",
                [
                    (
                        item.instance.sha256,
                        name,
                        item.file_name,
                        item.origin,
                        item.family,
                        item.cluster,
                        item.ccr,
                        item.heterogeneity,
                        item.instance.num_tasks,
                        item.instance.num_gpus,
                        item.instance.num_edges,
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

    def select(self, statement: str, *values: object) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        with self._lock:
            return self._database.execute(statement, values).fetchall()

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
    return [
        name if names.count(name) == 1 else f"{name} ({item.instance.sha256[:8]})"
        for item, name in zip(plan.instances, names, strict=True)
    ]


def _environment(database: sqlite3.Connection, content: str) -> int:
    """Return the number of an environment, written once."""
    database.execute("INSERT OR IGNORE INTO environments (content) VALUES (?)", (content,))
    row = database.execute("SELECT id FROM environments WHERE content = ?", (content,)).fetchone()
    return int(row["id"])
