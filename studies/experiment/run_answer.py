"""What a run may take before it is killed, and what it brings back to the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.experiment.specification import StudySpec


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """One answer; all fields but the error are None where there is nothing to say.

    Parameters
    ----------
    bound, bound_method, bound_proof
        Proven by this run itself, not known before it.
    is_infeasible
        Whether it was proved that no schedule exists.
    seconds
        Time of the method itself, without compilation and loading.
    trace
        JSON list of [seconds, evaluations, objective, bound] at every improvement.
    schedule
        JSON object of its arrays, see `schedule_text`.
    figures
        JSON object with the fields of `JobsStatistics`, of `MeasuredGuarantee` where something is proved about the run,
        and of `AgentsFigures` where several agents decided; of jobs only.
    is_interrupted
        Whether the run was stopped from outside: it counts as not made.
    is_contradiction
        Whether the failure is a proof that contradicts a schedule.
    """

    objective: int | None = None
    bound: int | None = None
    bound_method: str | None = None
    bound_proof: str | None = None
    is_infeasible: bool = False
    termination: str | None = None
    seconds: float | None = None
    evaluations: int | None = None
    trace: str | None = None
    schedule: str | None = None
    figures: str | None = None
    error: str | None = None
    is_interrupted: bool = False
    is_contradiction: bool = False


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
