"""The sizes of an instance that tables of bounds state, whichever problem it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.jobs.jobs_instance import JobsInstance

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance

DAG_SIZES = ("num_tasks", "num_edges", "num_gpus")
JOBS_SIZES = ("num_jobs", "num_servers", "num_gpus")


def instance_sizes(instance: DagInstance | JobsInstance) -> dict[str, int]:
    """Return the sizes by name."""
    names = JOBS_SIZES if isinstance(instance, JobsInstance) else DAG_SIZES
    return {name: int(getattr(instance, name)) for name in names}
