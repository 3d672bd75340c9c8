"""Rows that raise the program of placed paths: work between forks and joins, crossings where memory is short."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.incomparable_pairs import reachable
from formulations.integer_lp import RowBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    import networkx
    from numpy.typing import NDArray

    from formulations.dag.bounds.placed_paths import LeavingSets
    from formulations.integer_lp import IntegerLp
    from instances.dag.instance import DagInstance


def forks_and_joins(instance: DagInstance) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
    """Yield forks and joins, each with which tasks are between, shape (n,).

    All paths to the join, or from the fork, lead through both: the join is a task with several predecessors and the
    fork its nearest common ancestor on all paths, or the other way round. -1 is a fork before all tasks, n a join
    behind them.
    """
    import networkx as nx

    n, graph = instance.num_tasks, _with_ends(instance)
    before, behind = nx.immediate_dominators(graph, -1), nx.immediate_dominators(graph.reverse(), n)
    pairs = {(before[i], i) for i in range(n) if graph.in_degree[i] > 1}
    pairs |= {(i, behind[i]) for i in range(n) if graph.out_degree[i] > 1}
    every, reaches = np.ones(n, dtype=np.bool_), reachable(instance)
    for fork, join in sorted(pairs):
        yield fork, join, (every if fork < 0 else reaches[fork]) & (every if join == n else reaches[:, join])


def _with_ends(instance: DagInstance) -> networkx.DiGraph:
    """Return the graph with a task -1 before all others and a task n behind them."""
    import networkx as nx

    n, graph = instance.num_tasks, nx.DiGraph(instance.edges.tolist())
    graph.add_nodes_from(range(n))
    first, last = ([i for i in range(n) if degree[i] == 0] for degree in (graph.in_degree, graph.out_degree))
    graph.add_edges_from([*((-1, i) for i in first), *((i, n) for i in last)])
    return graph


def with_work_between(
    lp: IntegerLp,
    instance: DagInstance,
    classes: list[NDArray[np.int64]],
    allowed: NDArray[np.bool_],
    seconds_left: Callable[[], float],
) -> IntegerLp | None:
    """Return the program with a row for every fork, join and class: the work between them fits between them.

    None if the time does not last. From the finish of the fork, or the first release, to the start of the join, or the
    makespan, each GPU of the class does the tasks between them that are on it, one at a time.

    Parameters
    ----------
    lp
        Of `placed_program`, for these classes.
    allowed
        Classes that are left for each task, shape (n, classes).
    """
    task, number = np.nonzero(allowed)
    pairs, n = len(task), instance.num_tasks
    unit = int(lp.cost[pairs + n])  # of the starts, whose columns follow the pairs, and of the makespan behind them
    durations = instance.durations[:, [members[0] for members in classes]][task, number]
    size = np.array([len(members) for members in classes])
    first_release = int(instance.release[instance.job_of_task].min())
    rows = RowBuilder()
    for fork, join, between in forks_and_joins(instance):
        if seconds_left() <= 0:
            return None
        here = np.flatnonzero(between[task])
        busy = np.flatnonzero(np.bincount(number[here], minlength=len(classes)) > 1)
        here = here[np.isin(number[here], busy)]
        row_of = np.zeros(len(classes), dtype=np.int64)
        row_of[busy] = row = rows.add(np.zeros(len(busy)) if fork >= 0 else -first_release * size[busy])
        rows.put(row_of[number[here]], here, durations[here])
        rows.put(row, pairs + join, -unit * size[busy])
        if fork >= 0:
            rows.put(row, pairs + fork, unit * size[busy])
            own = np.flatnonzero(task == fork)
            rows.put(row[:, None], own, durations[own] * size[busy][:, None])
    return lp.with_rows(rows)


class LineStep(NamedTuple):
    """A task of a line: its own memory, the memory of all tasks that it brings, and the edges that join these."""

    own: int
    memory: int
    edges: list[int]


def lines_of_tasks(instance: DagInstance, usable: Iterable[int]) -> Iterator[list[LineStep]]:
    """Yield lines in which some usable edges join the tasks of every stretch like a tree.

    First the path with most memory. Then the tasks through which all paths lead, where a step also brings the tasks
    between the last one and this one that can be joined; a new line begins where the task itself cannot.
    """
    import networkx as nx

    memory, into = instance.task_memory.tolist(), [list[tuple[int, int]]() for _ in range(instance.num_tasks)]
    for edge in sorted(usable, key=lambda edge: -instance.edge_bytes[edge]):
        tail, head = instance.edges[edge].tolist()
        into[head].append((tail, edge))
    total, way = list(memory), dict[int, tuple[int, int]]()
    for i in instance.topological_order:
        if into[i]:
            way[i] = max(into[i], key=lambda option: total[option[0]])
            total[i] += total[way[i][0]]
    task = int(np.argmax(total))
    path = [task]
    while task in way:
        task = way[task][0]
        path.append(task)
    yield [LineStep(memory[i], memory[i], [way[i][1]] if i in way else []) for i in reversed(path)]

    before, trunk = nx.immediate_dominators(_with_ends(instance), -1), [instance.num_tasks]
    while before[trunk[-1]] >= 0:
        trunk.append(before[trunk[-1]])
    reaches, rank = reachable(instance), np.argsort(instance.topological_order)
    line = [LineStep(memory[i], memory[i], []) for i in trunk[:0:-1][:1]]
    for fork, join in pairwise(trunk[:0:-1]):
        between = np.flatnonzero(reaches[fork] & reaches[:, join])
        joined: dict[int, list[int]] = {fork: []}
        for i in [*between[np.argsort(rank[between])].tolist(), join]:
            ways = [edge for tail, edge in into[i] if tail in joined]
            if ways:
                joined[i] = ways[:1]
        if join not in joined:
            yield line
            line = [LineStep(memory[join], memory[join], [])]
        else:
            edges = [edge for chosen in joined.values() for edge in chosen]
            line.append(LineStep(memory[join], sum(memory[i] for i in joined) - memory[fork], edges))
    yield line


def stretches(line: list[LineStep], rooms: list[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the edges of the shortest stretches that do not fit into u rooms, and u; the largest room comes first."""
    total = [0, *accumulate(step.memory for step in line)]
    for u, room in enumerate(accumulate(rooms[:-1]), start=1):
        ends = [bisect_right(total, room + total[first + 1] - step.own) for first, step in enumerate(line)]
        for first, end in enumerate(ends):
            if first + 1 < end < min([len(total), *ends[first + 1 : first + 2]]):
                yield tuple(edge for step in line[first + 1 : end] for edge in step.edges), u


def with_crossings(
    lp: IntegerLp, leaving: list[LeavingSets], instance: DagInstance, allowed: NDArray[np.bool_]
) -> IntegerLp:
    """Return the program with a row for every stretch of tasks that does not fit on any u sets of near GPUs.

    Its tasks are on more than u sets, and edges join them like a tree, so that at least u edges lead from one set to
    another: what leaves sets along them is at least u.
    """
    needs = np.where(allowed, instance.task_memory[:, None], 0).astype(object).sum(axis=0)
    room = np.where(instance.gpu_memory < 0, needs, np.minimum(instance.gpu_memory.astype(object), needs))
    column = {edge: dict(zip(map(tuple, sets.tolist()), columns.tolist())) for edge, sets, _, columns in leaving}
    rows = RowBuilder()
    for family in _families(max(column.values(), key=len, default={}), instance.num_gpus):
        usable = {edge: [of_set[each] for each in family] for edge, of_set in column.items() if family <= of_set.keys()}
        rooms = sorted((sum(room[np.array(each)].tolist()) for each in family), reverse=True)
        found = {stretch for line in lines_of_tasks(instance, usable) for stretch in stretches(line, rooms)}
        for edges, least in sorted(found):
            row = rows.add(-least)
            rows.put(row, [column for edge in edges for column in usable[edge]], -1)
    return lp.with_rows(rows)


def _families(sets: Collection[tuple[bool, ...]], num_gpus: int) -> list[set[tuple[bool, ...]]]:
    """Return the smallest sets of near GPUs and the largest ones; none where a GPU is in no set."""
    with_gpu = [sorted((each for each in sets if each[k]), key=sum) for k in range(num_gpus)]
    if not all(with_gpu):
        return []
    near, far = ({each[place] for each in with_gpu} for place in (0, -1))
    return [near] if near == far else [near, far]
