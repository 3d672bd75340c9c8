"""Work of neural-network layers from their shapes, in half precision."""

from __future__ import annotations

from dataclasses import dataclass

ELEMENT_BYTES = 2
"""Half precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerWork:
    """What a layer computes, moves and keeps in one forward pass.

    Parameters
    ----------
    flops
        Floating-point operations; a multiplication with addition counts as two.
    moved_bytes
        Inputs, parameters and outputs, each once.
    parameter_bytes, output_bytes
        Size of the parameters and of the output.
    """

    flops: float
    moved_bytes: float
    parameter_bytes: float
    output_bytes: float

    @property
    def memory_bytes(self) -> float:
        """Memory of the layer's task: its parameters and its output."""
        return self.parameter_bytes + self.output_bytes


def convolution(*, batch: int, height: int, inputs: int, outputs: int, kernel: int) -> LayerWork:
    """Return the work of a convolution on square images of unchanged size: 2 k^2 c_in c_out h^2 FLOPs per image.

    Parameters
    ----------
    batch
        Images.
    height
        Rows and columns of an image.
    inputs, outputs
        Channels.
    kernel
        Rows and columns of the kernel.
    """
    pixels = batch * height**2
    parameters = kernel**2 * inputs * outputs
    return _work(2 * parameters * pixels, parameters, pixels * inputs, pixels * outputs)


def separable_convolution(*, batch: int, height: int, channels: int, kernel: int) -> LayerWork:
    """Return the work of a depthwise and a pointwise convolution: 2 (k^2 c + c^2) h^2 FLOPs per image."""
    pixels = batch * height**2
    parameters = kernel**2 * channels + channels**2
    return _work(2 * parameters * pixels, parameters, pixels * channels, pixels * channels)


def elementwise(*, elements: int, inputs: int = 1, flops_per_element: float = 1.0) -> LayerWork:
    """Return the work of pooling, addition or concatenation: a few FLOPs per element of the output."""
    return _work(flops_per_element * elements, 0, elements * inputs, elements)


def matrix_product(*, rows: int, inner: int, columns: int, is_learned: bool = True) -> LayerWork:
    """Return the work of a matrix product: 2 rows inner columns FLOPs; a learned right factor counts as parameters."""
    right = inner * columns
    parameters = right if is_learned else 0
    return _work(2 * rows * right, parameters, rows * inner + (right - parameters), rows * columns)


def _work(flops: float, parameters: float, inputs: float, outputs: float) -> LayerWork:
    """Turn numbers of elements into bytes."""
    return LayerWork(
        flops=float(flops),
        moved_bytes=float(ELEMENT_BYTES * (inputs + parameters + outputs)),
        parameter_bytes=float(ELEMENT_BYTES * parameters),
        output_bytes=float(ELEMENT_BYTES * outputs),
    )
