"""Summary of a study of jobs per load and policy: means with intervals, and paired tests of JCT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from instances.fields import one_of
from solvers.table import Column, Table
from studies.analysis.gaps import ANY_BUDGET
from studies.analysis.intervals import bootstrap_interval, mean_over_instances, seed_interval
from studies.analysis.paired_tests import holm, wilcoxon
from studies.text import NONE, number_text, p_text, within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from studies.analysis.intervals import Interval


KEYS = ["family", "cluster", "setting", "jobs", "load", "label"]
"""What one row of a summary is about."""

PLACE = KEYS[:-1]
"""What one table is about."""

LEVEL = 0.95
"""Of confidence."""


def online_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per place (family, cluster, setting of the generator, number of jobs, load) and policy.

    Parameters
    ----------
    frame
        Of a study of jobs, as `to_frame` and `online_against_offline` return it.

    Returns
    -------
    pandas.DataFrame
        `KEYS`; the name of the instance where there is only one, and the number of instances; runs without a schedule;
        mean and percentile-bootstrap interval over instances, of means over repetitions (``_low``, ``_high``; empty for
        one instance) of total (or weighted) completion in ticks, mean JCT and gap; means of the median, of the 95 % and
        99 % points and of the largest JCT, of utilisation and stretch; the largest objective over bound as ``ratio``,
        and the least factor that is proved (``factor``); whether every bound is the optimum. Policies in the order of
        the runs.
    """
    import pandas as pd

    rows = []
    for keys, group in frame.groupby(KEYS, sort=False, dropna=False):
        found = group.dropna(subset=["objective"])
        names = group["instance"].unique()
        row: dict[str, object] = dict(zip(KEYS, keys, strict=True))
        row |= {"instance": names[0] if len(names) == 1 else None, "instances": len(names)}
        row["tick_seconds"] = float(group["tick_seconds"].iloc[0])
        row["without_schedule"] = len(group) - len(found)
        for name in ("objective", "jct_mean", "gap"):
            row |= mean_over_instances(found, name, level=LEVEL)
        for name in ("jct_p50", "jct_p95", "jct_p99", "jct_max"):
            row[name] = float(found[name].mean())
        row["utilisation"] = float(found["utilisation"].mean())
        row["stretch"] = float(found["stretch_mean"].mean())
        row["ratio"] = float((found["objective"].astype(float) / found["bound"].astype(float)).max())
        row["factor"] = float(found["factor"].astype(float).min())
        row["all_optima"] = bool(found["is_optimum"].all())
        rows.append(row)
    return pd.DataFrame.from_records(rows)


def summary_tables(summary: pd.DataFrame) -> list[Table]:
    """Return a table of every place, with the policy of the smallest objective on top."""
    columns = (
        Column("policy", "label"),
        Column("mean completion", _with_interval("objective", 1.0)),
        Column("mean JCT", _with_interval("jct_mean", 1.0)),
        Column("p95", "jct_p95", "{:.4g}".format, is_number=True),
        Column("gap in %", _with_interval("gap", 100.0), is_number=True),
        Column("ratio", "ratio", "{:.3f}".format, is_number=True),
        Column("proved", "factor", lambda factor: f"{factor:.3g}" if np.isfinite(factor) else NONE, is_number=True),
    )
    told = _told(summary)
    return [
        Table.of(
            columns,
            part.sort_values("objective", kind="stable").to_dict("records"),
            title=_title(part, told),
            notes=_notes(part),
        )
        for _, part in summary.groupby(PLACE, sort=False, dropna=False)
    ]


def gaps_by_load(summary: pd.DataFrame) -> Table:
    """Return the mean gaps of every policy, one column per load, with the smallest mean over the loads on top."""
    loads = sorted(summary["load"].unique())
    order = summary.groupby("label", sort=False)["gap"].mean().sort_values(kind="stable").index
    cell = _with_interval("gap", 100.0)
    rows_of = {(row["label"], row["load"]): row for row in summary.to_dict("records")}
    return Table(
        headings=["policy", *(f"load {load:g}" for load in loads)],
        rows=[
            [label, *(cell(rows_of[label, load]) if (label, load) in rows_of else NONE for load in loads)]
            for label in order
        ],
        title=f"Mean gaps in %, {int(summary['instances'].max())} instances per load",
        notes=[f"In brackets: {100 * LEVEL:.0f} % bootstrap interval of the mean over instances."],
        records=summary[["label", "load", "gap", "gap_low", "gap_high"]].to_dict("records"),
    )


def _told(summary: pd.DataFrame) -> list[str]:
    """Return the further columns that titles name, because places differ in them."""
    return [name for name in ("cluster", "setting") if summary[name].nunique() > 1]


def _title(part: pd.DataFrame, told: list[str]) -> str:
    """Say what a table is about."""
    first, number = part.iloc[0], int(part["instances"].max())
    load = "" if not np.isfinite(float(first["load"])) else f", load {first['load']:.3g}"
    what = first["instance"] if isinstance(first["instance"], str) else f"{first['family']}, {first['jobs']} jobs"
    more = "".join(f", {first[name]}" for name in told)
    return f"{what}{more}{load}, {number} instance{'' if number == 1 else 's'}"


def _notes(part: pd.DataFrame) -> list[str]:
    """Say what gaps and ratios are against, and where the last column comes from."""
    against = "the proven optimum" if part["all_optima"].all() else "the best proven lower bound"
    notes = [
        f"gap and ratio (the largest objective over bound): against {against}; "
        f"times in ticks of {part['tick_seconds'].iloc[0]:g} s; "
        f"intervals: {100 * LEVEL:.0f} % bootstrap of means over instances",
    ]
    if np.isfinite(part["factor"].astype(float)).any():
        notes.append(
            "proved: the least factor on the optimum that holds for these runs (constants measured after them; "
            "ours, not the paper's; provable mode with Heavy-Edge and weights 1 only)"
        )
    return notes


def _with_interval(name: str, factor: float) -> Callable[[Mapping[str, Any]], str]:
    """Return what shows a mean with its interval."""

    def text(row: Mapping[str, Any]) -> str:
        mean, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
        if mean is None or not np.isfinite(mean):
            return NONE
        shown = f"{factor * mean:.4g}"
        if low is None or not np.isfinite(low):
            return shown
        return f"{shown} [{factor * low:.3g}, {factor * high:.3g}]"

    return text


def jct_tests(frame: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Hold the mean JCT of every method against that of one of them.

    Parameters
    ----------
    frame
        Of a study of jobs at one budget, as `to_frame` returns it.
    baseline
        Label of the method that the others are held against.

    Returns
    -------
    DataFrame
        One row per place (`PLACE`) and other method: instances where both have a schedule (``pairs``); the geometric
        mean over them of the ratio of mean JCTs, of the method over the baseline (``ratio``), each the mean over
        repetitions, with its bootstrap interval over instances (``low``, ``high``) and Student's interval over
        repetitions with the instances fixed (``seeds_low``, ``seeds_high``; see `seed_ratios`); on how many instances
        the method's JCT is ``shorter``; two-sided Wilcoxon signed-rank test of the logarithms of the ratios
        (``p_value``), and after Holm's correction for all rivals at a place (``holm_p_value``).

    Raises
    ------
    ValueError
        If no method has the label of the baseline.
    """
    import pandas as pd

    labels = list(dict.fromkeys(frame["label"]))
    one_of(baseline, labels, "baseline")
    rows: list[dict[str, Any]] = []
    for keys, group in frame.dropna(subset=["jct_mean"]).groupby(PLACE, sort=False, dropna=False):
        means = group.pivot_table(index="instance", columns="label", values="jct_mean", aggfunc="mean", sort=False)
        if baseline not in means:
            continue
        place = dict(zip(PLACE, keys, strict=True))
        rivals = [label for label in labels if label != baseline and label in means]
        found = [_held_against(group, means, label, baseline) for label in rivals]
        for row, adjusted in zip(found, holm([one["p_value"] for one in found]), strict=True):
            rows.append({**place, **row, "holm_p_value": adjusted})
    columns = [*PLACE, "label", "pairs", "ratio", "low", "high", "seeds_low", "seeds_high", "shorter", "p_value"]
    return pd.DataFrame(rows, columns=[*columns, "holm_p_value"])


def seed_ratios(group: pd.DataFrame, label: str, baseline: str) -> NDArray[np.float64]:
    """Return the mean over instances of the logarithm of the ratio, repetition by repetition, shape (repetitions,).

    Where both methods have the same repetitions (such as the same trainings), they are paired; where only one has
    several, each is held against the mean of the other. Repetitions that lack an instance are left out.
    """
    tables = {
        name: group[group["label"] == name].pivot_table(
            index="repetition", columns="instance", values="jct_mean", aggfunc="mean"
        )
        for name in (label, baseline)
    }
    mine, other = tables[label], tables[baseline]
    common = mine.columns.intersection(other.columns)
    mine, other = mine[common].dropna(), other[common].dropna()
    if list(mine.index) != list(other.index):
        if len(mine) > 1 and len(other) > 1:
            return np.zeros(0)
        other = other.mean().to_frame().T if len(mine) > 1 else other
        mine = mine.mean().to_frame().T if len(mine) <= 1 else mine
    logarithms: NDArray[np.float64] = np.log(mine.to_numpy()) - np.log(other.to_numpy())
    means: NDArray[np.float64] = logarithms.mean(axis=1)
    return means


def _held_against(group: pd.DataFrame, means: pd.DataFrame, label: str, baseline: str) -> dict[str, Any]:
    """Return the row of a method at a place."""
    logarithms = np.log((means[label] / means[baseline]).dropna().to_numpy(dtype=np.float64))
    test = wilcoxon(logarithms)
    over_seeds = seed_interval(seed_ratios(group, label, baseline), level=LEVEL)
    return {
        "label": label,
        "pairs": len(logarithms),
        "ratio": float(np.exp(logarithms.mean())) if len(logarithms) else None,
        **_ends(bootstrap_interval(logarithms, "mean", level=LEVEL), "low", "high"),
        **_ends(over_seeds, "seeds_low", "seeds_high"),
        "shorter": int((logarithms < 0).sum()),
        "p_value": None if test is None else test.p_value,
    }


def _ends(interval: Interval | None, low: str, high: str) -> dict[str, float | None]:
    """Return the ends of an interval of logarithms as ratios."""
    return {low: None, high: None} if interval is None else {low: np.exp(interval.low), high: np.exp(interval.high)}


def jct_test_table(frame: pd.DataFrame, baseline: str, budget: str) -> Table:
    """Return the table of `jct_tests` at one budget; policies, which need none, are in every table."""
    tests = jct_tests(frame[frame["budget"].isin([budget, ANY_BUDGET])], baseline)
    columns = (
        *place_columns(tests),
        Column("method", "label"),
        Column("pairs", "pairs", is_number=True),
        Column("ratio", "ratio", number_text, is_number=True),
        Column("interval", _interval("low", "high"), is_number=True),
        Column("over seeds", _interval("seeds_low", "seeds_high"), is_number=True),
        Column("shorter", "shorter", is_number=True),
        Column("p", "p_value", _p_text, is_number=True),
        Column("p Holm", "holm_p_value", _p_text, is_number=True),
    )
    return Table.of(
        columns,
        tests.to_dict("records"),
        name="jct_tests",
        title=f"Mean JCT against {baseline}{'' if budget == ANY_BUDGET else f' at {budget}'}",
        notes=(
            "ratio: mean JCT of the method over that of the baseline, each the mean over seeds or trainings on an "
            f"instance; geometric mean over instances with its {100 * LEVEL:.0f} % bootstrap interval. over seeds: "
            "Student's interval over seeds or trainings, paired where both have them, instances fixed. shorter: "
            "instances on which the method's mean JCT is the shorter one.",
            "p: two-sided Wilcoxon signed-rank test of the logarithms of the ratios over instances, zeros by Pratt; "
            "Holm: after his correction for all rivals of the place.",
        ),
        records=tests.assign(baseline=baseline).to_dict("records"),
        fields=[*tests.columns, "baseline"],
    )


def place_columns(table: pd.DataFrame) -> list[Column]:
    """Return the columns that name the places of a table, where they differ."""
    names = [name for name in PLACE if table[name].nunique(dropna=False) > 1]
    return [Column(name, name, lambda value: NONE if value != value else str(value)) for name in names]


def _interval(low: str, high: str) -> Callable[[Mapping[str, Any]], str]:
    """Return what shows the interval between two fields."""
    return lambda row: within(number_text(row[low]), number_text(row[high]))


def _p_text(p_value: float | None) -> str:
    """Return a p-value, which is NaN where nothing was tested."""
    return p_text(None if p_value != p_value else p_value)
