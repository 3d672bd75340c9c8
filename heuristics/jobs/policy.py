"""What every online policy looks like to the simulator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heuristics.jobs.placements.cluster_state import ClusterState
    from heuristics.jobs.placements.job_shapes import JobShapes


@dataclass(slots=True, kw_only=True)
class Account:
    """What a policy records of jobs for the log, see `Simulation`; missing jobs have the default."""

    eligible: dict[int, int] = field(default_factory=dict)
    held: dict[int, int] = field(default_factory=dict)
    virtual_work: dict[int, int] | None = None
    virtual_completion: dict[int, int] | None = None


class Policy:
    """Decides which jobs start; it learns of a job at its arrival and never learns its iterations.

    The simulator calls `begin` once and then, at every tick with an event, `complete`, `advance`, `arrive` and
    `dispatch` in this order. `shapes` says which jobs are alike, under the policy's restriction of kinds.
    """

    uses_predictions: bool = True
    """Whether `arrive` is given predictions; if not, it is given 0."""

    def __init__(self, shapes: JobShapes) -> None:
        self.shapes = shapes
        self.instance = shapes.instance

    def begin(self, cluster: ClusterState) -> None:
        """Receive the cluster, all of whose GPUs are free."""
        self.cluster = cluster

    def complete(self, job: int, time: int) -> None:
        """Take note of the completion of a job."""

    def advance(self, time: int) -> None:
        """Handle the policy's own events up to now."""

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Receive a job that arrives, with its predicted iterations."""
        raise NotImplementedError

    def next_event(self) -> int | None:
        """Return the tick of the policy's own next event; None if it has none."""
        return None

    def dispatch(self, time: int) -> list[int]:
        """Start jobs through the cluster and return them."""
        raise NotImplementedError

    def account(self) -> Account:
        """Return what is to be logged, after the last start."""
        return Account()
