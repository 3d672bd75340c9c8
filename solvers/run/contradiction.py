"""Two answers that cannot both be right: stop at once and leave everything needed to reproduce them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from instances.readers.optgap_json import codec_of
from instances.text_file import write_text
from solvers.run.versions import hardware, versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.readers.optgap_json import Instance, Schedule


REPRODUCER_FORMAT = "optgap/reproducer"
REPRODUCER_VERSION = 1


class ContradictionError(RuntimeError):
    """A proof contradicts a verified schedule or another proof: an error in this software or in a solver."""


def raise_contradiction(
    instance: Instance,
    claim: str,
    *,
    schedule: Schedule | None,
    evidence: Mapping[str, object],
    other_schedule: Schedule | None = None,
    claims: Mapping[str, str] | None = None,
) -> NoReturn:
    """Write a reproducer file and raise.

    It goes into the current folder or, where that cannot be, the system's for temporary files;
    `solvers.confirmation.reproducer` reads it back.

    Parameters
    ----------
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
    codec = codec_of(instance)
    document = {
        "format": REPRODUCER_FORMAT,
        "version": REPRODUCER_VERSION,
        "claim": claim,
        "claims": dict(claims or {}),
        "evidence": dict(evidence),
        "versions": versions(),
        "hardware": hardware(),
        "instance": codec.instance_document(instance),
        "schedule": None if schedule is None else codec.schedule_document(instance, schedule),
        "other_schedule": None if other_schedule is None else codec.schedule_document(instance, other_schedule),
    }
    text = json.dumps(document, indent=1)
    name = f"optgap-reproducer-{instance.sha256[:12]}.json"
    for path in (Path(name), Path(tempfile.gettempdir()) / name):
        try:
            write_text(path, text)
        except OSError:
            continue
        raise ContradictionError(f"{claim} The reproducer is {path}.")
    raise ContradictionError(f"{claim} No reproducer could be written.")
