"""Everything a table of a study says, computed from its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.bootstrap import bootstrap_interval
from studies.statistics.comparison import Comparison
from studies.statistics.effect_size import rank_biserial
from studies.statistics.holm import holm
from studies.statistics.method_summary import MethodSummary, Rivalry
from studies.statistics.ranks import average_ranks, critical_difference, friedman
from studies.statistics.stability import stability
from studies.statistics.study_gaps import study_gaps
from studies.statistics.wilcoxon import wilcoxon

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.stability import Stability
    from studies.statistics.study_gaps import StudyGaps
    from studies.statistics.wilcoxon import WilcoxonTest


def compare(frame: pd.DataFrame, *, budget: str | None = None, baseline: str | None = None) -> Comparison:
    """Compare the methods of a study at one budget.

    Parameters
    ----------
    frame
        One row per run, as `study_gaps` takes it.
    budget
        Which one; may be left out where there is only one. Constructions are compared with all.
    baseline
        Label of the method that every other one is tested against; without one nothing is tested.

    Returns
    -------
    Comparison
        Methods by median gap (then mean, then label). Tests are over instances, on the means over repetitions, each on
        the instances where both have a schedule; ranks on those where all have one. Methods without any gap are not
        ranked.

    Raises
    ------
    ValueError
        As `study_gaps`, or if no method has the label of the baseline.
    """
    gaps = study_gaps(frame, budget)
    if baseline is not None and baseline not in gaps.labels:
        raise ValueError(f"baseline: expected one of {', '.join(gaps.labels)}, got {baseline!r}.")
    means = gaps.mean_gaps()
    ranked = [label for label in gaps.labels if means[label].notna().any()]
    block = means[ranked].dropna().to_numpy() if ranked else np.empty((0, 0))
    ranks = dict(zip(ranked, average_ranks(block).tolist(), strict=True)) if len(block) else {}
    rivals = {} if baseline is None else _rivalries(means, baseline)
    spread = stability(gaps)
    methods = [_summary(gaps, label, ranks.get(label), spread[label], rivals.get(label)) for label in gaps.labels]
    return Comparison(
        budget=gaps.budget,
        baseline=baseline,
        methods=tuple(sorted(methods, key=_order)),
        num_instances=len(gaps.instances),
        num_proven=gaps.num_optima,
        denominators=gaps.denominators(),
        num_ranked_instances=len(block),
        friedman=friedman(block) if len(block) else None,
        critical_difference=critical_difference(len(ranked), len(block)) if len(block) and len(ranked) > 1 else None,
        incomplete=gaps.incomplete(),
        partial=gaps.partial(),
        frame=frame,
    )


def _rivalries(means: pd.DataFrame, baseline: str) -> dict[str, Rivalry]:
    """Hold every method against the baseline on their common instances; Holm over all of them."""
    labels = [label for label in means.columns if label != baseline]
    differences = [(means[label] - means[baseline]).dropna().to_numpy() for label in labels]
    tests: list[WilcoxonTest | None] = [wilcoxon(values) for values in differences]
    p_values = [None if test is None else test.p_value for test in tests]
    return {
        label: Rivalry(
            num_pairs=len(values),
            median_difference=float(np.median(values)) if len(values) else None,
            interval=bootstrap_interval(values),
            p_value=p_value,
            holm_p_value=adjusted,
            effect=rank_biserial(values),
        )
        for label, values, p_value, adjusted in zip(labels, differences, p_values, holm(p_values), strict=True)
    }


def _summary(
    gaps: StudyGaps, label: str, rank: float | None, spread: Stability, rivalry: Rivalry | None
) -> MethodSummary:
    """Summarise the runs of a method."""
    runs = gaps.runs[gaps.runs["label"] == label]
    found = runs["gap"].dropna().to_numpy()
    quantiles = [None] * 4 if not len(found) else [float(value) for value in np.quantile(found, (0.25, 0.5, 0.75, 0.9))]
    ended_well = runs[~runs["is_failed"]]
    seconds = ended_well["seconds"].dropna() if "seconds" in runs.columns else []
    return MethodSummary(
        label=label,
        kind=str(runs["kind"].iloc[0]),
        num_instances=int(runs.loc[runs["gap"].notna(), "instance"].nunique()),
        num_runs=len(runs),
        num_failed=int(runs["is_failed"].sum()),
        num_without_schedule=int((~ended_well["has_schedule"]).sum()),
        num_optimal=int(runs["is_optimal"].sum()),
        num_with_known_optimum=int(runs["is_optimum"].sum()),
        mean_gap=float(found.mean()) if len(found) else None,
        lower_quartile=quantiles[0],
        median_gap=quantiles[1],
        upper_quartile=quantiles[2],
        high_gap=quantiles[3],
        worst_gap=float(found.max()) if len(found) else None,
        mean_seconds=float(np.mean(seconds)) if len(seconds) else None,
        average_rank=rank,
        stability=spread,
        rivalry=rivalry,
    )


def _order(row: MethodSummary) -> tuple[bool, float, float, str]:
    """Sort by median, then mean, then label; methods without any gap stand last."""
    return (row.median_gap is None, row.median_gap or 0.0, row.mean_gap or 0.0, row.label)
