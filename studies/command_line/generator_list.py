"""What `optgap generate` can make, and on which GPUs."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from studies.command_line.text_table import text_table

if TYPE_CHECKING:
    from collections.abc import Callable


def generator_list() -> dict[str, Any]:
    """Return families, cluster presets and kinds of GPU as JSON values."""
    from instances.cluster_presets import CLUSTER_PRESETS
    from instances.generators.families import FAMILIES
    from instances.generators.jobs.families import ALL_JOBS_FAMILIES
    from instances.generators.jobs.planted_jobs import planted_jobs
    from instances.generators.planted import planted_optimum
    from instances.gpu_catalogue import GPU_KINDS
    from studies.command_line.generate_jobs_file import PLANTED_JOBS, PLANTED_OWN
    from studies.command_line.planted import OWN_OPTIONS

    return {
        "families": [
            {
                "name": name,
                "description": family.description,
                "source": family.source,
                "parameters": list(family.parameters()),
            }
            for name, family in FAMILIES.items()
        ]
        + [
            {
                "name": "planted",
                "description": "built around an optimal schedule: the optimum is known at any size",
                "source": "ours",
                "parameters": [name for name in signature(planted_optimum).parameters if name not in OWN_OPTIONS],
            }
        ],
        "jobs_families": [
            {
                "name": name,
                "description": family.description,
                "source": family.source,
                "parameters": list(family.parameters()),
            }
            for name, family in ALL_JOBS_FAMILIES.items()
        ]
        + [
            {
                "name": PLANTED_JOBS,
                "description": "built around an optimal schedule: the optimum is known at any size",
                "source": "ours",
                "parameters": [name for name in signature(planted_jobs).parameters if name not in PLANTED_OWN],
            }
        ],
        "cluster_presets": [
            {"name": name, "description": _first_line(preset)} for name, preset in CLUSTER_PRESETS.items()
        ],
        "gpu_kinds": [
            {"name": kind.name, "memory_bytes": kind.memory_bytes, "memory_bandwidth": kind.memory_bandwidth}
            for kind in GPU_KINDS.values()
        ],
    }


def generator_list_text() -> str:
    """Return the same as tables."""
    listed = generator_list()
    families = text_table(
        ["family", "what it models", "--set"],
        [[item["name"], item["description"], ", ".join(item["parameters"])] for item in listed["families"]],
        title="Families",
    )
    jobs_families = text_table(
        ["family", "what it models", "--set"],
        [[item["name"], item["description"], ", ".join(item["parameters"])] for item in listed["jobs_families"]],
        title="Families of jobs that arrive, with --jobs and --load",
    )
    presets = text_table(
        ["preset", "what it is"],
        [[item["name"], item["description"]] for item in listed["cluster_presets"]],
        title="Cluster presets",
    )
    kinds = text_table(
        ["kind", "memory GiB", "GB/s"],
        [
            [item["name"], f"{item['memory_bytes'] / 2**30:g}", f"{item['memory_bandwidth'] / 1e9:g}"]
            for item in listed["gpu_kinds"]
        ],
        title="Kinds of GPU, for --gpus such as 2xV100-16GB+1xT4,4xP100",
        numbers=["memory GiB", "GB/s"],
    )
    return f"{families}\n\n{jobs_families}\n\n{presets}\n\n{kinds}"


def _first_line(function: Callable[..., object]) -> str:
    """Return the first line of a function's docstring."""
    return (function.__doc__ or "").strip().split("\n", 1)[0]
