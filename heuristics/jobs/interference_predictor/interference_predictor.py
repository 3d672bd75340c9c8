"""A model of y with the features that it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.resident import server_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.feature_space import FeatureSpace
    from heuristics.jobs.interference_predictor.resident import Resident
    from heuristics.jobs.interference_predictor.speed_model import SpeedModel
    from instances.jobs.jobs_instance import JobsInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InterferencePredictor:
    """Predicts y = ln(1000 / speed) of the jobs on a server.

    Parameters
    ----------
    space
        Which features.
    model
        Of y.
    """

    space: FeatureSpace
    model: SpeedModel

    def predict(self, instance: JobsInstance, server: int, residents: Sequence[Resident]) -> NDArray[np.float64]:
        """Return y of each job on a server, shape (residents,), float64; the largest over its partners on GPUs.

        A job alone is at full speed by definition, y = 0: the model is not asked (ours).

        Parameters
        ----------
        instance
            With interference.
        server
            Which one.
        residents
            All jobs on it.
        """
        y = np.zeros(len(residents))
        if len(residents) > 1:
            rows = server_rows(self.space, instance, server, residents)
            np.maximum.at(y, rows.resident, self.model.predict(rows.features))
        return y
