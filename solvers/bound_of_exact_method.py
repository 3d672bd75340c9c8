"""What an exact method can stand for in a table of bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solvers.bound import Bound
    from solvers.jobs.jobs_result import JobsResult
    from solvers.result import Result


def bound_of_exact_method(name: str, result: Result | JobsResult) -> Bound:
    """Return its own bound, or one that it began with and did not have to raise; the result has a bound."""
    bound = result.bound
    assert bound is not None  # the caller looked
    if bound.method == name:
        return bound
    proof = f"{bound.method} meets a schedule" if bound.is_optimum else f"no more than {bound.method}"
    return replace(
        bound, method=name, proof=proof, seconds=result.runtime_seconds, threads=result.threads, seed=result.seed
    )
