"""Online policies on many jobs instances, held against the offline optimum or a proven bound."""

from __future__ import annotations

import glob
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from heuristics.jobs.predictors.predictor import predictor_class
from instances.fields import one_of
from instances.generators.jobs.generate import ALL_JOBS_FAMILIES
from instances.jobs.json import read_jobs_instance
from instances.jobs.objective import JobsObjective
from instances.spelling import did_you_mean
from studies.analysis.frames import to_frame
from studies.analysis.online_summary import online_summary, summary_tables
from studies.experiment.check_store import blame_store
from studies.experiment.run_study import run_study
from studies.experiment.specification import JOBS, ExactReference, InstanceFiles, JobsGrid, StudyMethod, StudySpec
from studies.experiment.store import StudyStore
from studies.input import BadInputError, reading
from studies.options import Names, number, option
from studies.papers.study import PaperStudy, StudyCsv, StudyFigure, seed_option, seeds_option
from studies.report.jobs_figures import online_gaps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from studies.experiment.run_study import StudyState
    from studies.papers.study import Monitor


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
        Grids of generated instances, or patterns of jobs files.
    exact
        Exact method that proves the optimum, or a bound, of every instance first; None for the bounds without search.
    time_limit, threads
        Seconds and threads of the exact method on every instance.
    seed
        Seed of the study; every policy gets the same seed on an instance.
    workers
        Number of processes, by default that of cores.
    on_state
        Receives the state of the study several times a second.

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
"""Policies that use predictions."""

BLIND = ("fifo", "wcs-subtime")
"""Policies that use no predictions."""


GANG_RULES = ("load-balancing", "bin-packing", "least-interference", "drf", "tetris")
"""Policies that differ in the placement or in the order of jobs; none uses predictions."""


def policy_entries(predictor: str = "oracle", **predictor_parameters: Any) -> list[StudyMethod]:
    """Return every policy with one predictor, A-SRPT in both modes, and shortest job first with full knowledge."""
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
    return _with_each("predictor", predictors, methods)


def placement_entries(
    placements: Sequence[str] = ("heavy-edge", "consolidated", "stage-order", "random"),
    methods: Sequence[str] = ("a-srpt", "wcs-duration"),
) -> list[StudyMethod]:
    """Return policies with one placement rule after the other, which separates its effect from that of the order."""
    return _with_each("placement", placements, methods)


def _with_each(parameter: str, values: Sequence[str], methods: Sequence[str]) -> list[StudyMethod]:
    """Return every method with every value of a parameter."""
    return [
        StudyMethod(label=f"{method}, {value}", method=method, parameters={parameter: value})
        for method in methods
        for value in values
    ]


def gang_rule_entries(predictor: str = "oracle") -> list[StudyMethod]:
    """Return the rivals of learned policies that place jobs, among them FIFO and shortest predicted job first by load.

    Optimus is not one of them: it chooses how many GPUs a job gets, and a rigid gang leaves no such choice.
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
    """Return A-SRPT with longer and longer holds; tau = 0 is no hold."""
    return [
        StudyMethod(
            label=f"a-srpt, {mode.replace('_', '-')}, tau={tau}", method="a-srpt", parameters={"mode": mode, "tau": tau}
        )
        for mode in modes
        for tau in taus
    ]


COMPARISONS: dict[str, Callable[..., list[StudyMethod]]] = {
    "policies": policy_entries,
    "noise": noise_entries,
    "predictors": predictor_entries,
    "placements": placement_entries,
    "holds": hold_entries,
    "gang-rules": gang_rule_entries,
}
"""What `--compare` may name."""

WITH_PREDICTOR = ("policies", "gang-rules")
"""Comparisons in which all policies have one predictor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineOptions:
    """What `optgap study online` asks for."""

    files: list[Path] | None = option(
        None, "Jobs instances; by default a family is drawn.", metavar="FILE", is_argument=True, file="read"
    )
    compare: str = option("policies", f"One of {', '.join(COMPARISONS)}.", metavar="WHAT", names=Names(*COMPARISONS))
    family: str = option(
        "jobs-recurrent",
        "Family of jobs, as `optgap generate --list` names it.",
        metavar="NAME",
        names=Names(*ALL_JOBS_FAMILIES),
    )
    jobs: int = option(200, "Number of jobs of each instance.", low=1, high=1_000_000)
    loads: str = option("0.7,0.9,1.1", "Loads, separated by commas.", metavar="A,B")
    seeds: int = seeds_option(5)
    stored: Path | None = option(
        None, "Folder of a finished study of jobs to tabulate; nothing is run.", metavar="DIR", flag="--from"
    )
    predictor: str = option(
        "oracle",
        "Predictor of the policies that predict, with policies or gang-rules.",
        metavar="NAME",
        names=Names("heuristics.jobs.predictors.predictor:PREDICTORS"),
    )
    objective: str = option(
        "total_completion", "total_completion or weighted_completion.", metavar="NAME", parse=lambda text: text
    )
    exact: bool = option(False, "Prove every optimum first, by CP-SAT; for small instances.")
    time_limit: float = option(EXACT_SECONDS, "Time for each proof of --exact.", metavar="SECONDS", above=0)
    threads: int = option(1, "Threads of each proof.", metavar="T", low=1, high=1024)
    seed: int = seed_option()


class OnlineStudy(NamedTuple):
    """A row per run, and their summary."""

    runs: pd.DataFrame
    summary: pd.DataFrame


def _run(chosen: OnlineOptions, monitor: Monitor) -> OnlineStudy:
    """Run the policies, or read the runs of a study that is stored."""
    read_load = number("--loads", low_is_allowed=False, high=1e3)
    loads = tuple(read_load(part.strip()) for part in chosen.loads.split(","))
    if chosen.stored is not None:
        if chosen.files:
            raise BadInputError(f"--from: expected no files with a stored study, got {chosen.files[0]}.")
        try:
            with reading(chosen.stored), StudyStore(chosen.stored) as store:
                frame = to_frame(store)
        except Exception as error:
            blame_store(chosen.stored, error)
            raise
        if frame.empty or "jct_mean" not in frame:
            raise BadInputError(f"{chosen.stored}: expected a study of jobs with finished runs, got none.")
    else:
        methods, instances = _methods(chosen.compare, chosen.predictor), _instances(chosen, loads)
        objective = chosen.objective.replace("-", "_")
        if objective not in list(JobsObjective):
            expected = f"{' or '.join(JobsObjective)} for jobs"
            raise BadInputError(
                f"--objective: expected {expected}, got {objective!r}{did_you_mean(objective, JobsObjective)}."
            )
        frame = online_against_offline(
            instances,
            methods,
            objective=objective,
            exact="cp-sat" if chosen.exact else None,
            time_limit=chosen.time_limit,
            threads=chosen.threads,
            seed=chosen.seed,
            on_state=lambda state: monitor.update(state.doing, state.finished + state.failed, state.planned),
        )
    for (label, reason), group in frame[frame["status"] == "failed"].groupby(["label", "error"], sort=False):
        monitor.note(f"{label}: {len(group)} runs failed, such as on {group['instance'].iloc[0]}. {reason}")
    return OnlineStudy(frame, online_summary(frame))


def _methods(compare: str, predictor: str) -> list[StudyMethod]:
    """Return what is compared."""
    one_of(compare, COMPARISONS, "compare")
    if compare not in WITH_PREDICTOR:
        return COMPARISONS[compare]()
    predictor_class(predictor)  # raises for an unknown name
    return COMPARISONS[compare](predictor)


def _instances(chosen: OnlineOptions, loads: tuple[float, ...]) -> list[JobsGrid | InstanceFiles]:
    """Return what is scheduled; files are read once here, so that an error names a broken one."""
    if not chosen.files:
        one_of(chosen.family, ALL_JOBS_FAMILIES, "family")
        return [JobsGrid(families=(chosen.family,), jobs=(chosen.jobs,), loads=loads, count=chosen.seeds)]
    for file in chosen.files:
        with reading(file):
            read_jobs_instance(file)
    return [InstanceFiles(patterns=tuple(glob.escape(str(file.resolve())) for file in chosen.files))]


ONLINE = PaperStudy(
    options=OnlineOptions,
    run=_run,
    tables=lambda study: summary_tables(study.summary),
    document=lambda study, chosen: {"runs": json.loads(study.runs.to_json(orient="records")), "seed": chosen.seed},
    has_markdown=True,
    csv=StudyCsv(rows="a row per run", make=lambda study: study.runs.to_csv(index=False)),
    figure=StudyFigure(help="Gaps to draw", draw=lambda study: online_gaps(study.summary)),
    description="The runs of this quick comparison are not kept; `optgap study run online` is a study that keeps them.",
)
