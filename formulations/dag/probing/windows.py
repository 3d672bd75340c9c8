"""Windows from heads and tails and a limit on the objective, tightened by probing on request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails, job_path_bounds, path_bound
from formulations.dag.windows import Windows, for_span, horizon
from formulations.time_left import without_limit
from instances.dag.buffers import place_of_task
from instances.dag.contention import Contention
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance


MAX_PAIRS_FOR_PROBING = 1_000
"""Pairs of tasks and GPUs up to which probing takes about a second."""


PROBING_PASSES = 3
"""Largest number of passes of probing over all tasks."""


PROBING_WORK = 1_000_000_000
"""Elementary steps of probing, some nanoseconds each."""


def windows(
    instance: DagInstance,
    objective: Objective,
    *,
    lower_bound: int,
    objective_at_most: int | None,
    contention: Contention = Contention.NONE,
    probe: bool = False,
    is_far: bool = True,
    seconds_left: Callable[[], float] = without_limit,
) -> Windows:
    """Derive windows from the heads and tails of all ancestors and descendants.

    Makespan: a task on k finishes by U - T[i,k], and pairs whose duration does not fit are removed. Weighted
    completion: with lower bounds LBJ on all jobs, job j completes by floor((U - sum over other jobs q of w[q] LBJ[q]) /
    w[j]) where w[j] > 0, and a task of j on k finishes by that minus its tail within the job (docs/bounds.md, section
    2.5). With contention, heads and tails use its rule, and the windows hold for schedules that obey it. Buffers leave
    the windows as they are, groups remove pairs; for the stage span only the horizon limits them.

    Parameters
    ----------
    lower_bound
        A proven bound from elsewhere.
    objective_at_most
        Objective of a verified schedule, None if none is known: then some optimal schedule ends by the horizon.
    probe
        Whether to tighten heads and tails by what follows from the makespan and one more assumption at a time
        (`Refuter`), in the seconds that are left; ignored for weighted completion, or if no schedule is known.
    is_far
        False takes the join-aware heads and tails (`heads_and_tails`), which look at neighbours only.
    """
    if Objective(objective) is Objective.STAGE_SPAN:
        within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
        return for_span(within, at_least=lower_bound, at_most=objective_at_most)
    latest = horizon(instance)
    place = place_of_task(instance) if instance.has_buffers else None

    def around_within(makespan: int) -> HeadsAndTails:
        """Return heads and tails of all schedules within a makespan."""
        if not is_far:
            return heads_and_tails(instance, makespan_at_most=makespan, contention=contention, among=place)
        return far_heads_and_tails(
            instance, makespan_at_most=makespan, contention=contention, among=place, seconds_left=seconds_left
        )

    if Objective(objective) is Objective.MAKESPAN:
        makespan = latest if objective_at_most is None else min(latest, objective_at_most)
        around = around_within(makespan)
        if probe and objective_at_most is not None:
            from formulations.dag.probing.refuter import Refuter

            refuter = Refuter(instance, around, seconds_left)
            known = refuter.refute(makespan, passes=PROBING_PASSES, most_work=PROBING_WORK)
            if known is None:  # no pair is left
                around = replace(around, allowed=np.zeros_like(around.allowed))
            else:
                around = replace(around, heads=known.heads, tails=known.tails, allowed=known.allowed)
        completion_at_least = np.zeros(instance.num_jobs, dtype=np.int64)
        completion_at_most = np.full(instance.num_jobs, np.iinfo(np.int64).max)
        latest_finish = makespan - around.tails
        at_most = makespan
    else:
        around = around_within(latest)
        completion_at_most = np.full(instance.num_jobs, latest)
        at_most = int(instance.weight.sum()) * latest
        if objective_at_most is not None:
            at_most = min(at_most, objective_at_most)
            least = job_path_bounds(instance, around)
            for job in np.flatnonzero(instance.weight > 0):
                others = int(instance.weight @ least) - int(instance.weight[job] * least[job])
                own = (at_most - others) // int(instance.weight[job])
                completion_at_most[job] = min(completion_at_most[job], own)
        latest_finish = completion_at_most[instance.job_of_task][:, None] - around.job_tails
        latest_finish = np.minimum(latest_finish, latest - around.tails)
        fits = around.allowed & (around.heads + instance.durations <= latest_finish)
        around = HeadsAndTails(heads=around.heads, tails=around.tails, job_tails=around.job_tails, allowed=fits)
        completion_at_least = job_path_bounds(instance, around)
    return Windows(
        around=around,
        latest_finish=latest_finish,
        completion_at_least=completion_at_least,
        completion_at_most=completion_at_most,
        at_least=max(lower_bound, path_bound(instance, objective, around)),
        at_most=at_most,
    )
