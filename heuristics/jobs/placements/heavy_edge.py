"""Heavy-Edge: replicas that exchange much data share a server; the rule, and its form for integers of any size."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from heuristics.jobs.placements.heavy_edge_kernel import CONTRACT, GROW, STAGE_ORDER, heavy_edge_kernel
from heuristics.jobs.placements.kernel_placer import KernelPlacer, checked_free, plain_placement
from instances.jobs.iteration_time import iteration_parts_on
from instances.jobs.replicas_fit import replicas_fit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.placements.placement import JobPlacement
    from instances.jobs.instance import JobsInstance


Vertex = tuple[int, int]
"""A replica: its stage, and its number in the stage."""

Counts = dict[tuple[int, int], int]
"""Replicas by stage and server."""


def plain_heavy_edge(
    instance: JobsInstance,
    times: Sequence[Sequence[int]],
    job: int,
    free: Sequence[int],
    groupings: int,
    *,
    only_last: bool = False,
) -> tuple[Counts, int, Fraction] | None:
    """Return the placement of a job with its comp(x) and comm(x), or None; parameters as in `heavy_edge_kernel`.

    `times` are those of the stages of the job, without the kinds that are left out.
    """
    replicas = instance.replicas[instance.stages_of(job)].tolist()
    kind_of = instance.server_kind.tolist()
    slots = int(instance.micro_batches[job]) + len(replicas) - 1
    thresholds = sorted({ticks for row in times for ticks in row if ticks > 0})
    best: tuple[tuple[Fraction, int], Counts, int, Fraction] | None = None
    for threshold in thresholds[-1:] if only_last else thresholds:
        if best is not None and slots * threshold >= best[0][0]:
            break
        allowed = [[0 < ticks <= threshold for ticks in row] for row in times]
        chosen = _choose(replicas, allowed, kind_of, free)
        if chosen is None:
            continue
        for code, grouping in ((GROW, _grow), (CONTRACT, _contract), (STAGE_ORDER, _in_order)):
            if not groupings & code:
                continue
            state = _State(instance, job, allowed, chosen, [free[server] for server in chosen])
            grouping(state)
            counts = state.counts()
            servers = sorted({server for _, server in counts})
            rows = [[counts.get((stage, server), 0) for server in servers] for stage in range(len(replicas))]
            comp, comm = iteration_parts_on(instance, job, servers, rows)
            if best is None or (comp + comm, len(servers)) < best[0]:
                best = (comp + comm, len(servers)), counts, comp, comm
    return None if best is None else best[1:]


def _choose(
    replicas: list[int], allowed: list[list[bool]], kind_of: list[int], free: Sequence[int]
) -> list[int] | None:
    """Return the shortest prefix of servers that suffices, with its last server by best fit."""

    def suffices(servers: Iterable[int]) -> bool:
        capacity = [0] * len(allowed[0])
        for server in servers:
            capacity[kind_of[server]] += free[server]
        return replicas_fit(replicas, allowed, capacity)

    def is_usable(server: int) -> bool:
        return free[server] >= 1 and any(row[kind_of[server]] for row in allowed)

    order = sorted(filter(is_usable, range(len(free))), key=lambda server: (-free[server], server))
    if not suffices(order):
        return None
    length = next(size for size in range(1, len(order) + 1) if suffices(order[:size]))
    rest = order[: length - 1]
    fitting = [server for server in order[length - 1 :] if suffices([*rest, server])]
    return [*rest, min(fitting, key=lambda server: (free[server], server))]


class _State:
    """A job that is being placed on chosen servers."""

    def __init__(
        self, instance: JobsInstance, job: int, allowed: list[list[bool]], servers: list[int], free_gpus: list[int]
    ) -> None:
        rows = instance.stages_of(job)
        self.replicas = instance.replicas[rows].tolist()
        self.allowed, self.servers, self.free_gpus = allowed, servers, free_gpus
        self.kinds = [int(instance.server_kind[server]) for server in servers]
        self.vertices = [(s, q) for s, k in enumerate(self.replicas) for q in range(k)]
        self.where: dict[Vertex, int] = {}
        edges: dict[tuple[Vertex, Vertex], Fraction] = {}
        act, par = instance.activation_bytes[rows].tolist(), instance.parameter_bytes[rows].tolist()
        for s, k in enumerate(self.replicas):
            for q in range(k) if k > 1 else ():
                u, v = sorted([(s, q), (s, (q + 1) % k)])
                edges[u, v] = edges.get((u, v), Fraction(0)) + Fraction(2 * (k - 1) * par[s], k)
            following = self.replicas[s + 1] if s + 1 < len(self.replicas) else 0
            for q in range(k):
                for other in range(following):
                    edges[(s, q), (s + 1, other)] = Fraction(2 * act[s], k * following)
        self.edges = {edge: weight for edge, weight in edges.items() if weight > 0}
        self.near: dict[Vertex, dict[Vertex, Fraction]] = {vertex: {} for vertex in self.vertices}
        for (u, v), weight in self.edges.items():
            self.near[u][v] = self.near[v][u] = weight

    def unplaced(self) -> list[Vertex]:
        """Return the vertices still to place in lexicographic order."""
        return [vertex for vertex in self.vertices if vertex not in self.where]

    def is_completable(self, vertices: Sequence[Vertex], c: int) -> bool:
        """Say whether vertices may go to a chosen server so that the rest can still be placed."""
        if len(vertices) > self.free_gpus[c] or not all(self.allowed[s][self.kinds[c]] for s, _ in vertices):
            return False
        capacity = [0] * len(self.allowed[0])
        for other, kind in enumerate(self.kinds):
            capacity[kind] += self.free_gpus[other]
        capacity[self.kinds[c]] -= len(vertices)
        rest = [0] * len(self.replicas)
        for vertex in self.unplaced():
            rest[vertex[0]] += vertex not in vertices
        return replicas_fit(rest, self.allowed, capacity)

    def place(self, vertices: Sequence[Vertex], c: int) -> None:
        """Place vertices on a chosen server."""
        self.where.update(dict.fromkeys(vertices, c))
        self.free_gpus[c] -= len(vertices)

    def weight_to(self, vertex: Vertex, others: Iterable[Vertex]) -> Fraction:
        """Return the total weight of the edges from a vertex to others."""
        near = self.near[vertex]
        return sum((near[other] for other in others if other in near), Fraction(0))

    def here(self, c: int) -> list[Vertex]:
        """Return the vertices on a chosen server."""
        return [vertex for vertex, server in self.where.items() if server == c]

    def counts(self) -> Counts:
        """Return the placement."""
        counts: Counts = {}
        for (stage, _), c in self.where.items():
            counts[stage, self.servers[c]] = counts.get((stage, self.servers[c]), 0) + 1
        return counts


def _grow(state: _State) -> None:
    """Fill server after server, each from the heaviest edge outwards."""
    for c in range(len(state.servers)):
        free_edges = [
            (-weight, edge)
            for edge, weight in state.edges.items()
            if not state.where.keys() & set(edge) and state.is_completable(edge, c)
        ]
        singles = [vertex for vertex in state.unplaced() if state.is_completable([vertex], c)]
        if free_edges:
            state.place(min(free_edges)[1], c)
        elif singles:
            state.place([min(singles, key=lambda vertex: (state.weight_to(vertex, state.unplaced()), vertex))], c)
        else:
            continue
        while state.free_gpus[c] > 0:
            singles = [vertex for vertex in state.unplaced() if state.is_completable([vertex], c)]
            if not singles:
                break
            state.place([min(singles, key=lambda vertex: (-state.weight_to(vertex, state.here(c)), vertex))], c)


def _contract(state: _State) -> None:
    """Join vertices along heavy edges while they fit on a server, then place the components."""
    part = {vertex: [vertex] for vertex in state.vertices}
    free_gpus = list(state.free_gpus)
    for u, v in sorted(state.edges, key=lambda edge: (-state.edges[edge], edge)):
        if part[u] is part[v]:
            continue
        joint = sorted(part[u] + part[v])
        if any(
            free >= len(joint) and all(state.allowed[s][kind] for s, _ in joint)
            for free, kind in zip(free_gpus, state.kinds, strict=True)
        ):
            part.update(dict.fromkeys(joint, joint))
    different = {id(members): members for members in part.values()}.values()
    for members in sorted(different, key=lambda members: (-len(members), members)):
        fitting = [c for c in range(len(state.servers)) if state.is_completable(members, c)]
        if fitting:
            state.place(members, min(fitting, key=lambda c: (state.free_gpus[c], c)))
            continue
        for vertex in members:
            fitting = [c for c in range(len(state.servers)) if state.is_completable([vertex], c)]
            state.place([vertex], min(fitting, key=lambda c: (-state.weight_to(vertex, state.here(c)), c)))


def _in_order(state: _State) -> None:
    """Place vertices lexicographically, each on the first server where the rest can still be placed."""
    for vertex in state.vertices:
        state.place([vertex], next(c for c in range(len(state.servers)) if state.is_completable([vertex], c)))


class HeavyEdge(KernelPlacer):
    """The placement rule Heavy-Edge, complete and deterministic.

    For each threshold on the time of a replica, ascending, only kinds within it are allowed; the fewest servers with
    the most free GPUs are chosen, the last one by best fit; three groupings compete there, and the placement with the
    least iteration time is kept (ties: fewer servers, lower threshold, earlier grouping). All comparisons are exact.

    Parameters
    ----------
    phi
        Kinds more than `phi` times slower than the fastest of a stage are left out, see `restricted_times`.
    groupings
        Sum of the groupings that compete: ``GROW``, ``CONTRACT`` and ``STAGE_ORDER``; all by default.

    Raises
    ------
    ValueError
        If `groupings` names none or others, or as `jobs_arrays`.

    References
    ----------
    Karypis and Kumar (1999), heavy-edge coarsening of graphs: the name. A-SRPT's own rule (Luo, Liu, Lee, Shroff,
    INFOCOM 2025) is not published in detail; this one is a reconstruction of ours.
    """

    def __init__(
        self,
        instance: JobsInstance,
        phi: Fraction | int | None = None,
        *,
        groupings: int = GROW | CONTRACT | STAGE_ORDER,
    ) -> None:
        if not 0 < groupings <= GROW | CONTRACT | STAGE_ORDER:
            raise ValueError(f"groupings: expected a sum of some of 1, 2 and 4, got {groupings}.")
        super().__init__(instance, phi)
        self._groupings = groupings
        self._only_last = False

    def place(self, job: int, free: NDArray[np.int64]) -> JobPlacement | None:
        """Return a placement of a job on free GPUs, or None if there is none; see `Placer`."""
        gpus, groupings = checked_free(self.arrays, free), self._groupings
        if self.arrays.denominator[job] == 0:
            times = self.arrays.time_of[self.instance.stages_of(job)].tolist()
            found = plain_heavy_edge(self.instance, times, job, gpus.tolist(), groupings, only_last=self._only_last)
            return None if found is None else plain_placement(*found)
        return self.run(
            job, lambda: heavy_edge_kernel(self.arrays, self.workspace, job, gpus, groupings, self._only_last)
        )
