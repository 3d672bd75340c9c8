"""Writes certificates of bounds of the reference library, and asks the checker's file what they prove."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from formulations.dag.bounds.certificates import bound_certificate
from formulations.dag.bounds.refutation_proof import MOST_CASES
from heuristics.search.clock import Stopwatch
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.library.certificates import read_certificates, store_certificate
from instances.text_file import write_text

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance
    from instances.library.ledger import LedgerEntry
    from instances.library.library import Library


def checker_answer(instance: Path, certificate: Path) -> str:
    """Return the one line that the checker prints in a Python of its own, which imports nothing of ours.

    It begins with "proved" or "refused".
    """
    spec = find_spec("optgap")
    folders = None if spec is None else spec.submodule_search_locations
    if not folders:
        raise ModuleNotFoundError("optgap: expected the package with check_certificate.py, got none.")
    checker = str(Path(folders[0]) / "check_certificate.py")
    command = [sys.executable, "-I", checker, str(instance), str(certificate)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout if done.returncode == 0 else done.stderr).strip()


def proved_line(objective_name: str, bound: int) -> str:
    """Return what the checker prints of a certificate that holds."""
    return f"proved: {objective_name} at least {bound}"


def certify(
    library: Library, instance: DagInstance | JobsInstance, entry: LedgerEntry, time_limit: float | None
) -> bool:
    """Write a certificate of an entry's bound, or of the largest below that is found, and store it if it proves more.

    The objective of the best schedule is no bound, so nothing above the ledger's bound is tried. Jobs have no
    certificates. Returns whether one was stored.

    Raises
    ------
    OSError
        If the library cannot be written.
    ValueError
        If the checker refuses the certificate: then the writer has an error.
    """
    if not isinstance(instance, DagInstance) or entry.objective_name not in FINISH_OBJECTIVES or entry.bound is None:
        return False
    key, watch = (entry.instance, entry.objective_name), Stopwatch()
    old = read_certificates(library.folder).get(key)
    if old is not None and old.bound >= entry.bound.value:
        return False
    made = bound_certificate(
        instance.without_buffers(),
        Objective(entry.objective_name),
        at_most=entry.bound.value,
        most_cases=MOST_CASES,
        seconds_left=lambda: float("inf") if time_limit is None else max(0.0, time_limit - watch.seconds),
    )
    text = made.text(Objective(entry.objective_name))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.txt"
        write_text(path, text)
        answer = checker_answer(library.instance_path(entry.instance), path)
    if answer != proved_line(entry.objective_name, made.bound):
        raise ValueError(f"{' '.join(key)}: expected a certificate of {made.bound}, the checker says {answer!r}.")
    return store_certificate(library.folder, key, bound=made.bound, kind=made.kind, text=text)
