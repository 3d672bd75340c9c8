"""Task graphs built task by task, for families whose work follows from shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.task_graph import TaskGraph

if TYPE_CHECKING:
    from collections.abc import Iterable

    from instances.generators.layer_work import LayerWork


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
        name
            Free text.
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
