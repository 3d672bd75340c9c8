"""Tests that the stored suite is what it says, and that the baselines are right, so that comparisons are fair."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from instances.dag.json import read_dag_instance
from instances.dag.objective import Objective, objective_value
from tests.benchmarks.make_proof_suite import CLUSTERS, FOLDER, RATIOS, SIZES, make
from tests.benchmarks.plain_big_m import plain_big_m
from tests.benchmarks.plain_cp_sat import plain_cp_sat
from tests.benchmarks.run_proof_suite import contradictions, run, table
from tests.brute_force import optimum
from tests.tiny_instances import tiny_instance

FILES = sorted(FOLDER.glob("*.json"))


def test_suite_has_sixty_instances_of_all_kinds() -> None:
    """Tests sizes, GPUs and the design of the suite."""
    instances = [read_dag_instance(path) for path in FILES]
    assert len(instances) == len(SIZES) * len(CLUSTERS) * len(RATIOS) == 60
    assert all(30 <= instance.num_tasks <= 100 for instance in instances)
    assert Counter(instance.num_gpus for instance in instances) == {2: 15, 3: 15, 4: 15, 8: 15}
    assert [path.stem for path in FILES] == [instance.name for instance in instances]


def test_suite_can_be_made_again() -> None:
    """Tests that the stored files are those of the generators; where this fails, the files are the suite and stay."""
    assert [make(number).sha256 for number in (0, 29, 59)] == [read_dag_instance(FILES[i]).sha256 for i in (0, 29, 59)]


@pytest.mark.parametrize("number", [0, 3, 8, 14, 20, 35, 36, 52])
def test_baselines_prove_the_optimum(number: int) -> None:
    """Tests the plain models against enumeration."""
    instance = tiny_instance(number)
    best = optimum(instance)
    schedule, bound, is_proved = plain_cp_sat(instance, time_limit=60.0, threads=1, seed=1)
    assert schedule is not None
    assert (objective_value(instance, schedule, Objective.MAKESPAN), bound, is_proved) == (best, best, True)
    dual_bound, is_finished = plain_big_m(instance, time_limit=60.0, threads=1, seed=1)
    assert is_finished
    assert dual_bound == pytest.approx(best, abs=0.999)


def test_suite_runs_and_compares() -> None:
    """Tests one row per method, the table, and that a bound above an objective would be noticed."""
    rows = [run(FILES[2], method, time_limit=60.0, threads=2, seed=1) for method in ("plain", "cp-sat")]
    assert [(row["objective"], row["bound"], row["proved"]) for row in rows] == [(1577, 1577, True)] * 2
    assert json.loads(json.dumps(rows)) == rows
    assert table(rows).splitlines()[2].startswith("| plain | 1 | 1 | - |")
    assert contradictions(rows) == []
    assert len(contradictions([{**rows[0], "bound": 1578}, rows[1]])) == 1
