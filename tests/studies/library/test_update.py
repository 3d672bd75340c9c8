"""Tests of updates of the ledger."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from instances.dag.schedule import DagSchedule
from instances.library.ledger import KnownBound, KnownSchedule, Provenance, write_ledger
from instances.library.library import LEDGER, read_library
from solvers.confirmation.reproducer import read_reproducer
from solvers.lower_bound import lower_bound
from solvers.run.contradiction import ContradictionError
from solvers.run.versions import version_of
from solvers.solve import solve
from studies.library import update as update_module
from studies.library.check import check_library
from studies.library.update import Change, UpdatePlan, update_library
from tests.studies.library.small_library import small_library

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance
    from instances.library.library import Library
    from solvers.bound_table import BoundTable

pytestmark = pytest.mark.whole


HEURISTICS = UpdatePlan(methods=["critical-path", "round-robin", "random"])
EXACT = UpdatePlan(methods=["bounds", "heft", "srtf", "cp-sat"])


@pytest.fixture(scope="module")
def proved_once(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Return a small library whose optima are proved and not confirmed."""
    library = small_library(tmp_path_factory.mktemp("proved") / "library")
    return update_library(library, library.entries(), EXACT)


@pytest.fixture
def proved(proved_once: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Return a copy of it."""
    monkeypatch.chdir(tmp_path)
    return read_library(shutil.copytree(proved_once.folder, tmp_path / "proved"))


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Return a small library with an empty ledger."""
    monkeypatch.chdir(tmp_path)
    return small_library(tmp_path / "library")


def claimed(method: str = "a friend") -> Provenance:
    """Return where something comes from that nobody computed."""
    return Provenance(
        method=method, budget=None, seconds=0.0, threads=1, seed=None, date="2026-01-02", hardware="", versions={}
    )


def test_proves_the_optima_of_both_problems(proved: Library) -> None:
    """Tests that exact methods leave proved optima on disk, those that `solve` finds, with where they come from."""
    assert [entry.status for entry in proved.entries()] == ["optimal"] * 4
    for entry in proved.entries():
        result = solve(proved.instance(entry.instance), "cp-sat", objective=entry.objective_name)  # type: ignore[call-overload]
        assert entry.schedule is not None
        assert entry.schedule.objective == result.objective
        assert entry.schedule.provenance.versions["optgap"]
        assert entry.bound is not None
        assert entry.bound.provenance.date == entry.schedule.provenance.date


def test_only_improves(library: Library, proved: Library) -> None:
    """Tests that weak methods begin a ledger, strong ones make it better, and weak ones then change no byte."""
    weak = update_library(library, library.entries(), HEURISTICS).entry("layered-8", "makespan")
    strong = update_library(library, library.entries()[:1], EXACT).entry("layered-8", "makespan")
    assert weak.schedule is not None
    assert weak.bound is not None
    assert strong.schedule is not None
    assert strong.bound is not None
    assert weak.bound.value < strong.bound.value == strong.schedule.objective < weak.schedule.objective
    assert (weak.bound.provenance.method, weak.schedule.provenance.method) != (
        strong.bound.provenance.method,
        strong.schedule.provenance.method,
    )
    content = (proved.folder / LEDGER).read_bytes()
    attempts: list[Change] = []
    update_library(proved, proved.entries(), HEURISTICS, attempts.append)
    assert (proved.folder / LEDGER).read_bytes() == content
    assert not attempts  # optima are not attempted again


def test_starts_from_what_is_stored(proved: Library) -> None:
    """Tests that CP-SAT begins with the stored optimum and bound: with both it has nothing to do, and says so."""
    key = ("layered-8", "makespan")
    entry = proved.entry(*key)
    assert entry.bound is not None
    lower = replace(entry, bound=replace(entry.bound, value=entry.bound.value - 1))
    write_ledger(proved.folder / LEDGER, {**proved.ledger, key: lower})
    again = update_library(proved, [lower], UpdatePlan(methods=["cp-sat"])).entry(*key)
    assert again.status == "optimal"
    assert again.bound is not None
    assert again.bound.provenance.method == "cp-sat"
    assert again.schedule == entry.schedule  # the same objective keeps the older entry


def test_confirmation_alone(proved: Library) -> None:
    """Tests that proved optima are confirmed by a second model later, and that all else stays what it was."""
    assert not any(entry.is_confirmed_optimum for entry in proved.entries())
    attempts: list[Change] = []
    confirmed = update_library(proved, proved.entries(), UpdatePlan(methods=[], confirm=True), attempts.append)
    assert {change.method for change in attempts} == {"confirmation"}
    assert all(change.is_better for change in attempts)
    assert all(entry.is_independently_confirmed for entry in confirmed.entries())
    assert read_library(proved.folder).ledger == confirmed.ledger
    for before, after in zip(proved.entries()[:3], confirmed.entries()[:3], strict=True):
        assert before.bound is not None
        assert after.bound is not None
        assert after.bound.confirmed_date is not None
        unconfirmed = replace(after.bound, confirmed_by=None, confirmed_seconds=None, confirmed_date=None)
        assert replace(after, bound=unconfirmed) == before
    jobs = confirmed.entries()[3].bound  # proved anew, by a model of another kind
    assert jobs is not None
    assert (jobs.provenance.method, jobs.confirmed_by) == ("milp-time-indexed", f"ortools {version_of('ortools')}")
    attempts.clear()
    update_library(confirmed, confirmed.entries(), UpdatePlan(methods=[], confirm=True), attempts.append)
    assert attempts == []  # nothing is asked twice


def test_false_bound_is_a_contradiction(library: Library, tmp_path: Path) -> None:
    """Tests that a schedule below a stored bound stops the update with a reproducer, and the ledger stays."""
    lie = KnownBound(value=10**9, proof="hearsay", solver=None, provenance=claimed())
    library, _ = library.improve("layered-8", "makespan", bound=lie)
    content = (library.folder / LEDGER).read_bytes()
    with pytest.raises(ContradictionError, match="1000000000"):
        update_library(library, library.entries(), UpdatePlan(methods=["heft"]))
    assert (library.folder / LEDGER).read_bytes() == content
    reproducer = read_reproducer(next(tmp_path.glob("optgap-reproducer-*.json")))
    assert reproducer.instance.sha256 == library.named("layered-8").sha256
    assert reproducer.schedule is not None


def test_bound_above_the_stored_schedule_is_a_contradiction(library: Library, tmp_path: Path) -> None:
    """Tests that a bound above the stored objective stops the update with a reproducer."""
    found = solve(library.instance("layered-8"), "heft").schedule  # type: ignore[call-overload]
    known = KnownSchedule(objective=1, provenance=claimed())  # the objective is a lie
    library, _ = library.improve("layered-8", "makespan", schedule=(known, found))
    with pytest.raises(ContradictionError, match="expected a bound of at most the objective 1"):
        update_library(library, library.entries(), UpdatePlan(methods=["critical-path"]))
    assert len(list(tmp_path.glob("optgap-reproducer-*.json"))) == 1
    assert read_library(library.folder).entry("layered-8", "makespan").bound is None


def test_stopped_between_methods(library: Library) -> None:
    """Tests that what was found before an update is stopped stays, though it was stopped in the middle."""

    def stop_after_two(change: Change) -> None:
        seen.append(change)
        if len(seen) == 2:
            raise KeyboardInterrupt

    seen: list[Change] = []
    with pytest.raises(KeyboardInterrupt):
        update_library(
            library, library.entries(), UpdatePlan(methods=["critical-path", "heft", "cp-sat"]), stop_after_two
        )
    entry = read_library(library.folder).entry("layered-8", "makespan")
    assert entry == seen[-1].after
    assert entry.schedule is not None
    assert entry.schedule.provenance.method == "heft"


def test_another_update_at_the_same_time(library: Library) -> None:
    """Tests that an update keeps what another one has put into the ledger since it was read."""
    other = read_library(library.folder)
    known = KnownBound(value=1, proof="p", solver=None, provenance=claimed())
    other.improve("sweep-7", "makespan", bound=known)
    done = update_library(library, [library.entry("layered-8", "makespan")], UpdatePlan(methods=["critical-path"]))
    assert done.entry("sweep-7", "makespan").bound == known
    assert done.entry("layered-8", "makespan").bound is not None


def test_another_update_in_the_middle(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a schedule that another update replaces while a method runs is no file that is missing later."""
    key = ("layered-8", "makespan")
    library = update_library(library, [library.entry(*key)], UpdatePlan(methods=["random"]))
    better = solve(library.instance("layered-8"), "heft")  # type: ignore[call-overload]
    kept, attempts = update_module.solve, list[Change]()

    def solve_meanwhile(*arguments: Any, **options: Any) -> Any:
        known = KnownSchedule(objective=better.objective, provenance=claimed())
        read_library(library.folder).improve(*key, schedule=(known, better.schedule))
        return kept(*arguments, **options)

    monkeypatch.setattr(update_module, "solve", solve_meanwhile)
    plan = UpdatePlan(methods=["round-robin", "lns"], time_limit=0.2)
    done = update_library(library, [library.entry(*key)], plan, attempts.append)
    found = done.entry(*key).schedule
    assert found is not None
    assert found.objective <= better.objective
    assert not attempts[0].is_better  # it was the other one's
    assert check_library(done).violations == []


def test_budgets_are_told(library: Library) -> None:
    """Tests that the ledger tells budget and seed of a search, and that methods of the other problem are left out."""
    attempts: list[Change] = []
    plan = UpdatePlan(methods=["woa", "fifo"], evaluations=60, seed=5)
    done = update_library(library, library.entries(), plan, attempts.append)
    assert [change.method for change in attempts] == ["woa", "woa", "woa", "fifo"]
    known = done.entry("layered-8", "makespan").schedule
    assert known is not None
    assert (known.provenance.budget, known.provenance.seed) == ("60 evaluations", 5)
    jobs = done.entry("jobs-5", "total_completion").schedule
    assert jobs is not None
    assert (jobs.provenance.method, jobs.provenance.budget) == ("fifo", None)


def test_bounds_get_the_time_limit(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a named bound, and all bounds together, are given the limit of the plan."""
    limits = []

    def recorded(*args: Any, time_limit: float | None = None, **options: Any) -> BoundTable:
        limits.append(time_limit)
        return lower_bound(*args, time_limit=time_limit, **options)

    monkeypatch.setattr(update_module, "lower_bound", recorded)
    entries = [library.entry("layered-8", "makespan")]
    update_library(library, entries, UpdatePlan(methods=["bounds", "branched-paths"], time_limit=7.0))
    assert limits and set(limits) == {7.0}


def test_unknown_method() -> None:
    """Tests that a method that neither problem knows is refused before anything runs."""
    with pytest.raises(ValueError, match=r"^methods: expected .*, got 'nonsense'\.$"):
        UpdatePlan(methods=["heft", "nonsense"])


def test_schedules_are_verified(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a method whose schedule does not verify puts nothing into the ledger."""

    def all_at_once(instance: DagInstance) -> DagSchedule:
        return DagSchedule(gpu=[0] * instance.num_tasks, start=[0] * instance.num_tasks)

    monkeypatch.setattr("heuristics.dag.list_scheduling.heft", all_at_once)
    with pytest.raises(RuntimeError, match="violations"):
        update_library(library, library.entries(), UpdatePlan(methods=["heft"]))
    assert read_library(library.folder).ledger == {}
