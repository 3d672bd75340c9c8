"""Two answers that cannot both be right: stop at once and leave everything needed to reproduce them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from instances.dag_document import dag_instance_document, dag_schedule_document
from solvers.versions import hardware, versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


class ContradictionError(RuntimeError):
    """A proof contradicts a verified schedule or another proof: an error in this software or in a solver."""


def raise_contradiction(
    instance: DagInstance, claim: str, *, schedule: DagSchedule | None, evidence: Mapping[str, object]
) -> NoReturn:
    """Write a reproducer file into the current folder and raise.

    Parameters
    ----------
    instance
        What was being solved.
    claim
        What contradicts what, in one sentence.
    schedule
        The verified schedule involved, if any.
    evidence
        Bounds, methods, seeds: whatever led here, as JSON values.

    Raises
    ------
    ContradictionError
        Always.
    """
    document = {
        "format": "optgap/reproducer",
        "version": 1,
        "claim": claim,
        "evidence": dict(evidence),
        "versions": versions(),
        "hardware": hardware(),
        "instance": dag_instance_document(instance),
        "schedule": None if schedule is None else dag_schedule_document(instance, schedule),
    }
    path = Path(f"optgap-reproducer-{instance.sha256[:12]}.json")
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    raise ContradictionError(f"{claim} The reproducer is {path}.")
