"""Where large neighbourhood search begins, and the best schedule that its chains share."""

from __future__ import annotations

import threading
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.assignment_lp import AssignmentLp
from formulations.dag.bounds.relaxed_diagram import solved_diagram
from formulations.dag.interchangeable import gpu_classes
from formulations.dag.windows import horizon
from heuristics.dag.arrays import dag_arrays, mean_transfer_delays
from heuristics.dag.guided_lists import clustered_lists, iterated_lists
from heuristics.dag.list_scheduling import heft, place_by_list, schedule_of, within_memory
from heuristics.dag.segments import segment_placements
from instances.dag.objective import Objective, best_schedule, objective_value
from solvers.backends.memory_refutation import is_memory_binding
from solvers.run.exact_run import cp_sat_solver

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.run.exact_run import ExactRun


class Incumbent:
    """Keeps the best schedule and reports every better one.

    Parameters
    ----------
    schedule
        The schedule to begin with.
    run
        Reports better objectives; the search ends at its lower bound.

    Attributes
    ----------
    is_closed
        Whether the search is over: the bound is met, or the widest neighbourhood holds nothing better.
    """

    def __init__(self, instance: DagInstance, objective: Objective, schedule: DagSchedule, run: ExactRun) -> None:
        self._instance, self._objective, self._run = instance, objective, run
        self._lock = threading.Lock()
        self.schedule = schedule
        self.value = objective_value(instance, schedule, objective)
        self.is_closed = self.value <= run.lower_bound
        run.report(self.value, None)

    def offer(self, schedule: DagSchedule) -> None:
        """Keep a schedule if it is better."""
        value = objective_value(self._instance, schedule, self._objective)
        with self._lock:
            if value >= self.value:
                return
            self.schedule, self.value = schedule, value
            self.is_closed = self.is_closed or value <= self._run.lower_bound
        self._run.report(value, None)

    def best(self) -> tuple[DagSchedule, int]:
        """Return the best schedule and its objective."""
        with self._lock:
            return self.schedule, self.value

    def close(self) -> None:
        """Say that nothing better is to be found."""
        self.is_closed = True


MOST_PAIRS = 100_000
"""Above this many pairs of task and GPU the prices come from evenly spread tasks: the LP would take many seconds."""


def waste(instance: DagInstance) -> NDArray[np.float64]:
    """Return reduced costs of the area LP in ticks, shape (n, m); infinite where a task may not run.

    The multipliers u and y of the LP that minimises the largest load, under the memory limits, price a tick on GPU k at
    u[k] and a byte at y[k]. The waste of task i on k is u[k] p[i,k] + y[k] a[i] less the smallest of these sums, times
    m / sum of u: in ticks of an average GPU. All waste together, divided by m, is by how much the bound of the area
    rises with that placement. Lagrangian costs of the load rows are textbook; their use here is ours.
    """
    allowed, m = instance.allowed, instance.num_gpus
    tasks = np.arange(0, instance.num_tasks, max(1, instance.num_tasks * m // MOST_PAIRS))
    lp = AssignmentLp(instance, tasks, allowed[tasks])
    lp.add_area_rows()
    multipliers = lp.solve()[0]
    price = np.zeros(m)
    price[allowed[tasks].any(axis=0)] = multipliers.row  # one row for every GPU on which anything may run
    if not price.sum() > 0:
        return np.where(allowed, 0.0, np.inf)
    cost = price * np.maximum(instance.durations, 0) + multipliers.memory * instance.task_memory[:, None]
    cost = np.where(allowed, cost, np.inf)
    least = cost.min(axis=1, initial=np.inf, keepdims=True)
    return np.where(allowed, (cost - np.where(np.isfinite(least), least, 0.0)) * (m / price.sum()), np.inf)


FEW_TASKS = 30
"""Up to so many tasks CP-SAT decides the whole schedule at once, so that nothing needs to guide a search."""


def is_guided(instance: DagInstance, objective: Objective) -> bool:
    """Say whether the solution of `placed_paths` guides searches: makespan, not too few tasks, and memory binds."""
    is_makespan = Objective(objective) is Objective.MAKESPAN
    return is_makespan and instance.num_tasks > FEW_TASKS and is_memory_binding(instance)


BIASES = (0.25, 1.0, 2.0, 4.0, 8.0)
"""Costs of a task on a GPU that has no share of it, in mean transfer delays, that list schedules try."""


def waste_of_shares(instance: DagInstance, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a mean transfer delay for every task on a GPU on which `placed_paths` puts nothing of it, shape (n, m).

    Where it puts a share, that much less; infinite where a task may not run. In ticks, at least 1 without a share.
    """
    delays = mean_transfer_delays(instance)
    delay = max(1.0, float(delays[delays > 0].mean())) if (delays > 0).any() else 1.0
    return np.where(instance.allowed, delay * (1.0 - share), np.inf)


def placed_start(instance: DagInstance, objective: Objective, waste: NDArray[np.float64]) -> DagSchedule | None:
    """Return the best list schedule in rank order where the waste counts as time; None where none keeps the memory."""
    cost = np.where(instance.allowed, waste, 0.0)
    made = [within_memory(instance, partial(place_by_list, bias=factor * cost)) for factor in BIASES]
    return best_schedule(instance, objective, made)


def segment_start(instance: DagInstance, objective: Objective) -> DagSchedule | None:
    """Return the best list schedule of placements that cut the tasks into stretches (`segment_placements`), or None."""
    arrays = dag_arrays(instance)
    made = [place_by_list(arrays, pinned=gpu) for gpu in segment_placements(instance, gpu_classes(instance))]
    return best_schedule(instance, objective, (schedule_of(instance, placed) for placed in made))


def diagram_start(
    instance: DagInstance, schedule: DagSchedule | None, seconds_left: Callable[[], float]
) -> tuple[int, DagSchedule | None]:
    """Return a bound on the makespan and the list schedule of the placement that a relaxed diagram leaves, or None.

    Parameters
    ----------
    schedule
        One that is known; only shorter ones are looked for.
    seconds_left
        Asked as the diagram goes on; when nothing is left, what it proved and placed so far counts.
    """
    latest = horizon(instance)
    if schedule is not None:
        latest = objective_value(instance, schedule, Objective.MAKESPAN) - 1
    bound, gpu = solved_diagram(instance, latest, seconds_left=seconds_left)
    return bound, None if gpu is None else within_memory(instance, partial(place_by_list, pinned=gpu))


SHARE_OF_TIME = 0.3
"""Largest share of the time limit."""

MOST_EFFORT = 20.0
"""Deterministic time of CP-SAT; about as many seconds."""


def packed_schedule(instance: DagInstance, waste: NDArray[np.float64], run: ExactRun) -> DagSchedule | None:
    """Return a schedule whose placement CP-SAT found, with little waste; None where it found none.

    Parameters
    ----------
    waste
        Ticks that each GPU wastes on each task, shape (n, m).
    run
        Provides the time limit and the seed.
    """
    from ortools.sat.python import cp_model

    from solvers.backends.cp_sat import solve_in_thread

    model, allowed = cp_model.CpModel(), instance.allowed
    on = {(int(task), int(k)): model.new_bool_var("") for task, k in zip(*np.nonzero(allowed), strict=True)}
    for task in range(instance.num_tasks):
        model.add_exactly_one(on[task, k] for k in np.flatnonzero(allowed[task]).tolist())
    for k in np.flatnonzero(instance.gpu_memory >= 0).tolist():
        tasks = np.flatnonzero(allowed[:, k]).tolist()
        used = cp_model.LinearExpr.weighted_sum(
            [on[task, k] for task in tasks], [int(instance.task_memory[task]) for task in tasks]
        )
        model.add(used <= int(instance.gpu_memory[k]))
    ticks = [min(round(float(waste[pair])), 2**40) for pair in on]
    model.minimize(cp_model.LinearExpr.weighted_sum(list(on.values()), ticks))
    solver = cp_sat_solver(run.threads, run.seed, max(run.seconds_left() * SHARE_OF_TIME, 0.01))
    solver.parameters.relative_gap_limit = 0.01
    solver.parameters.max_deterministic_time = MOST_EFFORT
    status = solve_in_thread(solver, model, run, reports=False)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    pinned = np.zeros(instance.num_tasks, dtype=np.int64)
    for (task, k), literal in on.items():
        if solver.value(literal):
            pinned[task] = k
    return schedule_of(instance, place_by_list(dag_arrays(instance), pinned=pinned))


NUM_THRESHOLDS = 15
"""Thresholds of clusters: quantiles 0.3 to 1 of the delays of edges with data."""

RESERVES, COMMITMENTS, CLUSTER_PRICES = (0.5, 1.0), (0.0, 0.5, 1.0), (0.0, 3.0)
"""Parameters of `clustered_lists` that are tried."""

NUM_CLUSTERED = 3
"""So many of the best list schedules of clusters are iterated, beside the given schedule and HEFT's."""

COMPANIES, PRICES, PASSES = (0.0, 0.5, 1.0), (0.0, 3.0, 10.0), 10
"""Parameters of `iterated_lists` that are tried, and passes each time."""

MOST_PAIRS_FOR_LISTS = 30_000_000
"""Pairs of task and GPU that all schedules together look at, at most; about 5 s."""


def improve_start(
    instance: DagInstance,
    objective: Objective,
    incumbent: Incumbent,
    waste: NDArray[np.float64],
    must_stop: Callable[[], bool],
) -> None:
    """Offer the best of some hundred list schedules.

    Parameters
    ----------
    incumbent
        The schedule to begin with; it receives every better one.
    waste
        Ticks that each GPU wastes on each task, shape (n, m).
    must_stop
        Called between schedules; True ends the search.
    """
    left = MOST_PAIRS_FOR_LISTS // max(instance.num_tasks * instance.num_gpus, 1)
    starts = [incumbent.best()[0], *_clustered(instance, objective, waste, left // 2, must_stop)]
    for schedule in starts:
        incumbent.offer(schedule)
    simple = heft(instance)
    if simple is not None:
        starts.append(simple)
    left -= min(left // 2, NUM_THRESHOLDS * len(_cluster_choices()))
    for start, company, price in product(starts, COMPANIES, PRICES):
        passes = min(PASSES, left)
        if passes <= 0 or must_stop() or incumbent.is_closed:
            return
        left -= passes
        better = iterated_lists(instance, objective, start, waste, passes=passes, company=company, price=price)
        if better is not None:
            incumbent.offer(better)


def _cluster_choices() -> list[tuple[float, float, float]]:
    """Return the parameters of `clustered_lists` that are tried for every threshold."""
    return list(product(RESERVES, COMMITMENTS, CLUSTER_PRICES))


def _clustered(
    instance: DagInstance, objective: Objective, waste: NDArray[np.float64], most: int, must_stop: Callable[[], bool]
) -> list[DagSchedule]:
    """Return the best list schedules of clusters, of different objectives, best first."""
    delays = mean_transfer_delays(instance)
    delays = delays[delays > 0]
    if not len(delays):
        return []
    thresholds = np.unique(np.quantile(delays, np.linspace(0.3, 1.0, NUM_THRESHOLDS))).tolist()
    found: dict[int, DagSchedule] = {}
    for made, (threshold, choice) in enumerate(product(thresholds, _cluster_choices())):
        if made >= most or must_stop():
            break
        reserve, commitment, price = choice
        schedule = clustered_lists(instance, threshold, waste, reserve=reserve, commitment=commitment, price=price)
        if schedule is not None:
            found.setdefault(objective_value(instance, schedule, objective), schedule)
    return [found[value] for value in sorted(found)[:NUM_CLUSTERED]]
