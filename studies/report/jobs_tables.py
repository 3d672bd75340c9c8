"""Tables of a study of jobs: JCT, and what jobs lost to each other, waited and used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solvers.table import Column, Table
from studies.analysis.gaps import ANY_BUDGET
from studies.analysis.intervals import mean_over_instances, seed_interval, seed_means
from studies.analysis.online_summary import KEYS, LEVEL, PLACE, online_summary, place_columns
from studies.text import number_text, within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd


POINTS = ("jct_p50", "jct_p95", "jct_p99", "jct_max")
"""Of the JCTs of a run; the mean stands apart."""

SEEDS = ("jct_mean_seeds_low", "jct_mean_seeds_high")
"""Interval over seeds."""

MEASURES = ("jct_mean", "jct_mean_low", "jct_mean_high", *SEEDS, *POINTS)
"""Columns of `jct_summary` in ticks; those in seconds end in ``_seconds``."""

UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
"""To their number in a second."""


def jct_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per place and method.

    Parameters
    ----------
    frame
        Of a study of jobs at one budget, as `to_frame` returns it.

    Returns
    -------
    DataFrame
        `PLACE`, `label`, `instances`, `without_schedule` (runs), and `MEASURES` in ticks and in seconds: over instances
        the mean of mean JCT (of the means over repetitions, with its bootstrap interval), Student's interval over
        repetitions of the logarithm of that mean (its ends are JCTs), and the means of the JCT that 50, 95, 99 and
        100 % of the jobs of a run do not exceed.
        NaN where nothing is known, and in ticks where the instances have ticks of several lengths.
    """
    import pandas as pd

    ticks = _with_seeds(frame)
    seconds = _with_seeds(frame.assign(**{name: frame[name] * frame["tick_seconds"] for name in ("jct_mean", *POINTS)}))
    is_mixed = frame.groupby([*PLACE, "label"], sort=False, dropna=False)["tick_seconds"].nunique().to_numpy() > 1
    table = ticks[[*PLACE, "label", "instances", "without_schedule"]].copy()
    for name in MEASURES:
        table[name] = pd.to_numeric(ticks[name]).astype(np.float64).mask(is_mixed)
        table[f"{name}_seconds"] = pd.to_numeric(seconds[name]).astype(np.float64)
    return table


def _with_seeds(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the summary with an interval of mean JCT over seeds, which is one of logarithms: no JCT is below zero."""
    summary = online_summary(frame)
    groups = (group.dropna(subset=["objective"]) for _, group in frame.groupby(KEYS, sort=False, dropna=False))
    found = [seed_interval(np.log(seed_means(group, "jct_mean")), level=LEVEL) for group in groups]
    intervals = [(np.nan, np.nan) if interval is None else np.exp(interval) for interval in found]
    return summary.assign(**{name: [interval[end] for interval in intervals] for end, name in enumerate(SEEDS)})


def jct_tables(frame: pd.DataFrame, budget: str) -> list[Table]:
    """Return the tables of `jct_summary` in ticks and in seconds; none without any schedule.

    Policies, which need no budget, are in the tables of every budget. The records of the second table are in seconds,
    its texts in the unit of its title.
    """
    summary = jct_summary(frame[frame["budget"].isin([budget, ANY_BUDGET])])
    # Places in the order of the study, the shortest mean JCT on top in each.
    order = summary.groupby(PLACE, sort=False, dropna=False).ngroup()
    summary = summary.assign(order=order).sort_values(["order", "jct_mean_seconds"], kind="stable")
    summary = summary.drop(columns="order").reset_index(drop=True)
    at = "" if budget == ANY_BUDGET else f" at {budget}"
    unit = readable_unit(summary["jct_mean_seconds"].max())
    tables = (("jct_ticks", "ticks", "", 1.0), ("jct_seconds", unit, "_seconds", UNITS[unit]))
    return [
        Table.of(
            _jct_columns(summary, end, factor),
            summary.to_dict("records"),
            name=name,
            title=f"JCT in {shown_in}{at}",
            notes=_notes(summary),
            records=summary[
                [*PLACE, "label", "instances", "without_schedule", *(f"{measure}{end}" for measure in MEASURES)]
            ].to_dict("records"),
        )
        for name, shown_in, end, factor in tables
        if summary[f"jct_mean{end}"].notna().any()
    ]


def _jct_columns(summary: pd.DataFrame, end: str, factor: float) -> list[Column]:
    """Return the columns of JCT in a unit of which `factor` make one of the fields that end in `end`."""

    def time(name: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: number_text(factor * row[f"{name}{end}"])

    def interval(name: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: within(time(f"{name}_low")(row), time(f"{name}_high")(row))

    has_seeds = summary[f"{SEEDS[0]}_seconds"].notna().any()
    return [
        *place_columns(summary),
        Column("method", "label"),
        Column("inst", "instances", is_number=True),
        Column("mean", time("jct_mean"), is_number=True),
        Column("interval", interval("jct_mean"), is_number=True),
        *([Column("over seeds", interval("jct_mean_seeds"), is_number=True)] if has_seeds else []),
        *(
            Column(heading, time(name), is_number=True)
            for heading, name in zip(("median", "p95", "p99", "max"), POINTS, strict=True)
        ),
    ]


def readable_unit(longest: float) -> str:
    """Return the largest unit in which a time, given in seconds, is at least 1, or the smallest unit; s for 0."""
    return next((name for name, factor in UNITS.items() if factor * longest >= 1), [*UNITS][-1 if longest > 0 else 0])


def _notes(summary: pd.DataFrame) -> tuple[str, ...]:
    """Say what the columns mean, and what is missing."""
    notes = [
        "JCT: completion less arrival. mean: of mean JCT over instances (means over seeds first), with the "
        f"{100 * LEVEL:.0f} % bootstrap interval over instances (percentiles); median, p95, p99, max: JCT that 50, 95, "
        "99 and 100 % of the jobs of a run do not exceed, mean over runs."
    ]
    if summary[f"{SEEDS[0]}_seconds"].notna().any():
        notes.append(
            f"over seeds: Student's {100 * LEVEL:.0f} % interval over seeds or trainings, instances fixed, of the "
            "logarithms of their means, so that it does not go below zero; its middle is the geometric mean."
        )
    lost = summary[summary["without_schedule"] > 0].groupby("label", sort=False)["without_schedule"].sum()
    notes += [
        f"{label}: {count} run{'' if count == 1 else 's'} without a schedule; its columns are over the others."
        for label, count in lost.items()
    ]
    return tuple(notes)


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


class _Part(NamedTuple):
    """A table: its name, its title, the measures it is about, its columns of texts, and what they mean.

    A column has a heading, a measure and a factor; None takes the unit of time that suits the measure.
    """

    name: str
    title: str
    measures: tuple[str, ...]
    shown: tuple[tuple[str, str, float | None], ...]
    note: str


_PARTS = (
    _Part(
        "interference",
        "Interference",
        LOSS,
        (
            ("speed", "interference_speed_mean", 1.0),
            ("5 % point", "interference_speed_p05", 1.0),
            ("lost", "lost_seconds", None),
        ),
        "speed: ticks that a job would have run alone over those that it ran, mean over jobs; 5 % point: what 5 % of "
        "the jobs of a run do not exceed. lost: what a job ran longer than it would have alone, mean over jobs.",
    ),
    _Part(
        "waiting",
        "Waiting and use",
        USE,
        (("queueing", "queueing_seconds", None), ("stretch", "stretch_mean", 1.0), ("use in %", "utilisation", 100.0)),
        "queueing: start less arrival, mean over jobs. stretch: duration alone under the placement over the shortest "
        "of any placement, mean over jobs. use: GPU-ticks with a job, of those from first arrival to last completion.",
    ),
    _Part(
        "agents",
        "Decisions of agents",
        AGENTS,
        (
            ("A", "num_agents", 1.0),
            ("decisions", "decisions_per_job", 1.0),
            ("forwards", "forwards_mean", 1.0),
            ("ms per decision", "decision_milliseconds", 1.0),
            ("ms per round", "round_milliseconds", 1.0),
        ),
        "A: agents. decisions, forwards: per job. ms: run time, simulation included, over decisions and over rounds.",
    ),
)


def interference_tables(frame: pd.DataFrame, budget: str) -> list[Table]:
    """Return the tables of `interference_summary`: losses, waiting and use, agents; each where something is known.

    Policies, which need no budget, are in the tables of every budget.
    """
    summary = interference_summary(frame[frame["budget"].isin([budget, ANY_BUDGET])])
    at = "" if budget == ANY_BUDGET else f" at {budget}"
    return [_table(summary, part, at) for part in _PARTS if summary[part.measures[0]].notna().any()]


def _table(summary: pd.DataFrame, part: _Part, at: str) -> Table:
    """Return a table of the methods of which something is known."""
    known = summary[summary[list(part.measures)].notna().any(axis=1)]
    columns = [*place_columns(summary), Column("method", "label"), Column("inst", "instances", is_number=True)]
    unit = ""
    for heading, measure, factor in part.shown:
        if factor is None:
            unit = readable_unit(known[measure].max())
        columns.append(Column(heading, _with_interval(measure, factor or UNITS[unit]), is_number=True))
    kept = [end for measure in part.measures for end in (measure, f"{measure}_low", f"{measure}_high")]
    intervals = (
        f"Means over instances (of means over seeds first) with {100 * LEVEL:.0f} % bootstrap intervals over instances."
    )
    return Table.of(
        columns,
        known.to_dict("records"),
        name=part.name,
        title=f"{part.title}{f', times in {unit}' if unit else ''}{at}",
        notes=(part.note, intervals),
        records=known[[*PLACE, "label", "instances", *kept]].to_dict("records"),
    )


def _with_interval(measure: str, factor: float) -> Callable[[Mapping[str, Any]], str]:
    """Return what shows a mean with its interval, where it has one."""

    def text(row: Mapping[str, Any]) -> str:
        mean, low, high = (factor * row[f"{measure}{end}"] for end in ("", "_low", "_high"))
        interval = f" {within(_short(low), _short(high))}" if low < high else ""
        return f"{number_text(mean)}{interval}"

    return text


def _short(number: float) -> str:
    """Return the end of an interval with three digits."""
    return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.3g}"
