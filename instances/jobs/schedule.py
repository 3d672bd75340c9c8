"""When every job starts, and how many replicas of each of its stages sit on each server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.frozen_array import ReadOnly, free_text, frozen_integers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from instances.jobs.instance import JobsInstance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JobsSchedule(ReadOnly):
    """Starts and placements of all jobs; not yet verified. `JobsSchedule.from_placements` makes one from matrices.

    Completion times are not stored: they follow from the placements and, under interference, from all other jobs.

    Parameters
    ----------
    start
        Start of each job in ticks, shape (jobs,), int64.
    entry_offsets
        First entry of each stage, and the number of all entries, shape (stages + 1,).
    entry_server, entry_count
        Server, and replicas of the stage on it, of each entry, shape (entries,) each; the servers of a stage ascend.
    instance_name, instance_sha256
        The instance that the schedule is for.
    gpu
        GPU of each replica on its server, entry by entry, shape (replicas of all jobs,); None where GPUs are not named.
        An instance with two jobs per GPU needs names; in others all GPUs of a server are alike.

    Raises
    ------
    TypeError
        If an entry is not an integer, or a name is no text.
    ValueError
        If the lengths do not agree, the offsets do not ascend, or a server stands twice in a stage.

    Examples
    --------
    >>> import numpy as np
    >>> import optgap
    >>> from instances.jobs.instance import Job, JobsInstance, Stage
    >>> from instances.jobs.servers import JobsServer
    >>> servers = [JobsServer(kind="T4", gpus=2, nic_bytes_per_tick=1000)]
    >>> instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times=5)], iterations=10)])
    >>> schedule = optgap.JobsSchedule.from_placements(instance, [0], [np.array([[1]])])
    >>> optgap.verify(instance, schedule)
    []
    """

    start: NDArray[np.int64]
    entry_offsets: NDArray[np.int64]
    entry_server: NDArray[np.int64]
    entry_count: NDArray[np.int64]
    instance_name: str
    instance_sha256: str
    gpu: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        """Take private, read-only copies and check the shapes."""
        for name in ("start", "entry_offsets", "entry_server", "entry_count"):
            object.__setattr__(self, name, frozen_integers(getattr(self, name), place=name, shape=(None,)))
        free_text(self.instance_name, "instance")
        free_text(self.instance_sha256, "instance_sha256")
        offsets, size = self.entry_offsets, len(self.entry_server)
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != size or (np.diff(offsets) < 0).any():
            raise ValueError(f"entry_offsets: expected 0 to {size}, ascending, got {offsets.tolist()[:20]}.")
        if len(self.entry_count) != size:
            raise ValueError(f"entry_count: expected {size} entries, as many as servers, got {len(self.entry_count)}.")
        if self.gpu is not None:
            object.__setattr__(self, "gpu", frozen_integers(self.gpu, place="gpu", shape=(None,)))
            expected = sum(count for count in self.entry_count.tolist() if count > 0)
            if len(self.gpu) != expected or (self.entry_count < 0).any():
                raise ValueError(f"gpu: expected {expected} entries, one per replica, got {len(self.gpu)}.")
        is_first = np.zeros(size + 1, dtype=bool)
        is_first[offsets] = True
        for entry in np.flatnonzero((np.diff(self.entry_server) <= 0) & ~is_first[1:-1]):
            stage = int(np.searchsorted(offsets, entry, side="right")) - 1
            raise ValueError(
                f"stage {stage}: expected each server once and in ascending order, "
                f"got {self.entry_server[entry]} before {self.entry_server[entry + 1]}."
            )

    @classmethod
    def from_placements(
        cls,
        instance: JobsInstance,
        start: ArrayLike,
        placements: Sequence[NDArray[np.int64]],
        gpus: Sequence[Mapping[int, Sequence[int]]] | None = None,
    ) -> JobsSchedule:
        """Make a schedule from one matrix per job.

        Parameters
        ----------
        start
            Start of each job in ticks, shape (jobs,).
        placements
            For each job its replicas by stage and server, shape (stages of the job, servers).
        gpus
            For each job its GPUs by server; its stages take them in order. None where GPUs are not named.

        Raises
        ------
        TypeError, ValueError
            As `JobsSchedule`, if a matrix has another shape, or a job has not one GPU per replica on a server.
        """
        if len(placements) != instance.num_jobs:
            raise ValueError(f"placements: expected {instance.num_jobs} matrices, got {len(placements)}.")
        counts, servers, sizes = [], [], [np.zeros(1, dtype=np.int64)]
        for job, placement in enumerate(placements):
            shape = (instance.num_stages_of(job), instance.num_servers)
            placed = frozen_integers(placement, place=f"placements[{job}]", shape=shape)
            rows, columns = np.nonzero(placed)
            counts.append(placed[rows, columns])
            servers.append(columns)
            sizes.append(np.bincount(rows, minlength=shape[0]))
        empty = np.zeros(0, dtype=np.int64)
        return cls(
            start=np.array(start),
            entry_offsets=np.cumsum(np.concatenate(sizes)),
            entry_server=np.concatenate([empty, *servers]),
            entry_count=np.concatenate([empty, *counts]),
            instance_name=instance.name,
            instance_sha256=instance.sha256,
            gpu=None if gpus is None else _dealt(servers, counts, gpus),
        )

    def placement(self, instance: JobsInstance, job: int) -> NDArray[np.int64]:
        """Return the replicas of a job by stage and server, shape (stages of the job, servers)."""
        rows = instance.stages_of(job)
        placed = np.zeros((rows.stop - rows.start, instance.num_servers), dtype=np.int64)
        for row, stage in enumerate(range(rows.start, rows.stop)):
            entries = slice(self.entry_offsets[stage], self.entry_offsets[stage + 1])
            placed[row, self.entry_server[entries]] = self.entry_count[entries]
        return placed

    def servers_of(self, instance: JobsInstance, job: int) -> NDArray[np.int64]:
        """Return the servers that hold replicas of a job, ascending."""
        rows = instance.stages_of(job)
        return np.unique(self.entry_server[self.entry_offsets[rows.start] : self.entry_offsets[rows.stop]])

    def gpus_of(self, instance: JobsInstance, job: int) -> list[tuple[int, int]]:
        """Return the GPUs of a job as (server, number on it), in order of entries; the schedule names them."""
        if self.gpu is None:
            raise ValueError("gpu: expected a schedule that names GPUs, got one that does not.")
        rows = instance.stages_of(job)
        first, last = self.entry_offsets[rows.start], self.entry_offsets[rows.stop]
        begin, count = int(self.entry_count[:first].sum()), self.entry_count[first:last]
        servers = np.repeat(self.entry_server[first:last], count).tolist()
        return list(zip(servers, self.gpu[begin : begin + len(servers)].tolist(), strict=True))

    def __repr__(self) -> str:
        """Name the instance and the sizes in one line."""
        servers = len(np.unique(self.entry_server))
        return f"JobsSchedule({self.instance_name!r}: {len(self.start)} jobs on {servers} server(s))"

    def __str__(self) -> str:
        """List the jobs in order of start."""
        order = np.argsort(self.start, kind="stable").tolist()
        return "\n".join(f"job {job} at {self.start[job]}" for job in order) or "no jobs"


def _dealt(
    servers: Sequence[NDArray[np.int64]],
    counts: Sequence[NDArray[np.int64]],
    gpus: Sequence[Mapping[int, Sequence[int]]],
) -> NDArray[np.int64]:
    """Return the GPU of every replica: the stages of a job take its GPUs on a server in order."""
    if len(gpus) != len(servers):
        raise ValueError(f"gpus: expected {len(servers)} entries, one per job, got {len(gpus)}.")
    dealt: list[int] = []
    for job, (own_servers, own_counts) in enumerate(zip(servers, counts, strict=True)):
        left = {server: list(own) for server, own in gpus[job].items()}
        for server, count in zip(own_servers.tolist(), own_counts.tolist(), strict=True):
            taken = left.get(server, [])
            if len(taken) < count:
                raise ValueError(f"gpus[{job}]: expected one GPU per replica on server {server}, got too few.")
            dealt += taken[:count]
            left[server] = taken[count:]
        if any(left.values()):
            raise ValueError(f"gpus[{job}]: expected one GPU per replica, got more.")
    return np.array(dealt, dtype=np.int64)
