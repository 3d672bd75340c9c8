"""Parts of the record that take longer than the default tests may."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.record.digest import digest, without_volatile
from tests.record.documents import run_command
from tests.record.method_runs import available_methods, bounds_record, method_line, methods_record, variants_record
from tests.record.product import JOBS_METHODS, METHODS, lower_bound, lower_bound_jobs, read_library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SPECIFICATIONS = (
    "quick", "whales", "library", "authors-setting", "online", "online-quick", "library-jobs", "marl", "marl-quick",
    "marl-tiny", "marl-agents", "marl-topologies",
)  # fmt: skip
"""Shipped specifications of studies."""

LARGEST = {"dag": 30, "jobs": 60}
"""Tasks or jobs of the instances of the library on which methods are run."""

LIBRARY_METHODS = {
    "dag": ("heft", "cpop", "peft", "etf", "min-min", "max-min", "woa", "ga", "pso", "sa", "rtgs", "worl-rtgs", "ddqn"),
    "jobs": ("a-srpt", "fifo", "wcs-duration", "srtf", "qssf", "drf", "tetris", "load-balancing", "marl"),
}
"""Methods that are run on the library."""


def slow_parts() -> dict[str, Callable[[], Mapping[str, object]]]:
    """Return what computes each slow part of the record, by name."""
    dag, jobs = available_methods(), list(JOBS_METHODS)
    exact = [name for name in dag if METHODS[name].kind in ("exact", "improvement")]
    return {
        "dag bounds, wide": partial(bounds_record, "dag", wide=True),
        "jobs bounds, wide": partial(bounds_record, "jobs", wide=True),
        "dag exact methods, wide": partial(methods_record, "dag", exact, wide=True),
        "dag heuristics, wide": partial(methods_record, "dag", [n for n in dag if n not in exact], wide=True),
        "dag variants, wide": partial(variants_record, "dag", dag, wide=True),
        "jobs variants, wide": partial(variants_record, "jobs", jobs, wide=True),
        "plans of shipped studies": plans_record,
        "library, methods on DAGs": partial(library_methods_record, "dag"),
        "library, methods on jobs": partial(library_methods_record, "jobs"),
        "library, bounds": library_bounds_record,
        "trainings": trainings_record,
    }


def plans_record() -> dict[str, str]:
    """Return digests of the plans of all shipped studies: their instances, methods, budgets and runs."""
    found = {}
    for name in SPECIFICATIONS:
        status, out = run_command("study", "run", name, "--dry-run", "--json")
        plan = without_volatile(json.loads(out))
        found[name] = f"{status} {len(plan['instances'])} instances, {plan['runs']} runs {digest(plan)}"
    return found


def library_methods_record(problem: str) -> dict[str, dict[str, str]]:
    """Return what heuristics find on the smaller instances of the reference library."""
    instances = _library_instances(problem)
    return {
        method: {name: method_line(instance, method) for name, instance in instances.items()}
        for method in LIBRARY_METHODS[problem]
    }


def library_bounds_record() -> dict[str, str]:
    """Return the default bounds of the smaller instances of the reference library."""
    found = {}
    for problem in ("dag", "jobs"):
        for name, instance in _library_instances(problem).items():
            table = lower_bound(instance) if problem == "dag" else lower_bound_jobs(instance)
            found[name] = " ".join(f"{bound.value}" for bound in table)
    return found


def _library_instances(problem: str) -> dict[str, Any]:
    """Return every third of the smaller instances of a problem by the beginning of their names."""
    library = read_library()
    names = [
        entry.name
        for entry in library.catalogue.values()
        if entry.problem == problem and entry.size <= LARGEST[problem]
    ]
    return {"-".join(name.split("-")[:2]): library.instance(name) for name in names[::3]}


def trainings_record() -> dict[str, str]:
    """Return hashes of what trainings of a few steps learn."""
    from tests.record.trainings import trainings

    return trainings()
