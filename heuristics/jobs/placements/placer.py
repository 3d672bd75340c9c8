"""What every placement rule looks like to a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.cluster_state import ClusterState
    from heuristics.jobs.job_placement import JobPlacement


class Placer(Protocol):
    """Finds servers for jobs, one job at a time; complete: it finds a placement wherever one exists."""

    def watch(self, cluster: ClusterState) -> None:
        """Take the cluster on which jobs will be placed, for rules that look at more than free GPUs."""
        ...

    def place(self, job: int, free: NDArray[np.int64]) -> JobPlacement | None:
        """Return a placement of a job on free GPUs, or None if there is none.

        Parameters
        ----------
        job
            What is placed.
        free
            Free GPUs of each server, shape (servers,), int64, between 0 and all of them; left as it is.

        Raises
        ------
        ValueError
            If `free` has another shape or type.
        """
        ...
