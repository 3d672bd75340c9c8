"""How the time of a decision of the multi-agent policy grows with servers and with agents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.marl.observer import summary_traffic
from solvers.table import Table
from studies.options import integer, option
from studies.papers.study import PaperStudy, StudyCsv, StudyFigure, rows_csv, seed_option
from studies.papers.timed_decisions import GPUS_PER_SERVER, MAX_DECISIONS, SERVERS_PER_RACK, measure_decisions
from studies.report.figure_style import QUIET, label_lines, line_styles, lines_only, new_axes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from studies.papers.study import Monitor
    from studies.papers.timed_decisions import MeasuredDecisions


LIMIT_MS, LIMIT_GPUS = 50.0, 10_000
"""A decision on a cluster of this many GPUs should take less than this on one core."""

LOW, HIGH = 5, 95
"""Percentiles that are reported with the median."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLatency:
    """Times for one number of servers and agents, in milliseconds of core time.

    Parameters
    ----------
    decisions, rounds
        Number of measured decisions, and of rounds with decisions.
    decision_ms, low_ms, high_ms
        Median and percentiles of everything that an agent does for a decision.
    wall_ms
        Median of a decision in wall time.
    groups_ms, observation_ms, network_ms
        Means of the parts of a decision: candidate placements, observation and network.
    round_ms, summaries_ms
        Medians over rounds: a whole round with the agents one after the other, and the summaries in it.
    messages, bytes
        Sent between agents per round.
    busy_percent, waiting
        Means over rounds: GPUs with a job, and jobs in queues.
    """

    servers: int
    gpus: int
    agents: int
    decisions: int
    rounds: int
    decision_ms: float
    low_ms: float
    high_ms: float
    wall_ms: float
    groups_ms: float
    observation_ms: float
    network_ms: float
    round_ms: float
    summaries_ms: float
    decisions_per_round: float
    messages: int
    bytes: int
    busy_percent: float
    waiting: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLatencyStudy:
    """Result of the study; rows are sorted by servers, then agents."""

    rows: tuple[DecisionLatency, ...]
    seed: int

    @property
    def is_within_limit(self) -> bool | None:
        """Whether every median at `LIMIT_GPUS` is below `LIMIT_MS`; None if no such cluster was measured."""
        medians = [row.decision_ms for row in self.rows if row.gpus == LIMIT_GPUS]
        return all(median < LIMIT_MS for median in medians) if medians else None


def decision_latency_study(
    servers: Sequence[int],
    agents: Sequence[int],
    *,
    decisions: int = 200,
    seed: int = 0,
    on_size: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> DecisionLatencyStudy:
    """Measure decisions for all numbers of servers and agents.

    Parameters
    ----------
    decisions
        Decisions to measure of each pair, see `measure_decisions`.
    on_size
        Receives the name of every pair that begins, how many are done, and how many there are.

    Raises
    ------
    ValueError
        If there is no number, a number is below 1, or there are more agents than racks, because racks stay whole; or as
        `measure_decisions`.
    """
    sizes = {"servers": sorted(set(servers)), "agents": sorted(set(agents))}
    for name, numbers in sizes.items():
        if not numbers or numbers[0] < 1:
            raise ValueError(f"{name}: expected numbers of at least 1, got {numbers[0] if numbers else 'none'}.")
    least, most = sizes["servers"][0], sizes["agents"][-1]
    racks = -(-least // SERVERS_PER_RACK)
    if most > racks:
        expected = f"at most {racks}, a rack of {SERVERS_PER_RACK} servers each of the {least}"
        raise ValueError(f"agents: expected {expected}, got {most}.")
    pairs = [(each, number) for each in sizes["servers"] for number in sizes["agents"]]
    rows = []
    for done, (each, number) in enumerate(pairs):
        on_size(f"{each} servers, agents: {number}", done, len(pairs))
        rows.append(_row(measure_decisions(each, number, decisions, seed)))
    return DecisionLatencyStudy(rows=tuple(rows), seed=seed)


def _row(measured: MeasuredDecisions) -> DecisionLatency:
    """Summarise one pair."""
    low, median, high = np.percentile(measured.seconds, [LOW, 50, HIGH])
    messages, sent = summary_traffic(measured.num_agents)
    return DecisionLatency(
        servers=measured.num_servers,
        gpus=measured.num_gpus,
        agents=measured.num_agents,
        decisions=len(measured.seconds),
        rounds=len(measured.rounds),
        decision_ms=1e3 * float(median),
        low_ms=1e3 * float(low),
        high_ms=1e3 * float(high),
        wall_ms=1e3 * float(np.median(measured.wall)),
        groups_ms=_mean_ms(measured.groups),
        observation_ms=_mean_ms(measured.observation),
        network_ms=_mean_ms(measured.network),
        round_ms=1e3 * float(np.median(measured.rounds)),
        summaries_ms=1e3 * float(np.median(measured.summaries)),
        decisions_per_round=float(measured.decisions_of_round.mean()),
        messages=messages,
        bytes=sent,
        busy_percent=100 * float(measured.busy_share.mean()),
        waiting=float(measured.waiting.mean()),
    )


def _mean_ms(seconds: NDArray[np.float64]) -> float:
    """Return a mean in milliseconds."""
    return 1e3 * float(seconds.mean())


HEADINGS = (
    "servers", "GPUs", "agents", "median", f"{LOW} %", f"{HIGH} %", "wall", "groups", "observe", "network",
    "round", "summaries", "decisions", "messages", "bytes", "waiting", "busy %",
)  # fmt: skip
"""Columns of Markdown."""

DECISIONS = ("servers", "agents", "median", f"{LOW} %", f"{HIGH} %", "wall", "groups", "observe", "network")
ROUNDS = ("servers", "agents", "round", "summaries", "decisions", "messages", "bytes", "waiting", "busy %")
"""Columns of the two tables for the terminal."""


def decision_latency_tables(study: DecisionLatencyStudy) -> list[Table]:
    """Return a table of decisions and one of rounds, which fit the terminal."""
    of_decisions = [
        f"ms of a core, one thread; servers of {GPUS_PER_SERVER} GPUs. wall: median on the wall.",
        "groups, observe, network: means of the parts. Weights are random: their values change no time.",
        decision_latency_remark(study),
    ]
    of_rounds = "round, summaries: median ms, agents one after the other; the rest are means."
    return [
        Table(
            headings=headings,
            rows=[[row[HEADINGS.index(heading)] for heading in headings] for row in _cells(study)],
            numbers=headings,
            title=title,
            notes=[note for note in notes if note],
        )
        for headings, title, notes in (
            (DECISIONS, "Decisions", of_decisions),
            (ROUNDS, "Rounds in which somebody decides", [of_rounds]),
        )
    ]


def decision_latency_table(study: DecisionLatencyStudy) -> Table:
    """Return one table with all columns."""
    return Table(headings=HEADINGS, rows=_cells(study), numbers=HEADINGS)


def decision_latency_remark(study: DecisionLatencyStudy) -> str:
    """Return a sentence on the limit, or nothing if no cluster of that size was measured."""
    within = study.is_within_limit
    if within is None:
        return ""
    largest = max(row.decision_ms for row in study.rows if row.gpus == LIMIT_GPUS)
    verdict = "below" if within else "not below"
    return f"At {LIMIT_GPUS:,} GPUs the largest median is {largest:.1f} ms, {verdict} {LIMIT_MS:g} ms."


def _cells(study: DecisionLatencyStudy) -> list[list[str]]:
    """Return the texts of all columns."""
    return [
        [
            str(row.servers),
            str(row.gpus),
            str(row.agents),
            f"{row.decision_ms:.2f}",
            f"{row.low_ms:.2f}",
            f"{row.high_ms:.2f}",
            f"{row.wall_ms:.2f}",
            f"{row.groups_ms:.2f}",
            f"{row.observation_ms:.2f}",
            f"{row.network_ms:.2f}",
            f"{row.round_ms:.1f}",
            f"{row.summaries_ms:.1f}",
            f"{row.decisions_per_round:.1f}",
            str(row.messages),
            str(row.bytes),
            f"{row.waiting:.0f}",
            f"{row.busy_percent:.0f}",
        ]
        for row in study.rows
    ]


LABEL_FACTOR = 1.6
"""Labels of sizes that differ by at least this factor do not overlap."""


def decision_latency_figure(study: DecisionLatencyStudy, ax: Axes | None = None) -> Axes:
    """Draw medians over GPUs, both axes logarithmic, with a band between percentiles and the limit of 50 ms."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ax = ax or new_axes(8.5, 4.6)
    agents = list(dict.fromkeys(row.agents for row in study.rows))
    labels = {number: f"{number} agent{'s' if number > 1 else ''}" for number in agents}
    styles = line_styles(labels.values())
    servers_of = {row.gpus: row.servers for row in study.rows}
    ends, colours = {}, {}
    for number in agents:
        rows = [row for row in study.rows if row.agents == number]
        gpus, label = [row.gpus for row in rows], labels[number]
        colour = colours[label] = styles[label].colour
        ends[label] = rows[-1].decision_ms
        ax.plot(gpus, [row.decision_ms for row in rows], color=colour, marker="o", markersize=4, linewidth=1.6)
        ax.fill_between(
            gpus, [row.low_ms for row in rows], [row.high_ms for row in rows], color=colour, alpha=0.1, linewidth=0
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    lines_only(ax)
    least, most = min(servers_of), max(servers_of)
    ax.set_xlim(least / 1.1, most * 1.05)
    ax.axhline(LIMIT_MS, color=QUIET, linewidth=1.0, linestyle="--")
    ax.text(least, 1.05 * LIMIT_MS, f"{LIMIT_MS:g} ms", color=QUIET, fontsize=9, verticalalignment="bottom")
    if least <= LIMIT_GPUS <= most:
        ax.axvline(LIMIT_GPUS, color=QUIET, linewidth=0.8, linestyle=":")
        at_bottom = ax.get_xaxis_transform()
        ax.text(1.03 * LIMIT_GPUS, 0.02, f"{LIMIT_GPUS:,} GPUs", color=QUIET, fontsize=9, transform=at_bottom)
    ax.xaxis.set_major_locator(FixedLocator(_ticks(servers_of)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}\n({servers_of[round(at)]:,})"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:g}"))
    ax.set_xlabel("GPUs, and in brackets servers (logarithmic)")
    ax.set_ylabel(f"ms of one core per decision (logarithmic):\nmedian, band from {LOW} to {HIGH} %")
    label_lines(ax, ends, colours)
    return ax


def _ticks(sizes: Iterable[int]) -> list[int]:
    """Return the sizes whose labels do not overlap; the limit always has a label."""
    kept: list[int] = []
    for size in sorted(sizes, key=lambda size: (size == LIMIT_GPUS, size)):
        if all(max(size, other) >= LABEL_FACTOR * min(size, other) for other in kept):
            kept.append(size)
    return sorted(kept)


MAX_SERVERS, MAX_AGENTS = 10_000, 2_500
"""With more, the horizon of an instance no longer fits into an integer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLatencyOptions:
    """What `optgap study decision-latency` asks for."""

    servers: str = option(
        "100,1000,1250,10000",
        f"Numbers of servers of {GPUS_PER_SERVER} GPUs, {SERVERS_PER_RACK} to a rack.",
        metavar="M,N",
    )
    agents: str = option("1,2,4,8,16", "Numbers of agents; each owns at least one rack.", metavar="A,B")
    decisions: int = option(200, "Decisions to measure of each pair.", low=1, high=MAX_DECISIONS)
    seed: int = seed_option()


def _run(chosen: DecisionLatencyOptions, monitor: Monitor) -> DecisionLatencyStudy:
    """Measure."""
    servers, agents = integer("--servers", low=1, high=MAX_SERVERS), integer("--agents", low=1, high=MAX_AGENTS)
    return decision_latency_study(
        [servers(part.strip()) for part in chosen.servers.split(",")],
        [agents(part.strip()) for part in chosen.agents.split(",")],
        decisions=chosen.decisions,
        seed=chosen.seed,
        on_size=monitor.update,
    )


def _document(study: DecisionLatencyStudy, chosen: DecisionLatencyOptions) -> dict[str, Any]:
    """Return all rows as JSON values."""
    return {"seed": study.seed, "is_within_limit": study.is_within_limit, "rows": [asdict(row) for row in study.rows]}


DECISION_LATENCY = PaperStudy(
    options=DecisionLatencyOptions,
    run=_run,
    tables=decision_latency_tables,
    document=_document,
    has_markdown=True,
    markdown_tables=lambda study: [decision_latency_table(study)],
    csv=StudyCsv(rows="a row per pair with all measures", make=lambda study: rows_csv(study.rows)),
    figure=StudyFigure(help="Figure to draw", draw=decision_latency_figure),
)
