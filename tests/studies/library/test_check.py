"""Tests of the check of the reference library."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from instances.library.library import read_library
from studies.library.check import check_library
from studies.library.update import UpdatePlan, update_library
from tests.studies.library.small_library import small_library

if TYPE_CHECKING:
    from instances.library.ledger import KnownBound, LedgerEntry
    from instances.library.library import Library

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Return a small library with bounds and schedules."""
    library = small_library(tmp_path_factory.mktemp("solved") / "library")
    return update_library(library, library.entries(), UpdatePlan(methods=["bounds", "heft", "srtf"]))


@pytest.fixture
def damaged(solved: Library, tmp_path: Path) -> Path:
    """Copy the small library, to be damaged."""
    return Path(shutil.copytree(solved.folder, tmp_path / "library"))


def messages(folder: Path) -> list[str]:
    """Return what a check of a folder says."""
    return [str(finding) for finding in check_library(read_library(folder)).violations]


def test_part_of_the_library() -> None:
    """Tests that part of the library passes: schedules verify, bounds come out again, none is above."""
    library = read_library()
    small = [name for name, entry in library.catalogue.items() if entry.size <= 50]
    large = [name for name, entry in library.catalogue.items() if 50 < entry.size <= 100]
    names = [*small[::32], *large[::80]]
    report = check_library(library, names)
    assert report.violations == []
    assert report.num_instances == len(names) >= 5
    assert report.num_schedules >= len(names)
    assert report.num_bounds > 3 * len(names)


@pytest.mark.slow
def test_whole_library() -> None:
    """Tests that the whole library passes, that no file is stray, and that no bound without search beats the ledger."""
    library = read_library()
    report = check_library(library)
    assert report.violations == []
    assert report.better == []
    assert (report.num_instances, report.num_schedules) == (262, 299)


def test_optima_up_to_50_tasks() -> None:
    """Tests that of all instances up to 50 tasks at least 60 % have a proven optimum that a second model confirms."""
    library = read_library()
    small = [
        library.entry(entry.name, "makespan")
        for entry in library.catalogue.values()
        if entry.problem == "dag" and entry.size <= 50
    ]
    assert len(small) == 137
    assert all(
        entry.bound is not None and entry.bound.value == _computed(library, entry)
        for entry in small
        if entry.status == "optimal"
    )
    assert sum(entry.is_independently_confirmed for entry in small) / len(small) >= 0.6
    for entry in library.entries():
        if entry.is_confirmed_optimum and entry.bound is not None:
            assert _is_another_model(entry.bound), (entry.instance, entry.bound)


def _computed(library: Library, entry: LedgerEntry) -> int:
    """Compute a makespan from the stored schedule, without the ledger's word and without a verifier."""
    instance, schedule = library.instance(entry.instance), library.schedule(entry.instance, entry.objective_name)
    assert isinstance(instance, DagInstance)
    assert isinstance(schedule, DagSchedule)
    return int((schedule.start + instance.durations[range(instance.num_tasks), schedule.gpu]).max())


def _is_another_model(bound: KnownBound) -> bool:
    """Say whether what confirms a bound is not what proves it: CP-SAT where that is not the prover, else the MILP."""
    assert bound.confirmed_by is not None
    assert bound.confirmed_date is not None
    if bound.confirmed_by in ("releases and durations", "heads and tails"):
        return True
    by_cp_sat, confirmed_by_cp_sat = bound.provenance.method == "cp-sat", "ortools" in bound.confirmed_by
    return by_cp_sat != confirmed_by_cp_sat and ("highspy" in bound.confirmed_by) == by_cp_sat


def test_every_entry_is_known() -> None:
    """Tests that the ledger has a bound and a schedule of every instance and objective."""
    for entry in read_library().entries():
        assert entry.bound is not None, entry.instance
        assert entry.schedule is not None, entry.instance
        assert entry.bound.value <= entry.schedule.objective


def test_sound_library(solved: Library) -> None:
    """Tests that a library that an update has left passes, and what is counted."""
    seen: list[str] = []
    report = check_library(solved, on_instance=seen.append)
    assert (report.violations, report.better) == ([], [])
    assert seen == ["layered-8", "sweep-7", "jobs-5"]
    assert (report.num_instances, report.num_schedules) == (3, 4)


def test_better_bounds_are_told(tmp_path: Path) -> None:
    """Tests that a bound without search above that of the ledger is told, and is no violation."""
    library = small_library(tmp_path / "library")
    library = update_library(library, library.entries()[:1], UpdatePlan(methods=["critical-path"]))
    report = check_library(library, ["layered-8"])
    assert report.violations == []
    assert [finding.place for finding in report.better] == ["layered-8 makespan"]
    assert "the ledger has a bound of" in report.better[0].message


def test_broken_schedule(damaged: Path) -> None:
    """Tests that a schedule with two tasks at once, and one of another instance, are found."""
    path = next((damaged / "schedules").glob("layered-8.*"))
    text = gzip.decompress(path.read_bytes()).decode()
    head, _, _ = text.partition('"start":[')
    path.write_bytes(gzip.compress(f'{head}"start":{[0] * 8}}}'.encode()))
    found = messages(damaged)
    assert found
    assert all(message.startswith("layered-8 makespan: schedule: ") for message in found)
    path.write_bytes(next((damaged / "schedules").glob("sweep-7.makespan.*")).read_bytes())
    assert len(messages(damaged)) == 1
    assert "instance_sha256: expected" in messages(damaged)[0]
    path.unlink()
    assert messages(damaged)[0].endswith(": expected a file of the library, got: no such file or directory.")


def test_wrong_objective(damaged: Path) -> None:
    """Tests that an objective that is not that of the schedule is found."""
    entry = read_library(damaged).entry("layered-8", "makespan")
    assert entry.schedule is not None
    value = entry.schedule.objective
    path = next((damaged / "schedules").glob("layered-8.*"))
    path.rename(path.with_name(path.name.replace(str(value), str(value + 1))))
    _replace(damaged / "ledger.json", f'"objective": {value}', f'"objective": {value + 1}')
    assert messages(damaged) == [
        f"layered-8 makespan: objective: expected {value}, that of the schedule, got {value + 1}."
    ]


def test_wrong_bound(damaged: Path) -> None:
    """Tests that a bound that does not come out again is found, and one above the objective too."""
    entry = read_library(damaged).entry("layered-8", "makespan")
    assert entry.bound is not None
    assert entry.schedule is not None
    value, method, objective = entry.bound.value, entry.bound.provenance.method, entry.schedule.objective
    assert value + 1 < objective
    _replace(damaged / "ledger.json", f'"value": {value}', f'"value": {value + 1}')
    assert messages(damaged) == [
        f"layered-8 makespan: bound: expected {value} of {method} as derived now, got {value + 1}."
    ]
    _replace(damaged / "ledger.json", f'"value": {value + 1}', f'"value": {objective + 1}')
    assert f"layered-8 makespan: bound: expected at most the objective {objective}, got {objective + 1}." in (
        messages(damaged)
    )


def test_schedule_below_a_bound(damaged: Path) -> None:
    """Tests that an objective below a bound that is derived again is found though the ledger has no bound."""
    entry = read_library(damaged).entry("layered-8", "makespan")
    assert entry.schedule is not None
    path = next((damaged / "schedules").glob("layered-8.*"))
    path.rename(path.with_name(path.name.replace(str(entry.schedule.objective), "1")))
    text = (damaged / "ledger.json").read_text(encoding="utf-8")
    lines = text.splitlines()
    index = next(number for number, line in enumerate(lines) if '"layered-8"' in line)
    head, _, rest = lines[index].partition('"bound": {')
    _, _, tail = rest.partition('"schedule": ')
    lines[index] = f'{head}"bound": null, "schedule": {tail}'.replace(
        f'"objective": {entry.schedule.objective}', '"objective": 1'
    )
    (damaged / "ledger.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert any("bound: expected at most the objective 1, got" in message for message in messages(damaged))


def test_damaged_and_stray_files(damaged: Path) -> None:
    """Tests that an instance that cannot be read and files without an entry are found, each in one line."""
    (damaged / "instances" / "layered-8.json.gz").write_bytes(b"nothing")
    (damaged / "schedules" / "stray.json.gz").write_bytes(b"")
    (damaged / "ledger.json.bak").write_bytes(b"")
    beside, stray, unread = messages(damaged)
    assert beside == "ledger.json.bak: expected no file without an entry."
    assert stray == "schedules/stray.json.gz: expected no file without an entry."
    assert unread.startswith("layered-8: ")
    assert "expected gzip data" in unread


def test_wrong_catalogue(damaged: Path) -> None:
    """Tests that a size in the catalogue that is not that of the instance is found."""
    _replace(damaged / "catalogue.json", '"size": 8', '"size": 9')
    assert messages(damaged) == ["layered-8: size: expected 8, got 9."]


def _replace(path: Path, old: str, new: str) -> None:
    """Replace the first of a text in a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
