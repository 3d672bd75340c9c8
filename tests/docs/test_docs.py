"""Tests that what the documentation and the code say of each other exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from solvers.problem import PROBLEMS

ROOT = Path(__file__).parents[2]
PACKAGES = ("optgap", "instances", "formulations", "heuristics", "solvers", "studies")
CODE = {package: sorted((ROOT / package).rglob("*.py")) for package in PACKAGES}
PAGES = [
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if ROOT / "docs" / "more" not in path.parents),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "studies/README.md")),
]

CITATION = re.compile(r"\b(docs/[\w/.-]+\.md)(?:,?\s+sections?\s+([\d.]+\d|\d+))?")
MODULE = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.[a-z_0-9]+)+)`")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#([^)\s]+))?\)")


def _unwrapped(text: str) -> str:
    """Return a text with the line breaks of comments and docstrings taken out."""
    return re.sub(r"\s*\n\s*(?:#\s*)?", " ", text)


def _sections(page: Path) -> set[str]:
    """Return the numbers of the headings of a page."""
    return set(re.findall(r"^#+ ([\d.]*\d)\.? ", page.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("paths", [*CODE.values(), PAGES], ids=[*CODE, "pages"])
def test_citations_of_the_manual_exist(paths: list[Path]) -> None:
    """Tests that every page and section of ``docs`` that a file cites exists."""
    for path in paths:
        for name, section in CITATION.findall(_unwrapped(path.read_text(encoding="utf-8"))):
            page = ROOT / name
            assert page.exists(), f"{path}: {name}"
            assert not section or section in _sections(page), f"{path}: {name}, section {section}"


@pytest.mark.parametrize("package", CODE)
def test_code_cites_no_reference_outside(package: str) -> None:
    """Tests that no docstring cites sections of a text that is neither in the repository nor in print."""
    cited = re.compile(r"\b[Ss]ections?\s+[\d.]+(?:\s+(?:to|and|,)\s+[\d.]+)*\s+of the reference\b")
    for path in CODE[package]:
        assert not cited.search(_unwrapped(path.read_text(encoding="utf-8"))), path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_that_pages_name_exist(page: Path) -> None:
    """Tests that every module or name in a module that a page writes as ``package.module.name`` exists."""
    for name in MODULE.findall(page.read_text(encoding="utf-8")):
        path, parent = ROOT / Path(*name.split(".")), ROOT / Path(*name.split(".")[:-1])
        homes = [file for file in (parent.with_suffix(".py"), parent / "__init__.py") if file.exists()]
        is_name = any(re.search(rf"\b{path.name}\b", home.read_text(encoding="utf-8")) for home in homes)
        assert path.is_dir() or path.with_suffix(".py").exists() or is_name, f"{page}: {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    """Tests that every relative link leads to a file, and every anchor to a heading."""
    text = re.sub(r"```.*?```|`[^`\n]*`|\$[^$\n]*\$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in LINK.findall(text):
        if target.startswith(("http", "mailto")):
            continue
        file = (page.parent / target).resolve()
        assert file.exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {_anchor(heading) for heading in headings}, f"{page}: {target}#{anchor}"


def _anchor(heading: str) -> str:
    """Return the anchor that Markdown viewers make of a heading."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def test_readme_is_short() -> None:
    """Tests that README stays a page: the manual is in ``docs``."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_every_registered_name_is_documented() -> None:
    """Tests that the manual's tables of methods and bounds have every entry of the registries."""
    methods = (ROOT / "docs" / "methods" / "README.md").read_text(encoding="utf-8")
    bounds = (ROOT / "docs" / "bounds.md").read_text(encoding="utf-8")
    for problem in PROBLEMS.values():
        assert [name for name in problem.methods if f"`{name}`" not in methods] == []
        assert [name for name in problem.bounds if f"`{name}`" not in bounds] == []
