"""Blocked algorithms on a matrix of square tiles: who wrote a tile last is who is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.graph_builder import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.task_graph import TaskGraph

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
        name
            Free text.
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
