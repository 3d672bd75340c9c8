"""Tests of the certificates of the reference library, which the checker's file judges in a Python of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.library.certificates import read_certificates, stored_certificate_text
from instances.library.library import read_library
from optgap.check_certificate import check
from solvers.bound_methods import BOUND_METHODS
from studies.library.certify import certify, checker_answer, proved_line
from studies.library.check import check_library
from studies.library.update import UpdatePlan, update_library
from tests.studies.library.small_library import small_library

if TYPE_CHECKING:
    from pathlib import Path


def test_an_update_writes_certificates_that_a_check_accepts(tmp_path: Path) -> None:
    """Tests that the proved optima of DAGs get certificates of their value once, and that damage is found."""
    library = small_library(tmp_path / "library")
    plan = UpdatePlan(methods=["bounds", "heft"], certify=True, time_limit=20.0)
    seen: list[str] = []
    library = update_library(library, library.entries(), plan, lambda change: seen.append(change.method))
    assert seen.count("certificate") == 3
    listed = read_certificates(library.folder)
    assert [key[0] for key in listed] == ["layered-8", "sweep-7", "sweep-7"]
    bounds = {key: library.ledger[key].bound for key in listed}
    assert all(bound is not None and listed[key].bound <= bound.value for key, bound in bounds.items())
    report = check_library(library)
    assert (report.violations, report.num_certificates) == ([], 3)
    jobs = library.entry("jobs-5", "total_completion")
    assert not certify(library, library.instance("jobs-5"), jobs, None)
    stored = listed["layered-8", "makespan"]
    assert not certify(library, library.instance("layered-8"), library.entry(*stored.key), 20.0) or (
        read_certificates(library.folder)[stored.key].bound > stored.bound
    )
    text = stored_certificate_text(library.folder, stored)
    path = tmp_path / "changed.txt"
    path.write_text(text.replace(f"bound {stored.bound}", f"bound {stored.bound + 1}"))
    assert checker_answer(library.instance_path("layered-8"), path).startswith("refused: ")
    stored.path(library.folder).rename(library.folder / "certificates" / "stray.txt.gz")
    found = [str(finding) for finding in check_library(library).violations]
    assert found[0] == "certificates/stray.txt.gz: expected no file without an entry."
    assert found[1].startswith("layered-8 makespan: ")


def is_solver_free(method: str) -> bool:
    """Say whether a bound of the ledger rests on no solver, or on multipliers that are checked in integers."""
    return method in BOUND_METHODS and not BOUND_METHODS[method].needs_search


def test_a_sample_of_the_stored_certificates_is_accepted() -> None:
    """Tests by the file alone that every tenth small entry has a certificate, of its value if it needs no search."""
    library = read_library()
    listed = read_certificates(library.folder)
    entries = [entry for entry in library.entries() if 8 < library.catalogue[entry.instance].size <= 20]
    entries = [entry for entry in entries if library.catalogue[entry.instance].problem == "dag"][::10]
    assert len(entries) >= 5
    for entry in entries:
        stored = listed[entry.instance, entry.objective_name]
        answer = checker_answer(library.instance_path(entry.instance), stored.path(library.folder))
        assert answer == proved_line(entry.objective_name, stored.bound)
        assert entry.bound is not None
        if is_solver_free(entry.bound.provenance.method):
            assert stored.bound == entry.bound.value


@pytest.mark.slow
def test_all_stored_certificates_are_accepted_in_ten_seconds() -> None:
    """Tests that all certificates are accepted in 10 s of CPU each, and which bounds without a solver they miss."""
    library = read_library()
    missed: list[str] = []
    for key, stored in read_certificates(library.folder).items():
        before = time.process_time()
        path = str(stored.path(library.folder))
        assert check(str(library.instance_path(stored.instance)), path) == (stored.objective_name, stored.bound)
        assert time.process_time() - before < 10.0
        assert isinstance(library.instance(stored.instance), DagInstance)
        bound = library.ledger[key].bound
        assert bound is not None
        if is_solver_free(bound.provenance.method) and stored.bound < bound.value:
            missed.append(stored.instance)
    assert [name[:7] for name in sorted(missed)] == ["dag-154", "dag-159", "dag-176", "dag-219"]
