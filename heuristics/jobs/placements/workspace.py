"""Memory that the kernels of placements write to: made once, used by every call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.jobs_arrays import JobsArrays

_MOST_BUCKETS = 4096


class Workspace(NamedTuple):
    """Scratch for one job at a time; chosen servers are numbered by their place in `chosen`.

    Vertices are the replicas of the job, numbered in order of stage.
    """

    free_of_kind: NDArray[np.int64]  # (kinds,)
    order: NDArray[np.int64]  # (servers,), usable servers, most free GPUs first
    bucket: NDArray[np.int64]  # (largest server + 1,), or less: large servers are sorted without
    masks: NDArray[np.int64]  # (most stages,), kinds that each stage may use
    left: NDArray[np.int64]  # (most stages,), replicas still to place
    unions: NDArray[np.int64]  # (unions,)
    slack: NDArray[np.int64]  # (unions,), of what is still to place on what is still free of the chosen servers
    first_slack: NDArray[np.int64]  # (unions,), when nothing is placed yet
    most_of_kind: NDArray[np.int64]  # (kinds,), largest room of a chosen server
    chosen: NDArray[np.int64]  # (servers,)
    room: NDArray[np.int64]  # (servers,), GPUs still free on each chosen server
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


def new_workspace(arrays: JobsArrays, num_unions: int = 64) -> Workspace:
    """Return memory that suffices for every job of an instance, and for this many unions in Hall's test."""
    servers, kinds = len(arrays.server_kind), arrays.time_of.shape[1]
    stages, gang = int(np.diff(arrays.stage_offsets).max(initial=1)), int(arrays.gang_size.max(initial=1))
    sizes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(["free_of_kind", "most_of_kind"], (kinds,)),
        "bucket": (min(int(arrays.num_gpus_of.max()) + 1, _MOST_BUCKETS),),
        "first_vertex": (stages + 1,),
        **dict.fromkeys(["order", "chosen", "room", "best_chosen"], (servers,)),
        **dict.fromkeys(["masks", "left", "part"], (stages,)),
        **dict.fromkeys(["counts", "best_counts"], (stages, servers)),
        **dict.fromkeys(["unions", "slack", "first_slack"], (num_unions,)),
        **dict.fromkeys(["where", "parent", "size", "common", "entry_stage", "entry_server", "entry_count"], (gang,)),
    }
    return Workspace(**{name: np.zeros(shape, dtype=np.int64) for name, shape in sizes.items()})
