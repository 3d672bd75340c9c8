"""A study as tidy data frames: one row per run, per improvement, and per bound that an exact method had on its way."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from studies.experiment.denominators import denominators
from studies.experiment.instances import NOT_SAID
from studies.experiment.specification import JOBS

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from studies.experiment.store import StudyStore


COLUMNS = (
    "study",
    "instance",
    "sha256",
    "family",
    "cluster",
    "setting",
    "tasks",
    "jobs",
    "gpus",
    "ccr",
    "load",
    "heterogeneity",
    "tick_seconds",
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
"""Columns of `to_frame`; studies of jobs have those of `figure_columns` too."""

NUMBERS = ("tasks", "jobs", "ccr", "load", "tick_seconds", "objective", "bound", "gap", "seconds", "evaluations")
"""Columns that hold numbers even where none is known."""

TRACE_COLUMNS = ("instance", "sha256", "label", "budget", "repetition", "evaluations", "seconds", "objective")
"""Columns of `traces`."""

INTERFERENCE = "interference"
"""Field of `JobsStatistics` that is a record of its own."""

_RUNS = """
SELECT study.name AS study, instances.name AS instance, runs.sha256, family, cluster, tasks, jobs, gpus, ccr, load,
    heterogeneity, tick_seconds, label, method, kind, budget, repetition, runs.seed, runs.objective, runs.seconds,
    runs.evaluations, is_infeasible, state, error, figures
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
    references
        Whether the runs of the reference (bounds, exact methods) have rows too; what they prove counts in any case.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`. ``setting`` tells those parameters of generators in which instances differ. ``bound`` is the best
        that any run of the instance proved, ``is_optimum`` whether a schedule of any run reaches it, ``gap`` (objective
        - bound) / bound, NaN where one is missing or the bound is 0. ``status`` is "optimal", "feasible", "infeasible",
        "unknown" (no schedule) or "failed", then with the ``error``. Numbers that are not known are NaN; a column
        without such numbers holds integers. Seconds are those of the method. Studies of jobs have `figure_columns` too:
        JCT and other figures in ticks, what is proved about a run, and what agents did.

    Raises
    ------
    ContradictionError
        If a gap were negative; a reproducer file is left.
    """
    import pandas as pd

    best, settings = denominators(store), _settings(store)
    is_jobs = any(row["problem"] == JOBS for row in store.select("SELECT problem FROM study"))
    more = figure_columns() if is_jobs else ()
    records = []
    for row in store.select(_RUNS, references):
        record = dict(row)
        figures = record.pop("figures")
        if is_jobs and figures is not None:
            record |= _flat(json.loads(figures))
        record["setting"] = settings[record["sha256"]]
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
    frame = pd.DataFrame.from_records(records, columns=[*COLUMNS, *more])
    for column in (*NUMBERS, *more):
        frame[column] = pd.to_numeric(frame[column])  # a column of None alone would hold objects
    return frame


def figure_columns() -> tuple[str, ...]:
    """Return the fields of `JobsStatistics`, `MeasuredGuarantee` and `AgentsFigures`.

    Those of `InterferenceStatistics` begin with ``interference_``; they are empty where jobs do not interfere.
    """
    from solvers.jobs_statistics import InterferenceStatistics, JobsStatistics
    from studies.experiment.run_measures import AgentsFigures, MeasuredGuarantee

    own, lost, proved, decided = (
        [field.name for field in fields(record)]
        for record in (JobsStatistics, InterferenceStatistics, MeasuredGuarantee, AgentsFigures)
    )
    return (
        *(name for name in own if name != INTERFERENCE),
        *(f"{INTERFERENCE}_{name}" for name in lost),
        *proved,
        *decided,
    )


def _settings(store: StudyStore) -> dict[str, str]:
    """Return for every instance, by content hash, which parameters of its generator others do not have, as text."""
    given: dict[str, dict[str, str]] = {}
    planned = "SELECT sha256, origin FROM instances WHERE sha256 IN (SELECT sha256 FROM runs WHERE is_planned = 1)"
    for row in store.select(planned):
        parameters = json.loads(row["origin"]).get("parameters", {})
        given[row["sha256"]] = {name: json.dumps(value) for name, value in parameters.items()}
    names = sorted({name for values in given.values() for name in values})
    telling = [name for name in names if len({values.get(name) for values in given.values()}) > 1]
    return {
        sha256: ", ".join(f"{name}={values[name]}" for name in telling if name in values) or NOT_SAID
        for sha256, values in given.items()
    }


def _flat(figures: dict[str, Any]) -> dict[str, Any]:
    """Return figures with those of interference, which only jobs that share servers have, beside the others."""
    lost = figures.pop(INTERFERENCE, None) or {}
    return figures | {f"{INTERFERENCE}_{name}": value for name, value in lost.items()}


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
    import numpy as np
    import pandas as pd

    rows = [row for row in store.select(_TRACES, references) if len(row["trace"]) > len("[]")]
    number = np.repeat(np.arange(len(rows)), [row["trace"].count("[") - 1 for row in rows])
    seconds, evaluations, objective = _columns([row["trace"] for row in rows], len(number))
    known = ~np.isnan(objective)
    number, seconds, evaluations, objective = (values[known] for values in (number, seconds, evaluations, objective))
    is_better = (np.diff(number, prepend=-1) != 0) | (np.diff(objective, prepend=np.nan) != 0)
    number, seconds, evaluations, objective = (
        values[is_better] for values in (number, seconds, evaluations, objective)
    )
    names = pd.DataFrame([tuple(row)[:5] for row in rows], columns=list(TRACE_COLUMNS[:5])).iloc[number]
    return names.reset_index(drop=True).assign(
        evaluations=evaluations if np.isnan(evaluations).any() else evaluations.astype(np.int64),
        seconds=seconds,
        objective=objective.astype(np.int64),
    )


def _columns(texts: list[str], num_points: int) -> NDArray[np.float64]:
    """Return seconds, evaluations and objective of all points of some traces, shape (3, points); NaN for null.

    Reading numbers straight from the texts takes a quarter of the time of JSON, which is most of what a figure waits
    for; ticks are exact up to 2 ** 53.
    """
    import numpy as np

    numbers = ",".join(texts).replace("[", "").replace("]", "").replace("null", "nan")
    points = np.fromstring(numbers, dtype=np.float64, sep=",") if texts else np.zeros(0)
    if len(points) != 4 * num_points:
        raise ValueError(f"trace: expected four numbers per point, got {len(points)} for {num_points} points.")
    return points.reshape(-1, 4).T[:3]


BOUND_TRACE_COLUMNS = ("instance", "sha256", "label", "budget", "repetition", "seconds", "objective", "bound")
"""Of `bound_traces`."""

_BOUND_TRACES = """
SELECT instances.name AS instance, sha256, label, budget, repetition, trace, seconds, objective, bound
FROM runs JOIN instances USING (sha256)
WHERE is_planned = 1 AND state = 'finished' AND kind = 'exact'
ORDER BY runs.position
"""


def bound_traces(store: StudyStore) -> pd.DataFrame:
    """Return one row per improvement of objective or bound of every run of an exact method, references included.

    Returns
    -------
    pandas.DataFrame
        `BOUND_TRACE_COLUMNS`: seconds since the run began, best objective and best own bound from then on; NaN where
        there is none yet. The last row of a run is its end.
    """
    import pandas as pd

    rows = []
    for row in store.select(_BOUND_TRACES):
        key = [row[name] for name in BOUND_TRACE_COLUMNS[:5]]
        points = [[at, objective, bound] for at, _, objective, bound in json.loads(row["trace"] or "[]")]
        last = max([row["seconds"] or 0.0, *(at for at, *_ in points)])
        points.append([last, row["objective"], row["bound"]])
        rows += [[*key, *point] for point in points]
    frame = pd.DataFrame(rows, columns=list(BOUND_TRACE_COLUMNS))
    for column in ("seconds", "objective", "bound"):
        frame[column] = pd.to_numeric(frame[column])  # a column of None alone would hold objects
    return frame
