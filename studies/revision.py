"""Which revision of this software runs, as results and trained networks name it."""

from __future__ import annotations

import subprocess
from pathlib import Path


def revision() -> str | None:
    """Return the revision of the source, `-dirty` where files are changed; None where it is not known."""
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


def git_revision() -> str | None:
    """Return the commit that this package was checked out from, with ``+changes`` where files differ from it.

    None where it was installed, or git is not there.
    """
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    if not commit:
        return None
    return f"{commit}+changes" if _git(root, "status", "--porcelain", "--untracked-files=no") else commit


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git says in one line, None where it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
