"""Tests that tests mirror the packages file by file."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("optgap", "instances", "formulations", "heuristics", "solvers", "studies")
EXCEPTIONS = {
    "optgap/test_optgap.py": "tests the package itself",
    "solvers/backends/test_jobs_back_ends.py": "holds all exact methods for jobs to the same instances",
}
"""Test files that mirror no module, with the reason; tests across packages stand beside this file."""


@pytest.mark.parametrize("package", PACKAGES)
def test_every_test_file_mirrors_a_module(package: str) -> None:
    """Tests that ``tests/a/b/test_c_part.py`` stands for ``a/b/c.py`` or for the folder ``a/b/c``."""
    strays = [
        str(path.relative_to(ROOT / "tests"))
        for path in sorted((ROOT / "tests" / package).rglob("test_*.py"))
        if not _mirrors(path.relative_to(ROOT / "tests"))
    ]
    assert strays == [name for name in sorted(EXCEPTIONS) if name.startswith(f"{package}/")]


def _mirrors(test: Path) -> bool:
    """Tell whether a module has the name of a test file or its first words."""
    words = test.stem.removeprefix("test_").split("_")
    names = ["_".join(words[:count]) for count in range(1, len(words) + 1)]
    folder = ROOT / test.parent
    return any((folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists() for name in names)
