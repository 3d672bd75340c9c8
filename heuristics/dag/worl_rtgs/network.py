"""The value network that all GPUs share: weights, files, shipped weights, and the forward pass (Numba)."""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.array_files import read_arrays, write_arrays
from heuristics.dag.worl_rtgs.features import NUM_FEATURES, NUM_INPUTS
from instances.kernels import inlined_kernel, inner_kernel, overwrite

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray


NUM_HIDDEN = 64
"""Units of each of the two hidden layers."""

DOES_NOT_FIT = np.float32(-1e9)
"""Value of a GPU that the task does not fit on."""


class Weights(NamedTuple):
    """The network, float32: 36 inputs -> 64 -> 64 -> 1 with ReLU; row i of a matrix belongs to input i."""

    w1: NDArray[np.float32]  # (36, 64)
    b1: NDArray[np.float32]  # (64,)
    w2: NDArray[np.float32]  # (64, 64)
    b2: NDArray[np.float32]  # (64,)
    w3: NDArray[np.float32]  # (64, 1)
    b3: NDArray[np.float32]  # (1,)


SHAPES = {
    "w1": (NUM_INPUTS, NUM_HIDDEN),
    "b1": (NUM_HIDDEN,),
    "w2": (NUM_HIDDEN, NUM_HIDDEN),
    "b2": (NUM_HIDDEN,),
    "w3": (NUM_HIDDEN, 1),
    "b3": (1,),
}
"""Shape of every field of `Weights`."""


def initial_weights(rng: np.random.Generator) -> Weights:
    """Return random weights: He et al. (2015), variance 2 / inputs, biases 0, the last layer times 0.1."""
    arrays = {}
    for name, shape in SHAPES.items():
        if name.startswith("b"):
            arrays[name] = np.zeros(shape, dtype=np.float32)
            continue
        scale = math.sqrt(2.0 / shape[0]) * (0.1 if name == "w3" else 1.0)
        arrays[name] = (scale * rng.standard_normal(shape)).astype(np.float32)
    return Weights(**arrays)


def checked_weights(arrays: dict[str, NDArray[np.float32]], place: str) -> Weights:
    """Return arrays, by name, as weights in the memory layout that the kernels are compiled for.

    Raises a `ValueError` if a field of `Weights` is missing, has another shape or type, or is not finite; `place`
    begins the message.
    """
    fields = {}
    for name, shape in SHAPES.items():
        if name not in arrays:
            raise ValueError(f"{place}: expected arrays {', '.join(SHAPES)}, got {', '.join(arrays) or 'none'}.")
        array = np.asarray(arrays[name])
        if array.dtype != np.float32 or array.shape != shape:
            raise ValueError(f"{place}: expected {name} float32 {shape}, got {array.dtype} {array.shape}.")
        if not np.isfinite(array).all():
            raise ValueError(f"{place}: expected finite numbers in {name}, got {array[~np.isfinite(array)][0]}.")
        fields[name] = np.array(array, dtype=np.float32, order="C")
    return Weights(**fields)


def save_weights(path: str | PathLike[str], weights: Weights) -> None:
    """Write weights to a file of NumPy arrays named as the fields; the same weights give the same bytes."""
    checked = checked_weights(weights._asdict(), str(path))
    write_arrays(path, checked._asdict())


def load_weights(path: str | PathLike[str]) -> Weights:
    """Read weights that `save_weights` wrote.

    Raises a `ValueError` if the file is not such a file, see `checked_weights`, and an `OSError` if it cannot be read.
    """
    return checked_weights(read_arrays(path, "weights"), str(path))


def weights_sha256(weights: Weights) -> str:
    """Return the SHA-256 of the arrays' bytes, little-endian, in the order of the fields."""
    digest = hashlib.sha256()
    for array in weights:
        digest.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
    return digest.hexdigest()


@inlined_kernel
def _add_four(
    sums: NDArray[np.float32],
    matrix: NDArray[np.float32],
    inputs: tuple[int, int, int, int],
    values: tuple[float, float, float, float],
) -> None:
    """Add four inputs times their rows of a matrix, one after the other; the four share a load and a store of sums."""
    a, b, c, d = inputs
    x, y, z, v = values
    for unit in range(NUM_HIDDEN):
        sums[unit] = sums[unit] + x * matrix[a, unit] + y * matrix[b, unit] + z * matrix[c, unit] + v * matrix[d, unit]


@inner_kernel
def q_values(weights: Weights, rows: NDArray[np.float32], fits: NDArray[np.bool_], out: NDArray[np.float32]) -> None:
    """Write the value of every GPU that fits, `DOES_NOT_FIT` for the others.

    The input of a GPU is its own row, then means and maxima of the rows of all GPUs that fit; the contribution of the
    latter to the first layer is computed once. The inner loops run along the units of a layer and sum in a fixed order:
    they become vector instructions without fast-math, and the values do not depend on the width of the vectors. Inputs
    that ReLU has set to 0, about half, are skipped in the second layer.

    Parameters
    ----------
    rows
        Features of the GPUs that fit, shape (m, 12), float32; other rows are not read.
    out
        Written: the values, shape (m,), float32.
    """
    w1, b1, w2, b2, w3, b3 = weights
    context, first = np.empty(NUM_HIDDEN, dtype=np.float32), np.empty(NUM_HIDDEN, dtype=np.float32)
    second, active = np.empty(NUM_HIDDEN, dtype=np.float32), np.empty(NUM_HIDDEN, dtype=np.uint64)
    m, none = len(fits), np.float32(0.0)
    _write_context(w1, b1, rows, fits, context)
    for k in range(m):
        if not fits[k]:
            out[k] = DOES_NOT_FIT
            continue
        overwrite(first, context)
        row = rows[k]
        for feature in range(0, NUM_FEATURES, 4):
            inputs = (feature, feature + 1, feature + 2, feature + 3)
            _add_four(first, w1, inputs, (row[feature], row[feature + 1], row[feature + 2], row[feature + 3]))
        count = 0
        for unit in range(NUM_HIDDEN):
            active[count] = unit
            count += first[unit] > none
        overwrite(second, b2)
        for place in range(0, count - 3, 4):
            a, b, c, d = active[place], active[place + 1], active[place + 2], active[place + 3]
            _add_four(second, w2, (a, b, c, d), (first[a], first[b], first[c], first[d]))
        for place in range(count - count % 4, count):
            a = active[place]
            for unit in range(NUM_HIDDEN):
                second[unit] += first[a] * w2[a, unit]
        x, y, z, v = b3[0], none, none, none  # four independent sums, for parallel instructions
        for unit in range(0, NUM_HIDDEN, 4):
            x += max(second[unit], none) * w3[unit, 0]
            y += max(second[unit + 1], none) * w3[unit + 1, 0]
            z += max(second[unit + 2], none) * w3[unit + 2, 0]
            v += max(second[unit + 3], none) * w3[unit + 3, 0]
        out[k] = (x + y) + (z + v)


@inlined_kernel
def _write_context(
    w1: NDArray[np.float32],
    b1: NDArray[np.float32],
    rows: NDArray[np.float32],
    fits: NDArray[np.bool_],
    context: NDArray[np.float32],
) -> None:
    """Write the part of the first layer that comes from biases, means and maxima, the same for every GPU of a step."""
    count = 0
    for k in range(len(fits)):
        count += fits[k]
    overwrite(context, b1)
    for feature in range(NUM_FEATURES):
        total = 0.0  # mean in double precision: it hardly depends on the order of GPUs
        largest = np.float32(-np.inf)
        for k in range(len(fits)):
            if fits[k]:
                total += rows[k, feature]
                largest = max(largest, rows[k, feature])
        mean = np.float32(total / max(count, 1))
        for unit in range(NUM_HIDDEN):
            context[unit] += mean * w1[NUM_FEATURES + feature, unit] + largest * w1[2 * NUM_FEATURES + feature, unit]


SHIPPED = "ddqn_v1"
"""Name of the shipped files: weights (.npz) and their provenance (.json)."""

OTHER_TRAININGS = ("ddqn_v1_seed1", "ddqn_v1_seed2", "ddqn_obedient", "ddqn_obedient_seed1")
"""Names of more weights, shipped so that studies can vary the training: two more seeds, and two trained to obey."""


@cache
def shipped_weights(name: str = SHIPPED) -> Weights:
    """Return trained weights; they are read and checked on first use; raises as `matching_weights`."""
    with as_file(files("heuristics.dag.worl_rtgs") / "weights") as folder:
        return matching_weights(folder / f"{name}.npz", folder / f"{name}.json")


def matching_weights(path: Path, provenance_path: Path) -> Weights:
    """Return weights whose hash equals ``weights_sha256`` in their provenance file.

    Raises a `ValueError` if a file is damaged, or the two do not belong together, and an `OSError` if a file cannot be
    read.
    """
    weights = load_weights(path)
    try:
        provenance = json.loads(provenance_path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{provenance_path}: expected a JSON document, got something else ({error}).") from error
    expected = provenance.get("weights_sha256") if isinstance(provenance, dict) else None
    found = weights_sha256(weights)
    if found != expected:
        raise ValueError(f"{path}: expected weights of SHA-256 {expected}, as in {provenance_path.name}, got {found}.")
    return weights


def weights_from(path: str | PathLike[str] | None) -> Weights:
    """Return the weights in a file as `load_weights` does, or shipped ones: by name, the usual ones without a path."""
    if path in (SHIPPED, *OTHER_TRAININGS):
        return shipped_weights(str(path))
    return shipped_weights() if path is None else load_weights(path)
