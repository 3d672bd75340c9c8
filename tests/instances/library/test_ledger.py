from __future__ import annotations

import errno
import hashlib
import json
import multiprocessing
import signal
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from instances.library.catalogue import CatalogueEntry
from instances.library.ledger import (
    KnownBound,
    KnownSchedule,
    LedgerContradictionError,
    LedgerEntry,
    Provenance,
    improved,
    locked,
    read_ledger,
)
from instances.library.library import read_library, write_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.library.library import Library

NAMES = [f"chain-{number}" for number in range(12)]


def provenance(method: str = "m") -> Provenance:
    """Return where something comes from."""
    return Provenance(
        method=method,
        budget=None,
        seconds=1.5,
        threads=1,
        seed=0,
        date="2026-01-02",
        hardware="abacus",
        versions={"optgap": "0", "highspy": None},
    )


def bound(value: int, confirmed_by: str | None = None, method: str = "m") -> KnownBound:
    """Return a bound."""
    return KnownBound(value=value, proof="p", solver=None, provenance=provenance(method), confirmed_by=confirmed_by)


def schedule(objective: int, method: str = "m") -> KnownSchedule:
    """Return an objective."""
    return KnownSchedule(objective=objective, provenance=provenance(method))


def entry(low: KnownBound | None = None, high: KnownSchedule | None = None) -> LedgerEntry:
    """Return an entry."""
    return LedgerEntry(instance="i", objective_name="makespan", bound=low, schedule=high)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a library of 12 chains of two tasks on one GPU, 3 and 4 ticks each: the optimum is 7."""
    made = []
    for name in NAMES:
        instance = DagInstance.from_lists([[3], [4]], [(0, 1, 0)], name=name)
        listed = CatalogueEntry(
            name=name,
            problem="dag",
            sha256=instance.sha256,
            family="chains",
            size=2,
            gpus=1,
            objectives=("makespan",),
            coordinates={},
        )
        made.append((listed, instance))
    write_library(tmp_path / "library", "0", made)
    return tmp_path / "library"


def test_status() -> None:
    """Tests status, gap and confirmation of entries."""
    assert [entry().status, entry(bound(3)).status, entry(bound(3), schedule(4)).status] == [
        "unknown",
        "unknown",
        "feasible",
    ]
    proved, confirmed = entry(bound(4), schedule(4)), entry(bound(4, "a second model"), schedule(4))
    assert (proved.status, proved.is_confirmed_optimum) == ("optimal", False)
    assert (confirmed.status, confirmed.is_confirmed_optimum) == ("optimal", True)
    assert entry(bound(3, "a second model"), schedule(4)).is_confirmed_optimum is False
    assert (entry(bound(4), schedule(5)).gap, proved.gap, entry(bound(0), schedule(4)).gap) == (0.25, 0.0, None)


def test_only_better_is_taken() -> None:
    """Tests that larger bounds, smaller objectives and first confirmations are taken, and nothing else."""
    old = entry(bound(5), schedule(9))
    assert improved(old, bound(4), schedule(10)) is old
    assert improved(old, bound(5, method="other"), schedule(9, method="other")) is old
    assert improved(old, None, None) is old
    assert improved(old, bound(6), None) == entry(bound(6), schedule(9))
    assert improved(old, None, schedule(8)) == entry(bound(5), schedule(8))
    confirmed = improved(old, bound(5, "a second model"), None)
    assert confirmed == entry(bound(5, "a second model"), schedule(9))
    assert improved(confirmed, bound(5), None) is confirmed
    assert improved(confirmed, bound(5, "a third model"), None) is confirmed
    assert improved(confirmed, bound(6), None) == entry(bound(6), schedule(9))
    assert improved(entry(), bound(1), schedule(2)) == entry(bound(1), schedule(2))


def test_contradiction() -> None:
    """Tests that a bound above an objective is refused, whichever of the two is new."""
    for low, high in ((bound(10), None), (None, schedule(4))):
        with pytest.raises(LedgerContradictionError, match=r"^i makespan: expected a bound of at most the objective "):
            improved(entry(bound(5), schedule(9)), low, high)


def test_improve_on_disk(folder: Path) -> None:
    """Tests that an improvement is on disk at once, a worse one changes no byte, and old schedules go."""
    library = read_library(folder)
    late, early = DagSchedule(gpu=[0, 0], start=[2, 5]), DagSchedule(gpu=[0, 0], start=[0, 3])
    library, is_better = library.improve("chain-3", "makespan", bound=bound(6), schedule=(schedule(9), late))
    assert is_better
    assert read_library(folder).ledger == library.ledger
    assert [path.name for path in (folder / "schedules").iterdir()] == ["chain-3.makespan.9.json.gz"]
    content = (folder / "ledger.json").read_bytes()
    library, is_better = library.improve("chain-3", "makespan", bound=bound(6), schedule=(schedule(9), late))
    assert not is_better
    assert (folder / "ledger.json").read_bytes() == content
    library, is_better = library.improve("chain-3", "makespan", schedule=(schedule(7), early))
    assert is_better
    assert [path.name for path in (folder / "schedules").iterdir()] == ["chain-3.makespan.7.json.gz"]
    stored = read_library(folder).schedule("chain-3", "makespan")
    assert isinstance(stored, DagSchedule)
    assert stored.start.tolist() == [0, 3]
    with pytest.raises(LedgerContradictionError):
        library.improve("chain-3", "makespan", bound=bound(8))
    assert read_library(folder).entry("chain-3", "makespan").bound == bound(6)


def test_ledger_is_one_line_per_entry_in_order(folder: Path) -> None:
    """Tests that a ledger has one line per entry, in alphabetical order, whatever the order of the updates."""
    library = read_library(folder)
    for name in ("chain-7", "chain-1", "chain-10"):
        library, _ = library.improve(name, "makespan", bound=bound(6))
    lines = (folder / "ledger.json").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line.rstrip("],"))["instance"] for line in lines if '"instance"' in line]
    assert found == ["chain-1", "chain-10", "chain-7"]
    assert [key[0] for key in read_ledger(folder / "ledger.json")] == found


def late(delay: int) -> tuple[KnownSchedule, DagSchedule]:
    """Return a schedule of a chain that ends so many ticks after the optimum."""
    return schedule(7 + delay), DagSchedule(gpu=[0, 0], start=[0, 3 + delay])


def _improve_for_ever(folder: Path, names: list[str]) -> None:
    """Improve entries little by little, as another process does."""
    library = read_library(folder)
    for delay in range(10**6, -1, -1):
        for name in names:
            library, _ = library.improve(name, "makespan", schedule=late(delay))


def check_files(folder: Path) -> Library:
    """Check that every entry has its schedule and no other file is there; return the library."""
    library = read_library(folder)
    for known in library.entries():
        found = library.schedule(known.instance, "makespan")
        assert (found is None) == (known.schedule is None)
        if isinstance(found, DagSchedule) and known.schedule is not None:
            assert found.start[1] + 4 == known.schedule.objective
    kept = {library.schedule_path(known) for known in library.entries() if known.schedule is not None}
    assert set((folder / "schedules").iterdir()) == kept
    assert {path.name for path in folder.iterdir()} <= {
        ".lock",
        "catalogue.json",
        "ledger.json",
        "instances",
        "schedules",
    }
    return library


@pytest.mark.whole
def test_another_process_that_is_killed(folder: Path) -> None:
    """Tests that two processes improve the same and other entries at once, one is killed, and nothing is lost."""
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_improve_for_ever, args=(folder, NAMES[4:]))
    process.start()
    library = read_library(folder)
    while all(library.entry(name, "makespan").schedule is None for name in NAMES[8:]):
        time.sleep(0.05)
        library = library.reread()
    for value in range(1, 8):
        for name in NAMES[:8]:
            library, is_better = library.improve(name, "makespan", bound=bound(value))
            assert is_better
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    read_library(folder).remove_unfinished()
    library = check_files(folder)
    known = [library.entry(name, "makespan") for name in NAMES]
    assert [found.bound.value if found.bound else None for found in known] == [7] * 8 + [None] * 4
    assert [found.schedule is None for found in known[:4]] == [True] * 4
    assert all(found.schedule is not None for found in known[8:])


@pytest.mark.parametrize("where", ["chain-3.makespan", "ledger"])
def test_a_full_disk_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Tests that an update that cannot write schedule or ledger leaves the old ones, and nothing beside them."""
    library, _ = read_library(folder).improve("chain-3", "makespan", schedule=late(5))
    content = (folder / "ledger.json").read_bytes()

    written = Path.write_bytes

    def full(path: Path, text: bytes) -> None:
        written(path, text[:10])
        if where in path.name:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            library.improve("chain-3", "makespan", schedule=late(0))
    assert (folder / "ledger.json").read_bytes() == content
    check_files(folder)
    library.improve("chain-3", "makespan", schedule=late(0))
    check_files(folder)


def test_only_leftovers_are_removed(folder: Path) -> None:
    """Tests that half-written files and schedules without an entry go, and that entries and other files stay."""
    library, _ = read_library(folder).improve("chain-3", "makespan", schedule=late(5))
    stays = [folder / "notes.txt", folder / "schedules" / "mine.makespan.3.json.gz", folder / "schedules" / "chain-3"]
    goes = [folder / "schedules" / "chain-3.makespan.4.json.gz", folder / "schedules" / "chain-5.makespan.9.json.gz"]
    goes += [folder / ".part-1-2-ledger.json", folder / "schedules" / ".part-1-2-chain-3.makespan.4.json.gz"]
    for path in (*stays, *goes):
        path.write_text("")
    library.remove_unfinished()
    assert [path.exists() for path in stays] == [True] * 3
    assert [path.exists() for path in goes] == [False] * 4
    assert library.schedule("chain-3", "makespan") is not None


def test_revision_is_of_all_that_is_known(folder: Path) -> None:
    """Tests that any change of ledger or catalogue is another revision, and how it is computed."""
    library = read_library(folder)
    revisions = [library.revision]
    for value in (5, 6):
        library, _ = library.improve("chain-3", "makespan", bound=bound(value))
        revisions.append(library.revision)
    library, _ = library.improve("chain-3", "makespan", bound=bound(6, "a second model"))
    revisions.append(library.revision)
    listed = replace(library.named("chain-0"), family="trees")
    revisions.append(replace(library, catalogue={**library.catalogue, "chain-0": listed}).revision)
    assert len(set(revisions)) == 5
    assert read_library(folder).revision == library.revision
    assert library.identifier == read_library(folder).identifier
    documents = [json.loads((folder / name).read_text()) for name in ("catalogue.json", "ledger.json")]
    entries = sorted(documents[0]["instances"], key=lambda entry: str(entry["name"])) + documents[1]["entries"]
    lines = "".join(json.dumps(entry, sort_keys=True, separators=(",", ":")) + "\n" for entry in entries)
    assert library.revision == f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def test_an_independent_confirmation_takes_the_place_of_one_with_shared_windows() -> None:
    """Tests that confirmations are told apart, and that only the better kind takes the place of the other."""
    shared, tails, own = bound(4, "MILP 1, windows shared"), bound(4, "heads and tails"), bound(4, "MILP 1")
    assert [known.shares_windows for known in (shared, tails, own, bound(4))] == [True, True, False, False]
    optimum = entry(shared, schedule(4))
    assert (optimum.is_confirmed_optimum, optimum.is_independently_confirmed) == (True, False)
    assert improved(optimum, own, None).is_independently_confirmed
    assert improved(entry(own, schedule(4)), shared, None).bound == own
    assert improved(optimum, tails, None) is optimum
    assert improved(optimum, bound(4), None) is optimum


def test_a_locked_library_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that an update waits by turns, which tell the user, until another process gives the lock back."""
    with ExitStack() as other:
        other.enter_context(locked(folder))

        def turns(place: str) -> Iterator[None]:
            assert place == str(folder)
            yield
            other.close()
            yield

        monkeypatch.setattr("instances.library.ledger.turns", turns)
        with locked(folder):
            pass
