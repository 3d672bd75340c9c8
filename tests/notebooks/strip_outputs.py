"""Strip outputs and execution counts from notebooks; exit status 1 where there were any (a pre-commit hook)."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat


def strip(path: Path) -> bool:
    """Strip one notebook and return whether anything was there."""
    notebook = nbformat.read(path, as_version=4)
    before = nbformat.writes(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    changed = nbformat.writes(notebook) != before
    if changed:
        nbformat.write(notebook, path)
    return changed


if __name__ == "__main__":
    changed = [name for name in sys.argv[1:] if strip(Path(name))]
    for name in changed:
        print(f"{name}: outputs removed, add it again.")
    sys.exit(1 if changed else 0)
