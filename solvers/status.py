"""What is known after a run, and why it ended."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What is known."""

    OPTIMAL = "optimal"
    """There is a verified schedule, and its objective equals a proven lower bound."""
    FEASIBLE = "feasible"
    """There is a verified schedule."""
    INFEASIBLE = "infeasible"
    """There is a proof that no schedule exists."""
    UNKNOWN = "unknown"
    """There is neither."""


class Termination(StrEnum):
    """Why a run ended."""

    FINISHED = "finished"
    """The method had nothing left to do, or a criterion that is no budget was met."""
    TIME_LIMIT = "time_limit"
    EVALUATIONS = "evaluations"
    """The budget of evaluations, or of iterations, was used."""
    INTERRUPTED = "interrupted"
    """By Ctrl-C or a callback."""
    FAILED = "failed"
    """The back end gave up."""
