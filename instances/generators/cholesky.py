"""Task graphs of the tiled Cholesky factorisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.nearest_size import nearest_size
from instances.generators.parameter_checks import check_integer
from instances.generators.tile_graph import TileGraph

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph


def cholesky(rng: np.random.Generator, *, tasks: int, tiles: int | None = None, tile: int = 1024) -> TaskGraph:
    """Make the graph of the right-looking tiled Cholesky factorisation.

    A matrix of t x t tiles gives t (t + 1) (t + 2) / 6 kernels on its lower half: ``potrf(k)``, ``trsm(i,k)``,
    ``syrk(i,k)`` and ``gemm(i,j,k)``.

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
        FLOPs by leading terms: potrf 1/3 b^3, trsm b^3, syrk b^3, gemm 2 b^3; bytes as in `TileGraph`, in single
        precision.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Buttari, Langou, Kurzak and Dongarra (2009), A class of parallel tiled linear algebra algorithms for multicore
    architectures, Parallel Computing 35(1).
    """
    tasks = check_integer("tasks", tasks, low=1)
    if tiles is None:
        tiles = nearest_size(tasks, lambda size: size * (size + 1) * (size + 2) // 6, low=1)
    tiles = check_integer("tiles", tiles, low=1)
    program = TileGraph(check_integer("tile", tile, low=1))
    for k in range(tiles):
        program.run(f"potrf({k})", updates=(k, k), cubes=1 / 3)
        for i in range(k + 1, tiles):
            program.run(f"trsm({i},{k})", updates=(i, k), reads=[(k, k)], cubes=1)
        for i in range(k + 1, tiles):
            for j in range(k + 1, i):
                program.run(f"gemm({i},{j},{k})", updates=(i, j), reads=[(i, k), (j, k)], cubes=2)
            program.run(f"syrk({i},{k})", updates=(i, i), reads=[(i, k)], cubes=1)
    return program.graph("cholesky")
