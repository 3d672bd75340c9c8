"""The runs of a study of jobs, told per load and policy with confidence intervals over the instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.command_line.text_table import text_table
from studies.statistics.markdown_table import markdown_table
from studies.statistics.over_instances import mean_over_instances

if TYPE_CHECKING:
    import pandas as pd

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


HEADINGS = ("policy", "mean completion", "mean JCT", "p95", "gap in %", "ratio", "proved")
"""Of the table for readers."""


def summary_rows(part: pd.DataFrame) -> list[list[str]]:
    """Return one row of texts per policy of a summary at one load, under `HEADINGS`; the smallest objective first."""
    rows = []
    for _, row in part.sort_values("objective", kind="stable").iterrows():
        proved = "-" if not np.isfinite(row["factor"]) else f"{row['factor']:.3g}"
        rows.append(
            [
                row["label"],
                _with_interval(row, "objective", 1.0),
                _with_interval(row, "jct_mean", 1.0),
                f"{row['jct_p95']:.4g}",
                _with_interval(row, "gap", 100.0),
                f"{row['ratio']:.3f}",
                proved,
            ]
        )
    return rows


def summary_text(summary: pd.DataFrame) -> str:
    """Return a table for the terminal per place."""
    told = _told(summary)
    return "\n\n".join(
        text_table(HEADINGS, summary_rows(part), title=_title(part, told), caption=_caption(part), numbers=HEADINGS[3:])
        for _, part in summary.groupby(PLACE, sort=False, dropna=False)
    )


def summary_markdown(summary: pd.DataFrame) -> str:
    """Return the same tables in Markdown."""
    told = _told(summary)
    parts = [part for _, part in summary.groupby(PLACE, sort=False, dropna=False)]
    return "\n".join(
        f"**{_title(part, told)}**\n\n{markdown_table(HEADINGS, summary_rows(part), HEADINGS[1:])}\n{_caption(part)}\n"
        for part in parts
    )


def _told(summary: pd.DataFrame) -> list[str]:
    """Return which columns titles name beside those that they always do: those that tell places apart."""
    return [name for name in ("cluster", "setting") if summary[name].nunique() > 1]


def _title(part: pd.DataFrame, told: list[str]) -> str:
    """Say what a table is about."""
    first, number = part.iloc[0], int(part["instances"].max())
    load = "" if not np.isfinite(float(first["load"])) else f", load {first['load']:.3g}"
    what = first["instance"] if isinstance(first["instance"], str) else f"{first['family']}, {first['jobs']} jobs"
    more = "".join(f", {first[name]}" for name in told)
    return f"{what}{more}{load}, {number} instance{'' if number == 1 else 's'}"


def _caption(part: pd.DataFrame) -> str:
    """Say what gaps and ratios are against, and where the last column comes from."""
    against = "the proven optimum" if part["all_optima"].all() else "the best proven lower bound"
    lines = [
        f"gap and ratio (the largest objective over bound): against {against}; "
        f"times in ticks of {part['tick_seconds'].iloc[0]:g} s; "
        f"intervals: {100 * LEVEL:.0f} % bootstrap of means over instances",
    ]
    if np.isfinite(part["factor"].astype(float)).any():
        lines.append(
            "proved: the least factor on the optimum that holds for these runs (constants measured after them; "
            "ours, not the paper's; provable mode with Heavy-Edge and weights 1 only)"
        )
    return "\n".join(lines)


def _with_interval(row: pd.Series, name: str, factor: float) -> str:
    """Return a mean with its interval."""
    mean, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
    if mean is None or not np.isfinite(mean):
        return "-"
    text = f"{factor * mean:.4g}"
    if low is None or not np.isfinite(low):
        return text
    return f"{text} [{factor * low:.3g}, {factor * high:.3g}]"
