"""Settings of the documentation site: `python -m sphinx -W --keep-going docs site` builds it (extra docs)."""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

project = "optgap"
author = "The optgap developers"
copyright = "The optgap developers, MIT licence"
try:
    release = metadata.version("optgap")
except metadata.PackageNotFoundError:
    release = "from source"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.doctest"]
root_doc = "index"
exclude_patterns = ["_build"]
default_role = "code"  # of single backticks in docstrings
highlight_language = "text"  # of blocks that name none: commands and formats
html_theme = "furo"
html_title = "optgap"
html_static_path: list[str] = []

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
nb_execution_mode = os.environ.get("OPTGAP_NOTEBOOKS", "force")  # "off" shows the notebooks without their results
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_render_markdown_format = "myst"  # tables that cells show are tables

napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"

COPIED = {
    "notebooks": "more/notebooks",
    "studies/results": "more/results",
    "studies/README.md": "more/studies.md",
    "CHANGELOG.md": "more/changelog.md",
    "CONTRIBUTING.md": "more/contributing.md",
    "instances/library/README.md": "more/library.md",
}
"""What stands elsewhere in the repository and is a page of the site: copied to here, where git ignores it."""

LINK = re.compile(r"\[([^\]\n]+)\]\(([^)#:\s]+)(#[^)\s]+)?\)")


def copy_pages() -> None:
    """Copy what stands elsewhere, and remove what is no longer there."""
    shutil.rmtree(DOCS / "more", ignore_errors=True)
    (DOCS / "more").mkdir()
    for source, target in COPIED.items():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, DOCS / target)
        else:
            shutil.copyfile(ROOT / source, DOCS / target)


def original(page: str) -> Path:
    """Return the file in the repository of which a file of the site is a copy, or which it is itself."""
    for source, target in COPIED.items():
        if page == target or page.startswith(f"{target}/"):
            return ROOT / f"{source}{page.removeprefix(target)}"
    return DOCS / page


def site_page(path: Path) -> str | None:
    """Return the page of the site that shows a file of the repository, None if there is none."""
    for source, target in COPIED.items():
        if path == ROOT / source:
            return target if path.is_file() else "gallery.md"
        if path.is_file() and path.is_relative_to(ROOT / source):
            return f"{target}/{path.relative_to(ROOT / source)}"
    return str(path.relative_to(DOCS)) if path.is_relative_to(DOCS) and path.is_file() else None


def lead_links_to_pages(app: object, page: str, text: list[str]) -> None:
    """Let links between files of the repository lead to their pages; those to other files become their text.

    Tables of results have no title of their own; they get one.
    """
    folder = original(f"{page}.md").parent

    def replaced(match: re.Match[str]) -> str:
        target = site_page((folder / match[2]).resolve())
        up = "../" * page.count("/")
        return match[1] if target is None else f"[{match[1]}]({up}{target}{match[3] or ''})"

    if original(f"{page}.md").is_file():
        text[0] = LINK.sub(replaced, text[0])
    if page.startswith("more/results/") and not text[0].startswith("# "):
        text[0] = f"# Results of the study {Path(page).name}\n\n{text[0]}"


def add_pictures(app: Sphinx, error: Exception | None) -> None:
    """Put the first figure of each notebook into the gallery; without results of notebooks the words stay."""
    gallery = Path(app.outdir) / "gallery.html"
    if error is not None or not gallery.exists():
        return

    def picture(match: re.Match[str]) -> str:
        name, words = match.groups()
        text = (gallery.parent / "more" / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
        if found := re.search(r'<img [^>]*src="(?:\.\./)*(_images/[^"]+)"', text):
            source = found[1]
        elif found := re.search(r"<svg xmlns:xlink.*?</svg>", text, re.DOTALL):
            source = f"_images/{name}.svg"
            (gallery.parent / "_images").mkdir(exist_ok=True)
            (gallery.parent / source).write_text(found[0], encoding="utf-8")
        else:
            return match[0]
        style = "max-width: 100%; max-height: 24rem; background: white"
        return f'<p><img src="{source}" alt="{words}" style="{style}" loading="lazy"></p>'

    text = re.sub(r'<p data-notebook="(\w+)">([^<]*)</p>', picture, gallery.read_text(encoding="utf-8"))
    gallery.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Prepare the pages."""
    copy_pages()
    app.connect("source-read", lead_links_to_pages)
    app.connect("build-finished", add_pictures)
