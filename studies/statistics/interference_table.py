"""What jobs lost to each other, waited and used in a study of jobs; and what agents decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from studies.online.online_summary import KEYS, LEVEL, PLACE
from studies.statistics.cell_text import NONE, number_text, within
from studies.statistics.jct_table import UNITS, readable_unit
from studies.statistics.over_instances import mean_over_instances
from studies.statistics.study_gaps import ANY_BUDGET
from studies.statistics.table_view import TableView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

LOSS = ("interference_speed_mean", "interference_speed_p05", "interference_lost_mean", "lost_seconds")
"""Mean and 5 % point of the speeds of jobs (1 for full speed), and what a job lost to interference, in ticks and s."""

USE = ("queueing_mean", "queueing_seconds", "stretch_mean", "utilisation")
"""Start less arrival in ticks and s, duration alone over the shortest possible one, and share of GPU-ticks in use."""

AGENTS = ("num_agents", "decisions_per_job", "forwards_mean", "decision_milliseconds", "round_milliseconds")
"""Of policies with agents: A, decisions and forwards per job, and run time over decisions and rounds."""


def interference_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per place and method.

    Parameters
    ----------
    frame
        Of a study of jobs at one budget, as `to_frame` returns it.

    Returns
    -------
    DataFrame
        `PLACE`, `label`, `instances`, and every one of `LOSS`, `USE` and `AGENTS`: its mean over instances of means
        over repetitions, with its bootstrap interval (``_low``, ``_high``). NaN where nothing is known: losses where
        jobs do not interfere, decisions of policies without agents, ticks where they have several lengths.
    """
    import pandas as pd

    rows = []
    with_more = frame.assign(
        lost_seconds=frame["interference_lost_mean"] * frame["tick_seconds"],
        queueing_seconds=frame["queueing_mean"] * frame["tick_seconds"],
        decisions_per_job=frame["num_decisions"] / frame["jobs"],
        decision_milliseconds=1e3 * frame["seconds"] / frame["num_decisions"].where(frame["num_decisions"] > 0),
        round_milliseconds=1e3 * frame["seconds"] / frame["num_rounds"],
    )
    for keys, group in with_more.groupby(KEYS, sort=False, dropna=False):
        found = group.dropna(subset=["objective"])
        row: dict[str, object] = dict(zip(KEYS, keys, strict=True)) | {"instances": group["instance"].nunique()}
        is_mixed = found["tick_seconds"].nunique() > 1
        for name in (*LOSS, *USE, *AGENTS):
            values = mean_over_instances(found, name, level=LEVEL)
            in_ticks = name in ("interference_lost_mean", "queueing_mean")
            row |= dict.fromkeys(values) if is_mixed and in_ticks else values
        rows.append(row)
    summary = pd.DataFrame.from_records(rows)
    measured = [name for name in summary.columns if name not in (*KEYS, "instances")]
    summary[measured] = summary[measured].astype(np.float64)
    return summary


class _Shown(NamedTuple):
    """A column of texts."""

    name: str
    heading: str
    factor: float = 1.0
    is_time: bool = False


class _Part(NamedTuple):
    """A table: what it is about, its columns, and what they mean."""

    name: str
    title: str
    columns: tuple[str, ...]
    shown: tuple[_Shown, ...]
    note: str


_PARTS = (
    _Part(
        "interference",
        "Interference",
        LOSS,
        (
            _Shown("interference_speed_mean", "speed"),
            _Shown("interference_speed_p05", "5 % point"),
            _Shown("lost_seconds", "lost", is_time=True),
        ),
        "speed: ticks that a job would have run alone over those that it ran, mean over jobs; 5 % point: what 5 % of "
        "the jobs of a run do not exceed. lost: what a job ran longer than it would have alone, mean over jobs.",
    ),
    _Part(
        "waiting",
        "Waiting and use",
        USE,
        (
            _Shown("queueing_seconds", "queueing", is_time=True),
            _Shown("stretch_mean", "stretch"),
            _Shown("utilisation", "use in %", 100.0),
        ),
        "queueing: start less arrival, mean over jobs. stretch: duration alone under the placement over the shortest "
        "of any placement, mean over jobs. use: GPU-ticks with a job, of those from first arrival to last completion.",
    ),
    _Part(
        "agents",
        "Decisions of agents",
        AGENTS,
        (
            _Shown("num_agents", "A"),
            _Shown("decisions_per_job", "decisions"),
            _Shown("forwards_mean", "forwards"),
            _Shown("decision_milliseconds", "ms per decision"),
            _Shown("round_milliseconds", "ms per round"),
        ),
        "A: agents. decisions, forwards: per job. ms: run time, simulation included, over decisions and over rounds.",
    ),
)


def interference_tables(frame: pd.DataFrame, budget: str) -> list[TableView]:
    """Return the tables of `interference_summary`: losses, waiting and use, agents; each where something is known.

    Parameters
    ----------
    frame
        Of a study of jobs.
    budget
        Of its searches; policies, which need none, are in every table.
    """
    summary = interference_summary(frame[frame["budget"].isin([budget, ANY_BUDGET])])
    at = "" if budget == ANY_BUDGET else f" at {budget}"
    return [_view(summary, part, at) for part in _PARTS if summary[part.columns[0]].notna().any()]


def _view(summary: pd.DataFrame, part: _Part, at: str) -> TableView:
    """Return a table of the methods of which something is known."""
    known = summary[summary[list(part.columns)].notna().any(axis=1)]
    places = [place for place in PLACE if summary[place].nunique(dropna=False) > 1]
    kept = [end for column in part.columns for end in (column, f"{column}_low", f"{column}_high")]
    shown, unit = [], ""
    for column in part.shown:
        if column.is_time:
            unit = readable_unit(known[column.name].max())
            column = column._replace(factor=UNITS[unit])
        shown.append(column)
    intervals = (
        f"Means over instances (of means over seeds first) with {100 * LEVEL:.0f} % bootstrap intervals over instances."
    )
    return TableView(
        name=part.name,
        title=f"{part.title}{f', times in {unit}' if unit else ''}{at}",
        frame=known[[*PLACE, "label", "instances", *kept]].reset_index(drop=True),
        headings=(*places, "method", "inst", *(column.heading for column in shown)),
        rows=tuple(_row(record, places, shown) for record in known.to_dict("records")),
        notes=(part.note, intervals),
        num_names=len(places) + 1,
    )


def _row(record: Mapping[str, object], places: Sequence[str], shown: Sequence[_Shown]) -> tuple[str, ...]:
    """Return the texts of a method at a place."""
    cells = []
    for column in shown:
        mean, low, high = (column.factor * float(str(record[f"{column.name}{end}"])) for end in ("", "_low", "_high"))
        interval = f" {within(_short(low), _short(high))}" if low < high else ""
        cells.append(f"{number_text(mean)}{interval}")
    return (
        *(NONE if record[name] != record[name] else str(record[name]) for name in places),
        str(record["label"]),
        str(record["instances"]),
        *cells,
    )


def _short(number: float) -> str:
    """Return the end of an interval with three digits."""
    return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.3g}"
