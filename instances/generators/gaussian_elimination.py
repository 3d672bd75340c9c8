"""Task graphs of Gaussian elimination by columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.graph_builder import GraphBuilder
from instances.generators.nearest_size import nearest_size
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph

ELEMENT_BYTES = 4
"""Single precision."""


def gaussian_elimination(
    rng: np.random.Generator, *, tasks: int, columns: int | None = None, block: int = 1024
) -> TaskGraph:
    """Make the graph of Gaussian elimination on block columns.

    With m block columns there are (m^2 + m - 2) / 2 tasks and m (m - 1) - 1 edges: ``T(k,k)`` factorises column k,
    ``T(k,j)`` updates column j with it; the next step needs the columns so updated.

    Parameters
    ----------
    rng
        Not used: shape and work are fixed.
    tasks
        Wished number of tasks; the number of columns that comes nearest is taken.
    columns
        Block columns m, from 2; overrides `tasks`.
    block
        Columns in a block b; the matrix is square.

    Returns
    -------
    TaskGraph
        With r = m - k + 1 block rows left, T(k,k) takes (r - 1/3) b^3 FLOPs and T(k,j) a triangular solve and a
        product, (2 r - 1) b^3. Reads and writes are the r b x b panels, in single precision; edges carry
        the panel as far as it is still read. A task keeps what is final after it: its panel, or one block of it.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Cosnard, Marrakchi, Robert and Trystram (1988), Parallel Gaussian elimination on an MIMD computer, Parallel
    Computing 6(3); Topcuoglu, Hariri and Wu (2002), section on application graphs: this graph. Blocks instead of
    single columns are ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    if columns is None:
        columns = nearest_size(tasks, lambda size: (size**2 + size - 2) // 2, low=2)
    columns = check_integer("columns", columns, low=2)
    block = check_integer("block", block, low=1)
    cube, block_bytes = float(block) ** 3, ELEMENT_BYTES * block**2
    builder = GraphBuilder()
    writer: dict[int, int] = {}
    for k in range(1, columns):
        rows = columns - k + 1
        panel = rows * block_bytes
        pivot = builder.add(
            f"T({k},{k})",
            flops=(rows - 1 / 3) * cube,
            moved_bytes=2 * panel,
            memory_bytes=panel,
            inputs=[(writer[k], panel)] if k > 1 else [],
        )
        for j in range(k + 1, columns + 1):
            writer[j] = builder.add(
                f"T({k},{j})",
                flops=(2 * rows - 1) * cube,
                moved_bytes=3 * panel,
                memory_bytes=block_bytes,
                inputs=[(pivot, panel), *([(writer[j], panel)] if k > 1 else [])],
            )
    return builder.graph("gaussian-elimination")
