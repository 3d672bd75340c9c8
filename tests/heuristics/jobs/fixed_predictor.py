"""A predictor with given answers, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class FixedPredictor:
    """Answers what it was given and remembers the order of calls as (what, job, time)."""

    def __init__(self, answers: Sequence[int]) -> None:
        self.answers = answers
        self.calls: list[tuple[str, int, int]] = []

    def predict(self, job: int, time: int) -> int:
        """Return the given answer."""
        self.calls.append(("predict", job, time))
        return self.answers[job]

    def observe(self, job: int, time: int) -> None:
        """Remember the call."""
        self.calls.append(("observe", job, time))
