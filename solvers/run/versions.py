"""What a result was made with."""

from __future__ import annotations

import functools
import os
import platform
from importlib.metadata import PackageNotFoundError, version

DISTRIBUTIONS = (
    "optgap",
    "numpy",
    "numba",
    "networkx",
    "ortools",
    "highspy",
    "pyomo",
    "deap",
    "matplotlib",
    "typer",
    "rich",
)
"""Distributions whose versions a result states."""


@functools.cache
def version_of(distribution: str) -> str | None:
    """Return the installed version of a distribution, None where it is not installed; looked up once."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of everything that computes."""
    return {"python": platform.python_version(), **{name: version_of(name) for name in DISTRIBUTIONS}}


@functools.cache
def hardware() -> str:
    """Describe the processor in one line; names no host."""
    return f"{_processor()}, {available_cores()} cores, {platform.system()}"


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


MOST_THREADS = 64
"""More threads than this, and than there are cores, take longer to start than they help."""


def usable_threads(threads: int | None) -> int:
    """Return how many of the wanted threads are used, all cores for None."""
    cores = available_cores()
    return cores if threads is None else min(int(threads), max(cores, MOST_THREADS))


def _processor() -> str:
    """Return the model of the processor, its architecture where the system does not tell."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
