"""How good the predictions of one predictor on one instance are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionQuality:
    """Errors of predicted iterations nhat over all jobs; where n is a run time, errors of run times.

    Parameters
    ----------
    instance, sha256
        Name and content hash.
    predictor
        Its name.
    jobs
        How many were predicted.
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
        How often the predictor was trained; None for one that is not.
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
    instance
        At least one job.
    predictor, fits
        As in `PredictionQuality`.
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
    """Say of each job whether a job of its group completed at or before its release, shape (jobs,)."""
    first: dict[str, int] = {}
    for group, time in zip(instance.group, completion.tolist(), strict=True):
        if group is not None:
            first[group] = min(time, first.get(group, time))
    arrivals = zip(instance.group, instance.release.tolist(), strict=True)
    return np.array([group in first and first[group] <= release for group, release in arrivals], dtype=np.bool_)
