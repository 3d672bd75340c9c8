"""Large neighbourhood search for instances beyond exact methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.left_shift import left_shift
from solvers.lns.budget import Budget
from solvers.lns.chain import Chain
from solvers.lns.incumbent import Incumbent
from solvers.lns.packing import packed_schedule
from solvers.lns.starts import improve_start
from solvers.lns.team import work_together
from solvers.lns.waste import waste
from solvers.lns.window_choice import FIRST
from solvers.outcome import Outcome
from solvers.status import Termination

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.objective import Objective
    from solvers.exact_run import ExactRun

DEFAULT_ITERATIONS = 40
"""Iterations of a run that was given neither these nor a time limit."""


def lns(instance: DagInstance, objective: Objective, run: ExactRun, *, iterations: int | None = None) -> Outcome:
    """Improve a schedule by large neighbourhoods; prove nothing.

    1. *Start*: the best of the given schedule and some hundred list schedules (`improve_start`). Where no list
       schedule keeps the memory limits, CP-SAT looks for a placement that does (`packed_schedule`).
    2. *Reinsertion* (`ReinsertionSearch`): simulated annealing whose moves take 1 to 60 tasks out around a critical one
       and put each back where the longest way through it is shortest, with a price on wasting the GPUs' time.
    3. *Windows* (`repair_window`): in the second half CP-SAT also decides whether a stretch of the incumbent can be
       rearranged for a better schedule, everything else being fixed.

    With two threads or more, the others anneal too in the first half and repair windows in the second.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    run
        Limits and start. With one thread and no time limit the run can be repeated bit for bit.
    iterations
        Budget, at least 1: each is 2,000 moves, and a window in the second half. None: until the time limit, and where
        there is none either, `DEFAULT_ITERATIONS`.

    Returns
    -------
    Outcome
        Best schedule, no bound.

    Raises
    ------
    ValueError
        If the number of iterations is out of range.

    References
    ----------
    Large neighbourhood search: Shaw (1998); ruin and recreate: Schrimpf et al. (2000); each part names its own. The
    method as a whole is ours.
    """
    if iterations is not None and iterations < 1:
        raise ValueError(f"iterations: expected at least 1, got {iterations}.")
    if iterations is None and run.time_limit is None:
        iterations = DEFAULT_ITERATIONS
    schedule, seconds = run.start, 0.0
    if schedule is None:
        schedule = packed_schedule(instance, waste(instance), run)
    if schedule is None:
        termination = Termination.FINISHED if run.seconds_left() > 0 else Termination.TIME_LIMIT
        termination = Termination.INTERRUPTED if run.should_stop() else termination
        return Outcome(schedule=None, lower_bound=None, termination=termination)
    incumbent = Incumbent(instance, objective, left_shift(instance, schedule.gpu, schedule.start), run)
    if not incumbent.is_closed:
        prices = waste(instance)
        if instance.num_tasks > FIRST:  # else the first window is everything
            improve_start(instance, objective, incumbent, prices, Budget(run).must_stop)
        seconds = work_together(
            lambda heeded, member: Chain(instance, objective, incumbent, prices, heeded, iterations, member), run
        )
    if incumbent.is_closed:
        termination = Termination.FINISHED
    elif run.should_stop():
        termination = Termination.INTERRUPTED
    else:
        termination = Termination.TIME_LIMIT if run.seconds_left() <= 0 else Termination.EVALUATIONS
    return Outcome(schedule=incumbent.schedule, lower_bound=None, termination=termination, backend_seconds=seconds)
