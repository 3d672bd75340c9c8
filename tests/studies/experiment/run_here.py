"""Makes the runs of a study in this process: no worker has to be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.execute_run import RunOrder, WarmUp, execute_run
from studies.experiment.executor import ExecutedRun
from studies.experiment.instances import expand_instances
from studies.experiment.plan import PHASES, study_plan
from studies.experiment.run_study import RunOrders
from studies.experiment.store import StudyStore
from studies.experiment.stored_documents import read_stored_instance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from studies.experiment.run_answer import RunLimit
    from studies.experiment.specification import StudySpec


def run_here(spec: StudySpec, folder: Path) -> None:
    """Plan a study with one thread per run, and make all its runs."""
    with StudyStore(folder, create=True) as store:
        store.write_plan(study_plan(spec, expand_instances(spec)))
        orders, warm_up = RunOrders(store, str(spec.objective)), WarmUp()
        for phase in PHASES:
            while (row := store.claim("here", phase, 1)) is not None:
                order, instance = orders.order(row), store.instance(row["sha256"])
                warm_up(order, instance)
                store.finish(row["key"], "here", execute_run(order, instance), None)


ENVIRONMENT = '{"versions": {}, "hardware": "here", "revision": null}'


class HereExecutor:
    """One slot that makes runs in this process, without their limits; for tests of what comes after the runs."""

    num_threads = 1

    def __init__(self, workers: int = 1) -> None:
        del workers
        self._warm_up = WarmUp()

    def slots(self, threads: int) -> Sequence[HereExecutor]:
        """Return the slot, whatever the number of threads."""
        del threads
        return [self]

    def run(self, order: RunOrder, limit: RunLimit) -> ExecutedRun:
        """Make a run."""
        del limit
        instance = read_stored_instance(order.instance_path, order.sha256)
        self._warm_up(order, instance)
        return ExecutedRun(answer=execute_run(order, instance), environment=ENVIRONMENT)

    def stop(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
