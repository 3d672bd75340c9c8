"""A study of decision latency with invented times."""

from __future__ import annotations

from heuristics.jobs.marl.observer import summary_traffic
from studies.papers.decision_latency import DecisionLatency, DecisionLatencyStudy


def invented_latencies(worse: float = 1.0) -> DecisionLatencyStudy:
    """Return times that grow with the servers of an agent; `worse` multiplies those of one agent."""
    rows = []
    for servers in (100, 1250, 10_000):
        for agents in (1, 4, 16):
            decision = (1 + servers / agents / 50) * (worse if agents == 1 else 1)
            messages, sent = summary_traffic(agents)
            rows.append(
                DecisionLatency(
                    servers=servers,
                    gpus=8 * servers,
                    agents=agents,
                    decisions=10,
                    rounds=5,
                    decision_ms=decision,
                    low_ms=0.7 * decision,
                    high_ms=1.6 * decision,
                    wall_ms=1.1 * decision,
                    groups_ms=0.1 * decision,
                    observation_ms=0.2 * decision,
                    network_ms=0.7 * decision,
                    round_ms=2 * decision,
                    summaries_ms=0.1,
                    decisions_per_round=2.0,
                    messages=messages,
                    bytes=sent,
                    busy_percent=70.0,
                    waiting=12.4,
                )
            )
    return DecisionLatencyStudy(rows=tuple(rows), seed=0)
