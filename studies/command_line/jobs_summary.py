"""What the commands say of a jobs instance that they have written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.jobs.releases_at_load import load_factor

if TYPE_CHECKING:
    from pathlib import Path

    from instances.jobs.jobs_instance import JobsInstance


def jobs_summary(instance: JobsInstance, path: Path) -> dict[str, object]:
    """Return file, name, content hash, sizes and load as JSON values; no load where all jobs arrive at once."""
    return {
        "file": str(path),
        "instance": instance.name,
        "instance_sha256": instance.sha256,
        "num_jobs": instance.num_jobs,
        "num_servers": instance.num_servers,
        "num_gpus": instance.num_gpus,
        "load": load_factor(instance),
        "tick_seconds": instance.tick_seconds,
    }


def jobs_lines(instance: JobsInstance, path: Path) -> dict[str, str]:
    """Return the same for readers, as label and text."""
    load = load_factor(instance)
    known = {} if load is None else {"load": f"{load:.3f}"}
    return {**instance.summary(), **known, "written to": str(path)}
