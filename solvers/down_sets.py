"""Exact solution by dynamic programming over down-sets, with wider and wider layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.down_set_rounds import DownSetRounds
from solvers.status import Termination

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.objective import Objective
    from solvers.exact_run import ExactRun
    from solvers.outcome import Outcome

FIRST_WIDTH = 500
"""Labels per layer of the first round."""

GROWTH = 4
"""By how much the width grows from round to round."""


def down_sets(instance: DagInstance, objective: Objective, run: ExactRun) -> Outcome:
    """Solve an instance by `DownSetSearch`, forwards and, for the makespan, backwards in time.

    Every round looks for a schedule that is better than the best one. As long as labels have to be dropped it is a beam
    search; the next round is four times as wide, in the direction that went further before it dropped any. A round that
    drops nothing and finds nothing is the proof. It takes few labels where graphs are narrow and GPUs few: on 95 tasks
    whose down-sets number 33,000, and 2 GPUs, seconds. Where there are millions, memory ends it without a proof.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    run
        Limits, start and threads. The result does not depend on the seed, nor on time unless the limit strikes.

    Returns
    -------
    Outcome
        Best schedule and bound.
    """
    rounds = DownSetRounds(instance, objective, run, run.start, run.lower_bound)
    width, termination = FIRST_WIDTH, Termination.FINISHED

    while not rounds.is_settled:
        if run.must_stop():
            termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
            break
        if rounds.is_at_its_widest:
            termination = Termination.FAILED
            break
        rounds.round(width, run.must_stop)
        width *= GROWTH
    return rounds.outcome(termination)
