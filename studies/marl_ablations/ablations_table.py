"""The ablations in a table: against the teacher, and against the training that each differs from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from studies.online.online_summary import LEVEL
from studies.statistics.cell_text import number_text, p_text, within
from studies.statistics.jct_tests import jct_tests
from studies.statistics.over_instances import seed_interval
from studies.statistics.table_view import TableView

if TYPE_CHECKING:
    import pandas as pd

    from studies.marl_ablations.marl_ablations import MarlAblations

HEADINGS = ("training", "A", "of teacher", "over seeds", "of A = 1", "of rival", "interval", "p Holm")


def ablations_summary(study: MarlAblations) -> pd.DataFrame:
    """Return one row per topology and training.

    Parameters
    ----------
    study
        Result of `marl_ablations`.

    Returns
    -------
    DataFrame
        Seeds and agents; the geometric mean over seeds and instances of mean JCT over that of the teacher with as many
        agents (``of_teacher``) with Student's interval over seeds (of the mean over instances), the same against the
        teacher with one agent (``of_central``); against the rival the geometric mean ratio of JCTs, its intervals and
        tests as in `jct_tests`, Holm's correction over all that have the same rival; mean seconds of a training.
    """
    import pandas as pd

    tests = _tests(study)
    rows: list[dict[str, Any]] = []
    for (topology, label), group in study.frame.groupby(["setting", "label"], sort=False):
        row: dict[str, Any] = {"topology": topology, "training": label, "rival": study.rivals[label]}
        row |= {"seeds": group["repetition"].nunique(), "agents": int(group["agents"].iloc[0])}
        for name, teacher in (("of_teacher", "teacher"), ("of_central", "central_teacher")):
            logarithms = np.log(group["jct_mean"] / group[teacher]).groupby(group["repetition"]).mean().to_numpy()
            interval = seed_interval(logarithms, level=LEVEL)
            low, high = (None, None) if interval is None else np.exp(interval)
            row |= {name: float(np.exp(logarithms.mean())), f"{name}_low": low, f"{name}_high": high}
        row |= tests.get((topology, label), {})
        rows.append({**row, "seconds": study.seconds.get(label)})
    known = ["ratio", "low", "high", "seeds_low", "seeds_high", "pairs", "shorter", "p_value", "holm_p_value"]
    columns = [*dict.fromkeys(name for row in rows for name in row if name not in (*known, "seconds"))]
    frame = pd.DataFrame(rows, columns=[*columns, *known, "seconds"])
    return frame.astype({name: np.float64 for name in known})


def _tests(study: MarlAblations) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what `jct_tests` says of each label against its rival, by topology and label."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    there = set(study.frame["label"])
    for rival in dict.fromkeys(study.rivals.values()):
        family = {label for label, other in study.rivals.items() if other == rival} | {rival}
        if rival not in there or len(family & there) < 2:
            continue
        for record in jct_tests(study.frame[study.frame["label"].isin(family)], rival).to_dict("records"):
            topology, label = record["setting"], record["label"]
            found[topology, label] = {
                name: record[name]
                for name in record
                if name not in ("family", "cluster", "setting", "jobs", "load", "label")
            }
    return found


def ablations_tables(study: MarlAblations) -> list[TableView]:
    """Return the table of `ablations_summary` for each topology."""
    summary = ablations_summary(study)
    return [
        TableView(
            name="marl_ablations",
            title=f"Ablations of the multi-agent policy: {topology}",
            frame=part.reset_index(drop=True),
            headings=HEADINGS,
            rows=tuple(_row(record) for record in part.to_dict("records")),
            notes=_notes(part),
        )
        for topology, part in summary.groupby("topology", sort=False)
    ]


def _notes(part: pd.DataFrame) -> tuple[str, ...]:
    """Say what the columns mean."""
    seeds = " or ".join(str(number) for number in sorted(set(part["seeds"])))
    return (
        f"{seeds} trainings each. Ratios of mean JCT on held-out instances under true speeds, geometric means; less "
        "than 1 is shorter. of teacher: the teacher with as many agents, over seeds and instances, with Student's "
        f"{100 * LEVEL:.0f} % interval over seeds. of A = 1: the teacher with one agent.",
        "of rival: over instances, means over seeds first, with its bootstrap interval over instances; the rival is "
        "the default, or A = 4 for numbers of agents. p: two-sided Wilcoxon signed-rank test over instances after "
        "Holm's correction for all that have the same rival.",
    )


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of a training on a topology."""
    known = {name: None if value != value else value for name, value in record.items()}
    return (
        str(known["training"]),
        str(known["agents"]),
        number_text(known["of_teacher"]),
        _between(known, "of_teacher_low", "of_teacher_high"),
        number_text(known["of_central"]),
        number_text(known["ratio"]),
        _between(known, "low", "high"),
        p_text(known["holm_p_value"]),
    )


def _between(known: dict[str, Any], low: str, high: str) -> str:
    """Return an interval."""
    return within(number_text(known[low]), number_text(known[high]))
