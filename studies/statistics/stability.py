"""How much the runs of a method differ by nothing but their seed."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.study_gaps import StudyGaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Spread of a method over seeds, as shares of the best proven bound.

    Parameters
    ----------
    is_deterministic
        Whether the method draws nothing at random, so that there is no spread to measure.
    num_instances
        With at least two runs and a bound above 0; the means are over these, None where there are none.
    mean_iqr
        Mean over instances of the interquartile range of the objective over the bound.
    mean_range
        Mean over instances of (worst - best) / bound.
    largest_range
        The largest of these.
    """

    is_deterministic: bool
    num_instances: int
    mean_iqr: float | None
    mean_range: float | None
    largest_range: float | None


def spreads(gaps: StudyGaps) -> pd.DataFrame:
    """Return `num_runs`, `iqr` and `range` for every label and instance with at least two schedules.

    All are shares of the best proven bound: a gap is the objective over that bound, less one, so that the spread of
    gaps is the spread of objectives over the bound. Quartiles are interpolated linearly.
    """
    found = gaps.runs[gaps.runs["gap"].notna()]
    grouped = found.groupby(["label", "instance"], sort=False)["gap"]
    table = grouped.agg(num_runs="count", smallest="min", largest="max")
    table["iqr"] = grouped.quantile(0.75) - grouped.quantile(0.25)
    table["range"] = table["largest"] - table["smallest"]
    return table.loc[table["num_runs"] >= 2, ["num_runs", "iqr", "range"]].reset_index()


def stability(gaps: StudyGaps) -> dict[str, Stability]:
    """Return the spread of every method over its seeds, by label."""
    table, found = spreads(gaps), {}
    for label in gaps.labels:
        rows = table[table["label"] == label]
        runs = gaps.runs[gaps.runs["label"] == label]
        found[label] = Stability(
            is_deterministic=all(
                kind == "construction" and _draws_nothing(str(method)) for kind, method in _kinds(runs, label)
            ),
            num_instances=len(rows),
            mean_iqr=float(rows["iqr"].mean()) if len(rows) else None,
            mean_range=float(rows["range"].mean()) if len(rows) else None,
            largest_range=float(rows["range"].max()) if len(rows) else None,
        )
    return found


def _kinds(runs: pd.DataFrame, label: str) -> set[tuple[str, str]]:
    """Return the kinds and methods behind a label."""
    methods = runs["method"] if "method" in runs.columns else [label] * len(runs)
    return set(zip(runs["kind"], methods, strict=True))


@lru_cache(maxsize=256)
def _draws_nothing(method: str) -> bool:
    """Say whether a registered method takes no random generator; of others nothing is claimed."""
    from solvers.methods import METHODS

    return method in METHODS and "rng" not in inspect.signature(METHODS[method].resolve()).parameters
