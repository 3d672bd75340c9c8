"""Task graphs of NASNet-like networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.graph_builder import GraphBuilder
from instances.generators.layer_work import LayerWork, convolution, elementwise, matrix_product, separable_convolution
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph

KERNEL_OF_OPERATION = {"sep3": 3, "sep5": 5, "sep7": 7, "avg3": 3, "max3": 3}
"""Operations that a block chooses from."""

CLASSES = 1000
"""Outputs of the classifier."""


def nasnet(
    rng: np.random.Generator,
    *,
    tasks: int,
    cells: int | None = None,
    blocks: int = 5,
    filters: int = 168,
    batch: int = 32,
) -> TaskGraph:
    """Make the forward graph of a network of randomly wired cells as in the NASNet search space.

    A block applies two operations to two hidden states and adds the results; a hidden state is the output of one of
    the two cells before or of an earlier block. A last task concatenates the blocks that no other block uses and
    squeezes them to the channels of one. One random cell is drawn and repeated. With a stem and a head there are
    `cells` (3 `blocks` + 1) + 2 tasks.

    Parameters
    ----------
    rng
        Source of the cell.
    tasks
        Wished number of tasks; the number of cells that comes nearest is taken.
    cells
        Number of cells; overrides `tasks`.
    blocks
        Blocks per cell.
    filters
        Channels of a block in the first third of the cells.
    batch
        Images.

    Returns
    -------
    TaskGraph
        Images have 28, 14 and 7 rows in the three thirds of the cells, and channels double with each. A separable
        convolution is applied twice; pooling takes 9 FLOPs per element. In half precision; a task keeps its
        parameters and output.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Zoph, Vasudevan, Shlens and Le (2018), Learning transferable architectures for scalable image recognition: cells,
    blocks, operations and 168 filters (NASNet-A 6 @ 4032). Deviations: no identity and no factorised convolutions;
    the squeeze stands at the end of a cell instead of the beginning of the next; an operation that reads a larger image
    shrinks it; the wiring is uniform instead of learned.
    """
    tasks = check_integer("tasks", tasks, low=1)
    blocks = check_integer("blocks", blocks, low=1)
    default_cells = max(round((tasks - 2) / (3 * blocks + 1)), 1)
    cells = check_integer("cells", default_cells if cells is None else cells, low=1)
    batch, filters = check_integer("batch", batch, low=1), check_integer("filters", filters, low=1)
    operations = list(KERNEL_OF_OPERATION)
    wiring = [
        [(int(rng.integers(block + 2)), operations[int(rng.integers(len(operations)))]) for _ in range(2)]
        for block in range(blocks)
    ]
    used = {state - 2 for block in wiring for state, _ in block if state >= 2}
    unused = [block for block in range(blocks) if block not in used]
    builder = GraphBuilder()
    stem = separable_convolution(batch=batch, height=28, channels=filters, kernel=3)
    outputs = [(builder.add_layer("stem", stem), stem.output_bytes)] * 2
    for cell in range(cells):
        third = 3 * cell // cells
        channels, height = filters << third, 28 >> third
        elements = batch * height**2 * channels
        addition = elementwise(elements=elements, inputs=2)
        states = list(outputs)
        for block, choices in enumerate(wiring):
            results: list[tuple[int, float]] = []
            for side, (state, operation) in zip("lr", choices, strict=True):
                work = _operation(operation, batch=batch, height=height, channels=channels)
                task = builder.add_layer(f"{operation}.{cell}.{block}{side}", work, [states[state]])
                results.append((task, work.output_bytes))
            states.append((builder.add_layer(f"add.{cell}.{block}", addition, results), addition.output_bytes))
        squeeze = convolution(batch=batch, height=height, inputs=channels * len(unused), outputs=channels, kernel=1)
        joined = builder.add_layer(f"cat.{cell}", squeeze, [states[block + 2] for block in unused])
        outputs = [outputs[1], (joined, squeeze.output_bytes)]
    head = matrix_product(rows=batch, inner=channels, columns=CLASSES)
    builder.add_layer("head", head, [(outputs[1][0], 2.0 * batch * channels)])
    return builder.graph("nasnet")


def _operation(operation: str, *, batch: int, height: int, channels: int) -> LayerWork:
    """Return the work of an operation of a block."""
    kernel = KERNEL_OF_OPERATION[operation]
    if not operation.startswith("sep"):
        return elementwise(elements=batch * height**2 * channels, flops_per_element=kernel**2)
    once = separable_convolution(batch=batch, height=height, channels=channels, kernel=kernel)
    return LayerWork(
        flops=2 * once.flops,
        moved_bytes=2 * once.moved_bytes,
        parameter_bytes=2 * once.parameter_bytes,
        output_bytes=once.output_bytes,
    )
