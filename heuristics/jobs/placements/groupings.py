"""The groupings of Heavy-Edge: in order of stage, grow from the heaviest edge, contract heavy edges (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.placements.hall import book, can_place, can_place_part
from instances.kernels import inner_kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.placements.kernel_placer import PlacementWorkspace


@inner_kernel
def fill_in_order(
    chosen_kind: NDArray[np.int64],
    free_gpus: NDArray[np.int64],
    counts: NDArray[np.int64],
    masks: NDArray[np.int64],
    left: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
) -> None:
    """Place all replicas of a job on the chosen servers, which suffice; parameters as in `grow`.

    A server that is full, or that a replica of this stage cannot use, is of no use to the next replica of the stage
    either: slacks and free GPUs only decrease. Therefore each stage walks over the servers once.
    """
    for s in range(len(masks)):
        c = 0
        while left[s] > 0:
            kind = chosen_kind[c]
            if free_gpus[c] == 0 or not masks[s] >> kind & 1 or not can_place(unions, slack, masks[s], -1, kind):
                c += 1
                continue
            book(unions, slack, masks[s], kind, 1)
            counts[s, c] += 1
            left[s] -= 1
            free_gpus[c] -= 1


@inner_kernel
def grow(
    ws: PlacementWorkspace,
    chosen_kind: NDArray[np.int64],
    free_gpus: NDArray[np.int64],
    masks: NDArray[np.int64],
    left: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    ring_weight: NDArray[np.int64],
    cut_weight: NDArray[np.int64],
) -> None:
    """Place all replicas of a job on the chosen servers, which suffice; all arrays but the fixed ones change in place.

    Replicas of a stage differ only in their neighbours in the ring. Therefore a step looks at stages, and at the
    vertices of a stage only for the first that fits.

    Parameters
    ----------
    ws
        Its `counts` are 0 and its `where` is -1 for all vertices: nothing is placed yet.
    chosen_kind, free_gpus
        Kind and free GPUs of each chosen server.
    masks, left, unions, slack
        See `PlacementWorkspace`; as long as there are stages and unions.
    ring_weight, cut_weight
        Those of the stages of the job, see `JobsArrays`.
    """
    counts, first_vertex, where = ws.counts, ws.first_vertex, ws.where
    num_stages = len(masks)
    for c in range(len(chosen_kind)):
        kind = chosen_kind[c]
        u, v = _heaviest_edge(
            kind, free_gpus[c], masks, left, unions, slack, ring_weight, cut_weight, first_vertex, where
        )
        if u < 0:
            u = _lightest_vertex(kind, masks, left, unions, slack, ring_weight, cut_weight, first_vertex, where)
        for vertex in (u, v):
            if vertex >= 0:
                stage = _stage_of(vertex, first_vertex)
                book(unions, slack, masks[stage], kind, 1)
                where[vertex] = c
                counts[stage, c] += 1
                left[stage] -= 1
                free_gpus[c] -= 1
        while u >= 0 and free_gpus[c] > 0:
            best, best_stage, best_weight = -1, -1, -1
            for s in range(num_stages):
                if left[s] == 0 or not masks[s] >> kind & 1:
                    continue
                if not can_place(unions, slack, masks[s], -1, kind):
                    continue
                weight = cut_weight[s] * counts[s + 1, c] if s + 1 < num_stages else 0
                if s > 0:
                    weight += cut_weight[s - 1] * counts[s - 1, c]
                most = min(counts[s, c], 2) if ring_weight[s] > 0 else 0
                if weight + most * ring_weight[s] <= best_weight:
                    continue
                vertex, neighbours = _closest_vertex(first_vertex[s], first_vertex[s + 1], c, most, where)
                if weight + neighbours * ring_weight[s] > best_weight:
                    best, best_stage, best_weight = vertex, s, weight + neighbours * ring_weight[s]
            if best < 0:
                break
            book(unions, slack, masks[best_stage], kind, 1)
            where[best] = c
            counts[best_stage, c] += 1
            left[best_stage] -= 1
            free_gpus[c] -= 1


@inner_kernel
def ring_neighbours(vertex: int, first: int, end: int, value: int, where: NDArray[np.int64]) -> int:
    """Return how many neighbours of a vertex in its ring, first to end - 1, have this value; two share one edge."""
    if end - first < 2:
        return 0
    following = vertex + 1 if vertex + 1 < end else first
    found = 1 if where[following] == value else 0
    if end - first > 2:
        found += 1 if where[vertex - 1 if vertex > first else end - 1] == value else 0
    return found


@inner_kernel
def _closest_vertex(first: int, end: int, c: int, most: int, where: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first unplaced vertex of a stage with the most ring neighbours on a server, and their number."""
    best, best_found = -1, -1
    for vertex in range(first, end):
        if where[vertex] >= 0:
            continue
        found = ring_neighbours(vertex, first, end, c, where) if most > 0 else 0
        if found > best_found:
            best, best_found = vertex, found
        if found >= most:
            break
    return best, best_found


@inner_kernel
def _heaviest_edge(
    kind: int,
    free_gpus: int,
    masks: NDArray[np.int64],
    left: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    ring_weight: NDArray[np.int64],
    cut_weight: NDArray[np.int64],
    first_vertex: NDArray[np.int64],
    where: NDArray[np.int64],
) -> tuple[int, int]:
    """Return the heaviest edge with both ends unplaced and jointly completable here, the first of equals; or -1, -1."""
    best_u, best_v, best_weight = -1, -1, 0
    if free_gpus < 2:
        return best_u, best_v
    for s in range(len(masks)):
        if left[s] == 0 or not masks[s] >> kind & 1:
            continue
        if left[s] > 1 and ring_weight[s] > 0 and can_place(unions, slack, masks[s], masks[s], kind):
            u, v = _first_ring_edge(first_vertex[s], first_vertex[s + 1], where)
            is_before = u < best_u or (u == best_u and v < best_v)
            if u >= 0 and (ring_weight[s] > best_weight or (ring_weight[s] == best_weight and is_before)):
                best_u, best_v, best_weight = u, v, ring_weight[s]
        if s + 1 == len(masks) or cut_weight[s] == 0 or left[s + 1] == 0 or not masks[s + 1] >> kind & 1:
            continue
        if cut_weight[s] < best_weight or not can_place(unions, slack, masks[s], masks[s + 1], kind):
            continue
        u, v = _first_unplaced(first_vertex[s], where), _first_unplaced(first_vertex[s + 1], where)
        is_before = u < best_u or (u == best_u and v < best_v)
        if cut_weight[s] > best_weight or (cut_weight[s] == best_weight and is_before):
            best_u, best_v, best_weight = u, v, cut_weight[s]
    return best_u, best_v


@inner_kernel
def _first_ring_edge(first: int, end: int, where: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first pair of ring neighbours that are both unplaced, or -1, -1."""
    for vertex in range(first, end):
        if where[vertex] >= 0:
            continue
        if vertex + 1 < end and where[vertex + 1] < 0:
            return vertex, vertex + 1
        if vertex == first and end - first > 2 and where[end - 1] < 0:
            return vertex, end - 1
    return -1, -1


@inner_kernel
def _first_unplaced(first: int, where: NDArray[np.int64]) -> int:
    """Return the first unplaced vertex of a stage that has one."""
    while where[first] >= 0:
        first += 1
    return first


@inner_kernel
def _lightest_vertex(
    kind: int,
    masks: NDArray[np.int64],
    left: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    ring_weight: NDArray[np.int64],
    cut_weight: NDArray[np.int64],
    first_vertex: NDArray[np.int64],
    where: NDArray[np.int64],
) -> int:
    """Return the completable vertex with the least weight to the other unplaced ones, the first of equals; or -1."""
    best, best_weight = -1, -1
    for s in range(len(masks)):
        if left[s] == 0 or not masks[s] >> kind & 1:
            continue
        if not can_place(unions, slack, masks[s], -1, kind):
            continue
        weight = cut_weight[s] * left[s + 1] if s + 1 < len(masks) else 0
        if s > 0:
            weight += cut_weight[s - 1] * left[s - 1]
        for vertex in range(first_vertex[s], first_vertex[s + 1]):
            if where[vertex] >= 0:
                continue
            found = ring_neighbours(vertex, first_vertex[s], first_vertex[s + 1], -1, where)
            if best < 0 or weight + found * ring_weight[s] < best_weight:
                best, best_weight = vertex, weight + found * ring_weight[s]
    return best


@inner_kernel
def _stage_of(vertex: int, first_vertex: NDArray[np.int64]) -> int:
    """Return the stage of a vertex."""
    stage = 0
    while first_vertex[stage + 1] <= vertex:
        stage += 1
    return stage


@inner_kernel
def contract(
    ws: PlacementWorkspace,
    chosen_kind: NDArray[np.int64],
    free_gpus: NDArray[np.int64],
    masks: NDArray[np.int64],
    left: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    ring_weight: NDArray[np.int64],
    cut_weight: NDArray[np.int64],
) -> None:
    """Place all replicas of a job on the chosen servers, which suffice; parameters as in `grow`."""
    counts, first_vertex, where = ws.counts, ws.first_vertex, ws.where
    most_of_kind, parent, size, common, part = ws.most_of_kind, ws.parent, ws.size, ws.common, ws.part[: len(masks)]
    num_stages = len(masks)
    most_of_kind[:] = 0
    for c in range(len(chosen_kind)):
        most_of_kind[chosen_kind[c]] = max(most_of_kind[chosen_kind[c]], free_gpus[c])
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
            best = _tightest_server(gang, common[root], chosen_kind, free_gpus, masks, part, unions, slack)
            for s in range(num_stages):
                if part[s] == 0:
                    continue
                if best >= 0:
                    book(unions, slack, masks[s], chosen_kind[best], part[s])
                    counts[s, best] += part[s]
                    left[s] -= part[s]
                    free_gpus[best] -= part[s]
                for vertex in range(first_vertex[s], first_vertex[s + 1]):
                    if _root(vertex, parent) != root:
                        continue
                    if best >= 0:
                        where[vertex] = best
                        continue
                    c = _closest_server(
                        ws, vertex, s, chosen_kind, free_gpus, masks, unions, slack, ring_weight, cut_weight
                    )
                    book(unions, slack, masks[s], chosen_kind[c], 1)
                    where[vertex] = c
                    counts[s, c] += 1
                    left[s] -= 1
                    free_gpus[c] -= 1


@inner_kernel
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


@inner_kernel
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


@inner_kernel
def _root(vertex: int, parent: NDArray[np.int64]) -> int:
    """Return the smallest vertex of the component of a vertex."""
    while parent[vertex] != vertex:
        parent[vertex] = parent[parent[vertex]]
        vertex = parent[vertex]
    return vertex


@inner_kernel
def _tightest_server(
    gang: int,
    kinds: int,
    chosen_kind: NDArray[np.int64],
    free_gpus: NDArray[np.int64],
    masks: NDArray[np.int64],
    part: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
) -> int:
    """Return the completable server with the fewest free GPUs for a component, the first of equals; -1 for none."""
    best, tested, fits = -1, -1, False
    for c in range(len(chosen_kind)):
        kind = chosen_kind[c]
        if free_gpus[c] < gang or not kinds >> kind & 1 or (best >= 0 and free_gpus[c] >= free_gpus[best]):
            continue
        if kind != tested:
            tested, fits = kind, can_place_part(unions, slack, masks, part, kind)
        if fits:
            best = c
    return best


@inner_kernel
def _closest_server(
    ws: PlacementWorkspace,
    vertex: int,
    stage: int,
    chosen_kind: NDArray[np.int64],
    free_gpus: NDArray[np.int64],
    masks: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    ring_weight: NDArray[np.int64],
    cut_weight: NDArray[np.int64],
) -> int:
    """Return the completable server with the most weight to vertices already there, the first of equals."""
    counts, first_vertex, where = ws.counts, ws.first_vertex, ws.where
    best, best_weight, tested, fits = -1, -1, -1, False
    for c in range(len(chosen_kind)):
        kind = chosen_kind[c]
        if free_gpus[c] == 0 or not masks[stage] >> kind & 1:
            continue
        if kind != tested:
            tested, fits = kind, can_place(unions, slack, masks[stage], -1, kind)
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
