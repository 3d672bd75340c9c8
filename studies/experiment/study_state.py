"""Where a running study stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyState:
    """Numbers of runs, and times in seconds.

    Parameters
    ----------
    planned, finished, failed, running, pending
        Runs in all, and how many are in each state; finished and failed ones count from all sessions.
    seconds
        Since this process began.
    seconds_left
        Best estimate, None before there is one.
    doing
        What was begun last, in a few words.
    """

    planned: int
    finished: int
    failed: int
    running: int
    pending: int
    seconds: float
    seconds_left: float | None
    doing: str
