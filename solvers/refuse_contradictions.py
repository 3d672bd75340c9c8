"""The alarm of tables of bounds: a verified schedule below a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.contradiction import raise_contradiction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solvers.bound_table import BoundTable
    from solvers.jobs.jobs_result import JobsResult
    from solvers.result import Result


def refuse_contradictions(table: BoundTable, results: Mapping[str, Result] | Mapping[str, JobsResult]) -> None:
    """Raise if the schedule of an exact method is below the bound of another one, or refutes that there is none."""
    found = [result for result in results.values() if result.objective is not None]
    best = min(found, key=lambda result: result.objective or 0, default=None)
    if best is None or best.objective is None:
        return
    claims = {name: "no schedule exists" for name in table.infeasible_by}
    claims |= {bound.method: f"a bound of {bound.value}" for bound in table if bound.value > best.objective}
    for name, claim in claims.items():
        other = results.get(name)
        raise_contradiction(
            table.instance,
            f"{name} claims {claim}, {best.method} has a verified schedule of {best.objective}.",
            schedule=best.schedule,
            other_schedule=None if other is None else other.schedule,
            claims={name: claim, best.method: f"a schedule of {best.objective}"},
            evidence={"bounds": table.to_dicts(), "objective_name": table.objective_name, "seed": best.seed},
        )
