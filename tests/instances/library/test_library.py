from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.dag.json import read_dag_instance, read_dag_schedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import FAMILIES
from instances.generators.jobs.generate import JOBS_FAMILIES
from instances.jobs.instance import JobsInstance
from instances.library.library import INSTANCES, read_library, write_library

if TYPE_CHECKING:
    from instances.library.library import Library

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def library() -> Library:
    """Return the library that comes with the package."""
    return read_library()


@pytest.fixture
def copy(library: Library, tmp_path: Path) -> Path:
    """Copy the library, to be damaged."""
    return Path(shutil.copytree(library.folder, tmp_path / "library"))


def test_coverage(library: Library) -> None:
    """Tests that the library has 200 DAG instances of all families, sizes and factors, and 40 of jobs."""
    dags = [entry for entry in library.catalogue.values() if entry.problem == "dag"]
    jobs = [entry for entry in library.catalogue.values() if entry.problem == "jobs"]
    assert (len(dags), len(jobs)) == (220, 42)
    counts = {family: sum(entry.family == family for entry in dags) for family in FAMILIES}
    assert counts.pop("unrelated-machines") == 0  # younger than the library
    assert set(counts.values()) == {11}
    assert {entry.family for entry in jobs} == set(JOBS_FAMILIES)
    assert (min(entry.size for entry in dags), max(entry.size for entry in dags)) == (8, 307)
    assert sum(entry.size <= 50 for entry in dags) >= 130
    assert (min(entry.gpus for entry in dags), max(entry.gpus for entry in dags)) == (2, 16)
    of = {
        key: {entry.coordinates[key] for entry in dags}
        for key in ("ccr", "consistency", "memory_tightness", "forbidden")
    }
    assert of["ccr"] == {0.1, 0.3, 1.0, 3.0, 10.0}
    assert of["consistency"] == {0.0, 1.0}
    assert of["memory_tightness"] == {None, 0.5, 0.85}
    assert of["forbidden"] == {0.0, 0.25}
    assert {entry.coordinates["load"] for entry in jobs} == {0.7, 0.9, 1.1}


def test_instances_are_what_their_names_say(library: Library) -> None:
    """Tests on every eleventh instance that sizes, GPUs and forbidden pairs of the file are those of its name."""
    for entry in list(library.catalogue.values())[::11]:
        instance = library.instance(entry.name)
        assert instance.name == entry.name
        assert f"-n{entry.size}-" in entry.name
        if isinstance(instance, JobsInstance):
            assert (instance.num_jobs, int(instance.num_gpus_of.sum())) == (entry.size, entry.gpus)
        else:
            assert (instance.num_tasks, instance.num_gpus) == (entry.size, entry.gpus)
            assert bool((instance.durations < 0).any()) == entry.name.endswith("-forbidden")
            assert (instance.num_jobs > 1) == ("weighted_completion" in entry.objectives)


def test_files_are_small(library: Library) -> None:
    """Tests that instances, schedules, catalogue and ledger are below 5 MB together."""
    assert sum(path.stat().st_size for path in library.folder.rglob("*") if path.is_file()) < 5_000_000


def test_identifier_follows_from_the_files(library: Library) -> None:
    """Tests that the identifier is the hash of names and canonical contents, computed here from the files alone."""
    lines = []
    for path in (library.folder / INSTANCES).iterdir():
        document = json.loads(gzip.decompress(path.read_bytes()))
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        lines.append(f"{document['name']} {hashlib.sha256(canonical.encode()).hexdigest()}\n")
        assert path.name == f"{document['name']}.json.gz"
    assert len(lines) == 262
    digest = hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
    assert library.identifier == f"optgap-library/1:sha256:{digest}"


def test_identifier_of_version_1(library: Library) -> None:
    """Tests that version 1 stays what papers have cited."""
    assert library.identifier.split(":")[0] == "optgap-library/1"
    assert library.identifier.endswith("d595ba6c4764fefec8864aa4ff65a2771ab4ba756d7cc7a5c35410398a3ecf1f")


def test_compressed_files_have_no_time(library: Library) -> None:
    """Tests that compressed files hold no time of writing, so that the same content is the same bytes."""
    for sub in ("instances", "schedules"):
        for path in sorted((library.folder / sub).iterdir())[:20]:
            assert path.read_bytes()[4:8] == bytes(4)


def test_ordinary_readers(library: Library) -> None:
    """Tests that the readers of instances and schedules take the files as they are."""
    entry = library.entry("dag-000", "makespan")
    instance = read_dag_instance(library.instance_path(entry.instance))
    assert isinstance(instance, DagInstance)
    assert entry.schedule is not None
    schedule = read_dag_schedule(library.schedule_path(entry), instance)
    assert verify_dag_schedule(instance, schedule) == []
    assert int((schedule.start + instance.durations[range(instance.num_tasks), schedule.gpu]).max()) == (
        entry.schedule.objective
    )


def test_packaging(library: Library) -> None:
    """Tests that every file of the library is in what an installed package gets."""
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    for package in ("instances/library", "studies/library"):
        assert f"{package.split('/')[0]}*" in packaged["packages"]["find"]["include"]
        assert (ROOT / package / "__init__.py").is_file()
    folder = ROOT / "instances" / "library"
    matched = {path for pattern in packaged["package-data"]["instances.library"] for path in folder.glob(pattern)}
    assert {path for path in library.folder.rglob("*") if path.is_file() and path.name != ".lock"} <= matched


def test_names(library: Library) -> None:
    """Tests that a name may be cut where one instance is left, and that others are refused with a hint."""
    assert library.named("dag-042").name.startswith("dag-042-")
    with pytest.raises(ValueError, match=r"^name: expected the name of one instance .*got 'dag-' .*dag-000-"):
        library.named("dag-")
    with pytest.raises(ValueError, match=r"^name: expected .*, got 'train'"):
        library.named("train")
    with pytest.raises(ValueError, match=r"^objective: expected makespan for dag-000-.*, got 'weighted_completion'\.$"):
        library.entry("dag-000", "weighted_completion")


def test_round_trip(library: Library, tmp_path: Path) -> None:
    """Tests that a library that is written again has the same instances and the same bytes."""
    entries = [library.named(name) for name in ("dag-003", "dag-019", "jobs-016")]
    write_library(tmp_path / "new", "1", [(entry, library.instance(entry.name)) for entry in entries])
    again = read_library(tmp_path / "new")
    assert [*again.catalogue.values()] == entries
    assert again.ledger == {}
    for entry in entries:
        assert again.instance(entry.name).sha256 == entry.sha256
        old, new = library.instance_path(entry.name), again.instance_path(entry.name)
        assert gzip.decompress(old.read_bytes()) == gzip.decompress(new.read_bytes())
    assert [(entry.status, entry.bound, entry.schedule) for entry in again.entries()] == [("unknown", None, None)] * 4
    assert again.schedule("dag-003", "makespan") is None


def test_damaged_instance(copy: Path) -> None:
    """Tests that a file that was cut short, and one with other content, each give one line that names the file."""
    library = read_library(copy)
    path = library.instance_path(library.named("dag-000").name)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=rf"^{path}: byte 0: expected gzip data"):
        library.instance("dag-000")
    path.write_bytes(gzip.compress(gzip.decompress(content).replace(b'"release":0', b'"release":1')))
    with pytest.raises(ValueError, match=rf"^{path}: sha256: expected .* of the catalogue, got "):
        library.instance("dag-000")


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("catalogue.json", "optgap-library/1:", "optgap-library/2:", "identifier: expected optgap-library/1:sha256:"),
        ("catalogue.json", '"problem": "dag"', '"problem": "jop"', "instances[0].problem: expected one of dag, jobs"),
        ("catalogue.json", "optgap/library-catalogue", "optgap/dag", "format: expected"),
        ("ledger.json", "optgap/library-ledger", "optgap/dag", "format: expected"),
        ("ledger.json", '"status": "optimal"', '"status": "feasible"', "entries[0].status: expected optimal"),
        ("ledger.json", '"value": ', '"value": "x', "line"),
        ("ledger.json", "dag-000-", "dag-999-", "expected entries of the catalogue, got dag-999-"),
    ],
)
def test_damaged_lists(copy: Path, file: str, old: str, new: str, expected: str) -> None:
    """Tests that a catalogue or a ledger that was changed by hand gives one line with file and place."""
    path = copy / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError) as error:
        read_library(copy)
    assert str(error.value).startswith(f"{path}: {expected}")
    assert "\n" not in str(error.value)
