"""How the time of a decision grows with servers and with agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.agent_summary import summary_traffic
from studies.decision_latency.busy_cluster import SERVERS_PER_RACK
from studies.decision_latency.measure_decisions import measure_decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from studies.decision_latency.measure_decisions import MeasuredDecisions

LIMIT_MS, LIMIT_GPUS = 50.0, 10_000
"""A decision on a cluster of so many GPUs should take less, on one core."""

LOW, HIGH = 5, 95
"""Percentiles beside the median."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLatency:
    """Times of one number of servers and agents, in milliseconds of a core unless they are said to be on the wall.

    Parameters
    ----------
    servers, gpus, agents
        Of the cluster and on it.
    decisions, rounds
        That were measured; rounds with decisions.
    decision_ms, low_ms, high_ms
        Median and percentiles of all that an agent does for a decision.
    wall_ms
        Median on the wall.
    groups_ms, observation_ms, network_ms
        Means of its parts.
    round_ms, summaries_ms
        Medians over rounds: of a whole round with the agents one after the other, and of the summaries in it.
    decisions_per_round
        Mean.
    messages, bytes
        Per round, between agents.
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
    """Result of the study.

    Parameters
    ----------
    rows
        By servers, then agents.
    seed
        Of jobs, weights and slots.
    """

    rows: tuple[DecisionLatency, ...]
    seed: int

    @property
    def is_within_limit(self) -> bool | None:
        """Whether every median at `LIMIT_GPUS` is below `LIMIT_MS`; None where no such cluster was measured."""
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
    servers, agents
        Numbers of them; each once.
    decisions
        To measure of each pair, see `measure_decisions`.
    seed
        The same for all.
    on_size
        Told of every pair that begins: its name, how many are done, of how many.

    Raises
    ------
    ValueError
        If there is no number, one is below 1, or there are more agents than racks, as racks stay whole; or as
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
