"""Tests that the notebooks run from start to end and say what they promise."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def _outputs(notebook: nbformat.NotebookNode) -> str:
    """Return everything that the cells show, as one text."""
    shown = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown.append(output.get("text", ""))
            shown += [text for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
    return "\n".join(shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path: Path) -> None:
    """Tests that a notebook in the repository holds no outputs."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


def test_solve_an_instance() -> None:
    """Tests that the first notebook proves an optimum, shows a Gantt chart and reports optimality gaps only."""
    notebook = nbformat.read(ROOT / "notebooks" / "solve_an_instance.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    assert "search to the end" in shown
    assert "<svg" in shown
    assert "gap   0.00 %   optimality gap" in shown
    assert "gap to lower bound" not in shown
    assert "repeatable holds" in shown
    assert shown.rstrip().endswith("True")
