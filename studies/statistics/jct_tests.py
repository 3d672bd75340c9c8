"""Paired tests of mean JCT against one method, over instances, with an interval over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from studies.online.online_summary import LEVEL, PLACE
from studies.statistics.bootstrap import bootstrap_interval
from studies.statistics.cell_text import NONE, number_text, p_text, within
from studies.statistics.holm import holm
from studies.statistics.over_instances import seed_interval
from studies.statistics.study_gaps import ANY_BUDGET
from studies.statistics.table_view import TableView
from studies.statistics.wilcoxon import wilcoxon

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from studies.statistics.bootstrap import Interval

HEADINGS = ("method", "pairs", "ratio", "interval", "over seeds", "shorter", "p", "p Holm")
"""Of the table, after those of the places."""


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
    if baseline not in labels:
        raise ValueError(f"baseline: expected one of {', '.join(labels)}, got {baseline!r}.")
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


def jct_test_table(frame: pd.DataFrame, baseline: str, budget: str) -> TableView:
    """Return the table of `jct_tests` at one budget; policies, which need none, are in every table."""
    tests = jct_tests(frame[frame["budget"].isin([budget, ANY_BUDGET])], baseline)
    places = [name for name in PLACE if tests[name].nunique(dropna=False) > 1]
    rows = []
    for record in tests.to_dict("records"):
        known = {name: None if value != value else value for name, value in record.items()}
        low, high, seeds_low, seeds_high = (number_text(known[name]) for name in ("low", "high", *_SEEDS))
        rows.append(
            (
                *(NONE if known[name] is None else str(known[name]) for name in places),
                str(known["label"]),
                str(known["pairs"]),
                number_text(known["ratio"]),
                within(low, high),
                within(seeds_low, seeds_high),
                str(known["shorter"]),
                p_text(known["p_value"]),
                p_text(known["holm_p_value"]),
            )
        )
    return TableView(
        name="jct_tests",
        title=f"Mean JCT against {baseline}{'' if budget == ANY_BUDGET else f' at {budget}'}",
        frame=tests.assign(baseline=baseline),
        headings=(*places, *HEADINGS),
        rows=tuple(rows),
        notes=(
            "ratio: mean JCT of the method over that of the baseline, each the mean over seeds or trainings on an "
            f"instance; geometric mean over instances with its {100 * LEVEL:.0f} % bootstrap interval. over seeds: "
            "Student's interval over seeds or trainings, paired where both have them, instances fixed. shorter: "
            "instances on which the method's mean JCT is the shorter one.",
            "p: two-sided Wilcoxon signed-rank test of the logarithms of the ratios over instances, zeros by Pratt; "
            "Holm: after his correction for all rivals of the place.",
        ),
        num_names=len(places) + 1,
    )


_SEEDS = ("seeds_low", "seeds_high")
