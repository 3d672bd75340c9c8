"""Tests that imports go only downwards between the packages (design, section 3)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "instances": set(),
    "formulations": {"instances"},
    "heuristics": {"instances"},
    "solvers": {"instances", "formulations", "heuristics"},
    "studies": {"instances", "formulations", "heuristics", "solvers"},
}
MODULES = [path for package in MAY_IMPORT for path in sorted((ROOT / package).rglob("*.py"))]


def _imported_packages(tree: ast.AST) -> set[str]:
    """Return the top-level packages that a module imports, or names as ``package.module:function``."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ":" in node.value:
            module, _, function = node.value.partition(":")
            if function.isidentifier() and all(part.isidentifier() for part in module.split(".")) and "." in module:
                found.add(module.split(".")[0])
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downwards(path: Path) -> None:
    """Tests that a module imports only its own package and those below it."""
    package = path.relative_to(ROOT).parts[0]
    ours = _imported_packages(ast.parse(path.read_text(encoding="utf-8"))) & set(MAY_IMPORT)
    assert ours <= MAY_IMPORT[package] | {package}


def test_verifier_shares_no_code_with_methods() -> None:
    """Tests that the verifier imports only data types, NumPy and the standard library."""
    tree = ast.parse((ROOT / "instances" / "verify_dag_schedule.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules <= {
        "__future__",
        "typing",
        "collections.abc",
        "instances.contention",
        "instances.dag_violations",
        "instances.dag_instance",
        "instances.dag_schedule",
    }


def test_every_package_is_typed_and_listed() -> None:
    """Tests that each package has a py.typed file and that every folder with code is listed for installation."""
    listed = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for package in MAY_IMPORT:
        assert (ROOT / package / "py.typed").exists()
        for init in (ROOT / package).rglob("__init__.py"):
            assert f'"{".".join(init.parent.relative_to(ROOT).parts)}"' in listed


def test_packages_hold_no_code_in_init() -> None:
    """Tests that an __init__.py holds a docstring and explicit re-exports, never code."""
    for package in MAY_IMPORT:
        for init in (ROOT / package).rglob("__init__.py"):
            body = ast.parse(init.read_text(encoding="utf-8")).body
            assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8")))
            assert all(isinstance(node, ast.ImportFrom) for node in body[1:]), init
