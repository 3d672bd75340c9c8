"""Task graphs of the fast Fourier transform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.graph_builder import GraphBuilder
from instances.generators.nearest_size import nearest_size
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph

COMPLEX_BYTES = 8
"""Two numbers in single precision."""


def fft(rng: np.random.Generator, *, tasks: int, points: int | None = None, batch: int = 2**20) -> TaskGraph:
    """Make the graph of the recursive radix-2 transform: a tree that splits, then butterflies.

    For m points there are 2 m - 1 tasks ``S<level>.<part>`` that split a vector into even and odd entries, and
    m log2(m) tasks ``B<level>.<entry>`` that each compute one entry from two of the level before. There are
    2 m - 2 edges in the tree and 2 m log2(m) into butterflies.

    Parameters
    ----------
    rng
        Not used: shape and work are fixed.
    tasks
        Wished number of tasks; the power of two of points whose number comes nearest is taken.
    points
        Points m of the transform, a power of two from 2; overrides `tasks`.
    batch
        Independent transforms that are done together; every entry is a vector of so many complex numbers.

    Returns
    -------
    TaskGraph
        A split reads and writes its vector and computes nothing; a butterfly multiplies and adds complex numbers,
        8 FLOPs per entry, reads two entries and writes one, in single precision. A task keeps what it writes; an edge
        of the tree carries half of the vector, the others one entry.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Cooley and Tukey (1965), An algorithm for the machine calculation of complex Fourier series; Topcuoglu, Hariri and
    Wu (2002), section on application graphs: this graph. Work and data are ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    if points is None:
        points = 2 ** nearest_size(tasks, lambda levels: 2 ** (levels + 1) - 1 + levels * 2**levels, low=1)
    points = check_integer("points", points, low=2)
    if points & (points - 1):
        raise ValueError(f"points: expected a power of two, got {points}.")
    entry_bytes = COMPLEX_BYTES * check_integer("batch", batch, low=1)
    levels = points.bit_length() - 1
    builder = GraphBuilder()
    above: list[int] = []
    for level in range(levels + 1):
        size = (points >> level) * entry_bytes
        above = [
            builder.add(
                f"S{level}.{part}",
                flops=0,
                moved_bytes=2 * size,
                memory_bytes=size,
                inputs=[(above[part // 2], size)] if level else [],
            )
            for part in range(2**level)
        ]
    for level in range(levels):
        above = [
            builder.add(
                f"B{level + 1}.{entry}",
                flops=8 * entry_bytes / COMPLEX_BYTES,
                moved_bytes=3 * entry_bytes,
                memory_bytes=entry_bytes,
                inputs=[(above[source], entry_bytes) for source in sorted((entry, entry ^ 2**level))],
            )
            for entry in range(points)
        ]
    return builder.graph("fft")
