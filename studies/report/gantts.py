"""Optimal and other schedules of the same instance below each other, on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.objective import finish_times
from instances.plot_gantt import plot_gantt
from studies.percent import percent
from studies.report.page import figure, text
from studies.report.svg import svg_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.result import Result
    from studies.gap_table import GapTable

COMPARED_METHOD = "heft"
"""Method that is drawn below the best one; where it did not run, or found the best itself, the worst one."""

MAX_TASKS = 200
"""Instances with more tasks are not drawn."""

ScoredRun = tuple["Result", float]
"""A result with a schedule, and its gap."""


def gantt_section(results: Sequence[Result], table: GapTable, *, num_instances: int) -> str:
    """Return charts of the best schedule and of HEFT's (else the worst) one where the difference is largest.

    Parameters
    ----------
    results, table
        What was run, and its gap table; of the same order.
    num_instances
        How many instances to draw.
    """
    pairs = []
    for index in range(len(table.instances)):
        scored = [
            (result, run.gap)
            for result, run in zip(results, table.runs, strict=True)
            if run.instance == index and run.gap is not None and result.instance.num_tasks <= MAX_TASKS
        ]
        pairs += _pair(scored)
    pairs.sort(key=lambda pair: (pair[1][0].method != COMPARED_METHOD, pair[0][1] - pair[1][1]))
    return "\n".join(_charts(*pair, number) for number, pair in enumerate(pairs[:num_instances], 1))


def _pair(scored: Sequence[ScoredRun]) -> list[tuple[ScoredRun, ScoredRun]]:
    """Return the best run and what it is compared with, or nothing where all are equally good."""
    if not scored:
        return []
    best = min(scored, key=lambda run: run[1])
    others = [run for run in scored if run[0].method != best[0].method and run[1] > best[1]] or scored
    worst = max(others, key=lambda run: run[1])
    heft = [run for run in scored if run[0].method == COMPARED_METHOD and run[1] > best[1]]
    other = heft[0] if heft else worst
    return [(best, other)] if other[1] > best[1] else []


def _charts(best: ScoredRun, other: ScoredRun, number: int) -> str:
    """Return two charts on one scale; the number tells them from those of other instances."""
    end = max(_makespan(result) for result, _ in (best, other))
    pieces = [f"<h3>{text(best[0].instance.name)}</h3>"]
    for which, (result, gap) in (("best", best), ("other", other)):
        assert result.schedule is not None  # it has a gap
        caption, identifier = f"{result.method}: {result.objective}, gap {percent(gap)} %", f"schedule-{number}-{which}"
        chart = plot_gantt(result.instance, result.schedule, end=end)
        drawn = svg_of(chart, identifier=identifier, alternative=f"Schedule of {caption}")
        pieces.append(figure(drawn, caption=("", caption), identifier=identifier))
    return "\n".join(pieces)


def _makespan(result: Result) -> int:
    """Return the last finish."""
    assert result.schedule is not None  # it has a gap
    return int(finish_times(result.instance, result.schedule).max(initial=1))
