"""What a run brings back to the store."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """One answer; all fields but the error are None where there is nothing to say.

    Parameters
    ----------
    objective
        Of the verified schedule.
    bound, bound_method, bound_proof
        Proven by this run itself, not known before it.
    is_infeasible
        Whether it was proved that no schedule exists.
    termination
        Why the run ended.
    seconds
        Time of the method itself, without compilation and loading.
    evaluations
        Complete schedules built.
    trace
        JSON list of [seconds, evaluations, objective, bound] at every improvement.
    schedule
        JSON object of its arrays, see `schedule_text`.
    figures
        JSON object with the fields of `JobsStatistics`, of `MeasuredGuarantee` where something is proved about the run,
        and of `AgentsFigures` where several agents decided; of jobs only.
    error
        Why the run failed.
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
