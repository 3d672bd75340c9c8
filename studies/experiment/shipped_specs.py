"""Specifications that come with the package."""

from __future__ import annotations

import difflib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "specs"


def shipped_specs() -> dict[str, Path]:
    """Return the files of all shipped specifications by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def spec_path(text: str) -> Path:
    """Return the file that a name or a path means; a file that exists goes first.

    Raises
    ------
    ValueError
        If it is neither a file nor the name of a shipped specification.
    """
    path = Path(text)
    if path.is_file():
        return path
    known = shipped_specs()
    name = text.replace("-", "_")
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise ValueError(f"specification: expected a TOML file or one of {', '.join(known)}, got {text!r}{hint}.")
