"""What the commands say of an instance that they have written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag_instance import DagInstance


def instance_summary(instance: DagInstance, path: Path) -> dict[str, object]:
    """Return file, name, content hash and sizes as JSON values."""
    return {
        "file": str(path),
        "instance": instance.name,
        "instance_sha256": instance.sha256,
        "num_tasks": instance.num_tasks,
        "num_edges": instance.num_edges,
        "num_gpus": instance.num_gpus,
        "num_jobs": instance.num_jobs,
        "tick_seconds": instance.tick_seconds,
    }
