"""Everything a method compiles or loads, paid before the clock runs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import TYPE_CHECKING

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.jobs.jobs_arrays import jobs_arrays
from instances.dag_instance import DagInstance
from instances.generators.jobs.generate_jobs import generate_jobs
from instances.jobs.jobs_document import jobs_instance_document
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_json import jobs_instance_from_json
from studies.experiment.budget import Budget
from studies.experiment.execute_run import execute_run
from studies.experiment.network_sha256 import AGENTS

if TYPE_CHECKING:
    from studies.experiment.execute_run import RunOrder

EVALUATIONS, SECONDS = 300, 2.0
"""Budget of a warm-up: several rounds of any population that is usual, on an instance that takes microseconds."""

TRAINING_JOBS, OWN_JOBS, EXACT_JOBS = 160, 40, 2
"""Jobs of a warm-up. For policies: enough that forests are trained (after 50 completions) and asked, and the first jobs
of the instance itself, half of them at most, for kernels that only its features need."""


class WarmUp:
    """Remembers what was warmed up in this process."""

    def __init__(self) -> None:
        self._done: set[tuple[object, ...]] = set()

    def __call__(self, order: RunOrder, instance: DagInstance | JobsInstance) -> None:
        """Run the method of an order once on a tiny instance, unless that was done; failures show in the run itself."""
        # Kept per instance: the first method on it shall not pay for the others.
        jobs_arrays(instance) if isinstance(instance, JobsInstance) else dag_arrays(instance)
        key = (order.kind, order.method, repr(sorted(order.parameters.items())), order.objective, _features(instance))
        if key in self._done:
            return
        self._done.add(key)
        budget = Budget(evaluations=EVALUATIONS) if order.kind == "search" else Budget(seconds=SECONDS)
        tiny = dataclasses.replace(order, budget=budget, bound=None, seed=0, threads=1)
        with contextlib.suppress(Exception):
            for small in _tiny_jobs(order, instance) if isinstance(instance, JobsInstance) else [_tiny_instance()]:
                execute_run(tiny, small)


def _tiny_instance() -> DagInstance:
    """Return three tasks on two GPUs with memory limits, a pair that is not allowed, and transfers."""
    return DagInstance.from_lists(
        [[2, 3], [3, 2], [2, None]], [(0, 1, 1), (0, 2, 1)], task_memory=[1, 1, 1], gpu_memory=[3, 3], name="warm-up"
    )


def _tiny_jobs(order: RunOrder, instance: JobsInstance) -> list[JobsInstance]:
    """Return jobs of real networks and the first ones of the instance for a policy, few for anything else.

    Agents with networks get the second ones only unless they ask forests: so many jobs are seconds of decisions, and
    there is nothing to compile for.
    """
    if order.kind != "policy":
        return [generate_jobs("jobs-small", jobs=EXACT_JOBS, seed=0, load=1.0, name="warm-up")]
    document = jobs_instance_document(instance)
    document["jobs"] = document["jobs"][: min(OWN_JOBS, instance.num_jobs // 2)]
    own = jobs_instance_from_json(json.dumps(document))
    if order.method == AGENTS and "forest" not in str(order.parameters.get("predictor")):
        return [own]
    return [generate_jobs("jobs-recurrent", jobs=TRAINING_JOBS, seed=0, load=0.9, name="warm-up"), own]


def _features(instance: DagInstance | JobsInstance) -> tuple[bool, ...]:
    """Return what decides beside the method which kernels run."""
    if not isinstance(instance, JobsInstance):
        return ()
    return (instance.interference is not None, instance.racks is not None, instance.share > 1)
