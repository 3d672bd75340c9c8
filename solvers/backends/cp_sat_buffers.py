"""CP-SAT with buffers, groups and the stage span: proofs, placement by placement where there are few, and repairs."""

from __future__ import annotations

import heapq
import math
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.live_memory import PlacedBounds
from formulations.dag.cp_sat.buffers import BufferModel
from formulations.dag.down_sets.pipeline_counts import PipelineCounts
from formulations.dag.fixed_placement import placements
from heuristics.dag.buffer_keys import BufferKeys
from heuristics.dag.buffer_lists import with_best_starts
from instances.dag.buffers import place_of_task, units
from instances.dag.objective import objective_value
from solvers.backends.down_sets import GROWTH, PROOF
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import cp_sat_solver
from solvers.run.outcome import Outcome, Termination
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule
    from solvers.backends.lns_starts import Incumbent
    from solvers.run.exact_run import ExactRun


COUNTED = 500
"""Labels per layer with which the search with counts begins where an instance is a pipeline that it takes."""

COUNTED_SHARE = 0.2
"""Share of the time for that at first, while the layers grow; CP-SAT has as much, and wider layers have the rest."""

PLACED = "work, chains and what memory leaves idle, in every placement of the groups"
"""What proves a bound for which nothing was searched."""

MAX_PLACEMENTS = 1_000
"""Up to so many placements of the groups each one is a model of its own; above, one model chooses the GPUs."""


class BufferSearch:
    """Best schedule and bound of one run.

    Parameters
    ----------
    run
        Limits and start; its bound is proved already.
    """

    def __init__(self, instance: DagInstance, objective: Objective, run: ExactRun) -> None:
        self._instance, self._objective, self._run = instance, objective, run
        self.schedule = run.start
        self.value = None if run.start is None else objective_value(instance, run.start, objective)
        self.seconds = 0.0
        self._proof: str | None = None
        self._width = COUNTED
        self._effort_left = math.inf if run.deterministic_limit is None else run.deterministic_limit

    def solve(self) -> Outcome[DagSchedule]:
        """Search until the best schedule meets the bound, or the limits strike."""
        run, bound = self._run, self._run.lower_bound
        ways = placements(self._instance, MAX_PLACEMENTS)
        if ways is None:
            bound, is_finished = self._ask(None, bound)
        else:
            rows = [(PlacedBounds(self._instance, way).best(self._objective), way) for way in ways]
            if len(ways) == 1 and PipelineCounts.takes(self._instance, self._objective, ways[0]):
                search = PipelineCounts(self._instance, self._objective, ways[0])
                bound = self._count(search, max(bound, rows[0][0]), COUNTED_SHARE)
                if self._width <= search.widest and not run.must_stop() and self._effort_left > 0:
                    bound, _ = self._ask(ways[0], bound, COUNTED_SHARE / (1 - COUNTED_SHARE))
                    bound = self._count(search, bound, 1.0)
            bound, is_finished = self._ask_each(sorted(rows, key=lambda row: row[0]), bound)
        solver = f"ortools {version_of('ortools')}"
        if is_finished and self.schedule is None:
            return Outcome(
                schedule=None, lower_bound=None, is_infeasible=True, backend_seconds=self.seconds, solver=solver
            )
        if self.seconds == 0 and self._proof is None and ways is not None:
            self._proof = PLACED
        termination = Termination.FINISHED
        if not is_finished and (self.value is None or bound < self.value):
            termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
        return Outcome(
            schedule=self.schedule,
            lower_bound=bound if self.value is None else min(bound, self.value),
            termination=termination,
            backend_seconds=self.seconds,
            solver=solver if self._proof is None else None,
            proof=self._proof,
        )

    def _count(self, search: PipelineCounts, bound: int, share: float) -> int:
        """Search a pipeline with counts, in layers that grow while there are time and memory; return the bound."""
        should_stop = self._run.stops_after(share)
        while self._width <= search.widest and not should_stop() and (self.value is None or bound < self.value):
            found = search.search_fast(None if self.value is None else self.value - 1, self._width, should_stop)
            if found is None:  # wider layers would not settle it either
                self._width = search.widest + 1
            elif found.schedule is not None:
                self._keep(found.schedule)
            elif found.is_complete and self.value is not None:
                self._proof, bound = PROOF, self.value
            elif not should_stop():
                self._width *= GROWTH
        return bound

    def _ask_each(self, rows: Sequence[tuple[int, Sequence[int]]], proved: int, share: float = 1.0) -> tuple[int, bool]:
        """Solve the placement of the smallest bound, again and again; return a bound on all, and whether that is all.

        A placement whose bound reaches the best objective needs no search. One that its share of the time does not
        settle is asked again later, with a higher bound, while others of smaller bounds come first.
        """
        pending = [(max(bound, proved), number) for number, (bound, _) in enumerate(rows)]
        heapq.heapify(pending)
        while pending and (self.value is None or pending[0][0] < self.value):
            if self._run.must_stop() or self._effort_left <= 0:
                break
            bound, number = heapq.heappop(pending)
            found, is_settled = self._ask(rows[number][1], bound, 1.0 / (1 + len(pending)))
            if not is_settled:
                heapq.heappush(pending, (max(bound, found), number))
            lowest = min(
                [bound for bound, _ in pending[:1]] + ([] if self.value is None else [self.value]), default=None
            )
            self._run.report(None, lowest)
        is_finished = not pending or (self.value is not None and pending[0][0] >= self.value)
        values = [] if self.value is None else [self.value]
        return max(proved, min([*values, *(bound for bound, _ in pending)], default=proved)), is_finished

    def _ask(self, way: Sequence[int] | None, bound: int, share: float = 1.0) -> tuple[int, bool]:
        """Look for a schedule that is better than the best one; return a bound, and whether that is settled."""
        from ortools.sat.python import cp_model

        from solvers.backends.cp_sat import solve_in_thread

        run = self._run
        wanted = None if self.value is None else self.value - 1
        if wanted is not None and wanted < bound:
            return bound, True
        # one more than is wanted, so that the best schedule is a hint and a solution
        at_most = self.value
        model = BufferModel(self._instance, self._objective, at_least=bound, at_most=at_most, gpu=way)
        is_start = self.schedule is not None and (way is None or self.schedule.gpu.tolist() == list(way))
        if self.schedule is not None and is_start:
            model.hint(self.schedule)
        elif wanted is not None:
            model.require_at_most(wanted)
        solver = cp_sat_solver(run.threads, run.seed, max(run.seconds_left() * max(share, 0.25), 1e-3))
        if math.isfinite(self._effort_left):
            solver.parameters.max_deterministic_time = self._effort_left
        status = solve_in_thread(solver, model.proto_model, run, reports=way is None or share == 1.0)
        if status == cp_model.MODEL_INVALID:
            raise RuntimeError(f"cp-sat: expected a valid model, got: {model.proto_model.validate()}")
        self.seconds += solver.wall_time
        self._effort_left -= solver.response_proto.deterministic_time
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            self._keep(model.schedule(solver.value))
        if status == cp_model.INFEASIBLE:
            if is_start:
                claim = "CP-SAT claims that no schedule exists within the objective of a verified one."
                raise_contradiction(self._instance, claim, schedule=self.schedule, evidence={"lower_bound": bound})
            return bound if self.value is None else self.value, True
        proved = max(bound, solver.response_proto.inner_objective_lower_bound)
        return proved, status == cp_model.OPTIMAL

    def _keep(self, schedule: DagSchedule) -> None:
        """Keep a schedule if it is better, with the earliest starts of its orders where these fit."""
        schedule = with_best_starts(self._instance, schedule, self._objective)
        value = objective_value(self._instance, schedule, self._objective)
        if self.value is None or value < self.value:
            self.schedule, self.value = schedule, value
            self._run.report(value, None)


def first_schedule(instance: DagInstance, objective: Objective, run: ExactRun) -> DagSchedule | None:
    """Return any schedule, for an improving method that has none to begin with; None where none was found."""
    from ortools.sat.python import cp_model

    from solvers.backends.cp_sat import solve_in_thread

    model = BufferModel(instance, objective)
    solver = cp_sat_solver(run.threads, run.seed, max(0.5 * run.seconds_left(), 0.01))
    solver.parameters.stop_after_first_solution = True
    solver.parameters.max_deterministic_time = FIRST_EFFORT
    status = solve_in_thread(solver, model.proto_model, run, reports=False)
    return model.schedule(solver.value) if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None


FIRST_EFFORT = 60.0
"""Deterministic time of CP-SAT for a first schedule."""

POINTS = 16
"""Points of random keys around the best schedule per iteration, for its order and for its GPUs."""


class BufferChain:
    """Improves a schedule with buffers: random keys around it, and stretches whose orders CP-SAT decides.

    An iteration has three parts. Keys: the order of the tasks in a stretch is drawn anew `POINTS` times, and as often a
    group goes to another GPU, if there is a choice; the decoder of the searches on random keys makes schedules of
    these. Stretches: the GPUs stay, tasks before a stretch keep their starts relative to the first task of
    their GPU, those behind it keep their orders, and CP-SAT looks for something better (`BufferModel.free_only`). Small
    instances whose groups have a choice: the whole model, with free GPUs.

    Parameters
    ----------
    incumbent
        The schedule to begin with; it receives every better one.
    member
        Number of the thread; each has random numbers of its own.
    """

    def __init__(
        self,
        instance: DagInstance,
        objective: Objective,
        incumbent: Incumbent,
        run: ExactRun,
        iterations: int | None,
        member: int,
    ) -> None:
        from solvers.backends.lns import Budget, WindowChoice

        self._instance, self._objective, self._incumbent, self._run = instance, objective, incumbent, run
        self._budget = Budget(run, iterations)
        self._rng = np.random.default_rng([run.seed, member])
        self._keys = BufferKeys(instance, objective, "direct")
        self._windows = WindowChoice(instance, self._rng)
        self._position = np.empty(instance.num_tasks, dtype=np.int64)
        self._position[instance.topological_order] = np.arange(instance.num_tasks)
        place, members = place_of_task(instance), units(instance)
        self._movable = [unit for unit in members if place[unit[0]].sum() > 1]
        self._is_small = instance.num_tasks * instance.num_gpus <= SMALL
        self.seconds = 0.0
        """Spent in CP-SAT so far."""

    def work(self) -> None:
        """Go on until the budget is used up, the run is stopped, or there is nothing left to do."""
        for iteration in count():
            if self._budget.share(iteration) >= 1.0 or self._must_stop():
                return
            self._draw()
            if not self._must_stop():
                self._repair(is_whole=bool(self._movable) and self._is_small and iteration % 4 == 3)

    def _must_stop(self) -> bool:
        """Whether to stop at once."""
        return self._incumbent.is_closed or self._budget.must_stop()

    def _draw(self) -> None:
        """Try orders and placements near the best schedule."""
        rng, n = self._rng, self._instance.num_tasks
        schedule = self._incumbent.best()[0]
        points = np.repeat(self._keys.keys_of(schedule)[None, :], POINTS * (1 + bool(self._movable)), axis=0)
        order = np.argsort(-points[0, :n])
        for point in points[:POINTS]:
            size = int(rng.integers(2, 1 + max(2, min(n, LONGEST)))) if n > 1 else n
            first = int(rng.integers(n - size + 1))
            stretch = order[first : first + size]
            point[stretch] = rng.permutation(point[stretch])
        for point in points[POINTS:]:
            unit = self._movable[int(rng.integers(len(self._movable)))]
            point[n + min(unit)] = rng.random()
        fitness = self._keys.evaluate_many(points)
        best = min(range(len(points)), key=lambda number: tuple(fitness[number].tolist()))
        found = self._keys.schedule(points[best])
        if found is not None:
            self._incumbent.offer(found)

    def _repair(self, *, is_whole: bool) -> None:
        """Let CP-SAT decide one stretch, or everything with free GPUs."""
        from ortools.sat.python import cp_model

        from solvers.backends.cp_sat import solve_in_thread
        from solvers.backends.lns import EFFORT, Repair

        schedule, value = self._incumbent.best()
        covers = is_whole or (self._windows.covers_everything and not self._movable)
        gpu = None if is_whole else schedule.gpu.tolist()
        model = BufferModel(self._instance, self._objective, at_least=self._run.lower_bound, at_most=value - 1, gpu=gpu)
        if not is_whole:
            first, last, _ = self._windows.next()
            schedule = model.in_index_order(schedule)
            order = np.lexsort((self._position, schedule.start)).tolist()
            model.free_only(schedule, order, first, last)
        solver = cp_sat_solver(1, int(self._rng.integers(2**31)), max(self._run.seconds_left(), 0.01))
        solver.parameters.max_deterministic_time = (5 if is_whole else 1) * EFFORT
        solver.parameters.cp_model_probing_level = 0  # costs more than it wins on stretches
        solver.parameters.symmetry_level = 0
        status = solve_in_thread(solver, model.proto_model, self._run, reports=False)
        self.seconds += solver.wall_time
        if status == cp_model.MODEL_INVALID:
            raise RuntimeError(f"lns: expected a valid model, got: {model.proto_model.validate()}")
        ended = Repair.NONE if status == cp_model.INFEASIBLE else Repair.GAVE_UP
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            ended = Repair.BETTER
            self._incumbent.offer(with_best_starts(self._instance, model.schedule(solver.value), self._objective))
        elif ended is Repair.NONE and covers:
            self._incumbent.close()
        if not is_whole:
            self._windows.learn(ended)


SMALL = 300
"""Tasks times GPUs up to which an improving run also looks at all placements in one model."""

LONGEST = 60
"""Tasks at most whose order is drawn anew at once."""
