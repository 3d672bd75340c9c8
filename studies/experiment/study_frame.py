"""A study as tidy data frames: one row per run, and one row per improvement."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from studies.experiment.denominators import denominators

if TYPE_CHECKING:
    import pandas as pd

    from studies.experiment.study_store import StudyStore

COLUMNS = (
    "study",
    "instance",
    "sha256",
    "family",
    "tasks",
    "gpus",
    "ccr",
    "heterogeneity",
    "label",
    "method",
    "kind",
    "budget",
    "repetition",
    "seed",
    "objective",
    "bound",
    "is_optimum",
    "gap",
    "seconds",
    "evaluations",
    "status",
    "error",
)
"""Columns of `to_frame`."""

TRACE_COLUMNS = ("instance", "sha256", "label", "budget", "repetition", "evaluations", "seconds", "objective")
"""Columns of `traces`."""

_RUNS = """
SELECT study.name AS study, instances.name AS instance, runs.sha256, family, tasks, gpus, ccr, heterogeneity, label,
    method, kind, budget, repetition, runs.seed, runs.objective, runs.seconds, runs.evaluations, is_infeasible, state,
    error
FROM runs JOIN instances USING (sha256) JOIN study
WHERE is_planned = 1 AND state IN ('finished', 'failed') AND (phase = 'method' OR ?)
ORDER BY runs.position
"""

_TRACES = """
SELECT instances.name AS instance, sha256, label, budget, repetition, trace
FROM runs JOIN instances USING (sha256)
WHERE is_planned = 1 AND state = 'finished' AND trace IS NOT NULL AND (phase = 'method' OR ?)
ORDER BY runs.position
"""


def to_frame(store: StudyStore, *, references: bool = False) -> pd.DataFrame:
    """Return one row per run that was made.

    Parameters
    ----------
    store
        Of the study.
    references
        Whether the runs of the reference (bounds, exact methods) have rows too; what they prove counts in any case.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`. ``bound`` is the best that any run of the instance proved, ``is_optimum`` whether a schedule of any
        run reaches it, ``gap`` (objective - bound) / bound, NaN where one is missing or the bound is 0. ``status`` is
        "optimal", "feasible", "infeasible", "unknown" (no schedule) or "failed", then with the ``error``. Numbers that
        are not known are NaN; a column without such numbers holds integers. Seconds are those of the method.

    Raises
    ------
    ContradictionError
        If a gap were negative; a reproducer file is left.
    """
    import pandas as pd

    best = denominators(store)
    records = []
    for row in store.select(_RUNS, references):
        record = dict(row)
        known = best.get(record["sha256"])
        bound = None if known is None else known.bound
        objective = record["objective"]
        is_infeasible, state = record.pop("is_infeasible"), record.pop("state")
        record["bound"] = bound
        record["is_optimum"] = known is not None and known.is_optimum
        record["gap"] = None if objective is None or not bound else (objective - bound) / bound
        if state == "failed":
            record["status"] = "failed"
        elif objective is None:
            record["status"] = "infeasible" if is_infeasible else "unknown"
        else:
            record["status"] = "optimal" if objective == bound else "feasible"
        records.append(record)
    frame = pd.DataFrame.from_records(records, columns=list(COLUMNS))
    for column in ("ccr", "objective", "bound", "gap", "seconds", "evaluations"):
        frame[column] = pd.to_numeric(frame[column])  # a column of None alone would hold objects
    return frame


def traces(store: StudyStore, *, references: bool = False) -> pd.DataFrame:
    """Return one row per improvement of every finished run with a schedule.

    Parameters
    ----------
    store, references
        As in `to_frame`.

    Returns
    -------
    pandas.DataFrame
        `TRACE_COLUMNS`: when the best objective became ``objective``, after how many evaluations (NaN for exact
        methods) and seconds since the run began. Points without a schedule are left out.
    """
    import pandas as pd

    columns: dict[str, list[object]] = {name: [] for name in TRACE_COLUMNS}
    for row in store.select(_TRACES, references):
        previous = None
        for seconds, evaluations, objective, _ in json.loads(row["trace"]):
            if objective is None or objective == previous:
                continue
            previous = objective
            for name in ("instance", "sha256", "label", "budget", "repetition"):
                columns[name].append(row[name])
            columns["evaluations"].append(evaluations)
            columns["seconds"].append(seconds)
            columns["objective"].append(objective)
    return pd.DataFrame(columns, columns=list(TRACE_COLUMNS))
