"""Data to fit and test predictors: random co-locations with the speeds of the true model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from heuristics.jobs.interference_predictor.features import RunningJob, server_rows, slowness
from heuristics.jobs.placements.cluster_state import GpuOccupancy
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.random_placement import RandomPlacement
from instances.jobs.co_location import resource_demand, running_speed, slowdown
from instances.jobs.interference import NOT_TOGETHER

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.features import FeatureSpace
    from heuristics.jobs.placements.placement import Placer
    from instances.jobs.instance import JobsInstance
    from instances.jobs.interference import Interference


Pair = tuple[str, str]
"""Two names of classes in alphabetical order; twice the same for two jobs of one class."""


def class_pairs(classes: Collection[str]) -> frozenset[Pair]:
    """Return the pairs among the jobs of a server, whose classes are given, one name per job."""
    names = sorted(classes)
    return frozenset((a, b) for position, a in enumerate(names) for b in names[position + 1 :])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CoLocationSample:
    """Co-locations, each of two or more jobs on one server between two events, with the speed of every job.

    Parameters
    ----------
    features
        Shape (rows, features), float64.
    speed
        Speed that the server allows a job, in per mille, shape (rows,), int64. The speed of a job on several servers is
        at most the least of them.
    co_location
        Number of the co-location of each row, ascending from 0, shape (rows,), int64.
    pairs
        Pairs of classes of each co-location.
    """

    space: FeatureSpace
    features: NDArray[np.float64]
    speed: NDArray[np.int64]
    co_location: NDArray[np.int64]
    pairs: tuple[frozenset[Pair], ...]

    @property
    def y(self) -> NDArray[np.float64]:
        """The target ln(1000 / speed), shape (rows,)."""
        return slowness(self.speed)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.speed)

    def all_pairs(self) -> frozenset[Pair]:
        """Return the pairs of all co-locations."""
        return frozenset[Pair]().union(*self.pairs)

    def take(self, chosen: NDArray[np.bool_]) -> CoLocationSample:
        """Return some of the co-locations, numbered anew; `chosen` has one entry per co-location."""
        rows = chosen[self.co_location]
        number = np.cumsum(chosen) - 1
        return CoLocationSample(
            space=self.space,
            features=self.features[rows],
            speed=self.speed[rows],
            co_location=number[self.co_location[rows]],
            pairs=tuple(pairs for pairs, is_chosen in zip(self.pairs, chosen.tolist(), strict=True) if is_chosen),
        )


CO_LOCATIONS = 5000
"""Size of a training sample."""

_FAILURES = 10  # jobs in a row without a placement: the servers count as full
_MOST_EMPTY_SNAPSHOTS = 200  # in a row without a co-location: there is none to be found


def random_co_locations(
    space: FeatureSpace,
    instances: Sequence[JobsInstance],
    rng: np.random.Generator,
    *,
    count: int = CO_LOCATIONS,
    held_out: frozenset[str] = frozenset(),
    part: Literal["seen", "unseen"] = "seen",
) -> CoLocationSample:
    """Draw co-locations of the jobs of instances; ours, as the source publishes none.

    Jobs in random order are placed on empty servers until a share of the GPUs is taken that is drawn uniformly from a
    quarter to all; each by Heavy-Edge or at random, equally likely, and where GPUs are shared on GPUs drawn from all
    that it may use. Every server with two or more jobs is a co-location.

    Parameters
    ----------
    instances
        With interference, taken in turn.
    held_out
        Names of classes whose pairs among each other are held out, see `held_out_classes`.
    part
        ``seen``: co-locations without a held-out pair; ``unseen``: with jobs of held-out classes only.

    Returns
    -------
    CoLocationSample
        Exactly `count` co-locations, the same for the same arguments.

    Raises
    ------
    ValueError
        If an instance has no interference, or no two jobs come together.
    """
    if count < 1:
        raise ValueError(f"count: expected at least 1, got {count}.")
    samplers = [_RandomPlacements(instance, rng, held_out if part == "unseen" else None) for instance in instances]
    features, speeds, numbers = [], [], []
    pairs: list[frozenset[Pair]] = []
    empty, turn = 0, 0
    while len(pairs) < count:
        sampler = samplers[turn % len(samplers)]
        turn, empty = turn + 1, empty + 1
        for server, running in sampler.snapshot().items():
            together = class_pairs([sampler.class_name(one.job) for one in running])
            is_mixed = part == "seen" and any(set(pair) <= held_out for pair in together)
            if not together or is_mixed or len(pairs) == count:
                continue
            rows = server_rows(space, sampler.instance, server, running)
            for position, partner in zip(rows.position.tolist(), rows.partner, strict=True):
                one = running[position]
                pairs_of_job = [] if partner is None else [sampler.pair(one.job, partner)]
                speeds.append(running_speed([slowdown(one.own, rows.load, one.sens)], pairs_of_job))
            features.append(rows.features)
            numbers += [len(pairs)] * len(rows.features)
            pairs.append(together)
            empty = 0
        if empty > _MOST_EMPTY_SNAPSHOTS:
            raise ValueError(f"instances: expected {count} co-locations of {part} pairs, got {len(pairs)}.")
    return CoLocationSample(
        space=space,
        features=np.concatenate(features),
        speed=np.array(speeds, dtype=np.int64),
        co_location=np.array(numbers, dtype=np.int64),
        pairs=tuple(pairs),
    )


class _RandomPlacements:
    """Places jobs of one instance on its servers at random, again and again; `only` names the allowed classes."""

    def __init__(self, instance: JobsInstance, rng: np.random.Generator, only: frozenset[str] | None) -> None:
        if instance.interference is None:
            raise ValueError("interference: expected instances with interference, got one without.")
        self.instance = instance
        self._interference: Interference = instance.interference
        self._rng = rng
        self._placers: tuple[Placer, ...] = (HeavyEdge(instance), RandomPlacement(instance, rng))
        jobs = range(instance.num_jobs)
        self._jobs = np.array([job for job in jobs if only is None or self.class_name(job) in only], dtype=np.int64)

    def class_name(self, job: int) -> str:
        """Return the name of the class of a job."""
        return self._interference.classes[int(self._interference.job_class[job])]

    def pair(self, job: int, partner: int) -> int:
        """Return the speed of a job that shares a GPU with a job of a class, in per mille."""
        return int(self._interference.pair[self._interference.job_class[job], partner])

    def snapshot(self) -> dict[int, list[RunningJob]]:
        """Fill the empty servers and return the jobs on each."""
        instance, rng = self.instance, self._rng
        free_gpus = _FreeGpus(instance, rng)
        wanted = rng.uniform(0.25, 1.0) * instance.num_gpus * instance.share
        placed: list[tuple[int, list[int], list[list[int]]]] = []
        failures = taken = 0
        for job in rng.permutation(self._jobs).tolist():
            if taken >= wanted or failures >= _FAILURES:
                break
            placement = self._placers[int(rng.random() < 0.5)].place(job, free_gpus.free_for(job))
            if placement is None:
                failures += 1
                continue
            failures = 0
            servers, counts = placement.by_server(instance.num_stages_of(job))
            free_gpus.take(job, servers, [sum(column) for column in zip(*counts, strict=True)])
            taken += int(instance.gang_size[job])
            placed.append((job, servers, counts))
        running: dict[int, list[RunningJob]] = {}
        for job, servers, counts in placed:
            demand = resource_demand(instance, job, servers, counts)
            for position, (server, own) in enumerate(zip(servers, demand.own, strict=True)):
                one = RunningJob(
                    job=job,
                    replicas=sum(row[position] for row in counts),
                    own=own,
                    sens=demand.sens,
                    partners=free_gpus.partners(job, server),
                )
                running.setdefault(server, []).append(one)
        return running


class _FreeGpus:
    """Free GPUs, and the jobs that share one."""

    def __init__(self, instance: JobsInstance, rng: np.random.Generator) -> None:
        assert instance.interference is not None  # checked before
        self._rng = rng
        self._job_class = instance.interference.job_class
        self._pair = instance.interference.pair
        self._num_gpus_of = instance.num_gpus_of
        self._free = np.array(instance.num_gpus_of)
        self._occupancy = GpuOccupancy(instance) if instance.share > 1 else None

    def free_for(self, job: int) -> np.ndarray:
        """Return the GPUs of each server that are free for a job."""
        return self._free if self._occupancy is None else self._occupancy.free[self._job_class[job]]

    def take(self, job: int, servers: Sequence[int], counts: Sequence[int]) -> None:
        """Put the replicas of a job on GPUs."""
        if self._occupancy is None:
            self._free[list(servers)] -= counts
            return
        gpus = []
        for server, count in zip(servers, counts, strict=True):
            usable = [gpu for gpu in range(self._num_gpus_of[server]) if self._may_use(job, server, gpu)]
            gpus += [(server, gpu) for gpu in self._rng.permutation(usable)[:count].tolist()]
        self._occupancy.take(job, gpus)

    def partners(self, job: int, server: int) -> tuple[int, ...]:
        """Return the classes of the jobs that share a GPU of a server with a job, each once."""
        if self._occupancy is None:
            return ()
        on_gpus = [self._occupancy.occupants(server, gpu) for gpu in range(self._num_gpus_of[server])]
        others = {int(self._job_class[other]) for on in on_gpus if job in on for other in on if other != job}
        return tuple(sorted(others))

    def _may_use(self, job: int, server: int, gpu: int) -> bool:
        """Return whether a replica of a job may use a GPU."""
        assert self._occupancy is not None
        on = self._occupancy.occupants(server, gpu)
        own = self._job_class[job]
        return not on or (len(on) == 1 and self._pair[own, self._job_class[on[0]]] != NOT_TOGETHER)
