"""Which revision of this software runs, as results and trained networks name it."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Folder that holds the packages; a checkout of the repository, or the place where optgap is installed."""


def revision() -> str | None:
    """Return the revision of the source in twelve digits, with ``-dirty`` if files are changed; None if unknown."""
    return _git("describe", "--always", "--dirty", "--abbrev=12") or None


def git_revision() -> str | None:
    """Return the commit of the source, with ``+changes`` if files differ from it; None if unknown."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return None
    return f"{commit}+changes" if _git("status", "--porcelain", "--untracked-files=no") else commit


def _git(*arguments: str) -> str | None:
    """Return the answer of git about the source; None without a repository, without git, or if git fails."""
    if not (ROOT / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
