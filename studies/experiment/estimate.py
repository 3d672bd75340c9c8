"""How long runs take, roughly: for the plan and the time left, never for a result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from studies.experiment.network_sha256 import AGENTS

if TYPE_CHECKING:
    from studies.experiment.planned_run import PlannedRun
    from studies.experiment.study_plan import StudyPlan

OVERHEAD_SECONDS = 0.004
"""Of a run: verification, store, messages (measured)."""

EVALUATION_SECONDS, PAIR_SECONDS = 2e-5, 2.5e-8
"""Of an evaluation of random keys, and on top of it per pair of task and GPU (measured: 20 us for 100 x 8)."""

NETWORK_PAIR_SECONDS = 4.2e-7
"""The same for placements by the network (measured: 0.33 ms for 100 x 8)."""

NETWORK_METHODS = ("worl-rtgs", "ddqn-sampling", "ddqn")

BOUND_PAIR_SECONDS, CONSTRUCTION_PAIR_SECONDS = 1e-4, 1e-6
"""Of a bound and of a construction, per pair of task (or job) and GPU."""

MOST_BOUND_SECONDS = 30.0
"""Of a bound: the expensive ones are left out on large instances."""

POLICY_ROOT_SECONDS = 3e-4
"""Of a policy, per root of the pairs of job and GPU (measured: 15 ms for 200 x 16, 2 s for 15,000 x 1,508)."""

AGENTS_PAIR_SECONDS = 2.5e-4
"""Of agents with networks, per pair of job and GPU (measured: 1 s for 60 x 64)."""

EXACT_SHARE = 0.5
"""Of their time limits, exact methods use so much on average: small instances are proved at once."""


def estimated_seconds(run: PlannedRun, pairs: int) -> float:
    """Return the wall time of a run on an instance with so many pairs of task (or job) and GPU."""
    if run.kind == "bound":
        return OVERHEAD_SECONDS + min(MOST_BOUND_SECONDS, BOUND_PAIR_SECONDS * pairs)
    if run.kind == "policy" and run.method == AGENTS:
        return OVERHEAD_SECONDS + AGENTS_PAIR_SECONDS * pairs
    if run.kind == "policy":
        return OVERHEAD_SECONDS + POLICY_ROOT_SECONDS * math.sqrt(pairs)
    if run.kind in ("exact", "improvement"):
        share = EXACT_SHARE if run.kind == "exact" else 1.0
        return OVERHEAD_SECONDS + share * (run.budget.seconds or 0.0)
    per_pair = NETWORK_PAIR_SECONDS if run.method in NETWORK_METHODS else PAIR_SECONDS
    if run.kind == "construction":
        return OVERHEAD_SECONDS + max(CONSTRUCTION_PAIR_SECONDS, per_pair) * pairs
    times = [] if run.budget.seconds is None else [run.budget.seconds]
    if run.budget.evaluations is not None:
        times.append(run.budget.evaluations * (EVALUATION_SECONDS + per_pair * pairs))
    return OVERHEAD_SECONDS + min(times)


def plan_seconds(plan: StudyPlan, workers: int, done: set[str] | frozenset[str] = frozenset()) -> float:
    """Return the wall time of all runs that are not done, on so many workers; runs with more threads take more."""
    pairs = {item.instance.sha256: item.num_pairs for item in plan.instances}
    total = 0.0
    for run in plan.runs:
        if run.key not in done:
            total += estimated_seconds(run, pairs[run.sha256]) / max(1, workers // run.threads)
    return total
