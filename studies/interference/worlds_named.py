"""The worlds of the study by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.readers.jobs.gavel_pairs import read_gavel_pairs
from studies.interference.generated_world import GeneratedWorld
from studies.interference.measured_world import MeasuredWorld

if TYPE_CHECKING:
    from pathlib import Path

    from studies.interference.world import World

GENERATED = {
    "co-located": GeneratedWorld(name="co-located", family="jobs-co-located"),
    "shared-gpus": GeneratedWorld(name="shared-gpus", family="jobs-shared-gpus"),
}
"""Worlds that need no file."""

MEASURED = "gavel"
"""The world that needs one."""

KINDS = ("k80", "p100", "v100")
"""Of GPUs in the measured table."""


def generated_worlds(text: str) -> list[World]:
    """Return the generated worlds among names separated by commas.

    Raises
    ------
    ValueError
        If there is none of a name, or one is named twice.
    """
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in GENERATED and name != MEASURED:
            raise ValueError(f"worlds: expected {', '.join(GENERATED)} or {MEASURED}, got {name!r}.")
        if names.count(name) > 1:
            raise ValueError(f"worlds: expected each name once, got {name!r} twice.")
    return [GENERATED[name] for name in names if name in GENERATED]


def names_measured(text: str) -> bool:
    """Say whether the measured world is among names separated by commas."""
    return MEASURED in (name.strip() for name in text.split(","))


def measured_world(path: Path) -> World:
    """Return the pairs of Gavel's table.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is another table.
    """
    return MeasuredWorld(tables={kind: read_gavel_pairs(path, kind) for kind in KINDS}, name=MEASURED)
