"""Which bounds a run leaves proven, and the alarm where a schedule is below one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from instances.contention import Contention
from solvers.bound import Bound
from solvers.contradiction import raise_contradiction
from solvers.lower_bound import best_bound
from solvers.versions import hardware

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from instances.jobs.jobs_schedule import JobsSchedule
    from instances.objective import Objective
    from solvers.exact_run import ExactRun
    from solvers.outcome import Outcome


def with_proof(
    name: str,
    objective: Objective | JobsObjective,
    contention: Contention,
    outcome: Outcome,
    value: int | None,
    run: ExactRun,
    runtime_seconds: float,
    known: Sequence[Bound],
) -> list[Bound]:
    """Add the bound of a method, unless it proved none, or one that is known is as good: then that one is the proof."""
    bounds, best = list(known), best_bound(known)
    if outcome.lower_bound is not None and (best is None or outcome.lower_bound > best.value):
        best = Bound(
            value=outcome.lower_bound,
            method=name,
            proof=outcome.proof or ("search to the end" if value == outcome.lower_bound else "search, not finished"),
            seconds=runtime_seconds,
            solver=outcome.solver,
            confirmed_by=outcome.confirmed_by,
            objective_name=str(objective),
            threads=run.threads,
            seed=run.seed,
            hardware=hardware(),
            contention=contention,
        )
        bounds.append(best)
    if best is not None and best.value == value:
        bounds.append(replace(best, is_optimum=True))
    return bounds


def check_against_bounds(
    instance: DagInstance | JobsInstance,
    schedule: DagSchedule | JobsSchedule | None,
    value: int | None,
    known: Sequence[Bound],
    name: str,
    seed: int,
    contention: Contention = Contention.NONE,
) -> None:
    """Raise if a verified schedule is below a proven bound."""
    for bound in known:
        if value is not None and bound.value > value:
            raise_contradiction(
                instance,
                f"The bound {bound.value} of {bound.method} exceeds the objective {value} of a verified schedule.",
                schedule=schedule,
                claims={bound.method: f"a bound of {bound.value}", name: f"a schedule of {value}"},
                evidence={
                    "bound": bound.to_dict(),
                    "objective": value,
                    "method": name,
                    "seed": seed,
                    "contention": str(contention),
                },
            )
