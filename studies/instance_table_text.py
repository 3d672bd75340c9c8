"""The instances behind a gap table, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.text_table import text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.result import Result
    from studies.gap_table import GapTable

HEADINGS = ("instance", "tasks", "edges", "GPUs", "bound", "proved by", "seconds")


def instance_table_text(results: Sequence[Result], table: GapTable) -> str:
    """Return sizes, best bounds and what proves them; fits 80 columns."""
    instance_of_hash = {result.instance.sha256: result.instance for result in results}
    rows = []
    for entry in table.instances:
        instance, bound = instance_of_hash[entry.sha256], entry.bound
        rows.append(
            [
                entry.name,
                str(instance.num_tasks),
                str(instance.num_edges),
                str(instance.num_gpus),
                "-" if bound is None else f"{bound.value}{'' if entry.is_optimum else ' *'}",
                "-" if bound is None else bound.method,
                "-" if bound is None else f"{bound.seconds:.2f}",
            ]
        )
    proven = "Every bound is the optimum." if table.is_proven else "* not proven to be the optimum."
    return text_table(
        HEADINGS, rows, title="Instances", caption=proven, numbers=("tasks", "edges", "GPUs", "bound", "seconds")
    )
