"""Co-location interference: how jobs on one server, or on one GPU, slow each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.frozen_array import ReadOnly, free_texts, frozen_integers

if TYPE_CHECKING:
    from numpy.typing import NDArray


NIC = "nic"
"""The resource whose use and sensitivity follow from the placement."""

DEFAULT_RESOURCES = ("cpu", "pcie", NIC)

NOT_TOGETHER = -1
"""Speed of a pair of classes that may not share a GPU."""

FULL_SPEED = 1000
"""Speed in per mille of a job that nothing slows; a server's capacity and a whole iteration are 1000 too."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Interference(ReadOnly):
    """Resources, sensitivities and sharing of GPUs; checked when it is made, read-only afterwards.

    A running job slows down if the jobs on one of its servers together exceed the capacity of a resource, or if another
    job sits on one of its GPUs; see `running_speed` for the formula. The model is a reconstruction of ours: Zhao and Wu
    (2022) predict interference and publish no model of it.

    Parameters
    ----------
    resources
        Z, different names. The resource ``nic`` is special: what a replica uses of it and how sensitive a job is to it
        follow from the placement, and its columns below are 0.
    use
        Demand of one replica of each job in per mille of a server's capacity, shape (jobs, resources), at least 0.
    sens
        Per mille of each job's iteration that is bound by a resource, shape (jobs, resources), at least 0, at most
        1000 per job.
    share
        Jobs per GPU, 1 or 2. With 2, schedules name GPUs; two replicas of one job never sit on one GPU.
    classes
        Names of the classes of jobs.
    job_class
        Class of each job, shape (jobs,), int64; all of the first class if None.
    pair
        Speed in per mille of a replica of one class (row) that shares a GPU with one of another (column), shape
        (classes, classes), 1 to 1000; ``NOT_TOGETHER``, in both directions, where they may not share. No pair if None.

    Raises
    ------
    TypeError
        If an array does not hold integers, or a name is not text.
    ValueError
        If shapes do not agree or a value is out of range. The message names the item as in the JSON file.
    """

    use: NDArray[np.int64]
    sens: NDArray[np.int64]
    resources: tuple[str, ...] = DEFAULT_RESOURCES
    share: int = 1
    classes: tuple[str, ...] = ("all",)
    job_class: NDArray[np.int64] = None  # type: ignore[assignment]  # an array from the check on
    pair: NDArray[np.int64] = None  # type: ignore[assignment]  # an array from the check on

    def __post_init__(self) -> None:
        """Take private, read-only copies and check everything once."""
        num_jobs, count = len(self.use), len(tuple(self.classes))
        for name in ("resources", "classes"):
            given = tuple(getattr(self, name))
            texts = free_texts(given, place=f"interference.{name}[{{}}]", length=len(given))
            if len(set(texts)) < len(texts):
                raise ValueError(f"interference.{name}: expected each name once, got {', '.join(texts)}.")
            object.__setattr__(self, name, texts)
        if not count:
            raise ValueError("interference.classes: expected at least one class, got none.")
        if isinstance(self.share, bool) or not isinstance(self.share, int | np.integer):
            raise TypeError(f"interference.share: expected 1 or 2, got {self.share!r}.")
        if self.share not in (1, 2):
            raise ValueError(f"interference.share: expected 1 or 2, got {self.share}.")
        object.__setattr__(self, "share", int(self.share))
        job_class = np.zeros(num_jobs, dtype=np.int64) if self.job_class is None else self.job_class
        pair = np.full((count, count), NOT_TOGETHER) if self.pair is None else self.pair
        table = (num_jobs, len(self.resources))
        for name, values, place, shape in (
            ("use", self.use, "jobs[].use", table),
            ("sens", self.sens, "jobs[].sens", table),
            ("job_class", job_class, "jobs[].class", (num_jobs,)),
            ("pair", pair, "interference.pair", (count, count)),
        ):
            object.__setattr__(self, name, frozen_integers(values, place=place, shape=shape))
        self._check_values()

    def _check_values(self) -> None:
        """Check ranges."""
        for name in ("use", "sens"):
            values = getattr(self, name)
            for job, resource in np.argwhere(values < 0):
                got = values[job, resource]
                raise ValueError(f"jobs[{job}].{name}[{resource}]: expected at least 0, got {got}.")
            if self.nic is not None:
                for job in np.flatnonzero(values[:, self.nic]):
                    got = values[job, self.nic]
                    place = f"jobs[{job}].{name}[{self.nic}]"
                    raise ValueError(f"{place}: expected 0 for nic, which follows from the placement, got {got}.")
        for job, row in enumerate(self.sens.tolist()):
            if sum(row) > FULL_SPEED:
                raise ValueError(f"jobs[{job}].sens: expected a sum of at most 1000 per mille, got {sum(row)}.")
        last = len(self.classes) - 1
        for job in np.flatnonzero((self.job_class < 0) | (self.job_class > last)):
            raise ValueError(f"jobs[{job}].class: expected a class in 0..{last}, got {self.job_class[job]}.")
        is_allowed = self.pair != NOT_TOGETHER
        for row, column in np.argwhere(is_allowed & ((self.pair < 1) | (self.pair > FULL_SPEED))):
            got = self.pair[row, column]
            raise ValueError(f"interference.pair[{row}][{column}]: expected 1 to 1000 or not allowed, got {got}.")
        for row, column in np.argwhere(is_allowed & ~is_allowed.T):
            raise ValueError(
                f"interference.pair[{column}][{row}]: expected a speed, as the pair is allowed the other way round, "
                "got not allowed."
            )

    @property
    def nic(self) -> int | None:
        """Position of the resource ``nic``, None where it does not interfere."""
        return self.resources.index(NIC) if NIC in self.resources else None

    @property
    def num_jobs(self) -> int:
        """Number of jobs that it speaks of."""
        return len(self.use)

    def largest_pair_sum(self) -> int:
        """Return the largest speed of two jobs of this instance on one GPU together, in per mille; 1000 at least.

        This over 1000 is Phi: with `share` 2 no GPU does more than Phi times the work of a GPU with one job.
        """
        if self.share == 1:
            return FULL_SPEED
        number = np.bincount(self.job_class, minlength=len(self.classes))
        both = (number[:, None] >= 1) & (number >= 1) & ((number[:, None] >= 2) | ~np.eye(len(number), dtype=bool))
        sums = np.where(both & (self.pair != NOT_TOGETHER), self.pair + self.pair.T, 0)
        return max(FULL_SPEED, int(sums.max()))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairTable:
    """Which classes may share a GPU, and how fast, as in `Interference`, which checks it; and the source in words."""

    classes: tuple[str, ...]
    pair: NDArray[np.int64]
    source: str

    def interference(
        self, job_class: NDArray[np.int64], use: NDArray[np.int64], sens: NDArray[np.int64], resources: tuple[str, ...]
    ) -> Interference:
        """Return the interference of jobs of these classes, two per GPU; parameters as in `Interference`."""
        return Interference(
            resources=resources, use=use, sens=sens, share=2, classes=self.classes, job_class=job_class, pair=self.pair
        )
