"""A proven lower bound and what proves it."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A proven lower bound.

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
        The second model that confirms it, None where none was asked.
    is_optimum
        Whether a verified schedule with this objective is known, so that gaps to it are optimality gaps.
    """

    value: int
    method: str
    proof: str
    seconds: float = 0.0
    solver: str | None = None
    confirmed_by: str | None = None
    is_optimum: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return asdict(self)
