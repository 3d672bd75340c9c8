"""Tests of the documentation site: what it shows, and that it is built without a warning."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import optgap
from tests.browser import needs_browser, opened

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_reference_has_every_public_name() -> None:
    """Tests that the reference documents each name of the package once, and nothing else."""
    named = re.findall(r"^\.\. auto(?:class|function):: (\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(optgap.__all__)


def test_every_page_is_in_the_contents() -> None:
    """Tests that the trees of contents name every page of the manual, by its name or by a pattern."""
    trees = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
    entries = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    pages = [path.relative_to(DOCS) for path in DOCS.rglob("*.md") if path.name != "index.md"]
    own = [page for page in pages if page.parts[0] != "more"]  # copies, which a build makes
    assert len(own) > 15
    for page in own:
        assert any(page.with_suffix("").match(entry) for entry in entries), page


def test_gallery_has_every_notebook() -> None:
    """Tests that the gallery names each notebook, and has words for each picture."""
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    notebooks = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert sorted(re.findall(r'<p data-notebook="(\w+)">[^<]{20,}</p>', gallery)) == notebooks


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site without executing notebooks; skip where its packages are not installed."""
    for package in ("sphinx", "furo", "myst_nb"):
        pytest.importorskip(package, reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", str(DOCS), str(folder)]
    environment = {**os.environ, "OPTGAP_NOTEBOOKS": "off"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.mark.slow
def test_site_has_all_pages(site: Path) -> None:
    """Tests that every page, notebook and table of results is there, and that signatures are in the reference."""
    for page in (
        *DOCS.glob("*.md"),
        *(ROOT / "notebooks").glob("*.ipynb"),
        *(ROOT / "studies" / "results").glob("*.md"),
    ):
        assert list(site.rglob(f"{page.stem}.html")), page
    reference = (site / "api.html").read_text(encoding="utf-8")
    assert all(f'id="optgap.{name}"' in reference for name in optgap.__all__)
    assert "gpu_memory" in reference


@pytest.mark.slow
def test_links_inside_the_site_lead_somewhere(site: Path) -> None:
    """Tests that every link to the site itself leads to a file and an anchor that exist; other hosts are not asked."""
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    anchors = {path: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for path, text in pages.items()}
    broken, count = [], 0
    for path, text in pages.items():
        for link in re.findall(r'<(?:a|link|img|script|source)\b[^>]*?\s(?:href|src)="([^"]+)"', text):
            url = urlsplit(unescape(link))
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            target = target / "index.html" if target.is_dir() else target
            count += 1
            if not target.is_file() or (url.fragment and unquote(url.fragment) not in anchors.get(target, ())):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert count > 1000
    assert broken == []


@pytest.mark.slow
@needs_browser
def test_site_in_a_browser(site: Path, tmp_path: Path) -> None:
    """Tests that the browser shows the first page with its contents, and finds nothing missing in the site."""
    html = (
        (site / "index.html").read_text(encoding="utf-8").replace("<head>", f'<head><base href="{site.as_uri()}/">', 1)
    )
    dom, console = opened(html, tmp_path, 1200)
    assert "ERR_FILE_NOT_FOUND" not in console
    assert "The first ten minutes" in dom
    assert 'href="more/notebooks/bring_your_own_model.html"' in dom
