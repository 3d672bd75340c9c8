"""The search over down-sets as a phase of another exact method: short where it leads nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.down_sets.count_down_sets import count_down_sets
from solvers.down_set_rounds import DownSetRounds

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective
    from solvers.exact_run import ExactRun

BEAMS = (500, 2_000)
"""Widths of the rounds for a better schedule: one and two to five seconds on 40 to 95 tasks."""

TRIAL = 10_000
"""Width of the first round for a proof. From the best schedules on it proves 33 of 60 instances of 30 to 100 tasks."""

TRIAL_SHARE = 0.25
"""Share of the time that is left for these rounds, at most."""

WIDE = 50_000
"""Width of the last round."""

WIDE_SHARE = 0.8
"""Share of the time that is left for the last round, at most."""

DEEP = 1 / 3
"""The last round takes place where the trial went through this share of the layers before it dropped a label."""

FEW_DOWN_SETS = 50_000
"""It takes place as well where there are no more down-sets: half a minute, if there are twenty labels to each."""


def searched_down_sets(
    instance: DagInstance, objective: Objective, schedule: DagSchedule | None, bound: int, run: ExactRun
) -> DownSetRounds:
    """Return what some rounds of the search over down-sets know.

    Parameters
    ----------
    instance, objective
        What is scheduled and minimised.
    schedule, bound
        Verified and proven before.
    run
        Limits, threads, and whom to tell. Where its time is not short, the result depends on nothing but the threads.
    """
    rounds = DownSetRounds(instance, objective, run, schedule, bound)
    should_stop = run.stops_after(TRIAL_SHARE)
    for width in BEAMS:
        rounds.round(width, should_stop)
    rounds.round(TRIAL, should_stop, until_dropped=True)
    if rounds.is_settled or run.should_stop():
        return rounds
    if rounds.exact_share >= DEEP or count_down_sets(instance, FEW_DOWN_SETS) <= FEW_DOWN_SETS:
        rounds.round(WIDE, run.stops_after(WIDE_SHARE), until_dropped=True)
    return rounds
