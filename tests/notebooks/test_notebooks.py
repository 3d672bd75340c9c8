"""Tests that the notebooks run from start to end and say what they promise; the first one by default."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from solvers.methods import JOBS_METHODS
from tests.check_latex import check_latex

pytestmark = pytest.mark.whole

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


def _pictures(notebook: nbformat.NotebookNode) -> int:
    """Return how many cells show a picture, not only the name of a figure."""
    return sum("image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path: Path) -> None:
    """Tests that a notebook in the repository holds no outputs."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.slow
def test_solve_an_instance() -> None:
    """Tests that the first notebook proves an optimum, shows a Gantt chart and reports optimality gaps only."""
    notebook = nbformat.read(ROOT / "notebooks" / "solve_an_instance.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    assert "search to the end" in shown
    assert "<svg" in shown
    assert _pictures(notebook) == 1
    assert "gap   0.00 %   optimality gap" in shown
    assert "gap to lower bound" not in shown
    assert "repeatable holds" in shown
    assert shown.rstrip().endswith("True")


@pytest.mark.slow
def test_lower_bounds_for_a_paper() -> None:
    """Tests that the second notebook gets to a LaTeX table of confirmed optima, and that its numbers hold together."""
    notebook = nbformat.read(ROOT / "notebooks" / "lower_bounds_for_a_paper.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    latex = re.search(r"^%.*?end\{tabular\}", shown, re.DOTALL | re.MULTILINE)
    assert latex is not None
    head, *rows, means = check_latex(latex[0])
    assert len(rows) == 6
    assert head[:4] == ["instance", "tasks", "edges", "GPUs"]
    for row in rows:
        *weaker, proven = (int(cell) for cell in row[4:10])
        assert max(weaker) <= proven
        assert row[10] == rf"{proven}$^{{*\dagger}}$"
    assert means[9] == "1.000"
    assert _pictures(notebook) == 1
    assert shown.count("optimality gap") == 1
    assert shown.count("gap to lower bound") == 6
    assert "above the optimum (gap to lower bound)" in shown
    assert f"my-bound: a bound of {int(rows[2][9]) + 1}\n" in shown
    assert "same instance: True" in shown


@pytest.mark.slow
def test_whales_against_the_optimum() -> None:
    """Tests that the study of the whales, reduced, runs to proven optima, and that its tables hold together."""
    notebook = nbformat.read(ROOT / "notebooks" / "whales_against_the_optimum.ipynb", as_version=4)
    cell = next(cell for cell in notebook.cells if "repetitions = 4" in cell.source)
    reduced = {
        "tasks = 14": "tasks = 8",
        "repetitions = 4": "repetitions = 2",
        "evaluations = 1000": "evaluations = 60",
    }
    for full, small in reduced.items():
        assert cell.source.count(full) == 1
        cell.source = cell.source.replace(full, small)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    assert re.search(r"^\d+ runs finished, 0 failed$", shown, re.MULTILINE)
    assert "All gaps are optimality gaps: the optima of all 12 instances are proven." in shown
    assert "-" not in re.findall(r"mean gap (\S+) %", shown)
    assert len(re.findall(r"^\S.*: mean gap .*worl-rtgs", shown, re.MULTILINE)) == 10
    wins = re.findall(r" is better than .+ on (\d+) of 12 instances, worse on (\d+)\.", shown)
    assert len(wins) == 8
    assert all(int(won) + int(lost) <= 12 for won, lost in wins)
    latex = re.search(r"^%.*?end\{tabular\}", shown, re.DOTALL | re.MULTILINE)
    assert latex is not None
    head, *rows = check_latex(latex[0])
    assert (head[0], len(rows)) == ("method", 11)
    assert "Reductions of worl-rtgs at 60 evaluations" in shown
    assert _pictures(notebook) == 4


@pytest.mark.slow
def test_online_against_offline() -> None:
    """Tests that the notebook of online policies, reduced, compares with proven optima and finds the oracle out."""
    notebook = nbformat.read(ROOT / "notebooks" / "online_against_offline.ipynb", as_version=4)
    reduced = {"num_jobs = 8": "num_jobs = 6", "num_seeds = 5": "num_seeds = 2", "many_jobs = 200": "many_jobs = 40"}
    for full, small in reduced.items():
        (cell,) = (cell for cell in notebook.cells if full in cell.source)
        cell.source = cell.source.replace(full, small)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    assert "search to the end" in shown
    assert "<svg" in shown
    gaps = re.findall(r"^ *(\S+): +\d+  gap +(\S+) %  optimality gap$", shown, re.MULTILINE)
    assert len(gaps) == sum(method.kind == "policy" for method in JOBS_METHODS.values())
    assert all(float(gap) >= 0 for _, gap in gaps)
    assert "40 of 40 runs are held against a proven optimum" in shown
    assert "below the proved upper bound: True" in shown
    assert len(re.findall(r"mean gap to the proven bound +\d+\.\d\d %", shown)) == 8
    assert "learns: conforms, and is online" in shown
    assert re.search(r"^srtf: is online, instance .*: expected the same decisions before tick", shown, re.MULTILINE)
    assert _pictures(notebook) == 4


@pytest.mark.slow
def test_bring_your_own_method() -> None:
    """Tests that a heuristic of one's own passes the kit, is held to proven optima in a study, and has a worst case."""
    notebook = nbformat.read(ROOT / "notebooks" / "bring_your_own_method.ipynb", as_version=4)
    (cell,) = (cell for cell in notebook.cells if "steps=80" in cell.source)
    cell.source = cell.source.replace("steps=80", "steps=20").replace("random_count=10", "random_count=4")
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    lines = re.findall(r"^(\d+) ticks, (\d+\.\d+) % (.+)$", shown, re.MULTILINE)
    assert [kind for *_, kind in lines] == ["gap to lower bound", "optimality gap"]
    assert float(lines[0][1]) >= float(lines[1][1]) >= 0
    assert "earliest_finish passes 9 checks: verified, " in shown
    assert re.search(r"^refused: without_transfers: .* before the data of task", shown, re.MULTILINE)
    assert "42 runs finished, 0 failed" in shown
    assert "All gaps are optimality gaps: the optima of all 6 instances are proven." in shown
    wins = re.findall(r"^mine is better than .+ on (\d) of 6 instances, worse on (\d)\.$", shown, re.MULTILINE)
    assert len(wins) == 4
    ratios = re.search(r"worst found: (\d+) / (\d+) = (\S+) times the proven optimum", shown)
    assert ratios is not None
    assert float(ratios[3]) == pytest.approx(int(ratios[1]) / int(ratios[2]), abs=5e-4)
    assert int(ratios[1]) > int(ratios[2])
    assert "the stored certificate holds: True" in shown
    assert shown.count("<svg") == 2
    assert _pictures(notebook) == 1


@pytest.mark.slow
def test_learning_to_place() -> None:
    """Tests shipped networks on few jobs: gaps to bounds and to an optimum, a choice, rewards that add up."""
    notebook = nbformat.read(ROOT / "notebooks" / "learning_to_place.ipynb", as_version=4)
    (cell,) = (cell for cell in notebook.cells if "num_jobs, num_instances = 60, 4" in cell.source)
    cell.source = cell.source.replace("num_jobs, num_instances = 60, 4", "num_jobs, num_instances = 20, 2")
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    gaps = {
        name: float(gap) for name, gap in re.findall(r"^ *(\S.*): mean gap +(\S+) %, mean JCT ", shown, re.MULTILINE)
    }
    assert len(gaps) == 10
    assert all(gap >= 0 for gap in gaps.values())
    assert list(gaps.values()) == sorted(gaps.values())
    assert "gaps of 2 instances: gap to lower bound" in shown
    counts = re.findall(r"than .+ on (\d), a larger one on (\d) instances$", shown, re.MULTILINE)
    assert len(counts) == 9
    assert all(int(less) + int(more) <= 2 for less, more in counts)
    assert re.search(r"^co-location-search: \d+, optimal$", shown, re.MULTILINE)
    optima = re.findall(r"^ *\S.*: +\d+  gap +(\S+) %  optimality gap$", shown, re.MULTILINE)
    assert len(optima) == 10
    assert all(float(gap) >= 0 for gap in optima)
    assert re.search(r"^4 agents, \d+ decisions, \d+ forwards$", shown, re.MULTILINE)
    assert re.search(r"^chosen: (group \d|to agent \d|wait)$", shown, re.MULTILINE)
    ratios = re.findall(
        r"^training \d: untrained \S+, imitated \S+, trained \S+ of the rule's mean JCT$", shown, re.MULTILINE
    )
    assert len(ratios) == 5
    assert (
        len(
            re.findall(
                r"^training \d: (.+; used: (ridge|network)|speeds were \w+, not predicted)$", shown, re.MULTILINE
            )
        )
        == 5
    )
    assert "rewards tell the sum of JCTs: True" in shown
    assert _pictures(notebook) == 4


@pytest.mark.slow
def test_bring_your_own_model() -> None:
    """Tests that a network becomes an instance, HEFT gets a gap against its proven optimum, and measurements count."""
    pytest.importorskip("onnx", reason="the extra onnx is not installed")
    notebook = nbformat.read(ROOT / "notebooks" / "bring_your_own_model.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    assert "84 tasks, 110 edges" in shown
    assert "(optimality gap)" in shown
    times = re.search(r"best GPU alone: (\d+) ticks, HEFT: (\d+), best: (\d+), bound: (\d+)", shown)
    assert times is not None
    alone, heft, best, bound = map(int, times.groups())
    assert bound == best <= min(alone, heft)
    assert "['look.html', 'trace.json']" in shown
    assert "52 of 504 durations are measured" in shown


@pytest.mark.slow
def test_explore_a_schedule() -> None:
    """Tests that the binding chains lead to a first task, and that pages and exports are written."""
    notebook = nbformat.read(ROOT / "notebooks" / "explore_a_schedule.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    ends = {
        name: int(end)
        for name, end in re.findall(r"^(heft|cp-sat): ends at tick (\d+); .*F0\.\d$", shown, re.MULTILINE)
    }
    assert ends["cp-sat"] <= ends["heft"]
    assert "['best.csv', 'best.json', 'best.lp', 'best.pdf', 'schedules.html']" in shown


@pytest.mark.slow
def test_pipelines_under_memory() -> None:
    """Tests that the notebook on pipelines proves optima, shows memory below the lanes and writes a file for torch."""
    notebook = nbformat.read(ROOT / "notebooks" / "pipelines_under_memory.ipynb", as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = _outputs(notebook)
    assert "optimal" in shown
    assert "memory, up to" in shown
    assert re.search(r"^0F0,0F1", shown, re.MULTILINE)
