"""How long the rest of a study takes, learned from what was done so far."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from studies.experiment.estimate import estimated_seconds

if TYPE_CHECKING:
    from studies.experiment.study_plan import StudyPlan


class TimeLeft:
    """The estimates of all runs that are left, corrected by how long this process took for those that it made.

    Parameters
    ----------
    plan
        Of the study.
    done
        Keys of runs that will not be made again.
    num_threads
        Runs of one thread that are made at a time.
    """

    def __init__(self, plan: StudyPlan, done: set[str], num_threads: int) -> None:
        pairs = {item.instance.sha256: item.num_pairs for item in plan.instances}
        self._estimates = {
            run.key: estimated_seconds(run, pairs[run.sha256]) / max(1, num_threads // run.threads)
            for run in plan.runs
            if run.key not in done
        }
        self._left = sum(self._estimates.values())
        self._done = 0.0
        self._lock = threading.Lock()

    def finish(self, key: str) -> None:
        """Hear that a run was made."""
        with self._lock:
            estimate = self._estimates.pop(key, 0.0)
            self._done += estimate
            self._left -= estimate

    def seconds(self, taken: float) -> float | None:
        """Return the best estimate after so many seconds, None before there is one."""
        with self._lock:
            return max(0.0, self._left) * max(taken / self._done, 0.1) if self._done > 0 else None
