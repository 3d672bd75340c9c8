"""Tests of the comparison with other people's code; what needs their packages is skipped where these are absent."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.generators.dag.generate import generate
from solvers.solve import solve
from studies.papers.outside import compare
from studies.papers.outside.compare import (
    PAIRS,
    SAGA_RANKS,
    SAGA_SCHEDULERS,
    CountedObjective,
    _main,
    both_orders,
    min_min_by_batches,
    our_makespan,
    ranks_of_saga,
    related_instance,
    run_mealpy,
    run_ours,
    saga_schedule,
    solve_by_pyjobshop,
    summary,
    verified_makespan,
    without_transfers,
)


def test_the_objective_is_that_of_the_decoder() -> None:
    """Tests that HEFT's point has HEFT's makespan, that each question counts, and that the best is kept."""
    instance = generate("layered", tasks=10, seed=1)
    objective = CountedObjective(instance, "ranked")
    heft = solve(instance, "heft", bounds=[]).objective
    assert objective(objective.keys.heft_keys()) == heft
    other = objective(np.full(objective.keys.num_keys, 0.9))
    assert (objective.count, objective.best) == (2, min(heft, other))


def test_both_terms_are_one_instance() -> None:
    """Tests that durations are work over speed without rounding, and transfers the bytes of the edges."""
    instance, terms = related_instance(np.random.default_rng(3), 12, 3)
    assert (instance.durations * np.array(terms["speeds"]) == np.array(terms["work"])[:, None]).all()
    for edge, (tail, head, size) in enumerate(terms["edges"]):
        assert instance.edges[edge].tolist() == [tail, head]
        delays = instance.transfer_delays(edge)
        assert (np.diag(delays) == 0).all()
        assert set(delays[~np.eye(3, dtype=bool)].tolist()) == {size}
    free = without_transfers(np.random.default_rng(3), 6, 2)
    assert all((free.transfer_delays(edge) == 0).all() for edge in range(free.num_edges))


def test_wrong_schedules_are_refused() -> None:
    """Tests that a makespan is that of a verified schedule, and that a wrong one is an error."""
    instance, _ = related_instance(np.random.default_rng(4), 6, 2)
    schedule = solve(instance, "heft", bounds=[]).schedule
    assert verified_makespan(instance, schedule) == objective_value(instance, schedule, Objective.MAKESPAN)
    with pytest.raises(ValueError, match="schedule: expected one without violations, got "):
        verified_makespan(instance, DagSchedule(gpu=schedule.gpu, start=np.zeros(6, dtype=np.int64)))


def test_orders_and_summary_by_hand() -> None:
    """Tests the order of the four runs, and ratio and counts of a summary."""
    said: list[str] = []
    found = both_orders(
        lambda seed: said.append(f"ours {seed}") or 10, lambda seed: said.append(f"them {seed}") or 20, 5
    )
    assert said == ["ours 5", "them 5", "them 6", "ours 6"]
    row = {"with": "x", "what": "y", "tasks": 3, **found, "our_seconds": [1.0, 1.0], "their_seconds": [3.0, 5.0]}
    assert summary([row]).to_markdown().splitlines()[-1] == "| x | y | 3 | 1 | 2.000 | 1, 0, 0 | 4.0 |"
    del row["our_seconds"]
    assert summary([row]).to_markdown().splitlines()[-1] == "| x | y | 3 | 1 | 2.000 | 1, 0, 0 |"


def test_ranks_of_saga_by_hand() -> None:
    """Tests a chain of 12 and 24 units of work on speeds 1 and 2 with 3 bytes: the transfer counts a third."""
    terms = {"speeds": [1, 2], "work": [12, 24], "edges": [(0, 1, 3)]}
    # Mean durations 9 and 18; the second task's work over the mean speed is 16.
    assert ranks_of_saga(terms) == pytest.approx([9 + 1 + 18, 18 + 0 + 1 + 16])
    instance, terms = related_instance(np.random.default_rng(6), 12, 1)
    assert our_makespan(instance, terms, SAGA_RANKS, 0) == our_makespan(instance, terms, "cpop", 0)


def test_batches_by_hand() -> None:
    """Tests that a short task that becomes ready waits for a long one that was ready before, unlike in min-min."""
    instance = DagInstance.from_lists([[2], [9], [1]], [(0, 2, 0)])
    assert min_min_by_batches(instance).start.tolist() == [0, 2, 11]
    assert solve(instance, "min-min", bounds=[]).schedule.start.tolist() == [0, 3, 2]


def test_our_search_keeps_the_budget() -> None:
    """Tests that our part of the comparison is a run of the method at its budget."""
    instance = generate("layered", tasks=8, seed=2)
    assert run_ours(instance, "pso", "eft", 60, 1) == run_ours(instance, "pso", "eft", 60, 1)
    assert run_ours(instance, "pso", "eft", 60, 1)[1] == 60


def test_absent_packages_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests the message where packages are absent."""
    monkeypatch.setattr(compare, "missing_packages", lambda: ["mealpy"])
    monkeypatch.setattr(sys, "argv", ["compare", "--out", "x.json"])
    with pytest.raises(SystemExit):
        _main()
    assert "requirements.txt, got none of mealpy" in capsys.readouterr().err


def test_mealpy_asks_within_the_budget() -> None:
    """Tests that mealpy's searches are counted, and that nothing beyond the budget is taken."""
    pytest.importorskip("mealpy")
    instance = generate("layered", tasks=8, seed=2)
    for name in PAIRS:
        best, count = run_mealpy(instance, name, "eft", 50, 1)
        assert count == 50
        assert best >= solve(instance).lower_bound


def test_schedules_of_saga_verify() -> None:
    """Tests that every scheduler's answer is a schedule of our instance, not below the optimum."""
    pytest.importorskip("saga")
    instance, terms = related_instance(np.random.default_rng(5), 8, 3)
    optimum = solve(instance, time_limit=60).lower_bound
    assert all(verified_makespan(instance, saga_schedule(name, terms)) >= optimum for name, _ in SAGA_SCHEDULERS)


def test_pyjobshop_proves_the_same_optimum() -> None:
    """Tests that both models have one optimum where transfers are free."""
    pytest.importorskip("pyjobshop")
    instance = without_transfers(np.random.default_rng(6), 8, 2)
    assert solve_by_pyjobshop(instance, 60.0) == solve(instance, "cp-sat", time_limit=60).objective
