"""What a run may take before it is killed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.experiment.study_spec import StudySpec

LIMIT_FACTOR, LIMIT_SECONDS = 10.0, 60.0
"""A run that overruns its budget in seconds by this factor and this time is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimit:
    """Hard limits of one run; None for none.

    Parameters
    ----------
    seconds
        Wall time, counted from the end of the warm-up.
    memory_gib
        Physical memory of the process of the run and of everything that it started, together.
    """

    seconds: float | None = None
    memory_gib: float | None = None


def run_limit(spec: StudySpec, budget_seconds: float | None) -> RunLimit:
    """Return the limits of a run with a budget: those of the specification, else a multiple of its seconds."""
    seconds = spec.run_seconds
    if seconds is None and budget_seconds is not None:
        seconds = LIMIT_FACTOR * budget_seconds + LIMIT_SECONDS
    return RunLimit(seconds=seconds, memory_gib=spec.memory_gib)
