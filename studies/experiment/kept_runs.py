"""The deterministic columns of a store in one compressed file, and the store that comes back from it.

What ends where the machine lets it, or says how long it took, can be kept as it was measured, in a file of its own.
What is no study keeps the rows that its command writes, in the same way.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

from instances.fields import one_of
from instances.text_file import read_text, write_text
from studies.experiment.store import StudyStore

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


FORMAT, ROWS_FORMAT = "optgap-kept-runs/1", "optgap-kept-rows/1"
"""Of the documents: of a study, and of rows of another command."""

SECONDS = "seconds"
"""End of the names of columns that are not kept, because no run gives them again."""

STUDY_COLUMNS = ("schema_version", "name", "problem", "objective", "seed", "specification")

INSTANCE_COLUMNS = (
    *("sha256", "name", "file", "origin", "family", "cluster", "ccr", "load", "heterogeneity"),
    *("tasks", "jobs", "gpus", "edges", "tick_seconds", "position"),
)

RUN_COLUMNS = (
    *("sha256", "phase", "kind", "label", "method", "parameters", "budget"),
    *("budget_evaluations", "budget_seconds", "repetition", "seed", "threads", "position", "is_planned", "state"),
    *("objective", "bound", "bound_method", "bound_proof", "is_infeasible", "termination", "evaluations", "trace"),
    *("figures", "error"),
)
"""What is kept of a run: all that the same command gives again on another machine. Not kept: seconds, schedules, when
and where the run was made, and defaults of parameters. Traces have null in the place of seconds."""

TABLES = {"study": STUDY_COLUMNS, "instances": INSTANCE_COLUMNS, "runs": RUN_COLUMNS}

METHOD_PHASE = "method"
"""Phase of the runs that are compared; the others bound the instances."""


def kept_text(folder: Path, *, measured: bool = False) -> str:
    """Return the deterministic columns of a finished study as a JSON document of arrays, one per column.

    Parameters
    ----------
    measured
        Runs of methods whose budget is in seconds end where the machine lets them and are left out. True keeps these
        runs as they were measured, and leaves out those with a budget in evaluations.

    Raises
    ------
    FileNotFoundError
        If the folder has no store.
    ValueError
        If a run is not finished: a table of a part of a study is no table of the study.
    """
    with StudyStore(folder) as store:
        unfinished = store.select("SELECT count(*) FROM runs WHERE is_planned AND state != 'finished'")[0][0]
        if unfinished:
            raise ValueError(f"runs: expected a study whose runs are all finished, got {unfinished} others.")
        other = "budget_evaluations" if measured else "budget_seconds"
        where = {"runs": f" WHERE is_planned AND ({other} IS NULL OR phase != '{METHOD_PHASE}')"}
        document: dict[str, Any] = {"format": FORMAT}
        for table, columns in TABLES.items():
            order = "" if table == "study" else " ORDER BY position"
            rows = store.select(f"SELECT {', '.join(columns)} FROM {table}{where.get(table, '')}{order}")
            document[table] = {name: [row[name] for row in rows] for name in columns}
    runs = document["runs"]
    runs["trace"] = [_without_seconds(trace) for trace in runs["trace"]]
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n"


def _without_seconds(trace: str | None) -> str | None:
    """Return a trace with null in the place of seconds; its points are (seconds, evaluations, objective, bound)."""
    if trace is None:
        return None
    points: list[list[Any]] = json.loads(trace)
    return json.dumps([[None, *point[1:]] for point in points], separators=(",", ":"))


def kept_sha256(text: str) -> str:
    """Return the content hash of a document: that of its text, not of the compressed file."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_kept_runs(folder: Path, path: Path, *, measured: bool = False) -> str:
    """Write the deterministic columns of a finished study to a file that ends in ``.json.gz``; return its hash.

    Raises as `kept_text`, and an `OSError` if the file cannot be written.
    """
    text = kept_text(folder, measured=measured)
    write_text(path, text)
    return kept_sha256(text)


def write_kept_rows(source: Path, path: Path, *, measured: bool = False) -> str:
    """Write the rows of a file that a command has written, without seconds, to a ``.json.gz``; return their hash.

    Parameters
    ----------
    source
        A ``.csv`` with a heading, or a file with a JSON object on every line, or with one that has a list ``rows``.
    measured
        Whether to keep the seconds too, as they were measured.

    Raises
    ------
    OSError
        If a file cannot be read or written.
    ValueError
        If the source holds something else.
    """
    import pandas as pd

    text = read_text(source)
    if source.suffix == ".csv":
        rows = [{name: _value(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]
    else:
        try:
            one_object = text.startswith("{\n")
            rows = json.loads(text)["rows"] if one_object else [json.loads(line) for line in text.splitlines()]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{source.name}: expected rows as JSON objects, got something else ({error}).") from error
    frame = pd.DataFrame(rows)
    columns = [name for name in frame.columns if measured or not str(name).endswith(SECONDS)]
    values = frame[columns].astype(object).where(frame[columns].notna(), None).to_numpy().tolist()
    document = {"format": ROWS_FORMAT, "columns": columns, "rows": values}
    kept = json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n"
    write_text(path, kept)
    return kept_sha256(kept)


def _value(text: str) -> int | float | str | None:
    """Return what a cell of a CSV says."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None


def kept_rows(path: Path, sha256: str | None = None) -> pd.DataFrame:
    """Return the rows of a file of `write_kept_rows`; raises as `restore_store` for other files."""
    import pandas as pd

    document = _document(path, sha256, ROWS_FORMAT)
    return pd.DataFrame(document["rows"], columns=document["columns"])


def _document(path: Path, sha256: str | None, form: str) -> dict[str, Any]:
    """Read a document of a format, with the content hash that it must have; None for any."""
    text = read_text(path)
    if sha256 is not None and kept_sha256(text) != sha256:
        raise ValueError(f"{path.name}: expected the content {sha256[:16]}..., got {kept_sha256(text)[:16]}...")
    try:
        document: dict[str, Any] = json.loads(text)
        one_of(document["format"], [form], "format")
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path.name}: expected a document of the format {form}, got none ({error}).") from error
    return document


def restore_store(path: Path, folder: Path, sha256: str | None = None) -> None:
    """Make a store with the runs of a file, as far as they are kept; the instances themselves are not in it.

    Parameters
    ----------
    path
        As `write_kept_runs` writes it.
    folder
        Folder of the new store; there must be no store in it.
    sha256
        Content hash that the document must have; None for any.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is something else or was changed, or the folder has a store with runs.
    """
    document = _document(path, sha256, FORMAT)
    try:
        tables = {table: [document[table][name] for name in columns] for table, columns in TABLES.items()}
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path.name}: expected a document of the format {FORMAT}, got none ({error}).") from error
    with StudyStore(folder, create=True) as store:
        if store.select("SELECT 1 FROM runs LIMIT 1"):
            raise ValueError(f"{folder}: expected a folder without a study, got one with runs.")
        for table, columns in TABLES.items():
            rows = list(zip(*tables[table], strict=True))
            if table == "runs":  # the store wants a key, and no defaults are kept
                rows = [(f"kept-{number}", "{}", *row) for number, row in enumerate(rows)]
                columns = ("key", "all_parameters", *columns)
            store.insert(table, columns, rows)
