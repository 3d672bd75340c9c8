"""Which source this is."""

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
