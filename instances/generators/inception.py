"""Task graphs of Inception-like networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.graph_builder import GraphBuilder
from instances.generators.layer_work import ELEMENT_BYTES, convolution, elementwise, matrix_product
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.task_graph import TaskGraph

CLASSES = 1000
"""Outputs of the classifier."""


def inception(rng: np.random.Generator, *, tasks: int, cells: int | None = None, batch: int = 32) -> TaskGraph:
    """Make the forward graph of a network of Inception cells.

    A cell has eight tasks: branches of one convolution, of 1x1 and 3x3, of 1x1 and 5x5, of pooling and 1x1, and their
    concatenation. With a stem and a head there are 8 `cells` + 2 tasks.

    Parameters
    ----------
    rng
        Not used: shape and work are fixed.
    tasks
        Wished number of tasks; the number of cells that comes nearest is taken.
    cells
        Number of cells; overrides `tasks`.
    batch
        Images.

    Returns
    -------
    TaskGraph
        Images have 28, 14 and 7 rows in the three thirds of the cells, whose outputs have c = 256, 512 and 1024
        channels; the branches give c/4, c/2, c/8 and c/8 of them, and the 1x1 before 3x3 and 5x5 gives 3c/8 and c/16.
        Work is that of the convolutions in half precision; a task keeps parameters and output.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Szegedy and others (2015), Going deeper with convolutions: the cell, and the widths of the first one, module 3a.
    That all cells have its proportions is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    cells = check_integer("cells", max(round((tasks - 2) / 8), 1) if cells is None else cells, low=1)
    batch = check_integer("batch", batch, low=1)
    builder = GraphBuilder()
    stem = convolution(batch=batch, height=56, inputs=64, outputs=192, kernel=3)
    below, channels = builder.add_layer("stem", stem, []), 192
    for cell in range(cells):
        third = 3 * cell // cells
        below = _cell(builder, below, cell=cell, batch=batch, height=28 >> third, inputs=channels, outputs=256 << third)
        channels = 256 << third
    head = matrix_product(rows=batch, inner=channels, columns=CLASSES)
    builder.add_layer("head", head, [(below, ELEMENT_BYTES * batch * channels)])
    return builder.graph("inception")


def _cell(builder: GraphBuilder, below: int, *, cell: int, batch: int, height: int, inputs: int, outputs: int) -> int:
    """Add a cell and return its concatenation; a smaller input is pooled on the way."""
    pixels = batch * height**2
    from_below = [(below, ELEMENT_BYTES * pixels * inputs)]

    def conv(name: str, kernel: int, wide: int, source: Sequence[tuple[int, float]], narrow: int = inputs) -> int:
        work = convolution(batch=batch, height=height, inputs=narrow, outputs=wide, kernel=kernel)
        return builder.add_layer(f"{name}.{cell}", work, source)

    def data(channels: int) -> float:
        return ELEMENT_BYTES * pixels * channels

    quarter, half, eighth = outputs // 4, outputs // 2, outputs // 8
    before_3, before_5 = 3 * outputs // 8, outputs // 16
    conv_1 = conv("conv1", 1, quarter, from_below)
    reduce_3 = conv("red3", 1, before_3, from_below)
    conv_3 = conv("conv3", 3, half, [(reduce_3, data(before_3))], before_3)
    reduce_5 = conv("red5", 1, before_5, from_below)
    conv_5 = conv("conv5", 5, eighth, [(reduce_5, data(before_5))], before_5)
    pool = builder.add_layer(f"pool.{cell}", elementwise(elements=pixels * inputs, flops_per_element=9.0), from_below)
    projection = conv("proj", 1, eighth, [(pool, data(inputs))])
    parts = [(conv_1, data(quarter)), (conv_3, data(half)), (conv_5, data(eighth)), (projection, data(eighth))]
    return builder.add_layer(f"cat.{cell}", elementwise(elements=pixels * outputs, flops_per_element=0.0), parts)
