"""A DAG of tasks to be placed on heterogeneous GPUs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.dag.buffers import NO_GROUP, Buffer, check_buffers
from instances.dag.graph import topological_order
from instances.frozen_array import MAX_INTEGER, ReadOnly, free_text, frozen_floats, positive_tick
from instances.json_document import content_hash
from instances.units import duration_text, size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


NOT_ALLOWED = -1
"""Duration of a task on a GPU where it may not run."""

NO_LIMIT = -1
"""Memory of a GPU without a memory limit."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, weakref_slot=True)
class DagInstance(ReadOnly):
    """Tasks, edges, jobs, GPUs and links: an instance of the DAG problem, checked when it is made and read-only.

    `DagInstance.from_lists` makes one from Python lists, `instances.dag.conversion` from seconds, from FLOPs and bytes,
    or from a NetworkX graph. Two instances are the same if their `sha256` is the same; ``==`` compares identity.

    Parameters
    ----------
    durations
        Duration of each task on each GPU in ticks, shape (n, m), int64; ``NOT_ALLOWED`` where it may not run.
    task_memory
        Memory that each task occupies on its GPU for the whole schedule in bytes, shape (n,).
    job_of_task
        Job of each task, shape (n,).
    edges
        Tail and head of each edge, shape (edges, 2).
    edge_bytes
        Data that flows along each edge in bytes, shape (edges,).
    gpu_memory
        Memory capacity of each GPU in bytes, shape (m,); ``NO_LIMIT`` where there is none.
    latency
        Latency of the link from GPU k to GPU l in ticks, shape (m, m), int64; the diagonal is ignored.
    bytes_per_tick
        Bandwidth of the link from GPU k to GPU l, shape (m, m), float64; the diagonal is ignored.
    release
        Release time of each job in ticks, shape (jobs,).
    weight
        Weight of each job, shape (jobs,), integers.
    buffer_task, buffer_bytes
        Task to which each buffer belongs and its size in bytes, shape (buffers,): the bytes are held on the task's GPU
        from its start until the last task that releases the buffer finishes. Default no buffers.
    buffer_releases
        Buffer and task for each task that releases a buffer, shape (releases, 2), in order of the buffers.
    group_of_task
        Group of each task, shape (n,), ``NO_GROUP`` for none; tasks of one group run on one GPU. Default no groups.

    Raises
    ------
    TypeError
        If an array does not hold numbers of its kind, or a name is not text.
    ValueError
        If shapes do not agree, a value is out of range, a reference dangles, an edge is there twice, the edges close
        a cycle, a buffer is released by a task that does not follow its own, or a task or a group fits nowhere. The
        message names the item as in the JSON file.
    """

    name: str
    tick_seconds: float
    durations: NDArray[np.int64]
    task_memory: NDArray[np.int64]
    job_of_task: NDArray[np.int64]
    edges: NDArray[np.int64]
    edge_bytes: NDArray[np.int64]
    gpu_memory: NDArray[np.int64]
    latency: NDArray[np.int64]
    bytes_per_tick: NDArray[np.float64]
    release: NDArray[np.int64]
    weight: NDArray[np.int64]
    task_names: tuple[str, ...]
    gpu_names: tuple[str, ...]
    gpu_kinds: tuple[str, ...]
    gpu_servers: tuple[str, ...]
    job_names: tuple[str, ...]
    buffer_task: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    buffer_bytes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    buffer_releases: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    group_of_task: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    topological_order: NDArray[np.int64] = field(init=False, repr=False)
    """Lexicographically smallest order of tasks in which every edge points forwards, shape (n,)."""
    _sha256: str | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Take private, read-only copies, check everything once, and order the tasks."""
        num_tasks, num_gpus, num_jobs = len(self.task_names), len(self.gpu_names), len(self.job_names)
        links = (num_gpus, num_gpus)
        object.__setattr__(self, "latency", _without_diagonal(self.latency, 0))
        if not np.size(self.group_of_task) or np.array_equal(np.unique(self.group_of_task), [NO_GROUP]):
            object.__setattr__(self, "group_of_task", np.full(num_tasks, NO_GROUP))  # also of another number of tasks
        self._freeze_integers(
            {
                "durations": ("tasks[].durations", (num_tasks, num_gpus)),
                "task_memory": ("tasks[].memory_bytes", (num_tasks,)),
                "job_of_task": ("tasks[].job", (num_tasks,)),
                "edges": ("edges", (None, 2)),
                "edge_bytes": ("edges[].bytes", (len(self.edges),)),
                "gpu_memory": ("gpus[].memory_bytes", (num_gpus,)),
                "latency": ("links.latency_ticks", links),
                "release": ("jobs[].release", (num_jobs,)),
                "weight": ("jobs[].weight", (num_jobs,)),
                "buffer_task": ("buffers[].task", (None,)),
                "buffer_bytes": ("buffers[].bytes", (len(self.buffer_task),)),
                "buffer_releases": ("buffers[].released_by", (None, 2)),
                "group_of_task": ("tasks[].group", (num_tasks,)),
            }
        )
        bandwidth = _without_diagonal(self.bytes_per_tick, 1.0)
        frozen = frozen_floats(bandwidth, place="links.bytes_per_tick", shape=links)
        object.__setattr__(self, "bytes_per_tick", frozen)
        object.__setattr__(self, "tick_seconds", positive_tick(self.tick_seconds))
        free_text(self.name, "name")
        self._freeze_texts(
            {
                "task_names": ("tasks[{}].name", num_tasks),
                "gpu_names": ("gpus[{}].name", num_gpus),
                "gpu_kinds": ("gpus[{}].kind", num_gpus),
                "gpu_servers": ("gpus[{}].server", num_gpus),
                "job_names": ("jobs[{}].name", num_jobs),
            }
        )
        check_dag_instance(self)
        order = topological_order(num_tasks, self.edges)
        order.flags.writeable = False
        object.__setattr__(self, "topological_order", order)
        if self.has_buffers:
            check_buffers(self)

    @classmethod
    def from_lists(
        cls,
        durations: Sequence[Sequence[int | None]],
        edges: Sequence[Sequence[int]] = (),
        *,
        name: str = "instance",
        tick_seconds: float = 1.0,
        task_memory: Sequence[int] | None = None,
        gpu_memory: Sequence[int | None] | None = None,
        latency: Sequence[Sequence[int]] | int = 0,
        bytes_per_tick: Sequence[Sequence[float]] | float = 1.0,
        job_of_task: Sequence[int] | None = None,
        release: Sequence[int] = (0,),
        weight: Sequence[int] | None = None,
        task_names: Sequence[str] | None = None,
        gpu_names: Sequence[str] | None = None,
        gpu_kinds: Sequence[str] | None = None,
        gpu_servers: Sequence[str] | None = None,
        job_names: Sequence[str] | None = None,
        num_gpus: int | None = None,
        buffers: Sequence[tuple[int, int, Sequence[int]]] = (),
        groups: Sequence[int | None] | None = None,
    ) -> DagInstance:
        """Make an instance from Python lists, with defaults for everything but the durations.

        Parameters
        ----------
        durations
            For each task its duration on each GPU in ticks; None where the GPU may not run it.
        edges
            ``(from, to, bytes)`` per edge.
        task_memory
            Bytes per task; default 0.
        gpu_memory
            Bytes per GPU, None where there is no limit; default no limits.
        latency, bytes_per_tick
            A matrix with a row per source GPU, or one number for all links.
        job_of_task, release, weight
            Job of each task (default 0), release and weight (default 1) of each job.
        task_names, gpu_names, gpu_kinds, gpu_servers, job_names
            Free text; the default names are t0, g0 and j0, the default kind and server "GPU" and "s0".
        num_gpus
            Number of GPUs m; needed only where there are no tasks.
        buffers
            ``(task, bytes, tasks that release it)`` per buffer.
        groups
            Group of each task, None for none; default no groups.

        Raises
        ------
        TypeError, ValueError
            As `DagInstance`.

        Examples
        --------
        Three tasks on two GPUs; task 2 may not run on GPU 0, and both edges carry 100 bytes at 50 bytes per tick.

        >>> instance = DagInstance.from_lists(
        ...     [[4, 9], [3, 5], [None, 6]], [(0, 2, 100), (1, 2, 100)], bytes_per_tick=50.0, name="three tasks"
        ... )
        >>> instance
        DagInstance('three tasks': 3 tasks, 2 edges, 1 job(s), 2 GPUs)
        >>> instance.transfer_delays(0).tolist()
        [[0, 2], [2, 0]]
        """
        num_tasks = len(durations)
        if num_gpus is None:
            num_gpus = len(durations[0]) if num_tasks else len(gpu_names or gpu_memory or ["g0"])
        if num_gpus == 0:
            raise ValueError("gpus: expected at least one GPU, got none.")
        for task, row in enumerate(durations):
            if len(row) != num_gpus:
                raise ValueError(f"tasks[{task}].durations: expected {num_gpus} entries, one per GPU, got {len(row)}.")
        for edge, entry in enumerate(edges):
            if len(entry) != 3:
                raise ValueError(f"edges[{edge}]: expected [from, to, bytes], got {list(entry)!r}.")
        links = (num_gpus, num_gpus)
        latency = int(latency) if isinstance(latency, np.integer) else latency
        bytes_per_tick = float(bytes_per_tick) if isinstance(bytes_per_tick, np.number) else bytes_per_tick
        return cls(
            name=name,
            tick_seconds=tick_seconds,
            durations=_rows(
                [_given(row, NOT_ALLOWED, f"tasks[{task}].durations[{{}}]") for task, row in enumerate(durations)],
                num_gpus,
            ),
            task_memory=_column(task_memory, num_tasks, 0),
            job_of_task=_column(job_of_task, num_tasks, 0),
            edges=_rows([entry[:2] for entry in edges], 2),
            edge_bytes=_column([entry[2] for entry in edges], len(edges), 0),
            gpu_memory=_column(
                None if gpu_memory is None else _given(gpu_memory, NO_LIMIT, "gpus[{}].memory_bytes"),
                num_gpus,
                NO_LIMIT,
            ),
            latency=np.full(links, latency) if isinstance(latency, int) else _rows(latency, num_gpus),
            bytes_per_tick=(
                np.full(links, bytes_per_tick, dtype=np.float64)
                if isinstance(bytes_per_tick, int | float)
                else _rows(bytes_per_tick, num_gpus)
            ),
            release=_column(release, len(release), 0),
            weight=_column(weight, len(release), 1),
            task_names=_names(task_names, num_tasks, "t"),
            gpu_names=_names(gpu_names, num_gpus, "g"),
            gpu_kinds=tuple(gpu_kinds or ["GPU"] * num_gpus),
            gpu_servers=tuple(gpu_servers or ["s0"] * num_gpus),
            job_names=_names(job_names, len(release), "j"),
            buffer_task=_column([task for task, _, _ in buffers], len(buffers), 0),
            buffer_bytes=_column([size for _, size, _ in buffers], len(buffers), 0),
            buffer_releases=_rows(
                [(number, task) for number, (_, _, tasks) in enumerate(buffers) for task in tasks], 2
            ),
            group_of_task=_column(
                None if groups is None else _given(groups, NO_GROUP, "tasks[{}].group"), num_tasks, NO_GROUP
            ),
        )

    @property
    def num_tasks(self) -> int:
        """Number of tasks n."""
        return len(self.task_names)

    @property
    def num_gpus(self) -> int:
        """Number of GPUs m."""
        return len(self.gpu_names)

    @property
    def num_jobs(self) -> int:
        """Number of jobs."""
        return len(self.job_names)

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @property
    def num_buffers(self) -> int:
        """Number of buffers."""
        return len(self.buffer_task)

    @property
    def has_buffers(self) -> bool:
        """Whether the instance has buffers or groups, which most methods do not know."""
        return (
            len(self.buffer_task) > 0 or len(self.buffer_releases) > 0 or bool((self.group_of_task != NO_GROUP).any())
        )

    @property
    def buffers(self) -> list[Buffer]:
        """Every buffer with its task, its bytes and the tasks that release it."""
        released_by: list[list[int]] = [[] for _ in range(self.num_buffers)]
        for number, task in self.buffer_releases.tolist():
            if not 0 <= number < self.num_buffers:
                raise ValueError(f"buffers: expected releases of buffers below {self.num_buffers}, got {number}.")
            released_by[number].append(task)
        sizes = zip(self.buffer_task.tolist(), self.buffer_bytes.tolist(), released_by, strict=True)
        return [Buffer(task, size, tuple(tasks)) for task, size, tasks in sizes]

    def without_buffers(self) -> DagInstance:
        """Return the instance without its buffers and groups: every schedule of this one is a schedule of that one."""
        if not self.has_buffers:
            return self
        nothing = np.zeros(0, dtype=np.int64)
        return replace(
            self,
            buffer_task=nothing,
            buffer_bytes=nothing,
            buffer_releases=nothing.reshape(0, 2),
            group_of_task=np.full(self.num_tasks, NO_GROUP),
        )

    def refuse_buffers(self, what: str) -> None:
        """Raise a `ValueError` if the instance has buffers or groups, in the name of what does not know them."""
        if self.has_buffers:
            raise ValueError(f"instance: expected one without buffers and groups for {what}, got {self.name!r}.")

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Where each task may run and fits by itself, shape (n, m): the duration is given and its memory is enough."""
        fits = (self.gpu_memory < 0) | (self.task_memory[:, None] <= self.gpu_memory)
        return (self.durations >= 0) & fits

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, the same on every machine; made when it is first asked for."""
        if self._sha256 is None:
            from instances.dag.json import dag_instance_document

            object.__setattr__(self, "_sha256", content_hash(dag_instance_document(self)))
        return str(self._sha256)

    def transfer_delays(self, edge: int) -> NDArray[np.int64]:
        """Return the transfer delay c[h,i](k,l) of an edge for all pairs of GPUs in ticks, shape (m, m).

        0 on the diagonal and where no data flows, else latency + ceil(bytes / bandwidth), the quotient taken in
        64-bit floating point.
        """
        data = self.edge_bytes[edge]
        if data == 0:
            return np.zeros((self.num_gpus, self.num_gpus), dtype=np.int64)
        delays: NDArray[np.int64] = self.latency + np.ceil(data / self.bytes_per_tick).astype(np.int64)
        np.fill_diagonal(delays, 0)
        return delays

    def transfer_delay(self, edge: int, source: int, target: int) -> int:
        """Return the transfer delay of an edge between two GPUs in ticks, as `transfer_delays` has it."""
        data = int(self.edge_bytes[edge])
        if source == target or data == 0:
            return 0
        return int(self.latency[source, target]) + int(np.ceil(data / self.bytes_per_tick[source, target]))

    def __repr__(self) -> str:
        """Name the instance and its sizes in one line."""
        sizes = f"{self.num_tasks} tasks, {self.num_edges} edges, {self.num_jobs} job(s), {self.num_gpus} GPUs"
        return f"DagInstance({self.name!r}: {sizes})"

    def __str__(self) -> str:
        """Describe the instance in a few aligned lines."""
        return "\n".join(f"{label:>14}: {value}" for label, value in self.summary().items())

    def summary(self) -> dict[str, str]:
        """Return what a reader wants to know first, as label and text."""
        kinds = sorted(set(self.gpu_kinds))
        counted = ", ".join(f"{self.gpu_kinds.count(kind)} x {kind}" for kind in kinds)
        limited = self.gpu_memory[self.gpu_memory >= 0]
        sizes = " to ".join(dict.fromkeys(map(size_text, np.sort(limited)[[0, -1] if len(limited) else []].tolist())))
        return {
            "instance": self.name,
            "tasks": str(self.num_tasks),
            "edges": str(self.num_edges),
            "GPUs": f"{self.num_gpus} ({counted}) on {len(set(self.gpu_servers))} server(s)",
            "jobs": str(self.num_jobs),
            **({"buffers": self._buffer_text()} if self.has_buffers else {}),
            "memory limits": f"{sizes} on {len(limited)} of {self.num_gpus} GPUs" if len(limited) else "none",
            "tick": duration_text(self.tick_seconds),
            "content hash": self.sha256[:16],
        }

    def _buffer_text(self) -> str:
        """Return how many buffers and groups there are, and their bytes together."""
        groups = len(set(self.group_of_task.tolist()) - {NO_GROUP})
        return f"{self.num_buffers} ({size_text(int(self.buffer_bytes.sum()))}), {groups} group(s)"

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        from instances.html import html_table

        return html_table(self.summary())


def _given(values: Sequence[int | None], missing: int, place: str) -> list[int]:
    """Replace None by its integer, which is itself no input."""
    given = [missing if value is None else value for value in values]
    for index, value in enumerate(values):
        if isinstance(value, bool | np.bool_):
            raise TypeError(f"{place.format(index)}: expected an integer or null, got {value}.")
        if isinstance(value, int | np.integer) and value < 0:
            raise ValueError(f"{place.format(index)}: expected at least 0 or null, got {value}.")
    return given


def _without_diagonal(matrix: Any, value: float) -> Any:
    """Copy a matrix and overwrite its diagonal, which has no meaning; other shapes pass through to the check."""
    try:
        array = np.array(matrix)
    except ValueError:
        return matrix  # ragged: frozen_integers and frozen_floats say so
    if array.ndim == 2 and array.dtype.kind in "iufO":
        np.fill_diagonal(array, value)
    return np.array(array.tolist()) if array.dtype.kind == "O" else array


def _column(values: Sequence[int] | None, length: int, default: int) -> NDArray[np.int64]:
    """Return the values, or the default that many times; an empty list is a list of integers."""
    if values is None:
        return np.full(length, default, dtype=np.int64)
    return np.array(values, dtype=None if len(values) else np.int64)


def _rows(values: Sequence[Sequence[Any]], width: int) -> Any:
    """Return rows as they are; no rows are an array of the right width."""
    return values if len(values) else np.zeros((0, width), dtype=np.int64)


def _names(names: Sequence[str] | None, length: int, letter: str) -> tuple[str, ...]:
    """Return the names, or a letter and a number each."""
    return tuple(names) if names is not None else tuple(f"{letter}{index}" for index in range(length))


def check_dag_instance(instance: DagInstance) -> None:
    """Check values and references of an instance whose shapes are right.

    Raises a `ValueError` if a value is out of range, a reference dangles, an edge is there twice, a task can run
    nowhere, or the times are too large for exact arithmetic.
    """
    _check_gpus(instance)
    _check_jobs(instance)
    _check_tasks(instance)
    _check_edges(instance)
    _check_memory(instance)
    _check_horizon(instance)


def _check_gpus(instance: DagInstance) -> None:
    """Check GPUs and links; the diagonal of the links is ignored."""
    if instance.num_gpus == 0:
        raise ValueError("gpus: expected at least one GPU, got none.")
    for gpu in np.flatnonzero(instance.gpu_memory < -1):
        memory = instance.gpu_memory[gpu]
        raise ValueError(f"gpus[{gpu}].memory_bytes: expected at least 0 or no limit, got {memory}.")
    for k, l in np.argwhere(instance.latency < 0):
        raise ValueError(f"links.latency_ticks[{k}][{l}]: expected at least 0, got {instance.latency[k, l]}.")
    for k, l in np.argwhere(instance.bytes_per_tick <= 0):
        raise ValueError(f"links.bytes_per_tick[{k}][{l}]: expected above 0, got {instance.bytes_per_tick[k, l]}.")


def _check_jobs(instance: DagInstance) -> None:
    """Check releases and weights."""
    for job in np.flatnonzero(instance.release < 0):
        raise ValueError(f"jobs[{job}].release: expected at least 0, got {instance.release[job]}.")
    for job in np.flatnonzero(instance.weight < 0):
        raise ValueError(f"jobs[{job}].weight: expected at least 0, got {instance.weight[job]}.")


def _check_tasks(instance: DagInstance) -> None:
    """Check job, durations and memory of every task."""
    num_jobs = instance.num_jobs
    if instance.num_tasks and not num_jobs:
        raise ValueError("jobs: expected at least one job, as there are tasks, got none.")
    for task in np.flatnonzero((instance.job_of_task < 0) | (instance.job_of_task >= num_jobs)):
        job = instance.job_of_task[task]
        raise ValueError(f"tasks[{task}].job: expected a job in 0..{num_jobs - 1}, got {job}.")
    for task, gpu in np.argwhere(instance.durations < -1):
        ticks = instance.durations[task, gpu]
        raise ValueError(f"tasks[{task}].durations[{gpu}]: expected at least 0 or not allowed, got {ticks}.")
    for task in np.flatnonzero((instance.durations < 0).all(axis=1)):
        raise ValueError(f"tasks[{task}].durations: expected at least one allowed GPU, got none.")
    for task in np.flatnonzero(instance.task_memory < 0):
        raise ValueError(f"tasks[{task}].memory_bytes: expected at least 0, got {instance.task_memory[task]}.")


def _check_edges(instance: DagInstance) -> None:
    """Check ends and bytes of every edge, and that no edge is there twice."""
    last = instance.num_tasks - 1
    edges = instance.edges
    for edge in np.flatnonzero(((edges < 0) | (edges > last)).any(axis=1)):
        tail, head = edges[edge]
        expected = f"tasks in 0..{last}" if last >= 0 else "no edge, as there are no tasks"
        raise ValueError(f"edges[{edge}]: expected {expected}, got {tail} -> {head}.")
    for edge in np.flatnonzero(edges[:, 0] == edges[:, 1]):
        raise ValueError(f"edges[{edge}]: expected two different tasks, got {edges[edge, 0]} -> {edges[edge, 1]}.")
    for edge in np.flatnonzero(instance.edge_bytes < 0):
        raise ValueError(f"edges[{edge}]: expected at least 0 bytes, got {instance.edge_bytes[edge]}.")
    keys = edges[:, 0] * max(instance.num_tasks, 1) + edges[:, 1]
    first_seen: dict[int, int] = {}
    if len(np.unique(keys)) < len(keys):
        for position, key in enumerate(keys.tolist()):
            if key in first_seen:
                tail, head = edges[position]
                first = first_seen[key]
                raise ValueError(
                    f"edges[{position}]: expected each edge once, got {tail} -> {head} as in edges[{first}]."
                )
            first_seen[key] = position


def _check_memory(instance: DagInstance) -> None:
    """Check that every task fits on an allowed GPU by itself and all tasks fit on all GPUs together."""
    unlimited = instance.gpu_memory < 0
    fits = (instance.durations >= 0) & (unlimited | (instance.task_memory[:, None] <= instance.gpu_memory))
    for task in np.flatnonzero(~fits.any(axis=1)):
        largest = instance.gpu_memory[instance.durations[task] >= 0].max()
        raise ValueError(
            f"tasks[{task}].memory_bytes: expected at most {largest}, the largest memory of an allowed GPU, "
            f"got {instance.task_memory[task]}."
        )
    needed, available = sum(instance.task_memory.tolist()), sum(instance.gpu_memory.tolist())
    if needed > MAX_INTEGER:
        raise ValueError(f"tasks: expected at most 2**53 bytes of memory together, got {needed}.")
    if not unlimited.any() and needed > available:
        raise ValueError(f"tasks: expected at most {available} bytes, the memory of all GPUs together, got {needed}.")


def _check_horizon(instance: DagInstance) -> None:
    """Check that a schedule without needless waiting ends by 2**53 ticks."""
    off_diagonal = ~np.eye(instance.num_gpus, dtype=bool)
    delays = 0
    if instance.num_gpus > 1 and len(instance.edges):
        slowest = float(instance.bytes_per_tick[off_diagonal].min())
        longest_latency = int(instance.latency[off_diagonal].max())
        data = instance.edge_bytes[instance.edge_bytes > 0]
        with np.errstate(over="ignore"):  # a bandwidth near 0: no finite time
            delays = longest_latency * len(data) + int(min(float(np.ceil(data / slowest).sum()), 2.0**60))
    work = sum(instance.durations.max(axis=1, initial=0).tolist())
    horizon = int(instance.release.max(initial=0)) + work + delays
    if horizon > MAX_INTEGER:
        raise ValueError(f"tasks: expected a horizon of at most 2**53 ticks, got {horizon}; use longer ticks.")
    if horizon * max(sum(instance.weight.tolist()), 1) > 2**62:
        raise ValueError(f"jobs: expected weights whose sum times the horizon of {horizon} ticks is below 2**62.")
