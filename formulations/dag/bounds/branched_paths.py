"""Branch and bound on the GPUs of tasks, over the linear program of placement, memory and all paths."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.placed_paths import LeavingSets, is_placed_program_small, placed_program
from formulations.dag.heads_and_tails import heads_and_tails, path_bound
from formulations.dag.incomparable_pairs import reachable
from formulations.dag.interchangeable import interchangeable
from formulations.dag.windows import horizon
from formulations.integer_lp import RowBuilder, bound_and_excess, dual_bound
from formulations.multipliers import scaled_problem
from formulations.time_left import solve_lp, without_limit
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    import networkx
    from numpy.typing import NDArray

    from formulations.integer_lp import IntegerLp
    from instances.dag.instance import DagInstance

MOST_PROGRAMS = 2_000
"""Linear programs that are solved at most where no time limit says otherwise; 12 seconds with 71 tasks on 6 GPUs."""

WHOLE = 1.0 - 1e-6
"""A share from which on a task counts as placed."""

RELIABLE = 2
"""What a branch gains is estimated from so many earlier ones on the same task and GPU; before, it is tried."""

MOST_TRIED, MOST_LOOKED_AT = 5, 40
"""A node is branched where the best of so many tasks in a row was not beaten, or after so many in all."""

TRIAL_ITERATIONS, ALL_ITERATIONS = 40, 2**31 - 1
"""Iterations of the simplex method by which a branch is tried, and by which the one that is chosen is solved."""

LEAST_GAIN = 1e-3
"""Ticks that a branch gains at least when branches are compared by the product of both gains."""

MOST_PLACEMENTS = 16
"""Placements that are kept."""


def branched_paths(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return the bound of a `PlacementSearch` of at most `MOST_PROGRAMS`; 0 for the weighted completion."""
    if Objective(objective) is not Objective.MAKESPAN:
        return 0
    search = PlacementSearch(instance)
    search.run(most_programs=MOST_PROGRAMS, seconds_left=seconds_left)
    return search.bound


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


def _with_crossings(
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


class _Answer(NamedTuple):
    """The value of a linear program, the share of each task on each GPU, shape (n, m), multipliers and basis."""

    value: float
    share: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    basis: Any
    is_whole: bool
    """Whether it is solved to the end."""


class _Relaxation:
    """The linear program, solved again and again with fewer GPUs left; by the simplex method, from a basis at hand."""

    def __init__(self, lp: IntegerLp, allowed: NDArray[np.bool_], latest: int) -> None:
        import highspy

        self._lp, self._allowed, self._latest = lp, allowed, latest
        self.seconds_left: Callable[[], float] = without_limit
        self._scaled = scaled_problem(lp, 1.0)
        self._highs = self._scaled.in_highs(presolve="off")
        self._pairs = np.arange(np.count_nonzero(allowed), dtype=np.int32)
        self._solved = highspy.HighsModelStatus.kOptimal
        self._infeasible, self._cut = highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kIterationLimit
        self._stopped = (highspy.HighsModelStatus.kTimeLimit, highspy.HighsModelStatus.kInterrupt)
        self.ran_out = False  # whether a program was stopped because no time was left
        self.programs = 0

    def solve(self, left: NDArray[np.bool_], basis: Any = None, iterations: int = ALL_ITERATIONS) -> _Answer | None:
        """Solve with the GPUs that are left, shape (n, m); None where the program has no solution, or time ran out.

        The simplex method stops after some iterations; the answer is then what it has so far.
        """
        highs = self._highs
        self.programs += 1
        upper = left[self._allowed].astype(np.float64)
        highs.changeColsBounds(len(self._pairs), self._pairs, np.zeros(len(self._pairs)), upper)
        highs.setOptionValue("solver", "ipm" if basis is None else "simplex")
        if basis is not None:
            highs.setBasis(basis)
        highs.setOptionValue("simplex_iteration_limit", iterations)
        solve_lp(highs, self.seconds_left)
        status = highs.getModelStatus()
        self.ran_out = self.ran_out or status in self._stopped
        if status not in (self._solved, self._cut):
            return None
        solution = highs.getSolution()
        share = np.zeros(left.shape)
        share[self._allowed] = np.array(solution.col_value)[: len(self._pairs)]
        value = highs.getInfo().objective_function_value / self._scaled.cost_scale
        multipliers = self._scaled.multipliers(solution.row_dual)
        return _Answer(value, share, multipliers, highs.getBasis(), status == self._solved)

    def proved(self, left: NDArray[np.bool_], answer: _Answer, at_most: int) -> tuple[int, NDArray[np.bool_]]:
        """Return what the multipliers prove where these GPUs are left, and the GPUs that a shorter schedule may use."""
        lp = replace(self._lp, cost=self._lp.cost + self._forbidden(left))
        bound, excess = bound_and_excess(lp, answer.multipliers)
        shorter = left.copy()
        shorter[self._allowed] &= (excess == 0) | (bound + excess < at_most)
        return bound, shorter

    def is_refuted(self, left: NDArray[np.bool_]) -> bool:
        """Say whether the program that was just solved has no solution, by its ray checked in integers."""
        if self._highs.getModelStatus() != self._infeasible:
            return False
        has_ray, ray = self._highs.getDualRay()[1:]
        if not has_ray:
            return False
        prices = self._scaled.multipliers(ray)
        forbidden = replace(self._lp, cost=self._forbidden(left))
        scale = self._latest / max(float((np.abs(prices) * self._lp.row_sizes()).max(initial=0.0)), 1e-300)
        return any(dual_bound(forbidden, sign * scale * prices) > 0 for sign in (1, -1))

    def _forbidden(self, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return costs of pairs that are not left, which no placement of the node pays."""
        cost = np.zeros(len(self._lp.cost), dtype=np.int64)
        cost[self._pairs] = np.where(left[self._allowed], 0, 4 * self._latest)
        return cost


class _Node(NamedTuple):
    """A bound, a number that no other node has, the GPUs that are left, shape (n, m), and the program's answer."""

    bound: int
    number: int
    left: NDArray[np.bool_]
    answer: _Answer


class _Side(NamedTuple):
    """One side of a branch: the GPUs that are left, the program's answer, and whether it is proved to have none."""

    left: NDArray[np.bool_]
    answer: _Answer | None
    is_refuted: bool


class PlacementSearch:
    """The least value of `placed_paths` over whole placements, or what is proved of it; a search that can go on.

    The program has a class of its own for every GPU, and rows for the work between forks and joins. A node says which
    GPUs are left for each task. The node of least bound is split in two: a task on one GPU, or on none like it. GPUs
    are alike if they can be swapped and no task is told apart on them. A task leaves the GPUs where it does not fit
    beside those that are placed there, and where heads and tails or the multipliers prove that the schedule is not
    shorter than the known one. Each node's bound is that of multipliers checked in integers, so that neither HiGHS nor
    the choice of branches is trusted (docs/bounds.md, section 3.18; ours).

    Branches are chosen by what both sides gain, tried first by some iterations and then estimated (pseudo-costs).

    Attributes
    ----------
    bound
        On every makespan; at first that of the ancestor-aware paths.
    """

    def __init__(self, instance: DagInstance) -> None:
        self._instance, self._latest = instance, horizon(instance)
        self._around = far_heads_and_tails(instance)
        self.bound = self._paths = path_bound(instance, Objective.MAKESPAN, self._around) if instance.num_tasks else 0
        self._memory, self._capacity = instance.task_memory, instance.gpu_memory
        self._alike = [np.array(members) for members in interchangeable(instance).gpus]
        shape = (2, *instance.durations.shape)
        self._gain, self._seen = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        self._open: list[_Node] = []
        self._unsolved: list[int] = []
        self._placements: list[tuple[int, int, NDArray[np.int64]]] = []
        self._nodes, self._at_most = 0, self._latest
        self._made: _Relaxation | None = None

    @property
    def _program(self) -> _Relaxation:
        assert self._made is not None
        return self._made

    @property
    def placements(self) -> list[NDArray[np.int64]]:
        """Whole placements that the program allowed, shape (n,) each, those of least value first."""
        found = sorted(self._placements, key=lambda entry: entry[:2])
        return [placement for _, _, placement in found[:MOST_PLACEMENTS]]

    def run(
        self,
        *,
        at_most: int | None = None,
        most_programs: int | None = None,
        seconds_left: Callable[[], float] = without_limit,
    ) -> None:
        """Split the least open node until it is whole or reaches `at_most`, or no time or no program is left.

        Parameters
        ----------
        at_most
            The makespan of a known schedule: nodes that cannot have a shorter one stay closed.
        most_programs
            Linear programs that are solved at most, over all runs; None for as many as the time allows.
        """
        is_small = is_placed_program_small(self._instance, self._instance.num_gpus)
        is_possible = bool(self._around.allowed.any(axis=1).all())
        if self._instance.num_tasks == 0 or not is_small or not is_possible or seconds_left() <= 0:
            return
        program = self._made or self._root_program(seconds_left)
        if program is None:
            return
        self._made = program
        program.seconds_left, program.ran_out = seconds_left, False
        self._at_most = self._at_most if at_most is None else min(self._at_most, at_most)
        if self._nodes == 0:
            self._commit([self._side(self._around.allowed, None)], self._paths)
        while self._open and self._open[0].bound < self._at_most and seconds_left() > 0:
            if most_programs is not None and program.programs >= most_programs:
                break
            sides = self._split(self._open[0])
            if not sides or not self._commit(sides, self._open[0].bound):
                break

    def _root_program(self, seconds_left: Callable[[], float]) -> _Relaxation | None:
        """Return the program for single GPUs with the work between forks and joins; None if the time does not last."""
        instance, allowed = self._instance, self._around.allowed
        classes = [np.array([k]) for k in range(instance.num_gpus)]
        made = placed_program(instance, self._around, classes, self._paths, self._latest, seconds_left)
        lp = None if made is None else with_work_between(made[0], instance, classes, allowed, seconds_left)
        if made is None or lp is None:
            return None
        return _Relaxation(_with_crossings(lp, made[1].leaving, instance, allowed), allowed, self._latest)

    def _commit(self, sides: list[_Side], least: int) -> bool:
        """Put the sides of a branch into the place of the least open node; not if time ran out on one of them."""
        if any(side.answer is None and not side.is_refuted for side in sides) and self._program.ran_out:
            return False
        if self._open:
            heapq.heappop(self._open)
        for side in sides:
            self._add(side, least)
        proved = min([self._at_most, *self._unsolved, *(node.bound for node in self._open[:1])])
        self.bound = max(self.bound, proved)
        return True

    def _add(self, side: _Side, least: int) -> None:
        """Open a node with at least the bound of the one above it; of two with equal bounds the newer one is first."""
        self._nodes += 1
        if side.answer is None:
            if not side.is_refuted:
                self._unsolved.append(least)
            return
        bound, left = self._program.proved(side.left, side.answer, self._at_most)
        bound = max(least, bound)
        lean = side.answer._replace(multipliers=np.zeros(0))  # they have proved what they can, and nodes are many
        heapq.heappush(self._open, _Node(bound, -self._nodes, left, lean))
        if side.answer.share.max(axis=1).min() >= WHOLE:
            gpu = side.answer.share.argmax(axis=1)
            if self._fitting(gpu[:, None] == np.arange(side.left.shape[1])) is not None:
                self._placements.append((bound, self._nodes, gpu))

    def _side(self, left: NDArray[np.bool_], basis: Any, iterations: int = ALL_ITERATIONS) -> _Side:
        """Solve the program with these GPUs left, less those of no schedule that is short and fits into memory."""
        fitting = self._short(left)
        if fitting is None:
            return _Side(left, None, is_refuted=True)
        answer = self._program.solve(fitting, basis, iterations)
        return _Side(fitting, answer, answer is None and self._program.is_refuted(fitting))

    def _short(self, left: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return what is left of memory and of heads and tails below `at_most`; None where a task has no GPU."""
        while True:
            fitting = self._fitting(left)
            if fitting is None:
                return None
            left = heads_and_tails(self._instance, makespan_at_most=self._at_most - 1, among=fitting).allowed
            if not left.any(axis=1).all():
                return None
            if (left == fitting).all():
                return fitting

    def _fitting(self, left: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return what is left without tasks that do not fit beside those with no other GPU; None where one has none."""
        left = left.copy()
        while True:
            count = left.sum(axis=1)
            placed = left & (count == 1)[:, None]
            free = np.where(self._capacity < 0, np.inf, self._capacity - self._memory @ placed)
            too_large = left & ~placed & (self._memory[:, None] > free)
            if (count == 0).any() or (free < 0).any():
                return None
            if not too_large.any():
                return left
            left &= ~too_large

    def _split(self, node: _Node) -> list[_Side]:
        """Return both sides of the branch that gains most; no sides where all tasks are placed."""
        best: tuple[float, int, NDArray[np.int64]] | None = None
        best_sides: list[_Side] = []
        beaten = 0
        for estimate, task, alike in self._branches(node)[:MOST_LOOKED_AT]:
            sides, score = [], estimate
            if self._seen[:, task, alike[0]].min() < RELIABLE:
                sides = self._sides(node, task, alike, TRIAL_ITERATIONS)
                score = self._score(*(self._gained(node, side) for side in sides))
            if best is None or score > best[0]:
                best, best_sides, beaten = (score, task, alike), sides, 0
            else:
                beaten += 1
            if beaten >= MOST_TRIED or self._program.ran_out or self._program.seconds_left() <= 0:
                break
        is_whole = best_sides and all(side.answer is None or side.answer.is_whole for side in best_sides)
        return best_sides if best is None or is_whole else self._sides(node, *best[1:])

    def _branches(self, node: _Node) -> list[tuple[float, int, NDArray[np.int64]]]:
        """Return estimate, task, and its GPU of largest share with those like it, of all that are split, best first."""
        share = node.answer.share
        mean = self._gain / np.maximum(self._seen, 1)
        known = [float(values[seen > 0].mean()) if seen.any() else 1.0 for values, seen in zip(mean, self._seen)]
        branches = []
        for task in np.flatnonzero(share.max(axis=1) < WHOLE).tolist():
            k = int(share[task].argmax())
            alike = self._like(node.left, k)
            gains = (
                (mean[side, task, k] if self._seen[side, task, k] else known[side]) * part
                for side, part in enumerate(_parts(share[task], alike))
            )
            branches.append((self._score(*gains), task, alike))
        return sorted(branches, key=lambda branch: (-branch[0], branch[1]))

    def _like(self, left: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
        """Return a GPU and those that can still be swapped with it: equal ones on which the same tasks are left."""
        members = next((members for members in self._alike if k in members), np.array([k]))
        same = members[(left[:, members] == left[:, [k]]).all(axis=0)]
        return np.append(k, same[same != k])

    def _sides(self, node: _Node, task: int, alike: NDArray[np.int64], iterations: int = ALL_ITERATIONS) -> list[_Side]:
        """Solve both sides: the task on the first of some GPUs that are alike, or on none of them.

        What they gain counts in later estimates; a branch that is tried and then chosen counts twice.
        """
        on, off = node.left.copy(), node.left.copy()
        on[task] = False
        on[task, alike[0]] = True
        off[task, alike] = False
        sides = [self._side(left, node.answer.basis, iterations) for left in (on, off)]
        for number, (side, part) in enumerate(zip(sides, _parts(node.answer.share[task], alike), strict=True)):
            if side.answer is not None:
                self._gain[number, task, alike[0]] += self._gained(node, side) / max(part, LEAST_GAIN)
                self._seen[number, task, alike[0]] += 1
        return sides

    def _gained(self, node: _Node, side: _Side) -> float:
        """Return by how much the value rises, in ticks; to `at_most` where the side has no solution."""
        most = self._at_most - node.answer.value
        return max(0.0, most if side.answer is None else min(most, side.answer.value - node.answer.value))

    @staticmethod
    def _score(on: float, off: float) -> float:
        return max(on, LEAST_GAIN) * max(off, LEAST_GAIN)


def _parts(share: NDArray[np.float64], alike: NDArray[np.int64]) -> tuple[float, float]:
    """Return how much of a task must move to be on the first of some GPUs, and on none of them."""
    return 1.0 - float(share[alike[0]]), float(share[alike].sum())
