"""Runs a study: plans, hands the runs to an executor, stores every answer at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.versions import available_cores
from studies.experiment.denominators import check_contradictions
from studies.experiment.executors.local_executor import LocalExecutor
from studies.experiment.expand_instances import expand_instances
from studies.experiment.presence import Presence
from studies.experiment.study_plan import study_plan
from studies.experiment.study_session import StudySession
from studies.experiment.study_store import StudyStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studies.experiment.executors.executor import Executor
    from studies.experiment.study_spec import StudySpec
    from studies.experiment.study_state import StudyState


def run_study(
    spec: StudySpec,
    folder: Path,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    retry_failed: bool = False,
    on_state: Callable[[StudyState], None] = lambda state: None,
) -> StudyState:
    """Run whatever a study still lacks.

    Parameters
    ----------
    spec
        The study.
    folder
        Of the store; made where it does not exist. What is finished there is not repeated.
    workers
        Worker processes, by default as many as cores; a run with several threads counts as so many.
    executor
        Makes the runs elsewhere, such as a `DaskExecutor`; closed at the end. None makes them in worker processes here.
    retry_failed
        Whether runs that failed are made again.
    on_state
        Told several times a second how things stand.

    Returns
    -------
    StudyState
        At the end. Runs that another process is still making are counted as running.

    Raises
    ------
    OSError
        If the folder cannot be written.
    ValueError
        If the specification cannot be carried out, or both workers and an executor are given.
    ExecutorError
        If runs cannot be made at all; what was finished is stored.
    ContradictionError
        If a proof contradicts a schedule; a reproducer file is left, and what was finished is stored.
    KeyboardInterrupt
        At Ctrl-C; what was finished is stored, what was going on is not.
    """
    if executor is None:
        executor = LocalExecutor(available_cores() if workers is None else workers)
    elif workers is not None:
        raise ValueError(f"workers: expected none beside an executor, got {workers}.")
    try:
        study_plan(spec, [])  # methods and budgets are checked before anything is written
        with StudyStore(folder, create=True) as store:
            plan = study_plan(spec, expand_instances(spec, stored=store.stored_instance))
            store.write_plan(plan)
            if retry_failed:
                store.forget_failures()
            check_contradictions(store)
            with Presence(store) as presence:
                return StudySession(plan, store, presence, executor, on_state).run()
    finally:
        executor.close()
