"""The record of what a refactoring must not change: digests of instances, schedules, bounds, studies and files.

`python -m tests.record.make_record` writes it to ``record.json``; the tests beside it compare. Make it on the revision
before the refactoring and on the machine that compares: schedules of learned methods follow from sums of floating-point
numbers, and those of solvers from their versions, so that other processors or versions may give another record.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.record.digest import digest
from tests.record.documents import (
    STUDIES,
    commands_record,
    files_record,
    generators_record,
    instances_record,
    library_record,
    planted_jobs_record,
    results_record,
    study_record,
    violations_record,
)
from tests.record.method_runs import available_methods, bounds_record, methods_record, variants_record
from tests.record.product import JOBS_METHODS, METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

RECORD = Path(__file__).parent / "record.json"

Items = dict[str, "str | Items"]


def parts() -> dict[str, Callable[[], Mapping[str, object]]]:
    """Return what computes each part of the record that takes seconds, by name."""
    return {**whole_parts(), **sampled_parts()}


def whole_parts() -> dict[str, Callable[[], Mapping[str, object]]]:
    """Return what computes the parts without methods and bounds on the small instances."""
    return {
        "instances": instances_record,
        "generators": generators_record,
        "planted jobs": planted_jobs_record,
        "violations": violations_record,
        "shipped files": files_record,
        "library": library_record,
        "results": results_record,
        "commands": commands_record,
        **{f"study {name}": partial(study_record, name) for name in STUDIES},
    }


def sampled_parts(every: int = 1) -> dict[str, Callable[[], Mapping[str, object]]]:
    """Return what computes methods and bounds on the small instances, or on every so many-th instance only."""
    dag = available_methods()
    return {
        "dag bounds": partial(bounds_record, "dag", every=every),
        "jobs bounds": partial(bounds_record, "jobs", every=every),
        "dag exact methods": partial(methods_record, "dag", _of_kind(dag, "exact", "improvement"), every=every),
        "dag heuristics": partial(methods_record, "dag", _of_kind(dag, "construction", "search"), every=every),
        "dag variants": partial(variants_record, "dag", dag, every=every),
        "jobs methods": partial(methods_record, "jobs", list(JOBS_METHODS), every=every),
        "jobs variants": partial(variants_record, "jobs", list(JOBS_METHODS), every=every),
    }


def _of_kind(names: Iterable[str], *kinds: str) -> list[str]:
    """Return the DAG methods of some kinds."""
    return [name for name in names if METHODS[name].kind in kinds]


def flat(items: Mapping[str, object], place: str = "") -> dict[str, str]:
    """Return nested items as one mapping from places to texts."""
    found: dict[str, str] = {}
    for name, value in items.items():
        where = f"{place} | {name}" if place else name
        if isinstance(value, dict):
            found |= flat(value, where)
        else:
            found[where] = str(value)
    return found


def differences(expected: Mapping[str, object], got: Mapping[str, object]) -> list[str]:
    """Return a line for each item that differs, is missing or is new."""
    old, new = flat(expected), flat(got)
    return [
        f"{place}: expected {old.get(place, 'nothing')}, got {new.get(place, 'nothing')}"
        for place in dict.fromkeys([*old, *new])
        if old.get(place) != new.get(place)
    ]


def read_record() -> dict[str, dict[str, object]]:
    """Return the stored record."""
    stored: dict[str, dict[str, object]] = json.loads(RECORD.read_text(encoding="utf-8"))["parts"]
    return stored


def main(names: list[str]) -> None:
    """Compute all parts, or those that are named, and write them."""
    from tests.record.slow_parts import slow_parts

    everything = {**parts(), **slow_parts()}
    record = read_record() if names and RECORD.is_file() else {}
    for name in names or everything:
        begin, cpu = time.perf_counter(), time.process_time()
        record[name] = dict(everything[name]())
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        print(f"{name}: {len(flat(record[name]))} items, {cpu:.1f} s CPU, {seconds:.1f} s", flush=True)
    record = {name: record[name] for name in everything if name in record}
    document = {"overall": digest(record), "parts": record}
    RECORD.write_text(json.dumps(document, indent=0, ensure_ascii=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
