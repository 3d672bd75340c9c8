"""Tests of the public names, and of what is said where a folder of the user's hides a package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import optgap

ROOT = Path(__file__).parents[2]
PACKAGES = ("instances", "formulations", "heuristics", "solvers", "studies")


@pytest.mark.parametrize("name", optgap.__all__)
def test_every_public_name_resolves(name: str) -> None:
    """Tests that every name leads to an object with a docstring."""
    assert getattr(optgap, name).__doc__


def test_dir_lists_the_public_names() -> None:
    """Tests that completion in a notebook shows the public names."""
    assert dir(optgap) == sorted(optgap.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Tests that a misspelt name is refused as Python expects it."""
    with pytest.raises(AttributeError, match=r"^optgap: expected one of .*, got 'slove' \(did you mean solve\?\)\.$"):
        optgap.slove


def test_generate_solve_and_bound() -> None:
    """Tests the first lines that a user types, for both problems."""
    dag = optgap.generate("chains", tasks=6, seed=1)
    result = optgap.solve(dag)
    assert result.objective == result.lower_bound
    assert max(bound.value for bound in optgap.lower_bound(dag)) <= result.objective
    jobs = optgap.generate("jobs-small", jobs=3, seed=1)
    assert optgap.solve(jobs, "fifo").objective is not None


def test_files_and_verifier(tmp_path: Path) -> None:
    """Tests that an instance of either problem is written and read back, and that a schedule is checked."""
    for instance, method in (
        (optgap.generate("chains", tasks=6, seed=1), "heft"),
        (optgap.generate("jobs-small", jobs=3, seed=1), "fifo"),
    ):
        optgap.write(instance, tmp_path / "instance.json.gz")
        assert optgap.read(tmp_path / "instance.json.gz").sha256 == instance.sha256
        schedule = optgap.solve(instance, method).schedule
        assert optgap.verify(instance, schedule) == []
    with pytest.raises(ValueError, match=r"^contention: expected none for a jobs instance, got 'nic'\.$"):
        optgap.verify(instance, schedule, "nic")


def test_methods_by_problem() -> None:
    """Tests that the methods of both problems are listed with a summary each."""
    assert optgap.methods()["heft"]
    assert optgap.methods("jobs")["a-srpt"]
    with pytest.raises(ValueError, match=r"^problem: expected one of dag, jobs, got 'tasks'\.$"):
        optgap.methods("tasks")


def test_a_cluster_may_be_a_text() -> None:
    """Tests that a preset or servers in words are read where a cluster is expected."""
    preset = optgap.generate("chains", tasks=6, seed=1, cluster=optgap.parse_cluster("mixed-3"))
    assert optgap.generate("chains", tasks=6, seed=1, cluster="mixed-3").sha256 == preset.sha256
    jobs = optgap.generate("jobs-small", jobs=3, seed=1, cluster="2*4xV100-16GB")
    assert [jobs.num_servers, jobs.num_gpus] == [2, 8]
    with pytest.raises(ValueError, match="cluster"):
        optgap.generate("chains", tasks=6, seed=1, cluster="mixed-33")


def test_generate_and_convert_name_what_is_known() -> None:
    """Tests that an unknown family or format is refused with the names that would work."""
    with pytest.raises(
        ValueError, match=r"^family: expected one of .*, got 'transfromer' \(did you mean transformer\?\)\.$"
    ):
        optgap.generate("transfromer", tasks=4, seed=0)
    with pytest.raises(
        ValueError, match=r"^format: expected one of .*pipedream.*, got 'pipedraem' \(did you mean pipedream\?\)\.$"
    ):
        optgap.convert("pipedraem", "file.txt")


def test_importing_is_lazy() -> None:
    """Tests that importing the package imports none of the others."""
    code = f"import sys, optgap; print([name for name in sys.modules if name.split('.')[0] in {PACKAGES}])"
    assert _run("-c", code, folder=ROOT).stdout.strip() == "[]"


@pytest.mark.parametrize("package", ["solvers", "instances"])
@pytest.mark.parametrize("content", [None, "__init__.py"])
def test_a_folder_that_hides_a_package_is_named(tmp_path: Path, package: str, content: str | None) -> None:
    """Tests that a hidden package is one clear line, in Python and on the command line."""
    (tmp_path / package).mkdir()
    if content is not None:
        (tmp_path / package / content).touch()
    # The user's folder stands first on the path and ours second, as in a notebook started there.
    run = "import sys; sys.path[:1] = [{user!r}, {ours!r}]; {then}"
    paths = {"user": str(tmp_path), "ours": str(ROOT)}
    expected = f"optgap: the folder {(tmp_path / package).resolve()} hides optgap's package {package!r}"
    done = _run("-c", run.format(**paths, then="import optgap"), folder=tmp_path)
    hides = content is not None  # a folder without __init__.py does not win over a package that comes later
    assert (expected in done.stderr.splitlines()[-1]) if hides else (done.returncode == 0)
    done = _run("-c", run.format(**paths, then="sys.argv[0] = 'bin/optgap'; import optgap"), folder=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == ((2, 1) if hides else (0, 0))


def _run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder."""
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
