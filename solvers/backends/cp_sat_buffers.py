"""CP-SAT on instances with buffers or groups, and for the stage span: placement by placement where there are few."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

from formulations.dag.bounds.live_memory import PlacedBounds
from formulations.dag.cp_sat.buffers import BufferModel
from formulations.dag.fixed_placement import placements
from heuristics.dag.pipeline_orders import OrderedTasks
from instances.dag.objective import objective_value
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import cp_sat_solver
from solvers.run.outcome import Outcome, Termination
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule
    from solvers.run.exact_run import ExactRun


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
        self._effort_left = math.inf if run.deterministic_limit is None else run.deterministic_limit

    def solve(self) -> Outcome[DagSchedule]:
        """Search until the best schedule meets the bound, or the limits strike."""
        run, bound = self._run, self._run.lower_bound
        ways = placements(self._instance, MAX_PLACEMENTS)
        if ways is None:
            bound, is_finished = self._ask(None, bound)
        else:
            rows = [(PlacedBounds(self._instance, way).best(self._objective), way) for way in ways]
            bound, is_finished = self._ask_each(sorted(rows, key=lambda row: row[0]), bound)
        solver = f"ortools {version_of('ortools')}"
        if is_finished and self.schedule is None:
            return Outcome(
                schedule=None, lower_bound=None, is_infeasible=True, backend_seconds=self.seconds, solver=solver
            )
        termination = Termination.FINISHED
        if not is_finished and (self.value is None or bound < self.value):
            termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
        return Outcome(
            schedule=self.schedule,
            lower_bound=bound if self.value is None else min(bound, self.value),
            termination=termination,
            backend_seconds=self.seconds,
            solver=solver,
        )

    def _ask_each(self, rows: Sequence[tuple[int, Sequence[int]]], proved: int) -> tuple[int, bool]:
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
        at_most = None if self.value is None else self.value - 1
        if at_most is not None and at_most < bound:
            return bound, True
        # one more than is wanted, so that the best schedule is a hint and a solution
        room = None if self.value is None else self.value
        model = BufferModel(self._instance, self._objective, at_least=bound, at_most=room, gpu=way)
        is_start = self.schedule is not None and (way is None or self.schedule.gpu.tolist() == list(way))
        if self.schedule is not None and is_start:
            model.hint(self.schedule)
        elif at_most is not None:
            model.require_at_most(at_most)
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
        value = objective_value(self._instance, schedule, self._objective)
        orders: list[list[int]] = [[] for _ in range(self._instance.num_gpus)]
        position = {task: number for number, task in enumerate(self._instance.topological_order.tolist())}
        for task in sorted(position, key=lambda task: (int(schedule.start[task]), position[task])):
            orders[int(schedule.gpu[task])].append(task)
        tidy = OrderedTasks(self._instance, orders).schedule(self._objective)
        if tidy is not None and objective_value(self._instance, tidy, self._objective) <= value:
            schedule, value = tidy, objective_value(self._instance, tidy, self._objective)
        if self.value is None or value < self.value:
            self.schedule, self.value = schedule, value
            self._run.report(value, None)
