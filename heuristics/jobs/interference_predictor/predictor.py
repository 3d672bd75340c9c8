"""A model of the slowness y with the features that it was fitted to, and its hash."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.array_files import arrays_sha256
from heuristics.jobs.interference_predictor.features import FeatureSpace, server_rows
from heuristics.jobs.interference_predictor.models import ConstantModel, NeuralNetworkModel, RidgeModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.features import RunningJob
    from heuristics.jobs.interference_predictor.models import SpeedModel
    from instances.jobs.instance import JobsInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InterferencePredictor:
    """Predicts y = ln(1000 / speed) of the jobs on a server."""

    space: FeatureSpace
    model: SpeedModel

    def predict(self, instance: JobsInstance, server: int, running: Sequence[RunningJob]) -> NDArray[np.float64]:
        """Return y of each job on a server, shape (jobs there,), float64; the largest over its partners on GPUs.

        A job alone is at full speed by definition, y = 0: the model is not asked (ours).
        """
        y = np.zeros(len(running))
        if len(running) > 1:
            rows = server_rows(self.space, instance, server, running)
            np.maximum.at(y, rows.position, self.model.predict(rows.features))
        return y


FORMAT = "optgap/interference-predictor 1"
"""First line of what is hashed."""

_MODELS: Mapping[str, type] = {"constant": ConstantModel, "ridge": RidgeModel, "network": NeuralNetworkModel}
_SPACE = ("classes", "resources", "kinds")


def predictor_sha256(predictor: InterferencePredictor) -> str:
    """Return the SHA-256 of format, names, shapes and values, the same on every machine."""
    return arrays_sha256(_arrays(predictor))


def _arrays(predictor: InterferencePredictor) -> dict[str, NDArray[np.generic]]:
    """Return everything as arrays by name."""
    model = predictor.model
    kind = next((name for name, one in _MODELS.items() if isinstance(model, one)), None)
    if kind is None:
        raise TypeError(f"model: expected one of {', '.join(_MODELS)}, got {type(model).__name__}.")
    numbers = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}  # type: ignore[arg-type]
    texts = {name: np.array(getattr(predictor.space, name), dtype=np.str_) for name in _SPACE}
    return {"format": np.array(FORMAT), "model": np.array(kind), **texts, **numbers}
