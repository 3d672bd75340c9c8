"""Tests of all methods on instances whose optimum is known by construction."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.planted import planted_optimum
from solvers.lower_bound import lower_bound
from solvers.methods import METHODS
from solvers.run.outcome import Status
from solvers.solve import solve

ROOT = Path(__file__).parents[1]
CONSTRUCTIONS = [name for name, method in METHODS.items() if method.kind == "construction"]
HEURISTICS = [name for name, method in METHODS.items() if method.kind != "exact"]


@pytest.mark.parametrize("certificate", ["area", "path"])
@pytest.mark.parametrize(("tasks", "seed"), [(8, 1), (12, 2), (16, 3), (20, 4)])
def test_cp_sat_proves_the_planted_optimum(certificate: str, tasks: int, seed: int) -> None:
    """Tests that CP-SAT proves the planted value on small instances with tight memory."""
    planted = planted_optimum(
        tasks=tasks, num_gpus=3, certificate=certificate, seed=seed, horizon=60, memory_tightness=1.0
    )
    result = solve(planted.instance, "cp-sat", seed=1)
    assert (result.status, result.objective) == (Status.OPTIMAL, planted.optimum)


@pytest.mark.parametrize("certificate", ["area", pytest.param("path", marks=pytest.mark.slow)])
def test_bounds_reach_the_certificate(certificate: str) -> None:
    """Tests that the area LP reaches a planted area, and the critical path a planted path, and nothing goes beyond."""
    planted = planted_optimum(tasks=120, num_gpus=6, certificate=certificate, seed=5)
    values = {bound.method: bound.value for bound in lower_bound(planted.instance)}
    assert max(values.values()) == planted.optimum
    assert values["area" if certificate == "area" else "critical-path"] == planted.optimum


@pytest.mark.parametrize(
    ("certificate", "tasks"),
    [("area", 100), *(pytest.param(name, 2000, marks=pytest.mark.slow) for name in ("area", "path"))],
)
def test_no_method_goes_below_the_planted_optimum(certificate: str, tasks: int) -> None:
    """Tests that on many tasks the planted schedule verifies and no heuristic's objective is below it."""
    planted = planted_optimum(tasks=tasks, num_gpus=16, certificate=certificate, seed=6)
    assert verify_dag_schedule(planted.instance, planted.schedule) == []
    bounds = lower_bound(planted.instance)
    assert max(bound.value for bound in bounds) <= planted.optimum
    for method in HEURISTICS:
        budget = {"search": {"stop": MaxEvaluations(3)}, "improvement": {"time_limit": 1.0}}
        result = solve(planted.instance, method, seed=1, bounds=bounds, **budget.get(METHODS[method].kind, {}))
        assert result.objective is not None
        assert result.objective >= planted.optimum


def test_planted_schedule_is_a_proof_without_search() -> None:
    """Tests that CP-SAT, started from the planted schedule of 5,000 tasks, needs no search: the bound meets it."""
    planted = planted_optimum(tasks=5000, num_gpus=16, seed=6)
    result = solve(planted.instance, "cp-sat", start=planted.schedule, time_limit=60)
    assert (result.status, result.objective) == (Status.OPTIMAL, planted.optimum)
    assert result.backend_seconds == 0.0


SCALE = """
import re, sys
from pathlib import Path
from instances.generators.dag.planted import planted_optimum
from solvers.solve import solve
planted = planted_optimum(tasks=int(sys.argv[1]), num_gpus=64, seed=7)
for method in sys.argv[2:]:
    result = solve(planted.instance, method, bounds=[], seed=1)
    assert result.objective >= planted.optimum, method
# Not ru_maxrss, which keeps the size of the parent that was forked.
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(("tasks", "most_mib"), [(1_500, 800), pytest.param(20_000, 2_000, marks=pytest.mark.slow)])
def test_list_schedulers_handle_many_tasks(tasks: int, most_mib: int) -> None:
    """Tests that all constructions schedule many tasks on 64 GPUs in little memory, 20,000 in a process of 2 GB."""
    command = [sys.executable, "-c", SCALE, str(tasks), *CONSTRUCTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(done.stdout) < most_mib
