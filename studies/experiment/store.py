"""The store of a study: one SQLite file, and a folder with the instances."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from instances.readers.optgap_json import write_instance_file
from instances.waiting import turns
from studies.experiment.run_answer import RunAnswer
from studies.experiment.specification import DAG
from studies.experiment.stored_documents import read_stored_instance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance
    from studies.experiment.plan import StudyPlan
    from studies.experiment.specification import StudySpec


SCHEMA_VERSION = 2

SCHEMA = """
CREATE TABLE IF NOT EXISTS study (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema_version INTEGER NOT NULL,
    name TEXT NOT NULL,
    problem TEXT NOT NULL,
    objective TEXT NOT NULL,
    seed INTEGER NOT NULL,
    specification TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS instances (
    sha256 TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    file TEXT NOT NULL,
    origin TEXT NOT NULL,
    family TEXT NOT NULL,
    cluster TEXT NOT NULL,
    ccr REAL,
    load REAL,
    heterogeneity TEXT NOT NULL,
    tasks INTEGER,
    jobs INTEGER,
    gpus INTEGER NOT NULL,
    edges INTEGER,
    tick_seconds REAL,
    position INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS environments (
    id INTEGER PRIMARY KEY,
    content TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS owners (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    beat REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL REFERENCES instances (sha256),
    phase TEXT NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    method TEXT NOT NULL,
    parameters TEXT NOT NULL,
    all_parameters TEXT NOT NULL,
    budget TEXT NOT NULL,
    budget_evaluations INTEGER,
    budget_seconds REAL,
    repetition INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    threads INTEGER NOT NULL,
    position INTEGER NOT NULL,
    is_planned INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'finished', 'failed')),
    owner TEXT,
    objective INTEGER,
    bound INTEGER,
    bound_method TEXT,
    bound_proof TEXT,
    is_infeasible INTEGER,
    termination TEXT,
    seconds REAL,
    evaluations INTEGER,
    trace TEXT,
    schedule TEXT,
    figures TEXT,
    error TEXT,
    ended_at TEXT,
    environment INTEGER REFERENCES environments (id)
);
CREATE INDEX IF NOT EXISTS runs_to_do ON runs (is_planned, state, phase, threads, position);
CREATE INDEX IF NOT EXISTS runs_of_instance ON runs (sha256);
CREATE INDEX IF NOT EXISTS runs_with_bound ON runs (sha256, bound DESC, position) WHERE bound IS NOT NULL;
"""
"""One row of `runs` per run; `is_planned` is 0 for runs of an earlier version of the specification.

Tasks and edges are those of DAG instances, the load that of jobs. `figures` are more numbers of a schedule, as JSON.
"""

ANSWER_COLUMNS = [field.name for field in fields(RunAnswer) if field.name not in ("is_interrupted", "is_contradiction")]
"""What a run brings back: columns of `runs`."""


INSTANCE_COLUMNS = "sha256, name, file, origin, family, cluster, ccr, heterogeneity, tasks, gpus, edges, position"
STUDY_COLUMNS = "id, schema_version, name, objective, seed, specification"
"""Columns of version 1."""


def store_version(database: sqlite3.Connection) -> int | None:
    """Return the version of the tables that are there, None without any."""
    columns = {row[1] for row in database.execute("PRAGMA table_info(study)")}
    if not columns:
        return None
    row = database.execute("SELECT schema_version FROM study").fetchone()
    if row is not None:
        return int(row[0])
    return SCHEMA_VERSION if "problem" in columns else 1


def migrate_store(database: sqlite3.Connection) -> None:
    """Change the tables of version 1 into those of version 2, inside a transaction of the caller.

    Version 1 knew DAG instances only. Numbers of jobs and lengths of ticks, which it did not keep, stay unknown until
    the plan is written again.
    """
    if store_version(database) != 1:
        return  # another process was faster
    for table, columns in (("instances", INSTANCE_COLUMNS), ("study", STUDY_COLUMNS)):
        # The new table takes the old one's name last: renaming the old one would change what `runs` refers to.
        database.execute(_statement_of(table).replace(f"EXISTS {table} (", f"EXISTS new_{table} ("))
        more, values = (", problem", f", '{DAG}'") if table == "study" else ("", "")
        database.execute(f"INSERT INTO new_{table} ({columns}{more}) SELECT {columns}{values} FROM {table}")
        database.execute(f"DROP TABLE {table}")
        database.execute(f"ALTER TABLE new_{table} RENAME TO {table}")
    database.execute("ALTER TABLE runs ADD COLUMN figures TEXT")
    database.execute(f"UPDATE study SET schema_version = {SCHEMA_VERSION}")


def _statement_of(table: str) -> str:
    """Return the statement that makes a table."""
    head = f"CREATE TABLE IF NOT EXISTS {table} ("
    (statement,) = (part.strip() for part in SCHEMA.split(";\n") if part.strip().startswith(head))
    return statement


BUSY_SECONDS = 0.2
"""How long SQLite itself waits for a lock; then this process says that it waits, and tries again."""


class StudyDatabase:
    """A database with the tables of today; several threads and processes may use one at a time.

    Where another process has locked it, this one waits as long as that lasts, with warnings that say so.

    Parameters
    ----------
    path
        Path of the file. In a folder that cannot be written it is read as it is, without the extra files that
        SQLite would make.
    create
        Whether the file and the tables are made where they do not exist.

    Raises
    ------
    ValueError
        If it is another database, or one of a later version.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self._path, self._name = path, path.name
        self._is_patient = True
        self._lock = threading.RLock()
        try:
            self._database = self._connect(path, create)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self._name}: expected a database that can be opened, got: {error}.") from error
        self._database.row_factory = sqlite3.Row
        try:
            self._prepare(create)
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(f"{self._name}: expected the store of a study, got: {error}.") from error
        except ValueError:
            self.close()
            raise

    def _connect(self, path: Path, create: bool) -> sqlite3.Connection:
        """Open the file; readers of a log must write to its folder, unless nobody can and the log is empty."""
        log = path.with_name(f"{path.name}-wal")
        is_fixed = not create and not os.access(path.parent, os.W_OK) and not log.exists()
        return sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={'ro&immutable=1' if is_fixed else 'rwc' if create else 'rw'}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )

    def _prepare(self, create: bool) -> None:
        """Make the tables where they may be made, or bring them to this version; refuse all others."""
        if create:
            self._execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")  # survives any kill of a process
        self._execute("PRAGMA schema_version")  # waits until the file can be read
        version = store_version(self._database)
        if version is None and (self.select("SELECT 1 FROM sqlite_master") or not create):
            raise ValueError(f"{self._name}: expected the store of a study, got a database without one.")
        if version is not None and version > SCHEMA_VERSION:
            raise ValueError(f"{self._name}: expected a store of version {SCHEMA_VERSION} or below, got {version}.")
        if version is not None and version < SCHEMA_VERSION:
            with self._transaction() as database:
                migrate_store(database)
        if create:
            with self._transaction() as database:
                for statement in SCHEMA.split(";\n"):
                    if statement.strip():
                        database.execute(statement)

    def _execute(self, statement: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        """Execute a statement and return its rows; wait while another process has locked the database."""
        for _ in turns(str(self._path)):
            try:
                return self._database.execute(statement, values).fetchall()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or not self._is_patient:
                    raise
        raise AssertionError("there is always another turn")

    def stop_waiting(self) -> None:
        """Let whoever waits for a lock, now or later, get the error of SQLite instead."""
        self._is_patient = False

    def __enter__(self) -> Self:
        """Return itself; leaving closes the database."""
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
                self._execute("BEGIN IMMEDIATE")
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def select(self, statement: str, *values: object) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        with self._lock:
            return self._execute(statement, values)


DATABASE = "study.sqlite"
INSTANCES = "instances"

PLACES = ("name", "origin", "family", "cluster", "ccr", "load", "heterogeneity", "jobs", "tick_seconds", "position")
"""Columns of an instance that the specification decides, or that stores of version 1 did not have."""


class StudyStore(StudyDatabase):
    """Plan, claims and answers of a study; several threads and processes may use one folder at a time.

    Parameters
    ----------
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
        """Read an instance; raises a `ValueError` if the file was changed since, or is gone."""
        path = self.instance_path(sha256)
        try:
            return read_stored_instance(path, sha256)
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
                write_instance_file(item.instance, path)
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

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Insert rows as they are; the row of the study gets its number."""
        names, values = (["id", *columns], [(1, *row) for row in rows]) if table == "study" else (columns, rows)
        with self._transaction() as database:
            database.executemany(
                f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", values
            )

    def check_same(self, spec: StudySpec) -> None:
        """Refuse a specification that the store cannot hold.

        Raises a `ValueError` if it is of another problem or objective: bounds of the one are none of the other.
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
