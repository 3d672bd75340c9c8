"""The largest makespan that can be refuted: destructive improvement (B8), energetic reasoning (B7), probing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.last_jobs import MOST_SETS, all_jobs, last_jobs
from formulations.dag.bounds.loads import window_load_lp
from formulations.dag.bounds.single_machine import rank_wise_bound
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails, job_path_bounds, path_bound
from formulations.dag.probing.refuter import Refuter, largest_refuted
from formulations.dag.subproblem import part_of
from formulations.dag.windows import horizon
from formulations.time_left import without_limit
from instances.dag.contention import Contention
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from formulations.dag.bounds.last_jobs import Jobs, LastJobs
    from instances.dag.instance import DagInstance


MOST_WORK = 1_500_000_000
"""Elementary steps, about a nanosecond each: at most two seconds on one core, and the same bound on any machine."""

MOST_EACH = 150_000_000
"""Elementary steps of probing one makespan. Without this limit the first attempt may take all steps of the climb."""

PASSES = 2
"""Largest number of passes of probing over all tasks for one makespan."""


def destructive(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return one more than a makespan that paths or the window-load program refute (B8); 0 for weighted completion.

    A makespan of at most C removes all pairs with head + duration + tail above C, which raises the heads and tails of
    the others. C is refuted if some task has no GPU left, or if the window-load program under the deadline C proves
    more than C. Doubling and bisection start at the plain window-load bound, so the cost is a logarithmic number of
    window-load bounds. With contention, heads and tails use its rule, and the bound holds under it only
    (docs/bounds.md, sections 1.4 and 3.8).

    References
    ----------
    Klein and Scholl (1999) name the scheme; this use is ours.
    """
    if Objective(objective) is not Objective.MAKESPAN or instance.num_tasks == 0:
        return 0
    around = heads_and_tails(instance, contention=contention)
    if not around.allowed.any(axis=1).all():
        return path_bound(instance, objective, around)
    refuted = path_bound(instance, objective, around) - 1

    def is_refuted(makespan: int, by_loads: bool = True) -> bool:
        """Say whether heads and tails, or else the window loads, prove that no schedule has at most this makespan."""
        if seconds_left() <= 0:
            return False
        within = heads_and_tails(instance, makespan_at_most=makespan, contention=contention)
        if not by_loads or not within.allowed.any(axis=1).all():
            return not within.allowed.any(axis=1).all()
        return window_load_lp(instance, within, makespan, deadline=makespan, seconds_left=seconds_left)[0] > makespan

    refuted = largest_refuted(refuted, lambda makespan: is_refuted(makespan, by_loads=False))
    refuted = max(refuted, window_load_lp(instance, around, refuted + 1, seconds_left=seconds_left)[0] - 1)
    latest = max(refuted + 1, horizon(instance))  # where it is refuted there is no schedule at all
    return min(largest_refuted(refuted, is_refuted, latest=latest) + 1, latest)


MAX_DELAYS = 20_000_000
"""Above this many edges times pairs of GPUs only paths are used, because anything else would take too much memory."""


def refuted_makespans(
    instance: DagInstance,
    objective: Objective,
    contention: Contention,
    *,
    passes: int,
    most_work: int,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the bound of the largest makespan that `Refuter` refutes.

    Weighted completion: each job is scheduled alone, with the heads that it has among all jobs and the tails within it,
    because removing the tasks of the others leaves a schedule whose makespan is the job's completion time. The same
    holds for the last one of several jobs; `rank_wise_bound` and `LastJobs` combine these bounds.

    Parameters
    ----------
    passes, most_work
        Limits of `Refuter.climb` with probing, after a climb without; the jobs share the work.
    seconds_left
        Seconds that are left; when there are none, the largest makespan refuted so far counts.
    """
    around = far_heads_and_tails(instance, contention=contention, seconds_left=seconds_left)
    is_possible = bool(around.allowed.any(axis=1).all())
    if instance.num_tasks == 0 or not is_possible or instance.num_edges * instance.num_gpus**2 > MAX_DELAYS:
        return path_bound(instance, objective, around)
    if Objective(objective) is Objective.MAKESPAN:
        both, proven = _near_and_far(instance, around, contention), path_bound(instance, objective, around)
        return _least_makespan(instance, both, proven, horizon(instance), passes, most_work, seconds_left)
    found = makespans_of_jobs(
        instance, around, contention, passes=passes, most_work=most_work, seconds_left=seconds_left
    )
    completion = np.array(found.completion, dtype=np.int64)
    by_rank = rank_wise_bound(instance, completion, lambda jobs: found.makespan.get(jobs, 0), seconds_left=seconds_left)
    return max(by_rank, found.bound(instance.weight.tolist()))


def _near_and_far(instance: DagInstance, far: HeadsAndTails, contention: Contention) -> list[HeadsAndTails]:
    """Return join-aware heads and tails, and those of all ancestors if any of these is larger."""
    near = heads_and_tails(instance, contention=contention)
    return [near, far] if (near.heads < far.heads).any() or (near.tails < far.tails).any() else [near]


def makespans_of_jobs(
    instance: DagInstance,
    around: HeadsAndTails,
    contention: Contention = Contention.NONE,
    *,
    passes: int = PASSES,
    most_work: int = MOST_WORK,
    seconds_left: Callable[[], float] = without_limit,
) -> LastJobs:
    """Return bounds on the makespans of single jobs and of sets of jobs; parameters as in `refuted_makespans`.

    The sets are those of `last_jobs`, and of the jobs of at least some weight. `around` are the heads and tails of all
    ancestors.
    """
    weight, both, latest = instance.weight.tolist(), _near_and_far(instance, around, contention), horizon(instance)
    completion = job_path_bounds(instance, around)
    layers = [tuple(job for job in all_jobs(weight) if weight[job] >= least) for least in sorted(set(weight) - {0})]

    def last_of(jobs: Jobs) -> int:
        """Return a bound on the makespan of some jobs."""
        tasks = np.flatnonzero(np.isin(instance.job_of_task, jobs))
        proven = int(completion[list(jobs)].max())
        if len(tasks) < 2 or seconds_left() <= 0:
            return proven
        own = [
            HeadsAndTails(
                heads=known.heads[tasks],
                tails=known.job_tails[tasks],
                job_tails=known.job_tails[tasks],
                allowed=known.allowed[tasks],
            )
            for known in both
        ]
        shares = MOST_SETS if len(jobs) > 1 and jobs not in layers else len(layers) + 1
        share = most_work * len(tasks) // (instance.num_tasks * shares)
        return _least_makespan(part_of(instance, tasks), own, proven, latest, passes, share, seconds_left)

    for job in all_jobs(weight):
        completion[job] = last_of((job,))
    found = last_jobs(weight, completion.tolist(), last_of, seconds_left=seconds_left)
    for jobs in layers:
        if len(jobs) > 1 and jobs not in found.makespan:
            found.makespan[jobs] = last_of(jobs)
    return found


def _least_makespan(
    instance: DagInstance,
    both: Sequence[HeadsAndTails],
    proven: int,
    latest: int,
    passes: int,
    most_work: int,
    seconds_left: Callable[[], float],
) -> int:
    """Return a bound on the makespan, at least a proven one; some schedule ends by `latest` if there is any.

    The climb is made from join-aware heads and tails and goes on from those of all ancestors: because rounds and work
    are limited, these alone would sometimes refute less.
    """
    refuted = proven - 1
    for around in both:
        if seconds_left() > 0:
            refuter = Refuter(instance, around, seconds_left)
            refuted = refuter.climb(refuted, horizon=latest)
            if passes:
                most = refuter.work + most_work
                refuted = refuter.climb(refuted, passes=passes, most_work=most, most_each=MOST_EACH, horizon=latest)
    return max(proven, min(refuted + 1, latest))  # where the latest is refuted there is no schedule at all


def energetic(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return one more than a makespan that is refuted by the work that must be done inside windows of time (B7).

    Under a makespan of at most C every task i on GPU k runs within [H[i,k], C - T[i,k]] (join-aware heads and tails,
    tightened by what follows from C, see `tighten`), and does at least ov[i,k](a,b) of its work inside any [a,b]. If

        sum_k x[i,k] = 1,   sum_i ov[i,k](a,b) x[i,k] <= b - a for all k and a < b,   x >= 0

    has no solution, no schedule has a makespan of at most C. Multipliers prove that in exact integer arithmetic
    (`loads_refute`). Rows are separated in rounds, and a small simplex method of our own solves the programs, so that
    no solver is needed and none is trusted. Memory adds rows. The search over C is that of `destructive`. Weighted
    completion: the bounds of every job's own tasks, by weight and rank (`rank_wise_bound`) or by which job ends last
    (`last_jobs`). Cost: a fraction of a second for up to 100 tasks (docs/bounds.md, section 3.9).

    References
    ----------
    Erschler, Lopez and Thuriot (1991), Baptiste, Le Pape and Nuijten (1999): energetic reasoning; fractions of tasks on
    unrelated GPUs and conditional heads and tails are ours.
    """
    return refuted_makespans(instance, objective, contention, passes=0, most_work=0, seconds_left=seconds_left)


def probing(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return one more than a makespan that is refuted by assuming it together with one more fact at a time.

    It is `energetic` and, for every task, each GPU and an early and a late start are assumed in turn: choices that are
    refuted are excluded, and what holds for all remaining choices holds (`probe_all`). Never below `energetic`; the
    cost is limited by `MOST_WORK`. Weighted completion as in `energetic` (docs/bounds.md, section 3.10, also says how
    strong it is).

    References
    ----------
    Martin and Shmoys (1996): shaving. Van Hentenryck, Saraswat and Deville (1998): constructive disjunction. Their use
    on placements with loads is ours.
    """
    return refuted_makespans(
        instance, objective, contention, passes=PASSES, most_work=MOST_WORK, seconds_left=seconds_left
    )
