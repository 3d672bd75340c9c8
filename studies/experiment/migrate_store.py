"""Bringing the store of an earlier version to the one of today; no answer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.study_problem import DAG
from studies.experiment.study_schema import SCHEMA, SCHEMA_VERSION

if TYPE_CHECKING:
    import sqlite3

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
