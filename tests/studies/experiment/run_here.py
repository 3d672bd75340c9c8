"""Makes the runs of a study in this process: no worker has to be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.execute_run import WarmUp, execute_run
from studies.experiment.instances import expand_instances
from studies.experiment.plan import PHASES, study_plan
from studies.experiment.run_study import RunOrders
from studies.experiment.store import StudyStore

if TYPE_CHECKING:
    from pathlib import Path

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
