"""Where and when every task runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.frozen_array import ReadOnly, frozen_integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


NO_TRANSFER = -1
"""Start of a transfer that is not contended."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DagSchedule(ReadOnly):
    """Where and when every task runs; not yet verified.

    Parameters
    ----------
    gpu
        GPU of each task, shape (n,), int64.
    start
        Start of each task in ticks, shape (n,), int64.
    transfer_start
        Start of the transfer along each edge in ticks, shape (edges,), int64; None in a schedule without contention.
        Only transfers that contend for network interfaces (see `Contention`) need starts; the entries of all other
        edges are ignored, and our methods set them to `NO_TRANSFER`.
    instance
        The instance of the schedule, for display only; the verifier ignores it.

    Raises
    ------
    TypeError
        If an entry is not an integer.
    ValueError
        If the arrays of GPUs and starts differ in length.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3]], [(0, 1, 0)])
    >>> schedule = optgap.DagSchedule(gpu=[0, 1], start=[0, 4], instance=instance)
    >>> optgap.verify(instance, schedule)
    []
    """

    gpu: NDArray[np.int64]
    start: NDArray[np.int64]
    transfer_start: NDArray[np.int64] | None = None
    instance: DagInstance | None = None

    def __post_init__(self) -> None:
        """Take private, read-only copies and check the shapes."""
        object.__setattr__(self, "gpu", frozen_integers(self.gpu, place="gpu", shape=(None,)))
        object.__setattr__(self, "start", frozen_integers(self.start, place="start", shape=(None,)))
        if self.gpu.shape != self.start.shape:
            raise ValueError(f"start: expected {len(self.gpu)} entries, one per task, got {len(self.start)}.")
        if self.transfer_start is not None:
            starts = frozen_integers(self.transfer_start, place="transfer_start", shape=(None,))
            object.__setattr__(self, "transfer_start", starts)

    def __repr__(self) -> str:
        """Name the instance, where it is known, and the sizes in one line."""
        of = "" if self.instance is None else f"{self.instance.name!r}: "
        return f"DagSchedule({of}{len(self.gpu)} tasks on {len(np.unique(self.gpu))} GPUs)"

    def __str__(self) -> str:
        """List the tasks of every GPU in order of start."""
        lines = []
        for gpu in np.unique(self.gpu):
            tasks = np.flatnonzero(self.gpu == gpu)
            tasks = tasks[np.argsort(self.start[tasks], kind="stable")]
            lines.append(f"GPU {gpu}: " + ", ".join(f"task {task} at {self.start[task]}" for task in tasks))
        return "\n".join(lines) or "no tasks"

    def _repr_html_(self) -> str:
        """Show a summary and, where the instance is known, a Gantt chart in a notebook."""
        from instances.html import html_table

        summary = {"tasks": str(len(self.gpu)), "GPUs used": str(len(np.unique(self.gpu)))}
        if self.instance is None:
            return html_table(summary) + f"<pre>{self}</pre>"
        from instances.dag.gantt import gantt_svg
        from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value

        for objective in Objective if self.instance.has_buffers else FINISH_OBJECTIVES:
            summary[objective.replace("_", " ")] = str(objective_value(self.instance, self, objective))
        return html_table(summary) + gantt_svg(self.instance, self)
