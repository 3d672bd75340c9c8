"""Refuting makespans by placement, memory and transfers together: a bound, and a phase of `cp-sat`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.refuted_makespans import MAX_DELAYS, probing
from formulations.dag.cp_sat.constraints import GaveUpError
from formulations.dag.cp_sat.fixed_makespan import FixedMakespanModel
from formulations.dag.probing.windows import windows
from formulations.dag.windows import horizon
from formulations.time_left import without_limit
from heuristics.search.clock import Stopwatch
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from solvers.run.exact_run import ExactRun, cp_sat_solver, in_second_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


EFFORT = 20.0
"""Deterministic time of CP-SAT for one climb: about a minute where all of it is used."""

SHARE = 0.25
"""Largest share of time and effort for one makespan. Measured: a refutation takes about as long for all makespans that
are not close to the largest that can be refuted, so that more attempts in smaller steps refute less."""

FIRST_STEP = 0.12
"""The first makespan attempted exceeds the refuted one by this share of it."""


class MemoryRefutation:
    """Climbs over makespans that are refuted, and keeps the schedules that come out where one is not.

    Parameters
    ----------
    schedule, bound
        Verified and proven before, None and 0 where there is nothing.
    run
        Limits, threads, seed, and what to report to.

    Attributes
    ----------
    effort
        Deterministic time of CP-SAT so far.
    """

    def __init__(
        self, instance: DagInstance, schedule: DagSchedule | None, bound: int, run: ExactRun[DagSchedule]
    ) -> None:
        self.schedule, self.bound, self.effort = schedule, bound, 0.0
        self._instance, self._run = instance, run
        self._top = horizon(instance) if schedule is None else objective_value(instance, schedule, Objective.MAKESPAN)

    def climb(self, effort: float, share: float = 1.0) -> None:
        """Refute makespans until a schedule meets the bound, or an effort or a share of the time left is spent.

        Nothing happens where memory does not bind, or where the graph is too large for the model.
        """
        instance, run, must_stop = self._instance, self._run, self._run.stops_after(share)
        if not is_memory_binding(instance) or instance.num_edges * instance.num_gpus**2 > MAX_DELAYS:
            return
        seconds, step = SHARE * share * run.seconds_left(), int(FIRST_STEP * self.bound) + 1
        ceiling, relaxed = self._top, self._top
        # Invariant: makespans below `bound` are refuted, a schedule has `ceiling` or it could not be decided, and from
        # `relaxed` on there are solutions with overlapping tasks.
        while self.bound < ceiling and self.effort < effort and not must_stop():
            attempt = min(self.bound - 1 + step, (self.bound + ceiling - 1) // 2)
            within = windows(
                instance,
                Objective.MAKESPAN,
                lower_bound=0,
                objective_at_most=attempt,
                probe=True,
                seconds_left=lambda: 0.0 if must_stop() else run.seconds_left(),
            )
            most, before = min(SHARE * effort, effort - self.effort), self.effort
            is_refuted = within.is_empty or self._is_refuted(within, attempt >= relaxed, most, seconds, must_stop)
            if is_refuted:
                self.bound = min(attempt + 1, self._top)  # the horizon: there is no schedule at all
                run.report(None, self.bound)
                used = (self.effort - before) / most
                step = max(1, step // 2) if used > 1 / 3 else step + step // 3 + 1 if used < 1 / 8 else step
            elif is_refuted is False and attempt < self._top:
                relaxed, ceiling = attempt, min(ceiling, self._top)
            else:
                ceiling = min(ceiling, attempt if is_refuted is None else self._top)
                step = max(1, (ceiling - self.bound) // 2)

    def _is_refuted(
        self, within: Windows, is_exclusive: bool, effort: float, seconds: float, must_stop: Callable[[], bool]
    ) -> bool | None:
        """Ask CP-SAT whether no solution is within windows, None for unknown; keep a schedule from a solution."""
        from ortools.sat.python import cp_model

        try:
            model = FixedMakespanModel(self._instance, within, is_exclusive=is_exclusive, should_give_up=must_stop)
        except GaveUpError:
            return None
        solver = cp_sat_solver(self._run.threads, self._run.seed, seconds)
        solver.parameters.max_deterministic_time = effort
        status = in_second_thread(lambda: solver.solve(model.proto_model), must_stop, solver.stop_search)
        self.effort += solver.response_proto.deterministic_time
        if status == cp_model.INFEASIBLE:
            return True
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        schedule = model.schedule(solver.value)
        value = objective_value(self._instance, schedule, Objective.MAKESPAN)
        if value < self._top and not verify_dag_schedule(self._instance, schedule):
            self.schedule, self._top = schedule, value
            self._run.report(value, None)
        return None if is_exclusive and value > within.at_most else False


def is_memory_binding(instance: DagInstance) -> bool:
    """Say whether the tasks that may sit on some GPU exceed its memory together."""
    needed = instance.task_memory @ instance.allowed
    return bool(((instance.gpu_memory >= 0) & (needed > instance.gpu_memory)).any())


def memory_refutation(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return one more than a makespan that placement, memory, transfers and windows refute together.

    The climb begins with `probing`. Every makespan that is attempted is probed too (`windows`); CP-SAT then decides a
    model without an objective (`FixedMakespanModel`), first without and, where that has a solution, with exclusive
    GPUs. It ends at a schedule or at a limit; each refuted makespan is a bound by itself. With one thread, a fixed seed
    and limits on deterministic time the result is the same on any machine unless the time is short. Where memory does
    not bind it is the join-aware path, and 0 for weighted completion (docs/bounds.md, section 3.12; ours).
    """
    if Objective(objective) is not Objective.MAKESPAN:
        return 0
    if not is_memory_binding(instance):
        return join_aware_path(instance, objective)
    proven, left = probing(instance, objective, seconds_left=seconds_left), seconds_left()
    run: ExactRun[DagSchedule] = ExactRun(
        start=None,
        lower_bound=proven,
        time_limit=left if math.isfinite(left) else None,
        threads=1,
        seed=0,
        watch=Stopwatch(),
        report=lambda objective, bound: None,
        should_stop=lambda: seconds_left() <= 0,
    )
    refutation = MemoryRefutation(instance, None, proven, run)
    refutation.climb(EFFORT)
    return refutation.bound
