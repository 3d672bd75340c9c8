"""What our pages of HTML have in common: they carry style and script inside, may load nothing, and share both."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from solvers.table import printable

if TYPE_CHECKING:
    from jinja2 import Template


def with_shared(package: str, name: str) -> str:
    """Return the file of all pages with this name, such as ``page.css``, and behind it that of a package."""
    return "".join(files(each).joinpath(name).read_text(encoding="utf-8") for each in ("studies", package))


def content_policy(script: str, style: str | None) -> str:
    """Return a content security policy that allows one script and one style, and loads nothing.

    Without a style every inline style is allowed, as drawings of Matplotlib need it.
    """
    styles = _hash(style) if style else "'unsafe-inline'"
    allowed = f"script-src {_hash(script)}; style-src {styles}; img-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    """Return how a content security policy names an inline text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def page_template(package: str) -> Template:
    """Return the template ``page.html.j2`` of a package: its filter `own` marks texts that are not escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader(package, "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters.update(printable=printable, own=Markup)
    return environment.get_template("page.html.j2")
