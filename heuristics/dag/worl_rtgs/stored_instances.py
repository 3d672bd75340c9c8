"""The stored instances on which networks are chosen (validation) and reported (held out)."""

from __future__ import annotations

import gzip
import hashlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING

from instances.dag_document import dag_instance_document
from instances.dag_json import dag_instance_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.dag_instance import DagInstance

VALIDATION, HELD_OUT = "validation.jsonl.gz", "held_out.jsonl.gz"
"""Files of 64 and 200 instances of the training stream's kind, generated from other seeds, all feasible for HEFT."""


def validation_instances() -> list[DagInstance]:
    """Return the instances on which the best of a training's networks is chosen."""
    return _stored(VALIDATION)


def held_out_instances() -> list[DagInstance]:
    """Return the instances for numbers to publish; nothing was or may be chosen by them."""
    return _stored(HELD_OUT)


def instances_sha256(instances: Sequence[DagInstance]) -> str:
    """Return one hash of all instances: the SHA-256 of their content hashes, one per line."""
    text = "".join(f"{instance.sha256}\n" for instance in instances)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def write_instances(path: str | PathLike[str], instances: Sequence[DagInstance]) -> None:
    """Write instances as compressed JSON, one document per line; the same instances give the same bytes."""
    lines = "".join(f"{json.dumps(dag_instance_document(instance))}\n" for instance in instances)
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.write(lines.encode("ascii"))


def read_instances(path: str | PathLike[str]) -> list[DagInstance]:
    """Read what `write_instances` wrote."""
    with gzip.open(path, "rt", encoding="ascii") as file:
        return [dag_instance_from_json(line) for line in file]


def _stored(name: str) -> list[DagInstance]:
    """Read a file of the package."""
    return read_instances(str(files("heuristics.dag.worl_rtgs") / "instance_sets" / name))
