"""How many floating-point operations an operator of ONNX takes, by the shapes of what it reads and writes."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


Shape = tuple[int, ...]

VIEWS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"})
"""Operators that hand their input on without touching it; dropout does so outside of training."""

_MOVES = (
    "Concat Split Slice Transpose Pad Gather GatherElements GatherND Expand Tile Resize Upsample DepthToSpace "
    "SpaceToDepth ScatterElements ScatterND Compress Trilu"
)
MOVES = frozenset(_MOVES.split())
"""Operators that only move data."""

_ELEMENT_WISE = (
    "Abs Add And BatchNormalization Cast Ceil Clip Div Elu Equal Erf Exp Floor Gelu Greater HardSigmoid "
    "HardSwish LeakyRelu Less Log Max Mean Min Mish Mul Neg Not Or PRelu Pow Reciprocal Relu Selu Sigmoid "
    "Softplus Sqrt Sub Sum Swish Tanh ThresholdedRelu Where"
)
ELEMENT_WISE = frozenset(_ELEMENT_WISE.split())
"""Operators whose output at a place follows from their inputs at that place, weights of a batch norm included."""

_UNKNOWN_COST = "If Loop Scan SequenceMap Attention NonMaxSuppression"
UNKNOWN_COST = frozenset(_UNKNOWN_COST.split())
"""Operators whose cost does not follow from shapes, or not as it is counted here."""


def _convolution(inputs: Sequence[Shape], outputs: Sequence[Shape], attributes: Mapping[str, Any]) -> float:
    """Two operations per element of the output and of the filter; bias."""
    return math.prod(outputs[0]) * (2.0 * math.prod(inputs[1][1:]) + (len(inputs) > 2))


def _transposed(inputs: Sequence[Shape], outputs: Sequence[Shape], attributes: Mapping[str, Any]) -> float:
    """Two operations per element of the input and of the filter; bias."""
    return 2.0 * math.prod(inputs[0]) * math.prod(inputs[1][1:]) + (len(inputs) > 2) * math.prod(outputs[0])


def _gemm(inputs: Sequence[Shape], outputs: Sequence[Shape], attributes: Mapping[str, Any]) -> float:
    """Two operations per element of the output and of the inner dimension; the matrix that is added."""
    inner = inputs[0][0] if attributes.get("transA", 0) else inputs[0][-1]
    return math.prod(outputs[0]) * (2.0 * inner + (len(inputs) > 2))


def _matrix_product(inputs: Sequence[Shape], outputs: Sequence[Shape], attributes: Mapping[str, Any]) -> float:
    """Two operations per element of the output and of the inner dimension."""
    return 2.0 * math.prod(outputs[0]) * inputs[0][-1]


def _einsum(inputs: Sequence[Shape], outputs: Sequence[Shape], attributes: Mapping[str, Any]) -> float:
    """Two operations per combination of all labels."""
    terms = re.sub(r"\s", "", attributes["equation"].decode()).partition("->")[0].split(",")
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, inputs, strict=True):
        if "." in term:
            raise ValueError("an ellipsis")
        sizes |= dict(zip(term, shape, strict=True))
    return 2.0 * math.prod(sizes.values())


def _recurrent(gates: int) -> Callable[[Sequence[Shape], Sequence[Shape], Mapping[str, Any]], float]:
    """Two operations per step, sequence, gate and weight of input and state, in each direction."""

    def flops(inputs: Sequence[Shape], outputs: Sequence[Shape], attributes: Mapping[str, Any]) -> float:
        steps, batch, width = inputs[0]
        directions, _, hidden = inputs[2]
        return 2.0 * steps * batch * directions * gates * hidden * (width + hidden)

    return flops


MATRIX_OPERATORS: dict[str, Callable[[Sequence[Shape], Sequence[Shape], Mapping[str, Any]], float]] = {
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "Gemm": _gemm,
    "MatMul": _matrix_product,
    "Einsum": _einsum,
    "LSTM": _recurrent(4),
    "GRU": _recurrent(3),
    "RNN": _recurrent(1),
}
"""Operators whose gradients cost as much as they do, once for each of their two operands."""

PER_ELEMENT = Counter({"Softmax": 5, "LogSoftmax": 6, "LayerNormalization": 8, "BatchNormalization": 2, "Gelu": 8})
"""Operations per element of the output where it is more than one, a convention that weighs little."""


def operator_flops(
    kind: str, inputs: Sequence[Shape], outputs: Sequence[Shape], attributes: Mapping[str, Any]
) -> float:
    """Return the floating-point operations of one operator, a multiplication and an addition being two.

    Matrix products, convolutions and recurrent layers are counted exactly, and so are pooling windows. Everything else
    counts one operation per element of its output (or of its input where it reduces), a few per element for softmax and
    norms. Moving data counts none.

    Raises a `ValueError`, or an `IndexError`, if the shapes are not those of such an operator.
    """
    if kind in VIEWS or kind in MOVES:
        return 0.0
    if kind in MATRIX_OPERATORS:
        return MATRIX_OPERATORS[kind](inputs, outputs, attributes)
    size = math.prod(outputs[0]) if outputs else 0
    if kind in ("MaxPool", "AveragePool", "LpPool"):
        return float(size * math.prod(attributes["kernel_shape"]))
    if kind.startswith(("Global", "Reduce", "Arg")):
        return float(math.prod(inputs[0]))
    if kind == "LRN":
        return float(size * (2 * attributes["size"] + 3))
    if kind in ("Sum", "Max", "Min", "Mean"):
        return float(size * max(len(inputs) - 1, 1))
    return float(size * max(PER_ELEMENT[kind], 1))


MEASURED_EFFICIENCY: dict[str, dict[str, dict[str, float]]] = {
    "fp32": {
        "element-wise": {
            "": 0.77,
            "P100": 0.71,
            "V100-32GB": 0.83,
            "T4": 0.79,
            "A100-40GB": 0.84,
            "A100-80GB": 0.61,
            "H100": 0.77,
        },
        "norm": {"": 0.50, "P100": 0.39, "T4": 0.59, "A100-40GB": 0.59, "A100-80GB": 0.35, "L4": 0.77, "H100": 0.39},
        "linear layer": {"": 0.73, "P100": 0.76, "T4": 0.52, "A100-80GB": 0.87, "L4": 0.33},
        "matrix product": {
            "": 0.57,
            "P100": 0.49,
            "V100-32GB": 0.58,
            "T4": 0.43,
            "A100-80GB": 0.59,
            "L4": 0.63,
            "H100": 0.50,
        },
        "softmax": {"": 0.77, "P100": 0.66, "T4": 0.75, "A100-40GB": 0.81, "A100-80GB": 0.69},
    },
    "fp16": {
        "embedding": {"": 0.17, "A40": 0.45, "A100-80GB": 0.14, "H100": 0.17},
        "norm": {"": 0.59, "A40": 0.63, "A100-80GB": 0.47, "H100": 0.59},
        "linear layer": {"": 0.65, "A40": 0.71, "A100-80GB": 0.65},
        "element-wise": {"": 0.52, "A40": 0.65},
    },
}
"""Roofline over measured time by precision, class and kind of GPU; "" stands for any kind that is not named.

Of single precision from NeuSight's measurements on seven kinds (Lee, Phanishayee and Mahajan (2025), NeuSight, ASPLOS;
github sitar-lab/NeuSight @ 6945927, MIT licence), of half precision from Vidur's on three (Agrawal and others (2024),
Vidur, MLSys; github microsoft/vidur @ 7d47513, MIT licence). The benchmark ``run_roofline_errors`` makes them,
docs/models.md, section 5 says how far they carry. Convolutions, pooling and moving data were not measured.
"""


OPERATOR_CLASSES = (
    "linear layer",
    "matrix product",
    "softmax",
    "norm",
    "embedding",
    "convolution",
    "attention",
    "element-wise",
)
"""What `operator_class` returns."""


def operator_class(kind: str, *, has_weights: bool) -> str | None:
    """Return the class of an operator in `MEASURED_EFFICIENCY`, of a fused one by its first part; None without one."""
    first = kind.partition("+")[0]
    if first in ("Gemm", "MatMul", "Einsum"):
        return "linear layer" if has_weights else "matrix product"
    if first in ("Softmax", "LogSoftmax"):
        return "softmax"
    if first.endswith("Normalization"):
        return "norm"
    if first == "Gather" and has_weights:
        return "embedding"
    if first in ("Conv", "ConvTranspose"):
        return "convolution"
    if first == "Attention":
        return "attention"
    return "element-wise" if first in ELEMENT_WISE else None
