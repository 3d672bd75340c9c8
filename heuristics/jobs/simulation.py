"""What a simulated policy did: its schedule, and why jobs waited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from instances.jobs.jobs_schedule import JobsSchedule


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulation:
    """The schedule of a policy and the log of its decisions.

    The wait of a job, start less release, is virtual wait plus held plus blocked.

    Parameters
    ----------
    schedule
        Not yet verified.
    completion
        Completion time of each job in ticks, shape (jobs,).
    prediction
        Predicted iterations of each job, shape (jobs,); None where the policy asks for none.
    eligible
        When each job may start for its order's sake, in ticks, shape (jobs,): e of A-SRPT, else its release. A-SRPT in
        its work-conserving mode may start it earlier.
    virtual_wait
        Ticks until it was eligible, or until it started before, shape (jobs,).
    held
        Ticks it was kept for a better placement, shape (jobs,): from the first time until it started or its deadline.
    blocked
        Ticks it waited for GPUs or for jobs ahead of it, shape (jobs,): the rest.
    virtual_work
        P of each job in GPU-ticks; None where there is no virtual machine.
    virtual_completion
        T of each job in 1/G ticks; None where there is no virtual machine.
    num_dispatches
        Ticks with an event.
    num_placements
        How often the placement rule was asked.
    """

    schedule: JobsSchedule
    completion: NDArray[np.int64]
    prediction: NDArray[np.int64] | None
    eligible: NDArray[np.int64]
    virtual_wait: NDArray[np.int64]
    held: NDArray[np.int64]
    blocked: NDArray[np.int64]
    virtual_work: tuple[int, ...] | None
    virtual_completion: tuple[int, ...] | None
    num_dispatches: int
    num_placements: int
