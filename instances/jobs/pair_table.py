"""Speeds of pairs of classes of jobs on one GPU, from wherever they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.jobs.interference import Interference

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairTable:
    """Which classes may share a GPU, and how fast; checked where an `Interference` is made of it.

    Parameters
    ----------
    classes
        Names.
    pair
        As in `Interference`, shape (classes, classes).
    source
        Where it comes from, in a few words.
    """

    classes: tuple[str, ...]
    pair: NDArray[np.int64]
    source: str

    def interference(
        self,
        job_class: NDArray[np.int64],
        use: NDArray[np.int64],
        sens: NDArray[np.int64],
        resources: tuple[str, ...],
    ) -> Interference:
        """Return the interference of jobs of these classes, two per GPU; parameters as in `Interference`."""
        return Interference(
            resources=resources,
            use=use,
            sens=sens,
            share=2,
            classes=self.classes,
            job_class=job_class,
            pair=self.pair,
        )
