"""A model of the slowness y with the features that it was fitted to, and its file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.array_files import arrays_sha256, load_arrays, save_arrays
from heuristics.jobs.interference_predictor.features import FeatureSpace, server_rows
from heuristics.jobs.interference_predictor.models import NUM_HIDDEN, ConstantModel, NeuralNetworkModel, RidgeModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

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
"""First line of what is hashed, and an array of the file."""

_MODELS: Mapping[str, type] = {"constant": ConstantModel, "ridge": RidgeModel, "network": NeuralNetworkModel}
_SPACE = ("classes", "resources", "kinds")


def save_predictor(path: str | PathLike[str], predictor: InterferencePredictor) -> None:
    """Write a predictor; the same one gives the same bytes."""
    save_arrays(path, _arrays(predictor))


def predictor_sha256(predictor: InterferencePredictor) -> str:
    """Return the SHA-256 of format, names, shapes and values, the same on every machine."""
    return arrays_sha256(_arrays(predictor))


def load_predictor(path: str | PathLike[str]) -> InterferencePredictor:
    """Read a predictor that `save_predictor` wrote; nothing in the file is executed.

    Raises a `ValueError` if the file is no such file, or its hash is another, and an `OSError` if it cannot be read.
    """
    arrays = load_arrays(path, "predictor", FORMAT)
    return _predictor(arrays, str(path))


def _arrays(predictor: InterferencePredictor) -> dict[str, NDArray[np.generic]]:
    """Return everything as arrays by name."""
    model = predictor.model
    kind = next((name for name, one in _MODELS.items() if isinstance(model, one)), None)
    if kind is None:
        raise TypeError(f"model: expected one of {', '.join(_MODELS)}, got {type(model).__name__}.")
    numbers = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}  # type: ignore[arg-type]
    texts = {name: np.array(getattr(predictor.space, name), dtype=np.str_) for name in _SPACE}
    return {"format": np.array(FORMAT), "model": np.array(kind), **texts, **numbers}


def _predictor(arrays: dict[str, NDArray[np.generic]], place: str) -> InterferencePredictor:
    """Return the predictor that the arrays are of, checked."""
    space = FeatureSpace(**{name: tuple(map(str, arrays.get(name, np.zeros(0)).tolist())) for name in _SPACE})
    kind, inputs = str(arrays.get("model", "")), space.num_features
    if kind not in _MODELS:
        raise ValueError(f"{place}: expected model {', '.join(_MODELS)}, got {kind!r}.")
    of_features = {"mean": (inputs,), "scale": (inputs,)}
    hidden = (NUM_HIDDEN,)
    shapes_of: dict[str, dict[str, tuple[int, ...]]] = {
        "constant": {"value": ()},
        "ridge": {**of_features, "weights": (inputs,), "intercept": ()},
        "network": {
            **of_features,
            **{"w1": (inputs, *hidden), "b1": hidden, "w2": hidden * 2, "b2": hidden, "w3": (*hidden, 1), "b3": (1,)},
        },
    }
    shapes = shapes_of[kind]
    for name, shape in shapes.items():
        array = arrays.get(name)
        if array is None or array.dtype.kind != "f" or array.shape != shape:
            got = "none" if array is None else f"{array.dtype} {array.shape}"
            raise ValueError(f"{place}: expected {name} of {shape} numbers, got {got}.")
        if not np.isfinite(array.astype(np.float64)).all():
            raise ValueError(f"{place}: expected finite numbers in {name}, got others.")
    model: SpeedModel = _MODELS[kind](**{name: arrays[name] for name in shapes})
    return InterferencePredictor(space=space, model=model)
