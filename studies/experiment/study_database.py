"""The SQLite file of a study: opening it safely, transactions, queries."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from studies.experiment.migrate_store import migrate_store, store_version
from studies.experiment.study_schema import SCHEMA, SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

BUSY_SECONDS, JOURNAL_TRIES = 60.0, 100


class StudyDatabase:
    """A database with the tables of today; several threads and processes may use one at a time.

    Parameters
    ----------
    path
        Of the file. One in a folder that cannot be written is read as it is, without files beside it.
    create
        Whether the file and the tables are made where they do not exist.

    Raises
    ------
    ValueError
        If it is another database, or one of a later version.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self._name = path.name
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
        """Open the file; readers of a log need to write beside it, unless nobody can and the log is empty."""
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
            self._begin_journal()
            self._database.execute("PRAGMA synchronous = NORMAL")  # survives any kill of a process
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

    def _begin_journal(self) -> None:
        """Switch to write-ahead logging; SQLite does not wait by itself where another process does so now."""
        for _ in range(JOURNAL_TRIES):
            try:
                self._database.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                time.sleep(0.05)
            else:
                return
        self._database.execute("PRAGMA journal_mode = WAL")

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
                self._database.execute("BEGIN IMMEDIATE")
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def select(self, statement: str, *values: object) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        with self._lock:
            return self._database.execute(statement, values).fetchall()
