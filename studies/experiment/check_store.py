"""What is wrong with the store of a study that somebody altered or cut short, told in one line."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from instances.dag.contention import Contention
from solvers.problem import PROBLEMS, problem_of
from studies.experiment.plan import PHASES
from studies.experiment.store import DATABASE, SCHEMA, StudyStore
from studies.experiment.stored_documents import stored_schedule
from studies.input import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


DOCUMENTS = {
    ("runs", "parameters"): "object",
    ("runs", "all_parameters"): "object",
    ("runs", "figures"): "object",
    ("runs", "schedule"): "object",
    ("runs", "trace"): "array",
    ("instances", "origin"): "object",
    ("environments", "content"): "object",
}
"""Columns that hold JSON texts, and what these are."""

POINT = 4
"""Numbers of a point of a trace."""


def blame_store(folder: Path | None, error: Exception) -> None:
    """Say in one line what is wrong in the store of a folder if that is why an error came up; None is no store.

    Raises a `BadInputError` if the error is one of the database, or the store is not as it should be.
    """
    problem = None if folder is None else store_problem(folder)
    if problem is None and isinstance(error, sqlite3.Error):
        problem = f"{DATABASE}: expected a database that can be read and written, got: {error}."
    if problem is not None:
        raise BadInputError(f"{folder}: {problem}") from error


def store_problem(folder: Path) -> str | None:
    """Return the first thing that is wrong in the store of a folder; None where nothing is, or without a store."""
    if not (folder / DATABASE).is_file():
        return None
    try:
        with StudyStore(folder) as store:
            return next(_problems(store), None)
    except sqlite3.Error as error:
        return f"{DATABASE}: expected the store of a study, got: {error}."
    except (OSError, ValueError) as error:
        return str(error)


def _problems(store: StudyStore) -> Iterator[str]:
    """Yield what is wrong, place by place; what comes later may rest on what comes first."""
    for (answer,) in store.select("PRAGMA quick_check(1)"):
        if answer != "ok":
            yield f"{DATABASE}: expected a sound database, got: {answer}."
    yield from _wrong_columns(store)
    for row in store.select("PRAGMA foreign_key_check"):
        yield f"{DATABASE}, {row['table']}: expected rows that name one of {row['parent']}, got another name."
    for (table, column), kind in DOCUMENTS.items():
        broken = f"CASE WHEN json_valid({column}) THEN json_type({column}) <> '{kind}' ELSE {column} IS NOT NULL END"
        for row in store.select(f"SELECT {column} AS text FROM {table} WHERE {broken} LIMIT 1"):
            yield f"{DATABASE}, {table}.{column}: expected a JSON {kind}, got {str(row['text'])[:40]!r}."
    studies = store.select("SELECT problem, objective FROM study")
    if len(studies) != 1:
        yield f"{DATABASE}, study: expected one row, got {len(studies)}."
    for study in studies:
        if study["problem"] not in PROBLEMS or study["objective"] not in list(PROBLEMS[study["problem"]].objectives):
            yield f"{DATABASE}, study: expected a known problem and objective, got {', '.join(study)}."
    for row in store.select("SELECT DISTINCT phase FROM runs"):
        if row["phase"] not in PHASES:
            yield f"{DATABASE}, runs.phase: expected one of {', '.join(PHASES)}, got {row['phase']!r}."
    yield from _wrong_answers(store)


def _wrong_columns(store: StudyStore) -> Iterator[str]:
    """Yield columns that are missing, or hold values of another type than the schema says."""
    with sqlite3.connect(":memory:") as model:
        model.executescript(SCHEMA)
        tables = [name for (name,) in model.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = [(table, *row[1:4]) for table in tables for row in model.execute(f"PRAGMA table_info({table})")]
    model.close()
    for table, column, kind, is_required in columns:
        if column not in [row["name"] for row in store.select(f"PRAGMA table_info({table})")]:
            yield f"{DATABASE}: expected a column {table}.{column}, got none."
            continue
        taken = {"REAL": "'real', 'integer'"}.get(kind, f"'{kind.lower()}'") + ("" if is_required else ", 'null'")
        wrong = f"SELECT typeof({column}) AS found FROM {table} WHERE typeof({column}) NOT IN ({taken}) LIMIT 1"
        for row in store.select(wrong):
            yield f"{DATABASE}, {table}.{column}: expected {kind.lower()} values, got {row['found']}."


def _wrong_answers(store: StudyStore) -> Iterator[str]:
    """Yield instances, schedules and traces that are not what they should be."""
    for planned in store.select("SELECT sha256 FROM instances"):
        try:
            instance = store.instance(planned["sha256"])
        except ValueError as error:
            yield str(error)
            continue
        problem = problem_of(instance)
        answers = store.select(
            "SELECT label, objective, schedule, trace FROM runs WHERE sha256 = ? AND state = 'finished'",
            planned["sha256"],
        )
        for row in answers:
            place = f"{DATABASE}, run of {row['label']} on {instance.name}"
            points = json.loads(row["trace"] or "[]")
            if not all(isinstance(point, list) and len(point) == POINT for point in points):
                yield f"{place}, trace: expected points of {POINT} numbers, got something else."
            try:
                schedule = stored_schedule(instance, row["schedule"])
                violations = [] if schedule is None else problem.verify(instance, schedule, Contention.NONE)
            except (TypeError, ValueError) as error:
                yield f"{place}, schedule: expected one of the instance, got an error: {error}"
                continue
            if violations:
                yield f"{place}, schedule: expected no violation, got {violations[0]}."
