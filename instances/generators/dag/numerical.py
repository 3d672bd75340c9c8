"""Task graphs of numerical algorithms: tiled factorisations, Gaussian elimination, Fourier transforms and stencils."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.dag.graph_builder import GraphBuilder, nearest_size
from instances.parameters import check_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.dag.task_graph import TaskGraph


ELEMENT_BYTES = 4
"""Single precision."""


class TileGraph:
    """Collects kernels in program order; each updates one tile in place and reads others.

    Parameters
    ----------
    tile
        Rows and columns of a tile.

    Notes
    -----
    Edges are the true dependences (read after write). A tile travels in full, triangular ones too. A kernel moves the
    tiles that it reads and, twice, the one that it updates; its memory is the tile that it writes.
    """

    def __init__(self, tile: int) -> None:
        """Start with a matrix that nobody has written."""
        self._builder = GraphBuilder()
        self._tile_bytes = ELEMENT_BYTES * tile**2
        self._flops_unit = float(tile) ** 3
        self._last_writer: dict[tuple[int, int], int] = {}

    def run(self, name: str, *, updates: tuple[int, int], reads: Sequence[tuple[int, int]] = (), cubes: float) -> None:
        """Add a kernel.

        Parameters
        ----------
        updates, reads
            Tiles as (row, column).
        cubes
            Floating-point operations over the cube of the tile's size, leading term.
        """
        writers = [self._last_writer[place] for place in (*reads, updates) if place in self._last_writer]
        self._last_writer[updates] = self._builder.add(
            name,
            flops=cubes * self._flops_unit,
            moved_bytes=(len(reads) + 2) * self._tile_bytes,
            memory_bytes=self._tile_bytes,
            inputs=[(writer, self._tile_bytes) for writer in writers],
        )

    def graph(self, name: str) -> TaskGraph:
        """Return what was collected."""
        return self._builder.graph(name)


def lu(rng: np.random.Generator, *, tasks: int, tiles: int | None = None, tile: int = 1024) -> TaskGraph:
    """Make the graph of the right-looking tiled LU factorisation without pivoting.

    A matrix of t x t tiles gives t (t + 1) (2 t + 1) / 6 kernels: ``getrf(k)``, ``trsm(k,j)`` and ``trsm(i,k)``, and
    ``gemm(i,j,k)``.

    Parameters
    ----------
    tasks
        Requested number of tasks; the nearest possible number is taken.
    tiles
        Rows and columns of tiles t; overrides `tasks`.
    tile
        Rows and columns of a tile b.

    Returns
    -------
    TaskGraph
        FLOPs by leading terms: getrf 2/3 b^3, trsm b^3, gemm 2 b^3; bytes as in `TileGraph`, in single precision.

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


def cholesky(rng: np.random.Generator, *, tasks: int, tiles: int | None = None, tile: int = 1024) -> TaskGraph:
    """Make the graph of the right-looking tiled Cholesky factorisation.

    A matrix of t x t tiles gives t (t + 1) (t + 2) / 6 kernels on its lower half: ``potrf(k)``, ``trsm(i,k)``,
    ``syrk(i,k)`` and ``gemm(i,j,k)``.

    Parameters
    ----------
    tasks
        Requested number of tasks; the nearest possible number is taken.
    tiles
        Rows and columns of tiles t; overrides `tasks`.
    tile
        Rows and columns of a tile b.

    Returns
    -------
    TaskGraph
        FLOPs by leading terms: potrf 1/3 b^3, trsm b^3, syrk b^3, gemm 2 b^3; bytes as in `TileGraph`, in single
        precision.

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


COLUMN_ELEMENT_BYTES = 4
"""Single precision."""


def gaussian_elimination(
    rng: np.random.Generator, *, tasks: int, columns: int | None = None, block: int = 1024
) -> TaskGraph:
    """Make the graph of Gaussian elimination on block columns.

    With m block columns there are (m^2 + m - 2) / 2 tasks and m (m - 1) - 1 edges: ``T(k,k)`` factorises column k,
    ``T(k,j)`` updates column j with it; the next step needs the columns so updated.

    Parameters
    ----------
    tasks
        Requested number of tasks; the nearest possible number is taken.
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
    cube, block_bytes = float(block) ** 3, COLUMN_ELEMENT_BYTES * block**2
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


COMPLEX_BYTES = 8
"""Two numbers in single precision."""


def fft(rng: np.random.Generator, *, tasks: int, points: int | None = None, batch: int = 2**20) -> TaskGraph:
    """Make the graph of the recursive radix-2 transform: a tree that splits, then butterflies.

    For m points there are 2 m - 1 tasks ``S<level>.<part>`` that split a vector into even and odd entries, and
    m log2(m) tasks ``B<level>.<entry>`` that each compute one entry from two of the level before. There are
    2 m - 2 edges in the tree and 2 m log2(m) into butterflies.

    Parameters
    ----------
    tasks
        Requested number of tasks; the power of two of points whose number comes nearest is taken.
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


CELL_BYTES = 4
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
    tasks
        Requested number of tasks; there are `blocks` times `steps`, and `steps` is chosen to come nearest.
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

    References
    ----------
    Asanovic and others (2006), The landscape of parallel computing research, UCB/EECS-2006-183: structured grids. The
    five-point Jacobi iteration is in every textbook.
    """
    tasks = check_integer("tasks", tasks, low=1)
    blocks = check_integer("blocks", max(round(tasks**0.5), 1) if blocks is None else blocks, low=1)
    steps = check_integer("steps", max(round(tasks / blocks), 1) if steps is None else steps, low=1)
    rows, columns = check_integer("rows", rows, low=1), check_integer("columns", columns, low=1)
    row_bytes = CELL_BYTES * columns
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
