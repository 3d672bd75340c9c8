"""The check of edges while it is still known where they stand in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.topological_order import topological_order

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NAMES_SHOWN = 6
"""A longer cycle is shown in part."""


def check_edges(
    names: Sequence[str], edges: Sequence[tuple[int, int] | tuple[int, int, float]], places: Sequence[str]
) -> None:
    """Check that every edge is there once, joins two different tasks and closes no cycle.

    Parameters
    ----------
    names
        Name of each task in the file.
    edges
        Tail and head of each edge first, then whatever else belongs to it.
    places
        Where each edge stands in the file.

    Raises
    ------
    ValueError
        If one does not; the message gives its place. Of a cycle, it is the edge that stands last.
    """
    first_place: dict[tuple[int, int], str] = {}
    for (tail, head, *_), place in zip(edges, places, strict=True):
        arrow = f"{names[tail]} -> {names[head]}"
        if tail == head:
            raise ValueError(f"{place}: expected two different tasks, got {arrow}.")
        if (tail, head) in first_place:
            raise ValueError(f"{place}: expected each edge once, got {arrow} again after {first_place[tail, head]}.")
        first_place[tail, head] = place
    pairs = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    try:
        topological_order(len(names), pairs)
    except ValueError as error:
        edge, text = _last_edge_of_cycle(names, pairs.tolist())
        raise ValueError(f"{places[edge]}: expected no cycle, got {text}.") from error


def _last_edge_of_cycle(names: Sequence[str], edges: Sequence[Sequence[int]]) -> tuple[int, str]:
    """Return the last edge of a cycle, and the cycle as text, beginning with that edge."""
    import networkx as nx

    edge_of_ends = {(tail, head): edge for edge, (tail, head) in enumerate(edges)}
    cycle = [(int(tail), int(head)) for tail, head in nx.find_cycle(nx.DiGraph(list(edge_of_ends)))]
    last = max(range(len(cycle)), key=lambda position: edge_of_ends[cycle[position]])
    walk = [names[tail] for tail, _ in cycle[last:] + cycle[:last]]
    if len(walk) > MAX_NAMES_SHOWN:
        walk = [*walk[: MAX_NAMES_SHOWN - 1], "...", walk[-1]]
    return edge_of_ends[cycle[last]], " -> ".join([*walk, walk[0]])
