"""Online policies on many jobs instances, held against the offline optimum or a proven bound."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.jobs.objective import JobsObjective
from studies.analysis.frames import to_frame
from studies.experiment.run_study import run_study
from studies.experiment.specification import JOBS, ExactReference, InstanceFiles, JobsGrid, StudyMethod, StudySpec
from studies.experiment.store import StudyStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from studies.experiment.run_study import StudyState


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
        Policies with their parameters, see `studies.papers.online_policies`.
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


PREDICTING = ("spjf", "spwf", "wcs-duration", "wcs-workload", "qssf", "a-srpt")
"""Policies that look at predictions."""

BLIND = ("fifo", "wcs-subtime")
"""Policies that do not."""


GANG_RULES = ("load-balancing", "bin-packing", "least-interference", "drf", "tetris")
"""Policies that differ in where jobs go, or in whose turn it is; none predicts."""


def policy_entries(predictor: str = "oracle", **predictor_parameters: Any) -> list[StudyMethod]:
    """Return every policy, A-SRPT in both modes, all with one predictor, and shortest job first as it knows all."""
    given: dict[str, Any] = {"predictor": predictor}
    if predictor_parameters:
        given["predictor_parameters"] = predictor_parameters
    entries = [StudyMethod(label=name, method=name) for name in BLIND]
    entries += [StudyMethod(label=name, method=name, parameters=given) for name in PREDICTING]
    entries.append(
        StudyMethod(label="a-srpt, work-conserving", method="a-srpt", parameters={**given, "mode": "work_conserving"})
    )
    entries.append(StudyMethod(label="srtf (oracle)", method="srtf"))
    return entries


def noise_entries(
    factors: Sequence[float] = (1.0, 1.5, 2.0, 4.0, 8.0), methods: Sequence[str] = ("a-srpt", "spjf", "wcs-duration")
) -> list[StudyMethod]:
    """Return policies whose predictions are wrong by a factor of at most mu, for every mu.

    The predictor draws the same numbers for every mu: only the size of the error changes.
    """
    return [
        StudyMethod(
            label=f"{method}, mu={mu:g}",
            method=method,
            parameters={"predictor": "noisy-oracle", "predictor_parameters": {"mu": mu}},
        )
        for method in methods
        for mu in factors
    ]


def predictor_entries(
    predictors: Sequence[str] = ("oracle", "random-forest", "running-median", "none"),
    methods: Sequence[str] = ("a-srpt", "wcs-duration"),
) -> list[StudyMethod]:
    """Return policies with one predictor after the other."""
    return [
        StudyMethod(label=f"{method}, {predictor}", method=method, parameters={"predictor": predictor})
        for method in methods
        for predictor in predictors
    ]


def placement_entries(
    placements: Sequence[str] = ("heavy-edge", "consolidated", "stage-order", "random"),
    methods: Sequence[str] = ("a-srpt", "wcs-duration"),
) -> list[StudyMethod]:
    """Return policies with one placement rule after the other: what the order gains is kept apart from the rest."""
    return [
        StudyMethod(label=f"{method}, {placement}", method=method, parameters={"placement": placement})
        for method in methods
        for placement in placements
    ]


def gang_rule_entries(predictor: str = "oracle") -> list[StudyMethod]:
    """Return the rivals of learned policies that place jobs, FIFO and shortest predicted job first by load among them.

    Optimus is not among them: it chooses how many GPUs a
    job gets, which a rigid gang does not leave open.
    """
    by_load = {"placement": "load-balance"}
    return [
        *(StudyMethod(label=name, method=name) for name in GANG_RULES),
        StudyMethod(label="fifo, load-balance", method="fifo", parameters=by_load),
        StudyMethod(label="spjf, load-balance", method="spjf", parameters={"predictor": predictor, **by_load}),
    ]


def hold_entries(
    taus: Sequence[str] = ("0", "1/10", "1/4", "1/2", "1"), modes: Sequence[str] = ("provable", "work_conserving")
) -> list[StudyMethod]:
    """Return A-SRPT with longer and longer holds; tau = 0 is none."""
    return [
        StudyMethod(
            label=f"a-srpt, {mode.replace('_', '-')}, tau={tau}", method="a-srpt", parameters={"mode": mode, "tau": tau}
        )
        for mode in modes
        for tau in taus
    ]
