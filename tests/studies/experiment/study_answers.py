"""What a study says that must not depend on who made its runs."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from instances.text_file import PARTIAL
from studies.experiment.store import StudyStore

if TYPE_CHECKING:
    from pathlib import Path

DETERMINISTIC = (
    "key, sha256, phase, kind, label, method, parameters, all_parameters, budget, repetition, seed, threads, position,"
    " is_planned, state, owner, objective, bound, bound_method, bound_proof, is_infeasible, termination, evaluations,"
    " schedule, error"
)
"""All columns but times, the environment, and the trace, which has times in it."""


def answers_of(folder: Path) -> list[tuple[object, ...]]:
    """Return every deterministic column of the planned runs, and traces of heuristics without their seconds."""
    with StudyStore(folder) as store:
        rows = store.select(f"SELECT {DETERMINISTIC}, trace FROM runs WHERE is_planned = 1 ORDER BY position")
        assert store.select("SELECT * FROM owners") == []
        (instances,) = store.select("SELECT count(*) AS number FROM instances")
    files = [path for path in (folder / "instances").iterdir() if not path.name.startswith(PARTIAL)]
    assert len(files) == instances["number"]
    return [(*tuple(row)[:-1], _without_seconds(row["kind"], row["trace"])) for row in rows]


def copy_study(folder: Path, target: Path) -> Path:
    """Copy a study that nobody has open, and return the copy."""
    shutil.copytree(folder, target)
    return target


def _without_seconds(kind: str, trace: str | None) -> object:
    """Return evaluations, objective and bound at every improvement; exact methods tell of theirs by the clock."""
    return None if trace is None or kind == "exact" else [point[1:] for point in json.loads(trace)]
