"""Running a search as `solve` does, and keeping everything that it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heuristics.search.progress import Progress
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


class SearchTrace(Callback):
    """Keeps the progress after every evaluation and the row of every round."""

    def __init__(self) -> None:
        self.states: list[Progress] = []
        self.rounds: list[Mapping[str, float | None]] = []

    @property
    def objectives(self) -> list[int | None]:
        """Best objective after every evaluation."""
        return [state.objective for state in self.states]

    def on_evaluation(self, progress: Progress) -> None:
        """Keep it."""
        self.states.append(progress)

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Keep it."""
        self.rounds.append(row)


def search(
    method: Callable[..., DagSchedule | None],
    instance: DagInstance,
    seed: int,
    evaluations: int,
    objective: Objective = Objective.MAKESPAN,
    **options: Any,
) -> tuple[DagSchedule | None, SearchTrace]:
    """Run a search with a budget in evaluations, which must be kept to the unit."""
    trace = SearchTrace()
    schedule = method(instance, objective, np.random.default_rng(seed), MaxEvaluations(evaluations), trace, **options)
    assert [state.evaluations for state in trace.states] == list(range(1, evaluations + 1))
    return schedule, trace
