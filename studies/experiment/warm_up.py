"""Everything a method compiles or loads, paid before the clock runs."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from heuristics.dag.dag_arrays import dag_arrays
from instances.dag_instance import DagInstance
from studies.experiment.budget import Budget
from studies.experiment.execute_run import execute_run

if TYPE_CHECKING:
    from studies.experiment.execute_run import RunOrder

EVALUATIONS, SECONDS = 300, 2.0
"""Budget of a warm-up: several rounds of any population that is usual, on an instance that takes microseconds."""


class WarmUp:
    """Remembers what was warmed up in this process."""

    def __init__(self) -> None:
        self._done: set[tuple[object, ...]] = set()

    def __call__(self, order: RunOrder, instance: DagInstance) -> None:
        """Run the method of an order once on a tiny instance, unless that was done; failures show in the run itself."""
        dag_arrays(instance)  # kept per instance: the first method on it shall not pay for the others
        key = (order.kind, order.method, repr(sorted(order.parameters.items())), order.objective)
        if key in self._done:
            return
        self._done.add(key)
        budget = Budget(evaluations=EVALUATIONS) if order.kind == "search" else Budget(seconds=SECONDS)
        tiny = dataclasses.replace(order, budget=budget, bound=None, seed=0, threads=1)
        with contextlib.suppress(Exception):
            execute_run(tiny, _tiny_instance())


def _tiny_instance() -> DagInstance:
    """Return three tasks on two GPUs with memory limits, a pair that is not allowed, and transfers."""
    return DagInstance.from_lists(
        [[2, 3], [3, 2], [2, None]], [(0, 1, 1), (0, 2, 1)], task_memory=[1, 1, 1], gpu_memory=[3, 3], name="warm-up"
    )
