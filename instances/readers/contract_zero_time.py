"""Measured graphs with few tasks of time 0."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from instances.readers.contraction import contracted_edges, contracted_sums, remaining, zero_time_roots

if TYPE_CHECKING:
    from instances.readers.measured_graph import MeasuredGraph


def contract_zero_time(graph: MeasuredGraph) -> MeasuredGraph:
    """Return the graph with tasks of time 0 made part of a neighbour where that closes no cycle.

    Memory adds up; name, balance and job are those of the neighbour. See `zero_time_roots` for which tasks and why a
    schedule of the result is one of the graph.
    """
    roots = zero_time_roots([seconds == 0 for seconds in graph.seconds], graph.edges)
    kept = remaining(roots)
    return replace(
        graph,
        task_names=[graph.task_names[task] for task in kept],
        seconds=contracted_sums(graph.seconds, roots),
        memory_bytes=[int(total) for total in contracted_sums(graph.memory_bytes, roots)],
        edges=contracted_edges(graph.edges, roots),
        balance_of_task=[graph.balance_of_task[task] for task in kept] if graph.balance_of_task else (),
        job_of_task=[graph.job_of_task[task] for task in kept] if graph.job_of_task else (),
    )
