"""What a family of jobs makes, before the load decides when they arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from instances.jobs.interference import Interference
    from instances.jobs.job import Job
    from instances.jobs.racks import Racks


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JobStream:
    """Jobs without releases, and their arrivals on a scale of its own.

    Parameters
    ----------
    jobs
        In order of arrival.
    arrivals
        Ascending, the first at 0, shape (jobs,); any unit.
    interference, racks
        As in `JobsInstance`; None for none.
    """

    jobs: Sequence[Job]
    arrivals: NDArray[np.float64]
    interference: Interference | None = None
    racks: Racks | None = None
