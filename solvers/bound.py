"""A proven lower bound and what proves it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from instances.contention import Contention

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    seconds
        Time it took.
    solver
        Solver and version, None where none is needed.
    confirmed_by
        The second model that confirms it, None where none was asked or none could.
    is_optimum
        Whether a verified schedule with this objective is known, so that gaps to it are optimality gaps.
    objective_name
        What is bounded, None where that is not said.
    threads
        Of the method, None where that is not said.
    seed
        Of the method, None where nothing is random or that is not said.
    hardware
        Where it was computed (`solvers.versions.hardware`), None where that is not said.
    contention
        The rule that it rests on; a bound without one holds with and without contention.
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
