"""What a learned predictor sees of a job when it arrives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.predictors.run_history import RunStatistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.predictors.keyed_histories import KeyedHistories
    from instances.jobs.jobs_instance import JobsInstance

KEYS = ("group", "user", "user_gpus", "model")
"""Kinds of key whose completed runs are described."""

CLOCK = ("hour_sine", "hour_cosine", "weekday_sine", "weekday_cosine")
"""Features that need to know the time of day and the day of the week."""

_DAY, _WEEK = 86_400.0, 604_800.0


class JobFeatures:
    """Computes the features of jobs that arrive, from the jobs that completed before.

    For each key of `KEYS`: completed runs; mean, median, last value and standard deviation of ln n over the last 20 of
    them; whether the key was missing, that is unknown or without a completed run. A missing key takes all five values
    of the next coarser one (group -> (user, GPUs) -> user -> all jobs; model -> all jobs). Where no job completed yet
    they are 0 runs, the logarithm of `unknown` and no deviation (ours). Then ln g, S, Q, ln(1 + sum of par over
    stages), and hour and weekday as sine and cosine where the time is known.

    Parameters
    ----------
    instance
        What is scheduled.
    histories
        The jobs that completed; kept up to date by its owner.
    unknown
        Iterations where nothing is known, at least 1.
    clock_seconds
        Seconds between Monday, 0:00 and tick 0, for instances whose releases follow a real clock; None leaves the
        features of the clock out. Neither instances nor the public cuts of traces carry it.
    """

    def __init__(
        self,
        instance: JobsInstance,
        histories: KeyedHistories,
        *,
        unknown: int,
        clock_seconds: float | None = None,
    ) -> None:
        self._histories = histories
        log_unknown = math.log(unknown)
        self._nothing = RunStatistics(0, log_unknown, log_unknown, log_unknown, 0.0)
        self._tick_seconds = instance.tick_seconds
        self._clock_seconds = clock_seconds
        parameters = np.array(
            [math.fsum(instance.parameter_bytes[instance.stages_of(job)].tolist()) for job in range(instance.num_jobs)]
        )
        self._of_job = np.column_stack(
            [
                np.log(instance.gang_size),
                np.diff(instance.stage_offsets),
                instance.micro_batches,
                np.log1p(parameters),
            ]
        ).tolist()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        of_key = (*RunStatistics._fields, "missing")
        names = tuple(f"{kind}_{name}" for kind in KEYS for name in of_key)
        clock = () if self._clock_seconds is None else CLOCK
        return (*names, "log_gpus", "stages", "micro_batches", "log_parameter_bytes", *clock)

    def of(self, job: int, time: int) -> NDArray[np.float64]:
        """Return the features of a job that arrives now, shape (features,), in the order of `names`."""
        values: list[float] = []
        for kind in KEYS:
            history = self._histories.finest(job, kind)
            values += self._nothing if history is None else history.statistics()
            values.append(float(self._histories.known(job, kind) is None))
        values += self._of_job[job]
        if self._clock_seconds is not None:
            seconds = time * self._tick_seconds + self._clock_seconds
            for period, phase in ((_DAY, seconds % _DAY), (_WEEK, seconds % _WEEK // _DAY * _DAY)):
                angle = 2 * math.pi * phase / period
                values += [math.sin(angle), math.cos(angle)]
        return np.array(values)
