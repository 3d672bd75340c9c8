"""What the placement rules share: memory for kernels, exact iteration times, and the reading of their results."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.jobs.placements.arrays import jobs_arrays
from heuristics.jobs.placements.placement import JobPlacement
from instances.jobs.iteration_time import iteration_parts_on
from instances.kernels import inner_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heuristics.jobs.placements.arrays import JobsArrays
    from heuristics.jobs.placements.cluster_state import ClusterState
    from instances.jobs.instance import JobsInstance


_MOST_BUCKETS = 4096


class PlacementWorkspace(NamedTuple):
    """Scratch for one job at a time; chosen servers are numbered by their place in `chosen`.

    Vertices are the replicas of the job, numbered in order of stage.
    """

    free_of_kind: NDArray[np.int64]  # (kinds,)
    order: NDArray[np.int64]  # (servers,), usable servers, most free GPUs first
    bucket: NDArray[np.int64]  # (largest server + 1,), or less: large servers are sorted without it
    masks: NDArray[np.int64]  # (most stages,), kinds that each stage may use
    left: NDArray[np.int64]  # (most stages,), replicas still to place
    unions: NDArray[np.int64]  # (unions,)
    slack: NDArray[np.int64]  # (unions,), of what is still to place on what is still free of the chosen servers
    first_slack: NDArray[np.int64]  # (unions,), when nothing is placed yet
    most_of_kind: NDArray[np.int64]  # (kinds,), most free GPUs of a chosen server
    chosen: NDArray[np.int64]  # (servers,)
    free_gpus: NDArray[np.int64]  # (servers,), GPUs still free on each chosen server
    counts: NDArray[np.int64]  # (most stages, servers), replicas of each stage on each chosen server
    best_chosen: NDArray[np.int64]  # (servers,)
    best_counts: NDArray[np.int64]  # (most stages, servers)
    first_vertex: NDArray[np.int64]  # (most stages + 1,), of each stage
    where: NDArray[np.int64]  # (largest gang,), chosen server of each vertex, -1 where it is not placed yet
    parent: NDArray[np.int64]  # (largest gang,), of each vertex in its component
    size: NDArray[np.int64]  # (largest gang,), of the component of a vertex that is its own parent
    common: NDArray[np.int64]  # (largest gang,), kinds allowed for all of them
    part: NDArray[np.int64]  # (most stages,), replicas of each stage in one component
    entry_stage: NDArray[np.int64]  # (largest gang,)
    entry_server: NDArray[np.int64]  # (largest gang,)
    entry_count: NDArray[np.int64]  # (largest gang,)


def new_placement_workspace(arrays: JobsArrays, num_unions: int = 64) -> PlacementWorkspace:
    """Return memory that suffices for every job of an instance, and for this many unions in Hall's test."""
    servers, kinds = len(arrays.server_kind), arrays.time_of.shape[1]
    stages, gang = int(np.diff(arrays.stage_offsets).max(initial=1)), int(arrays.gang_size.max(initial=1))
    sizes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(["free_of_kind", "most_of_kind"], (kinds,)),
        "bucket": (min(int(arrays.num_gpus_of.max()) + 1, _MOST_BUCKETS),),
        "first_vertex": (stages + 1,),
        **dict.fromkeys(["order", "chosen", "free_gpus", "best_chosen"], (servers,)),
        **dict.fromkeys(["masks", "left", "part"], (stages,)),
        **dict.fromkeys(["counts", "best_counts"], (stages, servers)),
        **dict.fromkeys(["unions", "slack", "first_slack"], (num_unions,)),
        **dict.fromkeys(["where", "parent", "size", "common", "entry_stage", "entry_server", "entry_count"], (gang,)),
    }
    return PlacementWorkspace(**{name: np.zeros(shape, dtype=np.int64) for name, shape in sizes.items()})


# The iteration time of a placement in integers of 64 bits, and its comparison with another one, exactly (Numba).
#
# The twin of `instances.jobs.iteration_time` for hot loops. The bytes of a job are integers over one denominator, an
# iteration time is a whole number and a proper fraction, and fractions are compared by their continued fractions, which
# never leave the range of their terms. That all terms fit 64 bits is checked when the arrays are made.


@inner_kernel
def compare_fractions(a: int, b: int, c: int, d: int) -> int:
    """Return the sign of a / b - c / d; a, c at least 0, b, d at least 1, all below 2**63."""
    while True:
        first, second = a // b, c // d
        if first != second:
            return -1 if first < second else 1
        a, c = a - first * b, c - second * d
        if a == 0 or c == 0:
            return (0 if c == 0 else -1) if a == 0 else 1
        a, b, c, d = d, c, b, a  # a / b < c / d if and only if d / c < b / a


@inner_kernel
def traffic(
    counts: NDArray[np.int64],
    chosen: NDArray[np.int64],
    num_chosen: int,
    replicas: NDArray[np.int64],
    ring_bytes: NDArray[np.int64],
    cut_bytes: NDArray[np.int64],
    nic_numerator: NDArray[np.int64],
    nic_denominator: NDArray[np.int64],
    uplinks: NDArray[np.int64],
) -> tuple[int, int]:
    """Return the largest bytes[v] / B[v] over the chosen servers as numerator and denominator, without the job's one.

    With racks, the largest over these and over bytes[R] / B[R] of the racks of chosen servers.

    Parameters
    ----------
    counts
        Replicas of each stage of the job on each chosen server, shape (at least its stages, at least `num_chosen`).
    chosen
        Servers, the first `num_chosen` of them count.
    replicas, ring_bytes, cut_bytes
        Those of the stages of the job, as in `JobsArrays`.
    nic_numerator, nic_denominator, uplinks
        As in `JobsArrays`.
    """
    numerator, denominator = 0, 1
    num_stages = len(replicas)
    for c in range(num_chosen):
        sent = 0
        for s in range(num_stages):
            x, k = counts[s, c], replicas[s]
            if 0 < x < k:
                sent += ring_bytes[s]
            if s + 1 < num_stages:
                y = counts[s + 1, c]
                sent += cut_bytes[s] * (x * (replicas[s + 1] - y) + y * (k - x))
        above, below = sent * nic_denominator[chosen[c]], nic_numerator[chosen[c]]
        if above > numerator if below == denominator else compare_fractions(above, below, numerator, denominator) > 0:
            numerator, denominator = above, below
    if len(uplinks) == 0:
        return numerator, denominator
    for c in range(num_chosen):
        rack, is_first = uplinks[chosen[c], 0], True
        for other in range(c):
            is_first &= uplinks[chosen[other], 0] != rack
        if rack < 0 or not is_first:
            continue
        sent, following = 0, 0  # replicas of this stage, then of the next one, behind the uplink
        for s in range(num_stages + 1):
            x, following = following, 0
            if s < num_stages:
                for other in range(c, num_chosen):
                    following += counts[s, other] if uplinks[chosen[other], 0] == rack else 0
            if s == 0:
                continue
            k = replicas[s - 1]
            if 0 < x < k:
                sent += ring_bytes[s - 1]
            if s < num_stages:
                sent += cut_bytes[s - 1] * (x * (replicas[s] - following) + following * (k - x))
        above, below = sent * uplinks[chosen[c], 2], uplinks[chosen[c], 1]
        if above > numerator if below == denominator else compare_fractions(above, below, numerator, denominator) > 0:
            numerator, denominator = above, below
    return numerator, denominator


@inner_kernel
def slowest_time(
    counts: NDArray[np.int64],
    chosen: NDArray[np.int64],
    num_chosen: int,
    time_of: NDArray[np.int64],
    server_kind: NDArray[np.int64],
) -> int:
    """Return max_s t[s](x), the time of the slowest replica in ticks; `time_of` holds the stages of the job only."""
    slowest = 0
    for c in range(num_chosen):
        kind = server_kind[chosen[c]]
        for s in range(len(time_of)):
            if counts[s, c] > 0:
                slowest = max(slowest, time_of[s, kind])
    return slowest


NONE = -1
"""Instead of a number of entries: there is no placement."""

UNIONS_EXCEEDED = -2
"""Instead of a number of entries: the workspace is too small for the unions of the job."""


@inner_kernel
def write_entries(
    chosen: NDArray[np.int64],
    counts: NDArray[np.int64],
    num_chosen: int,
    num_stages: int,
    entry_stage: NDArray[np.int64],
    entry_server: NDArray[np.int64],
    entry_count: NDArray[np.int64],
) -> int:
    """Write the entries of a placement in order of stage, then server, and return their number.

    `counts` holds the replicas of each stage on each of the first `num_chosen` chosen servers.
    """
    size = 0
    for s in range(num_stages):
        first = size
        for c in range(num_chosen):
            if counts[s, c] == 0:
                continue
            place = size
            while place > first and entry_server[place - 1] > chosen[c]:
                entry_server[place], entry_count[place] = entry_server[place - 1], entry_count[place - 1]
                place -= 1
            entry_server[place], entry_count[place] = chosen[c], counts[s, c]
            entry_stage[size] = s
            size += 1
    return size


@inner_kernel
def gather(arrays: JobsArrays, ws: PlacementWorkspace, job: int, num_servers: int) -> tuple[int, int, int, int]:
    """Return the number of entries, comp(x), and numerator and denominator of comm(x) of the job in ``ws.counts``.

    The entries are left in ``ws.entry_*``; the counts are moved together. Without a denominator of the job's bytes the
    times are not computed.
    """
    base, end = arrays.stage_offsets[job], arrays.stage_offsets[job + 1]
    size = 0
    for server in range(num_servers):
        is_used = False
        for s in range(end - base):
            is_used |= ws.counts[s, server] > 0
        if not is_used:
            continue
        for s in range(end - base):
            ws.counts[s, size] = ws.counts[s, server]
        ws.chosen[size] = server
        size += 1
    num_entries = write_entries(ws.chosen, ws.counts, size, end - base, ws.entry_stage, ws.entry_server, ws.entry_count)
    if arrays.denominator[job] == 0:
        return num_entries, 0, 0, 1
    slowest = slowest_time(ws.counts, ws.chosen, size, arrays.time_of[base:end], arrays.server_kind)
    numerator, denominator = traffic(
        ws.counts,
        ws.chosen,
        size,
        arrays.replicas[base:end],
        arrays.ring_bytes[base:end],
        arrays.cut_bytes[base:end],
        arrays.nic_numerator,
        arrays.nic_denominator,
        arrays.uplinks,
    )
    return num_entries, arrays.slots[job] * slowest, numerator, denominator * arrays.denominator[job]


_NOTHING = Fraction(0)


class KernelPlacer:
    """Runs kernels and reads their answers.

    `phi` as in `restricted_times`; None: all kinds that a stage may use. Raises as `jobs_arrays`.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        self.instance = instance
        self.arrays = jobs_arrays(instance, phi)
        self.workspace = new_placement_workspace(self.arrays)

    def watch(self, cluster: ClusterState) -> None:
        """Receive the cluster, see `Placer`; most rules look at free GPUs only."""

    def run(self, job: int, kernel: Callable[[], tuple[int, int, int, int]]) -> JobPlacement | None:
        """Run a kernel on arrays and workspace, again with more memory for unions of sets of kinds if it needs it.

        The kernel returns the number of entries, comp(x), and numerator and denominator of comm(x); the latter three
        are ignored if the bytes of the job have no denominator.
        """
        size, comp, numerator, denominator = kernel()
        while size == UNIONS_EXCEEDED:
            self.workspace = new_placement_workspace(self.arrays, 2 * len(self.workspace.unions))
            size, comp, numerator, denominator = kernel()
        if size == NONE:
            return None
        stage, server, count = (
            values[:size]
            for values in (self.workspace.entry_stage, self.workspace.entry_server, self.workspace.entry_count)
        )
        comm = Fraction(numerator, denominator) if numerator else _NOTHING
        if self.arrays.denominator[job] == 0:
            counts = dict(zip(zip(stage.tolist(), server.tolist(), strict=True), count.tolist(), strict=True))
            comp, comm = self.exact_parts(job, counts)
        return JobPlacement(stage=stage, server=server, count=count, comp=int(comp), comm=comm)

    def exact_parts(self, job: int, counts: dict[tuple[int, int], int]) -> tuple[int, Fraction]:
        """Return comp(x) and comm(x) in integers of any size; `counts` are replicas by stage and server."""
        servers = sorted({server for _, server in counts})
        stages = range(self.instance.num_stages_of(job))
        rows = [[counts.get((stage, server), 0) for server in servers] for stage in stages]
        return iteration_parts_on(self.instance, job, servers, rows)


def checked_free(arrays: JobsArrays, free: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return free GPUs as kernels need them.

    There must be one number per server because a kernel would read beyond the end, and the array must be writable
    because Numba would compile every kernel once more for read-only arrays.

    Raises a `ValueError` if there is not one integer of 64 bits per server.
    """
    if free.shape != arrays.server_kind.shape or free.dtype != np.int64:
        raise ValueError(
            f"free: expected {len(arrays.server_kind)} integers of 64 bits, one per server, "
            f"got {free.dtype} of shape {free.shape}."
        )
    return free if free.flags.writeable and free.flags.c_contiguous else free.copy()


def plain_placement(counts: dict[tuple[int, int], int], comp: int, comm: Fraction) -> JobPlacement:
    """Return the placement with these replicas by stage and server."""
    entries = np.array([(*key, count) for key, count in sorted(counts.items())], dtype=np.int64)
    stage, server, count = entries.T
    return JobPlacement(stage=stage, server=server, count=count, comp=comp, comm=comm)
