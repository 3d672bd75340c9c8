"""Task graphs of stencil computations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.graph_builder import GraphBuilder
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph

ELEMENT_BYTES = 4
"""Single precision."""

FLOPS_PER_CELL = 5
"""Four additions and a multiplication of the five-point stencil."""


def stencil(
    rng: np.random.Generator,
    *,
    tasks: int,
    blocks: int | None = None,
    steps: int | None = None,
    rows: int = 1024,
    columns: int = 4096,
) -> TaskGraph:
    """Make the graph of Jacobi steps with a five-point stencil on a grid that is cut into blocks of rows.

    Block x in step t, named ``X<t>.<x>``, needs itself and its two neighbours of the step before.

    Parameters
    ----------
    rng
        Not used: shape and work are fixed.
    tasks
        Wished number of tasks; there are `blocks` times `steps`, and `steps` is chosen to come nearest.
    blocks
        Number of blocks; default the square root of `tasks`.
    steps
        Number of steps; overrides `tasks`.
    rows, columns
        Cells of one block.

    Returns
    -------
    TaskGraph
        A task takes 5 FLOPs per cell, reads and writes its block in single precision, and keeps it. Edges within
        a block carry all of it, those between neighbours one row.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Asanovic and others (2006), The landscape of parallel computing research, UCB/EECS-2006-183: structured grids. The
    five-point Jacobi iteration is in every textbook.
    """
    tasks = check_integer("tasks", tasks, low=1)
    blocks = check_integer("blocks", max(round(tasks**0.5), 1) if blocks is None else blocks, low=1)
    steps = check_integer("steps", max(round(tasks / blocks), 1) if steps is None else steps, low=1)
    rows, columns = check_integer("rows", rows, low=1), check_integer("columns", columns, low=1)
    row_bytes = ELEMENT_BYTES * columns
    builder = GraphBuilder()
    before: list[int] = []
    for step in range(steps):
        before = [
            builder.add(
                f"X{step}.{place}",
                flops=FLOPS_PER_CELL * rows * columns,
                moved_bytes=2 * rows * row_bytes,
                memory_bytes=rows * row_bytes,
                inputs=[
                    (before[source], rows * row_bytes if source == place else row_bytes)
                    for source in range(max(place - 1, 0), min(place + 2, blocks))
                ]
                if step
                else [],
            )
            for place in range(blocks)
        ]
    return builder.graph("stencil")
