"""Tests of contention on the command line and in comparisons."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance
from solvers.lower_bound import lower_bound
from solvers.solve import solve
from studies.analysis.bound_comparison import BoundComparison
from studies.analysis.gap_table import gap_table

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run


@pytest.fixture(scope="module")
def fork() -> DagInstance:
    """One task before three on servers of their own: optimum 7 without contention, 15 with it."""
    rows = [[3, None, None, None]] + [[None] * k + [0] + [None] * (3 - k) for k in (1, 2, 3)]
    edges = [(0, 1, 4), (0, 2, 4), (0, 3, 4)]
    return DagInstance.from_lists(rows, edges, gpu_servers=["a", "b", "c", "d"], name="fork")


@pytest.fixture
def fork_file(fork: DagInstance, tmp_path: Path) -> str:
    """Write the same into the folder of `run`."""
    write_dag_instance(fork, tmp_path / "fork.json")
    return "fork.json"


def test_solve_and_verify(run: Run, fork_file: str, tmp_path: Path) -> None:
    """Tests that a schedule under contention has its transfers in the file and verifies with the rule and without."""
    solved = run("solve", fork_file, "--contention", "nic", "--schedule-out", "s.json", "--json")
    assert (solved.status, solved.document["objective"], solved.document["contention"]) == (0, 15, "nic")
    assert sorted(json.loads((tmp_path / "s.json").read_text())["transfer_start"]) == [3, 7, 11]
    for rule in ("nic", "none"):
        verified = run("verify", fork_file, "s.json", "--contention", rule, "--json")
        assert (verified.status, verified.document["verifies"], verified.document["contention"]) == (0, True, rule)
        assert verified.document["objectives"]["makespan"] == 15
    assert "contention: nic\n" in run("verify", fork_file, "s.json", "--contention", "nic").out
    assert "contention" not in run("verify", fork_file, "s.json").out


def test_verify_lists_what_contention_asks_for(run: Run, fork_file: str, tmp_path: Path) -> None:
    """Tests that a schedule without transfers verifies, and with the rule does not; then the overlap of two."""
    assert run("solve", fork_file, "-m", "heft", "--schedule-out", "s.json").status == 0
    assert run("verify", fork_file, "s.json").status == 0
    ended = run("verify", fork_file, "s.json", "--contention", "nic", "--json")
    assert ended.status == 1
    assert [violation["kind"] for violation in ended.document["violations"]] == ["MissingTransferStart"] * 3
    schedule = json.loads((tmp_path / "s.json").read_text())
    schedule |= {"start": [0, 7, 10, 20], "transfer_start": [3, 6, 10]}
    (tmp_path / "s.json").write_text(json.dumps(schedule))
    overlap = run("verify", fork_file, "s.json", "--contention", "nic")
    assert overlap.out == (
        "edges 0 and 1: transfers overlap by 1 ticks on the outgoing side of server 'a'.\n"
        "1 violation: the schedule does not verify.\n"
    )


def test_bound(run: Run, fork_file: str) -> None:
    """Tests that the bound that knows contention is listed with it, and not without."""
    with_rule, without = run("bound", fork_file, "--contention", "nic", "--json"), run("bound", fork_file, "--json")
    values = {bound["method"]: bound["value"] for bound in with_rule.document["bounds"]}
    assert (with_rule.status, with_rule.document["lower_bound"], values["nic-aware-path"]) == (0, 15, 15)
    assert (values["join-aware-path"], without.document["lower_bound"]) == (7, 7)
    assert "nic-aware-path" not in {bound["method"] for bound in without.document["bounds"]}
    assert "fork with contention nic" in run("bound", fork_file, "--contention", "nic").out.replace("\n", " ")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["solve", "fork.json", "--contention", "port"], "--contention: expected one of none, nic, got 'port'.\n"),
        (
            ["solve", "fork.json", "-m", "milp-disjunctive", "--contention", "nic"],
            "--contention: expected none for milp-disjunctive, which does not know the rule, got nic.\n",
        ),
        (
            ["solve", "fork.json", "-m", "heft", "--against", "milp-disjunctive", "--contention", "nic"],
            "--contention: expected none for milp-disjunctive, which does not know the rule, got nic.\n",
        ),
        (
            ["bound", "fork.json", "--methods", "area,milp-disjunctive", "--contention", "nic"],
            "--contention: expected none for milp-disjunctive, which does not know the rule, got nic.\n",
        ),
        (
            ["solve", "fork.json", "-m", "heft", "--set", "contention=nic"],
            "--set: expected a parameter of heft (insertion), got 'contention'.\n",
        ),
    ],
)
def test_misuse(run: Run, fork_file: str, arguments: list[str], line: str) -> None:
    """Tests that misuse ends with status 2 and one line that names the option."""
    ended = run(*arguments)
    assert (ended.status, ended.out, ended.err) == (2, "", line)


def test_against_an_exact_method(run: Run, fork_file: str) -> None:
    """Tests that gaps under contention are to what is proved under contention."""
    ended = run("solve", fork_file, "-m", "round-robin", "--against", "cp-sat", "--contention", "nic", "--json")
    assert (ended.status, ended.document["gap"], ended.document["gap_kind"]) == (0, 0.0, "optimality gap")


def test_rules_do_not_mix_in_one_table(fork: DagInstance) -> None:
    """Tests that results and bounds under different rules are not compared with each other."""
    results = [solve(fork, "heft", contention=rule) for rule in ("none", "nic")]
    with pytest.raises(ValueError, match=r"results: expected one rule of contention, got nic and none\."):
        gap_table(results)
    assert gap_table(results[1:]).runs[0].gap == 0.0
    tables = [lower_bound(fork, contention=rule) for rule in ("none", "nic")]
    with pytest.raises(ValueError, match=r"tables: expected one rule of contention, got nic and none\."):
        BoundComparison(tables)
    assert "contention nic" in BoundComparison(tables[1:]).to_latex()
    assert "contention" not in BoundComparison(tables[:1]).to_latex().split("% optgap")[0]
