"""The trace of a run, written while it goes on."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heuristics.search.progress import Callback, Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heuristics.search.clock import Stopwatch


class Recorder(Callback):
    """Keeps every improvement and passes everything on to the user's callback."""

    def __init__(self, callback: Callback, watch: Stopwatch) -> None:
        self._callback = callback
        self._watch = watch
        self._lock = threading.Lock()  # solvers report from threads of their own
        self.progress = Progress()
        self.trace: list[TracePoint] = []

    @property
    def wants_stop(self) -> bool:  # type: ignore[override]  # a view of the user's attribute
        """Whether the user's callback wants the run to stop."""
        return self._callback.wants_stop

    def on_start(self) -> None:
        """Pass on."""
        self._callback.on_start()

    def on_evaluation(self, progress: Progress) -> None:
        """Remember and pass on."""
        self.progress = progress
        self._callback.on_evaluation(progress)

    def on_incumbent(self, progress: Progress) -> None:
        """Keep and pass on."""
        self.progress = progress
        self._keep()
        self._callback.on_incumbent(progress)

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Pass on."""
        self._callback.on_round(row)

    def on_end(self, progress: Progress) -> None:
        """Pass on."""
        self._callback.on_end(progress)

    def report(self, objective: int | None, lower_bound: int | None) -> None:
        """Hear of a better objective or bound of an exact method."""
        with self._lock:
            before = self.progress
            better_objective = objective is not None and (before.objective is None or objective < before.objective)
            better_bound = lower_bound is not None and lower_bound > (before.lower_bound or 0)
            if not better_objective and not better_bound:
                return
            self.progress = replace(
                before,
                seconds=self._watch.seconds,
                objective=objective if better_objective else before.objective,
                lower_bound=lower_bound if better_bound else before.lower_bound,
            )
            self._keep()
            if better_objective:
                self._callback.on_incumbent(self.progress)
            if better_bound:
                self._callback.on_bound(self.progress)

    def _keep(self) -> None:
        """Add the state to the trace."""
        state = self.progress
        self.trace.append(
            TracePoint(
                seconds=state.seconds,
                evaluations=state.evaluations,
                objective=state.objective,
                lower_bound=state.lower_bound,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePoint:
    """State of a run at a time: seconds since it began, evaluations, best objective, best proven lower bound."""

    seconds: float
    evaluations: int
    objective: int | None
    lower_bound: int | None
