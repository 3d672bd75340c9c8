"""QSSF: quasi-shortest service first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.policies.key_policy import BlockingPolicy
from heuristics.jobs.policies.run_policy import run_policy, schedule_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np

    from heuristics.callback import Callback
    from heuristics.jobs.predictors.predictor import Predictor
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from instances.jobs.jobs_schedule import JobsSchedule

_KNOWS_FROM_THE_START = ("oracle", "noisy-oracle")
_NEVER_KNOWS = "none"


def qssf(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of estimated duration times GPUs, or of GPUs alone where there is no estimate.

    The first one without a placement blocks all others. There is no estimate before the first job has completed, but
    for an oracle, which always has one, and for ``none``, which never has. So it differs from `spwf` there only.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of predictor and placement.
    callback
        See `simulate`.
    predictor, predictor_parameters, placement
        See `run_policy`. A predictor that is no name counts as one that learns.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown.

    References
    ----------
    Hu et al. (2021), Characterization and prediction of deep learning workloads in large-scale GPU datacenters, SC, and
    github S-Lab-System-Group/HeliosArtifact: the rule. Deviations: our predictors; estimates are iterations times
    alpha_min.
    """
    simulation = run_policy(
        qssf_policy(instance, predictor),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )
    return schedule_of(simulation)


def qssf_policy(instance: JobsInstance, predictor: str | Predictor) -> QssfPolicy:
    """Return the policy, for one simulation with this predictor."""
    return QssfPolicy(JobShapes(instance), knows=predictor in _KNOWS_FROM_THE_START, learns=predictor != _NEVER_KNOWS)


class QssfPolicy(BlockingPolicy):
    """Knows whether there are estimates.

    Parameters
    ----------
    shapes
        As in `Policy`.
    knows
        Whether there are estimates before any job has completed.
    learns
        Whether there are afterwards.
    """

    def __init__(self, shapes: JobShapes, *, knows: bool, learns: bool) -> None:
        """Start with nobody waiting."""
        super().__init__(shapes, self._workload)
        self._has_estimates = knows
        self._learns = learns

    def complete(self, job: int, time: int) -> None:
        """Take note of the first completion."""
        self._has_estimates |= self._learns

    def _workload(self, shapes: JobShapes, job: int, prediction: int) -> int:
        """Return GPUs times estimated duration, or GPUs."""
        gpus = int(shapes.instance.gang_size[job])
        return gpus * shapes.predicted_duration(job, prediction) if self._has_estimates else gpus
