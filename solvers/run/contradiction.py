"""Two answers that cannot both be right: stop at once and leave everything needed to reproduce them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from instances.dag.instance import DagInstance
from instances.dag.json import dag_instance_document, dag_schedule_document
from instances.jobs.json import jobs_instance_document, jobs_schedule_document
from solvers.run.versions import hardware, versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from instances.dag.schedule import DagSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


REPRODUCER_FORMAT = "optgap/reproducer"
REPRODUCER_VERSION = 1


class ContradictionError(RuntimeError):
    """A proof contradicts a verified schedule or another proof: an error in this software or in a solver."""


def raise_contradiction(
    instance: DagInstance | JobsInstance,
    claim: str,
    *,
    schedule: DagSchedule | JobsSchedule | None,
    evidence: Mapping[str, object],
    other_schedule: DagSchedule | JobsSchedule | None = None,
    claims: Mapping[str, str] | None = None,
) -> NoReturn:
    """Write a reproducer file and raise.

    It goes into the current folder or, where that cannot be, the system's for temporary files;
    `solvers.confirmation.reproducer` reads it back.

    Parameters
    ----------
    instance
        What was being solved.
    claim
        What contradicts what, in one sentence.
    schedule
        The verified schedule that contradicts, if any.
    evidence
        Bounds, methods, seeds: whatever led here, as JSON values.
    other_schedule
        The schedule of the other side, if it had one.
    claims
        What each side says, by its name with solver and version.

    Raises
    ------
    ContradictionError
        Always.
    """
    document = {
        "format": REPRODUCER_FORMAT,
        "version": REPRODUCER_VERSION,
        "claim": claim,
        "claims": dict(claims or {}),
        "evidence": dict(evidence),
        "versions": versions(),
        "hardware": hardware(),
        "instance": _instance_document(instance),
        "schedule": None if schedule is None else _schedule_document(instance, schedule),
        "other_schedule": None if other_schedule is None else _schedule_document(instance, other_schedule),
    }
    text = json.dumps(document, indent=1)
    name = f"optgap-reproducer-{instance.sha256[:12]}.json"
    for path in (Path(name), Path(tempfile.gettempdir()) / name):
        try:
            path.write_text(text, encoding="utf-8")
        except OSError:
            continue
        raise ContradictionError(f"{claim} The reproducer is {path}.")
    raise ContradictionError(f"{claim} No reproducer could be written.")


def _instance_document(instance: DagInstance | JobsInstance) -> dict[str, Any]:
    """Return the instance as in its file, whichever problem it is of."""
    return dag_instance_document(instance) if isinstance(instance, DagInstance) else jobs_instance_document(instance)


def _schedule_document(instance: DagInstance | JobsInstance, schedule: DagSchedule | JobsSchedule) -> dict[str, Any]:
    """Return a schedule as in its file."""
    document: Callable[..., dict[str, Any]] = (
        dag_schedule_document if isinstance(instance, DagInstance) else jobs_schedule_document
    )
    return document(instance, schedule)
