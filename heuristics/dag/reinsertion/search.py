"""The reinsertion search: its loop as a kernel, and an object that improves a schedule in portions (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heuristics.dag.reinsertion.move import (
    DIRTY_TAILS,
    FAR,
    LARGEST_SET,
    forget,
    new_journal,
    propagate_everything,
    propagate_heads,
    propagate_tails,
    put_in,
    take_out,
    undo,
)
from heuristics.dag.reinsertion.neighbourhoods import NUM_NEIGHBOURHOODS, find_place, grow_set
from heuristics.dag.reinsertion.plan import Plan, completions, copy_plan, graph_of, makespan, new_plan
from heuristics.search.split_mix import below, uniform
from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule
from instances.kernels import inner_kernel, kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heuristics.dag.reinsertion.move import Journal
    from heuristics.dag.reinsertion.plan import Graph
    from instances.dag.instance import DagInstance


SIZES = ((0.35, 1, 4), (0.4, 5, 10), (0.2, 11, 24), (0.05, 25, LARGEST_SET))
"""Probability that a move removes a number of tasks in this range: (probability, fewest, most)."""

PRICES = ((0.1, 0.0), (0.1, 1.0), (0.3, 3.0), (0.5, 10.0))
"""Probability of each cost in ticks of a tick of waste when places are compared."""

SKIP = 0.02
"""Probability that a GPU is skipped in the search for a place."""

NEAR_CRITICAL = 0.02
"""Paths within this share of the longest one count in the cost of a plan."""

DEARER, CHEAPER, FURTHEST = 1.03, 0.99, 1e3
"""Factors of the price of a byte beyond the memory of a GPU, after a move with such bytes in the plan and without; it
stays within the last factor of the first price. So a fourth of the plans exceed memory.

On 8 graphs of 30 to 81 tasks, three seeds in 4 seconds each, schedules are up to 9 % shorter than where no plan may
exceed memory (1409 and 1551 on an lu graph of 30 tasks), and at most 0.3 % longer.
"""


class Memory(NamedTuple):
    """State of the search that lasts from call to call, changed in place."""

    random: NDArray[np.uint64]  # (1,), state of the random numbers
    value: NDArray[np.int64]  # (2,), objective of the current and of the best plan
    completion: NDArray[np.int64]  # (jobs,), completion times in the current plan
    scratch: NDArray[np.int64]  # (jobs,)
    members: NDArray[np.int64]  # (`LARGEST_SET`,), tasks of one move
    key: NDArray[np.float64]  # (`LARGEST_SET`,), sort keys that determine the order of reinsertion
    overflow_price: NDArray[np.float64]  # (2,), ticks that a byte beyond the memory of a GPU costs, now and at first


@inner_kernel
def near_critical(plan: Plan, longest: int) -> float:
    """Return the excess of paths through tasks over 98 % of the longest one, mean over all tasks, in ticks."""
    beyond, total, tasks = longest * (1.0 - NEAR_CRITICAL), 0.0, plan.task
    for task in range(len(tasks)):
        path = tasks[task].head + tasks[task].duration + tasks[task].tail
        if path > beyond:
            total += path - beyond
    return total / max(len(tasks), 1)


@kernel
def anneal(
    graph: Graph,
    plan: Plan,
    best: Plan,
    journal: Journal,
    memory: Memory,
    waste: NDArray[np.float64],
    moves: int,
    temperature: float,
    weighted: bool,
    good_enough: int,
) -> None:
    """Make moves at one temperature; change the current plan and the best one, in which no task is removed.

    The current plan may exceed the memory of GPUs, at a price that rises while it does and falls while it does not
    (strategic oscillation, Glover and Hao 2011); the best one does not. Where memory is scarce, moves that keep to it
    hardly lead from one placement to another.

    Parameters
    ----------
    waste
        Waste of each task on each GPU in ticks, shape (n, m).
    moves
        Number of moves; fewer where the best objective reaches `good_enough`.
    temperature
        In ticks of the objective (of the weighted completion divided by all weights): a plan that is worse by d is
        accepted with probability exp(-d / temperature).
    weighted
        Whether the objective is the weighted completion.
    """
    n = len(plan.order)
    members = memory.members
    longest = _measure_paths(graph, plan, journal, memory, weighted)
    cost = _cost(graph, memory, plan, longest, memory.value[0], weighted)
    overflow, overflow_price = _overflow(plan), memory.overflow_price
    for move in range(moves):
        if memory.value[1] <= good_enough:
            return
        if weighted and move % 20 == 19:
            longest = _measure_paths(graph, plan, journal, memory, weighted)
            cost = _cost(graph, memory, plan, longest, memory.value[0], weighted)
        if overflow > 0:
            overflow_price[0] = min(overflow_price[0] * DEARER, overflow_price[1] * FURTHEST)
        else:
            overflow_price[0] = max(overflow_price[0] * CHEAPER, overflow_price[1] / FURTHEST)
        members[0] = _critical_task(plan.task, longest, memory.random)
        neighbourhood, largest = below(memory.random, NUM_NEIGHBOURHOODS), min(_draw_size(memory.random), n)
        size = grow_set(graph, plan, neighbourhood, largest, members, journal.mark, memory.random)
        bar = cost + overflow_price[0] * overflow
        if temperature > 0.0:
            bar -= temperature * math.log(1.0 - uniform(memory.random))
        limit = np.float64(FAR) if weighted else max(bar, np.float64(longest))
        if not _reinsert(graph, plan, journal, memory, waste, size, limit):
            undo(graph, plan, journal)
            continue
        value = completions(graph, plan, memory.scratch) if weighted else makespan(plan)
        new_overflow = _overflow(plan)
        price = overflow_price[0] * new_overflow
        is_best = new_overflow == 0 and value < memory.value[1]
        if not weighted and value + price > bar and not is_best:
            undo(graph, plan, journal)
            continue
        propagate_tails(graph, plan, journal, n - 1)
        new_longest = longest if weighted else value
        new_cost = _cost(graph, memory, plan, new_longest, value, weighted)
        if new_cost + price > bar and not is_best:
            undo(graph, plan, journal)
            continue
        forget(journal)
        changed = value != memory.value[0]
        memory.value[0], cost, longest, overflow = value, new_cost, new_longest, new_overflow
        if is_best:
            memory.value[1] = value
            copy_plan(plan, best)
        if weighted and changed:
            longest = _measure_paths(graph, plan, journal, memory, weighted)
            cost = _cost(graph, memory, plan, longest, value, weighted)


@inner_kernel
def _overflow(plan: Plan) -> int:
    """Return by how many bytes tasks exceed the memory of their GPUs."""
    overflow = 0
    for k in range(len(plan.gpu)):
        overflow -= min(plan.gpu[k].free_memory, 0)
    return overflow


@inner_kernel
def _draw_size(state: NDArray[np.uint64]) -> int:
    """Draw the number of tasks that a move removes."""
    draw = uniform(state)
    for share, smallest, largest in SIZES:
        if draw < share:
            return smallest + below(state, largest - smallest + 1)
        draw -= share
    return 1


@inner_kernel
def _draw_price(state: NDArray[np.uint64]) -> float:
    """Draw the cost of a tick of waste in a move."""
    draw = uniform(state)
    for share, price in PRICES:
        if draw < share:
            return price
        draw -= share
    return 0.0


@inner_kernel
def _cost(graph: Graph, memory: Memory, plan: Plan, longest: int, value: int, weighted: bool) -> float:
    """Return the cost that is minimised: the objective in ticks, plus the mean excess of nearly critical paths.

    The makespan alone has plateaus: it only falls when all critical paths are shorter. The second term distinguishes
    plans of the same makespan by how close they are to that.
    """
    objective = value / _total_weight(graph) if weighted else np.float64(value)
    return objective + near_critical(plan, longest)


@inner_kernel
def _measure_paths(graph: Graph, plan: Plan, journal: Journal, memory: Memory, weighted: bool) -> int:
    """Return the length of a critical path; for weighted completion, draw the job in focus first.

    Tails are then measured to the completion of each job, and those of other jobs are lengthened so that all jobs end
    at the same time: a move within that length delays no job. In half of the calls the other jobs may be delayed
    somewhat, more if they weigh less.
    """
    if not weighted:
        return makespan(plan)
    memory.value[0] = completions(graph, plan, memory.completion)
    jobs, completion, least, end = graph.job, memory.completion, memory.scratch, 0
    for job in range(len(jobs)):
        end = max(end, completion[job])
    draw, focus = uniform(memory.random) * _total_weight(graph), 0
    while focus + 1 < len(jobs) and draw >= jobs[focus].weight:
        draw -= jobs[focus].weight
        focus += 1
    is_strict = uniform(memory.random) < 0.5
    for job in range(len(jobs)):
        leeway = float(end)
        if jobs[job].weight > 0:
            leeway = 0.0
            if job != focus and not is_strict:
                cheap = min(1.0, jobs[focus].weight / jobs[job].weight)
                leeway = 0.1 * end * cheap * uniform(memory.random) ** 2
        least[job] = max(np.int64(0), np.int64(end - completion[job] - leeway))
    for task in range(len(plan.order)):
        plan.sink[task] = least[graph.task[task].job]
        journal.mark[task].tail_dirty = 1
    journal.counter[DIRTY_TAILS] = len(plan.order)
    propagate_tails(graph, plan, journal, len(plan.order) - 1)
    forget(journal)
    longest = 0
    for task in range(len(plan.order)):
        longest = max(longest, plan.task[task].head + plan.task[task].duration + plan.task[task].tail)
    return longest


@inner_kernel
def _total_weight(graph: Graph) -> float:
    """Return the sum of all weights, at least 1."""
    total = 0.0
    for job in range(len(graph.job)):
        total += graph.job[job].weight
    return max(total, 1.0)


@inner_kernel
def _critical_task(tasks: NDArray[Any], longest: int, state: NDArray[np.uint64]) -> int:
    """Return the first task on a longest path, beginning at a random task, in cyclic order of ids."""
    n = len(tasks)
    first = below(state, n)
    for step in range(n):
        task = first + step if first + step < n else first + step - n
        if tasks[task].head + tasks[task].duration + tasks[task].tail >= longest:
            return task
    return first


@inner_kernel
def _reinsert(
    graph: Graph, plan: Plan, journal: Journal, memory: Memory, waste: NDArray[np.float64], size: int, limit: float
) -> bool:
    """Remove the members and reinsert them; False where no path within the limit exists for one of them."""
    members, key = memory.members, memory.key
    first, last = len(plan.order), -1
    for index in range(size):
        position = plan.task[members[index]].position
        first, last = min(first, position), max(last, position)
    for index in range(size):
        take_out(graph, plan, journal, members[index])
    propagate_heads(graph, plan, journal, first)
    propagate_tails(graph, plan, journal, last)
    rule = below(memory.random, 3)  # reinsert in plan order, at random, or the task with the longest path first
    for index in range(size):
        task = members[index]
        if rule == 0:
            key[index] = plan.task[task].position
        elif rule == 1:
            key[index] = uniform(memory.random)
        else:
            shortest = np.int64(FAR)
            for k in range(graph.duration.shape[1]):
                if graph.duration[task, k] >= 0:
                    path = plan.heads[task, k] + graph.duration[task, k] + plan.tails[task, k]
                    shortest = min(shortest, path)
            key[index] = -shortest
    for index in range(1, size):  # insertion sort: the sets are small
        task, value, place = members[index], key[index], index
        while place > 0 and key[place - 1] > value:
            members[place], key[place] = members[place - 1], key[place - 1]
            place -= 1
        members[place], key[place] = task, value
    price, overflow_price = _draw_price(memory.random), memory.overflow_price[0]
    for index in range(size):
        task = members[index]
        k, place = find_place(graph, plan, task, limit, price, waste, overflow_price, SKIP, memory.random)
        if k < 0 or not put_in(graph, plan, journal, task, k, place):
            return False
        propagate_heads(graph, plan, journal, plan.task[task].position)
        if index + 1 < size:
            propagate_tails(graph, plan, journal, plan.task[task].position)
    return True


def _first_overflow_price(instance: DagInstance) -> float:
    """Return the price at which the memory of a mean task costs its duration; 0 where tasks take no memory."""
    taken = int(instance.task_memory.sum())
    return instance.num_tasks * max(float(instance.durations[instance.allowed].mean()), 1.0) / taken if taken else 0.0


PORTION = 200
"""Moves between two checks of the stop criterion up to 2,000 tasks; fewer above, where a move takes longer."""


class ReinsertionSearch:
    """Simulated annealing whose moves remove a set of tasks and reinsert each at its best place.

    Plans may exceed the memory of GPUs on the way; schedules that it returns do not.

    Parameters
    ----------
    schedule
        The initial schedule, which must verify.
    waste
        Extra cost in ticks of running each task on each GPU rather than on the cheapest one, shape (n, m).
    rng
        Draws the seed of the search's own generator.
    """

    def __init__(
        self,
        instance: DagInstance,
        objective: Objective,
        schedule: DagSchedule,
        waste: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> None:
        self._instance = instance
        self._weighted = Objective(objective) is Objective.WEIGHTED_COMPLETION
        self._graph = graph_of(instance)
        self._waste = np.ascontiguousarray(waste, dtype=np.float64)
        self._journal = new_journal(instance.num_tasks)
        self._memory = Memory(
            random=np.array([rng.integers(2**63)], dtype=np.uint64),
            value=np.zeros(2, dtype=np.int64),
            completion=np.zeros(instance.num_jobs, dtype=np.int64),
            scratch=np.zeros(instance.num_jobs, dtype=np.int64),
            members=np.zeros(LARGEST_SET, dtype=np.int64),
            key=np.zeros(LARGEST_SET),
            overflow_price=np.full(2, _first_overflow_price(instance)),
        )
        self._plan = self._plan_of(schedule)
        self._best = self._plan_of(schedule)
        self._memory.value[:] = self._value(self._plan)

    @property
    def best_value(self) -> int:
        """Objective of the best schedule."""
        return int(self._memory.value[1])

    @property
    def best(self) -> DagSchedule:
        """The best schedule."""
        return DagSchedule(gpu=self._best.task["gpu"], start=self._best.task["head"], instance=self._instance)

    def adopt(self, schedule: DagSchedule) -> None:
        """Continue from another schedule."""
        copy_plan(self._plan_of(schedule), self._plan)
        self._memory.value[0] = self._value(self._plan)
        if self._memory.value[0] < self._memory.value[1]:
            copy_plan(self._plan, self._best)
            self._memory.value[1] = self._memory.value[0]

    def run(
        self,
        moves: int,
        temperature: float,
        good_enough: int,
        should_stop: Callable[[], bool] = lambda: False,
        *,
        waste: NDArray[np.float64] | None = None,
    ) -> None:
        """Make moves at one temperature.

        Parameters
        ----------
        temperature
            As in `anneal`.
        good_enough
            Objective at which the search stops.
        should_stop
            Queried before every portion.
        waste
            Takes the place of the search's own waste, of the same kind; None for that.
        """
        portion = max(10, min(PORTION, 2_000 * PORTION // max(self._instance.num_tasks, 1)))
        for first in range(0, moves, portion):
            if should_stop() or self.best_value <= good_enough:
                return
            anneal(
                self._graph,
                self._plan,
                self._best,
                self._journal,
                self._memory,
                self._waste if waste is None else waste,
                min(portion, moves - first),
                temperature,
                self._weighted,
                good_enough,
            )

    def _plan_of(self, schedule: DagSchedule) -> Plan:
        """Return a plan with the GPUs and orders of a schedule."""
        plan = new_plan(self._instance, self._graph, schedule)
        propagate_everything(self._graph, plan, self._journal)
        forget(self._journal)
        return plan

    def _value(self, plan: Plan) -> int:
        """Return the objective of a plan."""
        if self._weighted:
            return int(completions(self._graph, plan, self._memory.scratch))
        return int(makespan(plan))
