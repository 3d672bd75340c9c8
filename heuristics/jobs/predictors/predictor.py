"""What every predictor looks like to a simulator."""

from __future__ import annotations

from typing import Protocol

UNKNOWN_ITERATIONS = 1000
"""Prediction where nothing at all has completed; a reconstruction of ours."""


class Predictor(Protocol):
    """Predicts the iterations of a job once, when it arrives, and learns of the true number when it completes.

    Calls come in order of time; inside a tick completions come before arrivals, each by job. So a prediction made at
    r[i] may use the jobs that completed at or before r[i], and no other.
    """

    def predict(self, job: int, time: int) -> int:
        """Return the predicted iterations of a job that arrives, at least 1.

        Parameters
        ----------
        job
            Who arrives; asked for once.
        time
            Now, in ticks.
        """
        ...

    def observe(self, job: int, time: int) -> None:
        """Learn the true iterations of a job that completes.

        Parameters
        ----------
        job
            Who completes; told once, after its prediction.
        time
            Now, in ticks.
        """
        ...
