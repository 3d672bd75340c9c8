"""Online policies on many jobs instances, held against the offline optimum or a proven bound."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from instances.jobs.jobs_objective import JobsObjective
from studies.experiment.run_study import run_study
from studies.experiment.study_frame import to_frame
from studies.experiment.study_problem import JOBS
from studies.experiment.study_spec import ExactReference, InstanceFiles, JobsGrid, StudyMethod, StudySpec
from studies.experiment.study_store import StudyStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from studies.experiment.study_state import StudyState

EXACT_SECONDS = 60.0
"""Time limit of an exact method on an instance where none is given."""


def online_against_offline(
    instances: Sequence[JobsGrid | InstanceFiles],
    methods: Sequence[StudyMethod],
    *,
    objective: JobsObjective | str = JobsObjective.TOTAL_COMPLETION,
    exact: str | None = None,
    time_limit: float = EXACT_SECONDS,
    threads: int = 1,
    seed: int = 0,
    workers: int | None = None,
    on_state: Callable[[StudyState], None] = lambda state: None,
) -> pd.DataFrame:
    """Run every policy on every instance, as a study whose store is not kept.

    `run_study` with a specification of one's own does the same, keeps everything, and resumes.

    Parameters
    ----------
    instances
        What is scheduled: grids of generated instances, or patterns of jobs files.
    methods
        Policies with their parameters, see `studies.online.policy_entries`.
    objective
        What is minimised.
    exact
        Exact method that proves the optimum, or a bound, of every instance first; None for the bounds without search.
    time_limit
        Seconds for that, on every instance.
    threads
        For that.
    seed
        Of the study: every policy gets the same seed on an instance.
    workers
        Processes, by default as many as cores.
    on_state
        Told several times a second how things stand.

    Returns
    -------
    pandas.DataFrame
        One row per instance and policy, as `to_frame` returns it for jobs: objective, best proven bound and whether it
        is the optimum, gap, JCT and other figures in ticks; for A-SRPT in its provable mode the constants and the upper
        bound of `measured_guarantee`. A run that failed says so in `error`.

    Raises
    ------
    ValueError
        If a policy has no such parameter, or an instance cannot be made.
    ContradictionError
        If a schedule is below a proven bound or above an upper bound that is proved for its run; a reproducer file is
        left.
    """
    spec = StudySpec(
        name="online",
        folder=Path(),
        text="",
        problem=JOBS,
        seed=seed,
        objective=JobsObjective(objective),
        instances=tuple(instances),
        methods=tuple(methods),
        budgets=(),
        exact=() if exact is None else (ExactReference(method=exact, time_limit=time_limit, threads=threads),),
    )
    with tempfile.TemporaryDirectory(prefix="optgap-online-") as folder:
        run_study(spec, Path(folder), workers=workers, on_state=on_state)
        with StudyStore(Path(folder)) as store:
            return to_frame(store)
