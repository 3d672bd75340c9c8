"""How well iterations of jobs are predicted, over instances in order of time.

See docs/methods/a_srpt.md, section 6.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.predictors.predictor import PREDICTORS, predictor_named
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.iteration_time import least_durations
from instances.jobs.servers import JobsServer
from instances.readers.jobs.philly_and_helios import parse_gpu_trace
from instances.text_file import read_text
from solvers.table import Table
from studies.experiment.plan import paired_seed
from studies.input import reading
from studies.options import Names, option
from studies.papers.study import PaperStudy, StudyCsv, rows_csv, seed_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.predictors.predictor import Predictor
    from instances.readers.jobs.philly_and_helios import GpuTraceJob
    from studies.papers.study import Monitor


def prediction_study(
    instances: Iterable[JobsInstance],
    predictors: Iterable[str] = tuple(PREDICTORS),
    *,
    seed: int = 0,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    on_quality: Callable[[PredictionQuality], None] = lambda quality: None,
) -> list[PredictionQuality]:
    """Let every predictor predict every job of every instance at its arrival, and compare with the truth.

    Jobs complete at release plus the shortest duration: traces of run times record no waiting, so that a predictor
    learns of a job as soon as it could. That is a split by time at every job: each prediction rests on the jobs that
    completed by then (`replay_predictions`). With `recorded_run_times` the iterations are recorded seconds and the
    errors those of run times; with the readers' instances they are iterations of modelled networks.

    Parameters
    ----------
    predictors
        Names in `PREDICTORS`.
    seed
        Seed of the forests and of noise; every instance has a stream of its own, the same for all predictors.
    parameters
        Parameters of predictors by name.
    on_quality
        Receives every result as soon as it is known.

    Returns
    -------
    list of PredictionQuality
        One per instance and predictor, in order.

    Raises
    ------
    ValueError
        If a predictor or a parameter is unknown, or an instance has no jobs.
    """
    names = list(predictors)
    given = {} if parameters is None else parameters
    for name in given:
        if name not in names:
            raise ValueError(f"parameters: expected names among {', '.join(names)}, got {name!r}.")
    rows = []
    for instance in instances:
        completion = instance.release + least_durations(instance)
        for name in names:
            rng = np.random.default_rng(paired_seed(seed, instance))
            predictor = predictor_named(name, instance, rng, **given.get(name, {}))
            predictions = replay_predictions(instance, predictor, completion)
            fits = getattr(predictor, "fits_", None)
            counted = None if fits is None else len(fits)
            rows.append(prediction_quality(instance, name, predictions, completion, fits=counted))
            on_quality(rows[-1])
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionQuality:
    """Errors of predicted iterations nhat over all jobs; where n is a run time, errors of run times.

    Parameters
    ----------
    known_share
        Share of jobs whose group had a completed run when they arrived.
    mean_absolute_log10
        Mean of abs(log10(nhat / n)).
    later_mean_absolute_log10
        The same over the later half of the jobs by arrival, when more was known.
    root_mean_square_log10
        Root of the mean of log10(nhat / n)**2.
    mean_log10
        Mean of log10(nhat / n): below 0 if predictions are too small.
    ratio_median, ratio_95, ratio_largest
        Median, 95 % point and maximum of max(nhat / n, n / nhat).
    mean_absolute_percentage
        100 * mean of abs(nhat - n) / n; a few long predictions for short jobs decide it.
    fits
        How often the predictor was trained; None for a predictor without training.
    """

    instance: str
    sha256: str
    predictor: str
    jobs: int
    known_share: float
    mean_absolute_log10: float
    later_mean_absolute_log10: float
    root_mean_square_log10: float
    mean_log10: float
    ratio_median: float
    ratio_95: float
    ratio_largest: float
    mean_absolute_percentage: float
    fits: int | None = None


def prediction_quality(
    instance: JobsInstance,
    predictor: str,
    predictions: NDArray[np.int64],
    completion: NDArray[np.int64],
    *,
    fits: int | None = None,
) -> PredictionQuality:
    """Compare predictions with the truth.

    Parameters
    ----------
    predictions
        At least 1, shape (jobs,).
    completion
        When each job completed, in ticks, shape (jobs,).

    Raises
    ------
    ValueError
        If there are no jobs, or not one prediction of at least 1 per job.
    """
    truth = instance.iterations
    if not len(truth):
        raise ValueError("jobs: expected at least one, got none.")
    if predictions.shape != truth.shape or predictions.min() < 1:
        raise ValueError(f"predictions: expected {len(truth)} numbers of at least 1, got {predictions}.")
    errors = np.log10(predictions) - np.log10(truth)
    ratios = 10 ** np.abs(errors)
    by_arrival = np.argsort(instance.release, kind="stable")
    relative = np.abs(predictions.astype(np.float64) - truth) / truth
    return PredictionQuality(
        instance=instance.name,
        sha256=instance.sha256,
        predictor=predictor,
        jobs=len(truth),
        known_share=float(known_groups(instance, completion).mean()),
        mean_absolute_log10=float(np.abs(errors).mean()),
        later_mean_absolute_log10=float(np.abs(errors[by_arrival[len(truth) // 2 :]]).mean()),
        root_mean_square_log10=float(np.sqrt(np.square(errors).mean())),
        mean_log10=float(errors.mean()),
        ratio_median=float(np.median(ratios)),
        ratio_95=float(np.percentile(ratios, 95)),
        ratio_largest=float(ratios.max()),
        mean_absolute_percentage=float(100 * relative.mean()),
        fits=fits,
    )


def known_groups(instance: JobsInstance, completion: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether a job of the same group completed at or before the release of each job, shape (jobs,)."""
    first: dict[str, int] = {}
    for group, time in zip(instance.group, completion.tolist(), strict=True):
        if group is not None:
            first[group] = min(time, first.get(group, time))
    arrivals = zip(instance.group, instance.release.tolist(), strict=True)
    return np.array([group in first and first[group] <= release for group, release in arrivals], dtype=np.bool_)


def replay_predictions(
    instance: JobsInstance, predictor: Predictor, completion: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Let a predictor predict every job at its release and observe every job at its completion, in order of time.

    Within a tick completions come before arrivals, each by job, as in the simulator. A prediction never uses knowledge
    of its own time or later, which is a split by time at every job.

    Parameters
    ----------
    predictor
        A predictor without observations.
    completion
        When each job completes, in ticks, after its release, shape (jobs,), int64. Default: release plus the shortest
        duration, that is without any wait; waiting in a queue only delays what a predictor learns.

    Returns
    -------
    NDArray[np.int64]
        Predicted iterations of every job, shape (jobs,).

    Raises
    ------
    ValueError
        If there is not one completion per job, after its release.
    """
    if completion is None:
        completion = instance.release + least_durations(instance)
    if completion.shape != instance.release.shape:
        raise ValueError(f"completion: expected shape {instance.release.shape}, got {completion.shape}.")
    if (early := np.flatnonzero(completion <= instance.release)).size:
        job = early[0]
        raise ValueError(f"completion[{job}]: expected more than {instance.release[job]}, got {completion[job]}.")
    predictions = np.zeros(instance.num_jobs, dtype=np.int64)
    arrivals, times = np.argsort(instance.release, kind="stable"), completion.tolist()
    ends = np.argsort(completion, kind="stable").tolist()
    num_ended = 0
    for job in arrivals.tolist():
        now = int(instance.release[job])
        while times[ends[num_ended]] <= now:  # the job that arrives has not ended, so the list does not run out
            predictor.observe(ends[num_ended], times[ends[num_ended]])
            num_ended += 1
        predictions[job] = predictor.predict(job, now)
    return predictions


def recorded_run_times(trace: Sequence[GpuTraceJob], *, name: str, skip_rows: int = 0) -> JobsInstance:
    """Make an instance in which predicting iterations is predicting recorded run times, and nothing is modelled.

    A tick is a second and so is an iteration: n is the recorded run time, at least 1, and lasts as long wherever the
    job runs. Jobs have one stage of as many replicas as GPUs were asked for, on one server that holds the widest. There
    are no networks, so S, Q and par are the same for all jobs and the model is unknown. The group is (user, GPUs), as
    in the readers. For judging predictors, not for scheduling.

    Parameters
    ----------
    trace
        Jobs in order of arrival; those without GPUs are left out.
    skip_rows
        Rows at the beginning that are left out; the first job that is kept arrives at 0.

    Raises
    ------
    ValueError
        If no job is left.
    """
    kept = [job for job in trace[skip_rows:] if job.gpus >= 1]
    if not kept:
        raise ValueError(f"skip_rows: expected jobs with GPUs after row {skip_rows}, got none.")
    jobs = [
        Job(
            name=str(job.number),
            stages=[Stage(times=1, replicas=job.gpus)],
            release=job.arrival_seconds - kept[0].arrival_seconds,
            iterations=max(1, job.run_seconds),
            user=f"u{job.user}",
            group=f"u{job.user}-g{job.gpus}",
        )
        for job in kept
    ]
    server = JobsServer(kind="any", gpus=max(job.gpus for job in kept), nic_bytes_per_tick=1)
    return JobsInstance.from_parts([server], jobs, name=name)


HEADINGS = ("predictor", "MAE", "later", "RMSE", "bias", "50 %", "95 %", "max", "MAPE", "fits")
"""Columns of the table; see `CAPTION`."""

CAPTION = """MAE, RMSE, bias: of log10(nhat / n); later: MAE over the later half of the jobs.
50 %, 95 %, max: of max(nhat / n, n / nhat); MAPE: mean of |nhat - n| / n in percent.
Every job predicted at arrival from jobs completed by then, at release plus shortest duration."""


def prediction_tables(rows: Sequence[PredictionQuality]) -> list[Table]:
    """Return one table per instance, with the predictor of the smallest MAE in bold, oracles excluded."""
    tables = []
    for sha256 in dict.fromkeys(row.sha256 for row in rows):
        own = [row for row in rows if row.sha256 == sha256]
        honest = [row for row in own if row.predictor not in ("oracle", "noisy-oracle")]
        best = min(honest, key=lambda row: row.mean_absolute_log10, default=None)
        title = f"{own[0].instance}: {own[0].jobs} jobs, {own[0].known_share:.1%} with a known group"
        tables.append(
            Table(
                headings=HEADINGS,
                rows=[_cells(row) for row in own],
                title=title,
                notes=CAPTION.splitlines(),
                bold=None if best is None else own.index(best),
            )
        )
    return tables


def _cells(row: PredictionQuality) -> list[str]:
    """Return one line."""
    logs = (row.mean_absolute_log10, row.later_mean_absolute_log10, row.root_mean_square_log10)
    ratios = (row.ratio_median, row.ratio_95, row.ratio_largest, row.mean_absolute_percentage)
    return [
        row.predictor,
        *(f"{value:.3f}" for value in logs),
        f"{row.mean_log10:+.3f}",
        *(f"{value:.3g}".replace("e+0", "e") for value in ratios),
        "-" if row.fits is None else str(row.fits),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionOptions:
    """What `optgap study prediction` asks for."""

    files: list[Path] = option(
        ...,
        "Traces in the form of the public cuts of Philly and Helios.",
        metavar="FILE",
        is_argument=True,
        file="read",
    )
    predictors: str = option(
        ",".join(PREDICTORS),
        "Predictors, separated by commas; forests take minutes.",
        metavar="A,B",
        names=Names(*PREDICTORS, separator=","),
    )
    skip_rows: int = option(0, "Rows of each trace to leave out at its beginning; 1000 suit Philly's.", low=0)
    seed: int = seed_option()


def _run(chosen: PredictionOptions, monitor: Monitor) -> list[PredictionQuality]:
    """Predict the recorded run times of all traces."""
    instances = []
    for file in chosen.files:
        with reading(file):
            trace = parse_gpu_trace(read_text(file))
            instances.append(recorded_run_times(trace, name=file.name.split(".")[0], skip_rows=chosen.skip_rows))
    names = [name.strip() for name in chosen.predictors.split(",")]
    total = len(names) * len(instances)
    done: list[PredictionQuality] = []

    def on_quality(row: PredictionQuality) -> None:
        done.append(row)
        monitor.update(f"{row.instance}, {row.predictor}", len(done), total)

    return prediction_study(instances, names, seed=chosen.seed, on_quality=on_quality)


PREDICTION = PaperStudy(
    options=PredictionOptions,
    run=_run,
    tables=prediction_tables,
    document=lambda rows, chosen: {"seed": chosen.seed, "rows": [asdict(row) for row in rows]},
    has_markdown=True,
    csv=StudyCsv(rows="a row per trace and predictor", make=rows_csv),
)
