"""Tests that imports go only downwards between the packages and that folders form no cycle (docs/house.md)."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "instances": set(),
    "formulations": {"instances"},
    "heuristics": {"instances"},
    "solvers": {"instances", "formulations", "heuristics"},
    "studies": {"instances", "formulations", "heuristics", "solvers"},
    "optgap": {"instances", "formulations", "heuristics", "solvers", "studies"},
}
MODULES = [path for package in MAY_IMPORT for path in sorted((ROOT / package).rglob("*.py"))]


def _named(path: Path) -> str:
    """Return the dotted name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


OURS = {_named(path) for path in MODULES}


@cache
def _nodes(path: Path) -> list[ast.AST]:
    """Parse a module once."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def _imported(path: Path) -> set[str]:
    """Return every module that a module imports, inside functions and for types only included."""
    found = set()
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _named_in_registries(path: Path) -> set[str]:
    """Return every module that a module names as ``package.module:function``."""
    found = set()
    for node in _nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ":" in node.value:
            module, _, function = node.value.partition(":")
            if function.isidentifier() and all(part.isidentifier() for part in module.split(".")) and "." in module:
                found.add(module)
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_go_downwards(package: str) -> None:
    """Tests that every module of a package imports, or names in a registry, only its own package and those below it."""
    forbidden = set(MAY_IMPORT) - MAY_IMPORT[package] - {package}
    paths = [path for path in MODULES if path.relative_to(ROOT).parts[0] == package]
    assert paths
    for path in paths:
        named = {module.split(".")[0] for module in _imported(path) | _named_in_registries(path)}
        assert not named & forbidden, path


def test_folders_form_no_cycle() -> None:
    """Tests that no two folders import each other, directly or through others."""
    reasons = defaultdict(list)
    for path in MODULES:
        folder = path.parent.relative_to(ROOT).as_posix()
        for module in _imported(path) & OURS:
            file = ROOT / Path(*module.split("."))
            target = (
                file.parent.relative_to(ROOT).as_posix() if not file.is_dir() else file.relative_to(ROOT).as_posix()
            )
            if target != folder:
                reasons[folder, target].append(f"{_named(path)} -> {module}")
    cycles = [sorted(cycle) for cycle in nx.strongly_connected_components(nx.DiGraph(list(reasons))) if len(cycle) > 1]
    within = [why for cycle in cycles for (tail, head), why in reasons.items() if {tail, head} <= set(cycle)]
    assert not cycles, within


@pytest.mark.parametrize("problem", ["dag", "jobs"])
def test_verifier_shares_no_code_with_methods(problem: str) -> None:
    """Tests that a verifier imports only data types, NumPy and the standard library."""
    tree = _nodes(ROOT / "instances" / problem / "verify.py")[0]
    modules = {str(node.module) for node in tree.body if isinstance(node, ast.ImportFrom)}
    data_types = {f"instances.{problem}.{part}" for part in ("contention", "instance", "schedule")}
    ours = {module for module in modules if module.split(".")[0] in MAY_IMPORT}
    assert ours <= {*data_types, "instances.violation"}


def test_every_package_is_typed() -> None:
    """Tests that each package says that it is typed, and that every folder with code is a package."""
    for package in MAY_IMPORT:
        assert (ROOT / package / "py.typed").exists()
    assert all((path.parent / "__init__.py").exists() for path in MODULES)


def test_packages_hold_no_code_in_init() -> None:
    """Tests that the ``__init__.py`` of a room holds a docstring and nothing else."""
    for path in MODULES:
        if path.name == "__init__.py" and path.parent != ROOT / "optgap":
            assert len(_nodes(path)[0].body) == 1, path
            assert ast.get_docstring(_nodes(path)[0]), path
