"""Models that break known versions of HiGHS, and the versions that were measured to work together."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import highspy
import pytest

HIGHS = """
highs = highspy.Highs()
highs.silent()
x = highs.addVariable(lb=0, ub=5, type=highspy.HighsVarType.kInteger)
y = highs.addVariable(lb=0, ub=5)
highs.addConstr(x + y <= 7)
highs.maximize(2 * x + y)
print(highs.getObjectiveValue())
"""
CP_SAT = """
model = cp_model.CpModel()
x, y = model.new_int_var(0, 5, "x"), model.new_int_var(0, 5, "y")
model.add(x + y <= 7)
model.maximize(2 * x + y)
solver = cp_model.CpSolver()
solver.parameters.num_workers = 1
solver.solve(model)
print(solver.objective_value)
"""
IMPORTS = ["import highspy", "from ortools.sat.python import cp_model"]


@pytest.mark.parametrize("presolve", ["on", "off"])
def test_optimum_of_a_small_integer_program(presolve: str) -> None:
    """Tests that maximising 2x + y with x + y <= 7, x <= 5 integer, y <= 5 gives 12; HiGHS 1.14.0 gave 9."""
    highs = highspy.Highs()
    highs.silent()
    highs.setOptionValue("presolve", presolve)
    x = highs.addVariable(lb=0, ub=5, type=highspy.HighsVarType.kInteger)
    y = highs.addVariable(lb=0, ub=5)
    highs.addConstr(x + y <= 7)
    highs.maximize(2 * x + y)
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    assert highs.getObjectiveValue() == pytest.approx(12.0)
    assert highs.val(x) == pytest.approx(5.0)


def test_versions_are_the_measured_pair() -> None:
    """Tests that highspy is 1.12 and ortools 9.15: the pair that loads in one process and gave right optima."""
    assert version("highspy").startswith("1.12.")
    assert highspy.Highs().version().startswith("1.12.")
    assert version("ortools").startswith("9.15.")


@pytest.mark.whole
@pytest.mark.parametrize("order", [0, 1], ids=["highspy first", "ortools first"])
def test_both_solvers_in_one_process(order: int) -> None:
    """Tests that both load and solve in one process, whichever is imported first; highspy >= 1.15 does not load."""
    imports = IMPORTS if order == 0 else IMPORTS[::-1]
    program = "\n".join([*imports, HIGHS, CP_SAT])
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout.split()) == (0, ["12.0", "12.0"]), answer.stderr
