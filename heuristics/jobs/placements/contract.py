"""The grouping Contract: join replicas along heavy edges while they fit on a server, then place the groups (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from heuristics.jobs.placements.grow import ring_neighbours
from heuristics.jobs.placements.hall import book, can_place, can_place_part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(cache=True)
def contract(
    chosen_kind: NDArray[np.int64],
    room: NDArray[np.int64],
    counts: NDArray[np.int64],
    masks: NDArray[np.int64],
    left: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    num_unions: int,
    ring_weight: NDArray[np.int64],
    cut_weight: NDArray[np.int64],
    first_vertex: NDArray[np.int64],
    where: NDArray[np.int64],
    most_of_kind: NDArray[np.int64],
    parent: NDArray[np.int64],
    size: NDArray[np.int64],
    common: NDArray[np.int64],
    part: NDArray[np.int64],
) -> None:
    """Place all replicas of a job on the chosen servers, which suffice; parameters as in `grow` and `Workspace`.

    `most_of_kind` is scratch of one entry per kind: the most free GPUs of a chosen server of that kind.
    """
    num_stages = len(masks)
    most_of_kind[:] = 0
    for c in range(len(chosen_kind)):
        most_of_kind[chosen_kind[c]] = max(most_of_kind[chosen_kind[c]], room[c])
    _join(masks, ring_weight, cut_weight, first_vertex, most_of_kind, parent, size, common)
    num_vertices, largest = first_vertex[num_stages], 1
    for vertex in range(num_vertices):
        if parent[vertex] == vertex:
            largest = max(largest, size[vertex])
    for gang in range(largest, 0, -1):
        for root in range(num_vertices):  # the smallest vertex of its component
            if parent[root] != root or size[root] != gang:
                continue
            part[:] = 0
            for s in range(num_stages):
                for vertex in range(first_vertex[s], first_vertex[s + 1]):
                    part[s] += 1 if _root(vertex, parent) == root else 0
            best = _tightest_server(gang, common[root], chosen_kind, room, masks, part, unions, slack, num_unions)
            for s in range(num_stages):
                if part[s] == 0:
                    continue
                if best >= 0:
                    book(unions, slack, num_unions, masks[s], chosen_kind[best], part[s])
                    counts[s, best] += part[s]
                    left[s] -= part[s]
                    room[best] -= part[s]
                for vertex in range(first_vertex[s], first_vertex[s + 1]):
                    if _root(vertex, parent) != root:
                        continue
                    if best >= 0:
                        where[vertex] = best
                        continue
                    c = _closest_server(
                        vertex, s, chosen_kind, room, counts, masks, unions, slack, num_unions,
                        ring_weight, cut_weight, first_vertex, where,
                    )  # fmt: skip
                    book(unions, slack, num_unions, masks[s], chosen_kind[c], 1)
                    where[vertex] = c
                    counts[s, c] += 1
                    left[s] -= 1
                    room[c] -= 1


@njit(cache=True)
def _join(
    masks: NDArray[np.int64],
    ring_weight: NDArray[np.int64],
    cut_weight: NDArray[np.int64],
    first_vertex: NDArray[np.int64],
    most_of_kind: NDArray[np.int64],
    parent: NDArray[np.int64],
    size: NDArray[np.int64],
    common: NDArray[np.int64],
) -> None:
    """Make the components: edges by weight, descending, then lexicographically."""
    num_stages, heaviest = len(masks), 0
    for s in range(num_stages):
        heaviest = max(heaviest, ring_weight[s], cut_weight[s])
        for vertex in range(first_vertex[s], first_vertex[s + 1]):
            parent[vertex], size[vertex], common[vertex] = vertex, 1, masks[s]
    weight = heaviest
    while weight > 0:
        lighter = 0
        for s in range(num_stages):
            for edge_weight in (ring_weight[s], cut_weight[s]):
                if edge_weight < weight:
                    lighter = max(lighter, edge_weight)
            first, end = first_vertex[s], first_vertex[s + 1]
            for vertex in range(first, end):
                if ring_weight[s] == weight:
                    if vertex + 1 < end:
                        _try_to_join(vertex, vertex + 1, most_of_kind, parent, size, common)
                    if vertex == first and end - first > 2:
                        _try_to_join(vertex, end - 1, most_of_kind, parent, size, common)
                if cut_weight[s] == weight and s + 1 < num_stages:
                    for other in range(end, first_vertex[s + 2]):
                        _try_to_join(vertex, other, most_of_kind, parent, size, common)
        weight = lighter


@njit(cache=True)
def _try_to_join(
    u: int,
    v: int,
    most_of_kind: NDArray[np.int64],
    parent: NDArray[np.int64],
    size: NDArray[np.int64],
    common: NDArray[np.int64],
) -> None:
    """Join the components of two vertices if some chosen server could hold both."""
    u, v = _root(u, parent), _root(v, parent)
    if u == v:
        return
    together, kinds = size[u] + size[v], common[u] & common[v]
    for kind in range(len(most_of_kind)):
        if kinds >> kind & 1 and most_of_kind[kind] >= together:
            low, high = min(u, v), max(u, v)
            parent[high], size[low], common[low] = low, together, kinds
            return


@njit(cache=True)
def _root(vertex: int, parent: NDArray[np.int64]) -> int:
    """Return the smallest vertex of the component of a vertex."""
    while parent[vertex] != vertex:
        parent[vertex] = parent[parent[vertex]]
        vertex = parent[vertex]
    return vertex


@njit(cache=True)
def _tightest_server(
    gang: int,
    kinds: int,
    chosen_kind: NDArray[np.int64],
    room: NDArray[np.int64],
    masks: NDArray[np.int64],
    part: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    num_unions: int,
) -> int:
    """Return the completable server with the least room for a component, the first of equals; -1 if there is none."""
    best, tested, fits = -1, -1, False
    for c in range(len(chosen_kind)):
        kind = chosen_kind[c]
        if room[c] < gang or not kinds >> kind & 1 or (best >= 0 and room[c] >= room[best]):
            continue
        if kind != tested:
            tested, fits = kind, can_place_part(unions, slack, num_unions, masks, part, kind)
        if fits:
            best = c
    return best


@njit(cache=True)
def _closest_server(
    vertex: int,
    stage: int,
    chosen_kind: NDArray[np.int64],
    room: NDArray[np.int64],
    counts: NDArray[np.int64],
    masks: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    num_unions: int,
    ring_weight: NDArray[np.int64],
    cut_weight: NDArray[np.int64],
    first_vertex: NDArray[np.int64],
    where: NDArray[np.int64],
) -> int:
    """Return the completable server with the most weight to vertices already there, the first of equals."""
    best, best_weight, tested, fits = -1, -1, -1, False
    for c in range(len(chosen_kind)):
        kind = chosen_kind[c]
        if room[c] == 0 or not masks[stage] >> kind & 1:
            continue
        if kind != tested:
            tested, fits = kind, can_place(unions, slack, num_unions, masks[stage], -1, kind)
        if not fits:
            continue
        weight = ring_weight[stage] * ring_neighbours(vertex, first_vertex[stage], first_vertex[stage + 1], c, where)
        if stage > 0:
            weight += cut_weight[stage - 1] * counts[stage - 1, c]
        if stage + 1 < len(masks):
            weight += cut_weight[stage] * counts[stage + 1, c]
        if weight > best_weight:
            best, best_weight = c, weight
    return best
