"""Writing a new library, whose ledger is empty."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from instances.library.compact_text import instance_text
from instances.library.identifier import library_identifier
from instances.library.ledger import write_ledger
from instances.library.library import CATALOGUE, CATALOGUE_FORMAT, CATALOGUE_VERSION, INSTANCES, LEDGER, SCHEDULES
from instances.text_file import write_text
from instances.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from instances.dag_instance import DagInstance
    from instances.jobs.jobs_instance import JobsInstance
    from instances.library.catalogue_entry import CatalogueEntry


def write_library(
    folder: Path, version: str, instances: Sequence[tuple[CatalogueEntry, DagInstance | JobsInstance]]
) -> None:
    """Write a library with an empty ledger.

    Parameters
    ----------
    folder
        Where; made if need be, and emptied of nothing.
    version
        Of the set of instances.
    instances
        Each with its entry of the catalogue, which is written in this order.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    for sub in (INSTANCES, SCHEDULES):
        (folder / sub).mkdir(parents=True, exist_ok=True)
    for entry, instance in instances:
        with whole_file(folder / INSTANCES / entry.file_name) as partial:
            write_text(partial, instance_text(instance))
    entries = [entry for entry, _ in instances]
    identifier = library_identifier(version, {entry.name: entry.sha256 for entry in entries})
    head = {
        "format": CATALOGUE_FORMAT,
        "version": CATALOGUE_VERSION,
        "library_version": version,
        "identifier": identifier,
    }
    lines = ",\n  ".join(json.dumps(entry.to_dict(), allow_nan=False) for entry in entries)
    fields = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    with whole_file(folder / CATALOGUE) as partial:
        write_text(partial, f'{{\n{fields} "instances": [\n  {lines}]\n}}\n')
    write_ledger(folder / LEDGER, {})
