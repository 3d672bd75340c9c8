"""A proven lower bound, what proves it, and the alarm where a verified schedule is below it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from instances.dag.contention import Contention
from solvers.run.contradiction import raise_contradiction
from solvers.run.versions import hardware

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.readers.optgap_json import Instance, Schedule
    from solvers.run.exact_run import ExactRun
    from solvers.run.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A proven lower bound, with everything that a reader needs to trust it or to prove it again.

    Parameters
    ----------
    value
        Ticks, or weighted ticks.
    method
        Name of the bound or of the exact method.
    proof
        What proves it, in a few words.
    solver
        Solver and version; None if no solver is needed.
    confirmed_by
        The second model that confirms it, None where none was asked or none could.
    is_optimum
        Whether a verified schedule with this objective is known, so that gaps to it are optimality gaps.
    objective_name
        The objective that is bounded; None if it is not stated.
    threads
        Threads of the method; None if they are not stated.
    seed
        Seed of the method; None if nothing is random or it is not stated.
    hardware
        Where it was computed (`solvers.run.versions.hardware`), None where that is not said.
    contention
        The rule that it rests on; a bound without one holds with and without contention.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3]], [(0, 1, 0)])
    >>> known = optgap.Bound(value=7, method="by hand", proof="the longest path")
    >>> optgap.solve(instance, "heft", bounds=[known]).bound.method
    'by hand'
    """

    value: int
    method: str
    proof: str
    seconds: float = 0.0
    solver: str | None = None
    confirmed_by: str | None = None
    is_optimum: bool = False
    objective_name: str | None = None
    threads: int | None = None
    seed: int | None = None
    hardware: str | None = None
    contention: Contention = Contention.NONE

    def to_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {**asdict(self), "contention": str(self.contention)}


def best_bound(bounds: Sequence[Bound]) -> Bound | None:
    """Return the largest bound; ties to one that is an optimum, then to the first."""
    return max(bounds, key=lambda bound: (bound.value, bound.is_optimum), default=None)


def with_proof(
    name: str,
    objective: str,
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
    instance: Instance,
    schedule: Schedule | None,
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
