"""Task graphs of the tiled LU factorisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.nearest_size import nearest_size
from instances.generators.parameter_checks import check_integer
from instances.generators.tile_graph import TileGraph

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph


def lu(rng: np.random.Generator, *, tasks: int, tiles: int | None = None, tile: int = 1024) -> TaskGraph:
    """Make the graph of the right-looking tiled LU factorisation without pivoting.

    A matrix of t x t tiles gives t (t + 1) (2 t + 1) / 6 kernels: ``getrf(k)``, ``trsm(k,j)`` and ``trsm(i,k)``, and
    ``gemm(i,j,k)``.

    Parameters
    ----------
    rng
        Not used: shape and work are fixed.
    tasks
        Wished number of tasks; the number of tiles that comes nearest is taken.
    tiles
        Rows and columns of tiles t; overrides `tasks`.
    tile
        Rows and columns of a tile b.

    Returns
    -------
    TaskGraph
        FLOPs by leading terms: getrf 2/3 b^3, trsm b^3, gemm 2 b^3; bytes as in `TileGraph`, in single precision.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Buttari, Langou, Kurzak and Dongarra (2009), A class of parallel tiled linear algebra algorithms for multicore
    architectures, Parallel Computing 35(1). Deviation: no pivoting.
    """
    tasks = check_integer("tasks", tasks, low=1)
    if tiles is None:
        tiles = nearest_size(tasks, lambda size: size * (size + 1) * (2 * size + 1) // 6, low=1)
    tiles = check_integer("tiles", tiles, low=1)
    program = TileGraph(check_integer("tile", tile, low=1))
    for k in range(tiles):
        program.run(f"getrf({k})", updates=(k, k), cubes=2 / 3)
        for j in range(k + 1, tiles):
            program.run(f"trsm({k},{j})", updates=(k, j), reads=[(k, k)], cubes=1)
        for i in range(k + 1, tiles):
            program.run(f"trsm({i},{k})", updates=(i, k), reads=[(k, k)], cubes=1)
        for i in range(k + 1, tiles):
            for j in range(k + 1, tiles):
                program.run(f"gemm({i},{j},{k})", updates=(i, j), reads=[(i, k), (k, j)], cubes=2)
    return program.graph("lu")
