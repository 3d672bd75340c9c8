"""Task graphs built task by task, the work of layers from their shapes, and the shape nearest to a given size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.dag.task_graph import TaskGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class GraphBuilder:
    """Collects tasks in an order in which predecessors come first."""

    def __init__(self) -> None:
        """Start without tasks."""
        self._names: list[str] = []
        self._flops: list[float] = []
        self._moved_bytes: list[float] = []
        self._memory_bytes: list[int] = []
        self._edges: list[tuple[int, int, int]] = []

    def add(
        self,
        name: str,
        *,
        flops: float,
        moved_bytes: float,
        memory_bytes: float,
        inputs: Iterable[tuple[int, float]] = (),
    ) -> int:
        """Add a task and return its id.

        Parameters
        ----------
        flops, moved_bytes, memory_bytes
            As in `TaskGraph`; memory is rounded up and at least one byte.
        inputs
            ``(task, bytes)`` per predecessor; a task named twice gives one edge with the larger data, as one tensor
            that is read twice is sent once.
        """
        task = len(self._names)
        self._names.append(name)
        self._flops.append(float(flops))
        self._moved_bytes.append(float(moved_bytes))
        self._memory_bytes.append(max(_rounded_up(memory_bytes), 1))
        data_of_tail: dict[int, int] = {}
        for tail, data in inputs:
            data_of_tail[tail] = max(data_of_tail.get(tail, 0), _rounded_up(data))
        self._edges += [(tail, task, data) for tail, data in data_of_tail.items()]
        return task

    def add_layer(self, name: str, work: LayerWork, inputs: Iterable[tuple[int, float]] = ()) -> int:
        """Add the task of a layer, which keeps parameters and output, and return its id."""
        return self.add(
            name, flops=work.flops, moved_bytes=work.moved_bytes, memory_bytes=work.memory_bytes, inputs=inputs
        )

    def graph(self, name: str) -> TaskGraph:
        """Return what was collected, as one job."""
        return TaskGraph(
            name=name,
            task_names=tuple(self._names),
            flops=tuple(self._flops),
            moved_bytes=tuple(self._moved_bytes),
            memory_bytes=tuple(self._memory_bytes),
            edges=tuple(self._edges),
        )


def _rounded_up(number: float) -> int:
    """Return the smallest integer not below a number."""
    return -int(-number // 1)


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


def nearest_size(tasks: int, num_tasks_of: Callable[[int], int], *, low: int) -> int:
    """Return the shape parameter with the number of tasks nearest to a requested one; of two, the smaller.

    Parameters
    ----------
    tasks
        Requested number of tasks.
    num_tasks_of
        Number of tasks for each value of the shape parameter; increases with it.
    low
        Smallest value of the shape parameter.
    """
    value = low
    while num_tasks_of(value + 1) <= tasks:
        value += 1
    below, above = num_tasks_of(value), num_tasks_of(value + 1)
    return value + 1 if above - tasks < tasks - below else value
