"""Tests of refutations by passes over pairs and by cases."""

import pytest

from formulations.dag.bounds import refutation_proof
from formulations.dag.bounds.refutation_proof import RefutationProof
from formulations.time_left import without_limit
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective

MAKESPAN, WEIGHTED = Objective.MAKESPAN, Objective.WEIGHTED_COMPLETION


def three_jobs() -> DagInstance:
    """Return three jobs of one task each on one GPU."""
    return DagInstance.from_lists([[3], [2], [4]], job_of_task=[0, 1, 2], release=[0] * 3, weight=[1] * 3)


def test_orders_are_cases_by_hand() -> None:
    """Tests two tasks on one GPU, each with a successor elsewhere: whichever comes first, the other one is late."""
    gpus = [[4, None, None], [4, None, None], [None, 5, None], [None, None, 5]]
    instance = DagInstance.from_lists(gpus, edges=[(0, 2, 0), (1, 3, 0)])
    assert RefutationProof(instance, MAKESPAN, 12, without_limit).lines(2) is not None  # 4 + 4 + 5 by windows of work
    assert RefutationProof(instance, MAKESPAN, 13, without_limit).lines(2, by_cases=True) is None  # there is a schedule
    jobs = three_jobs()
    assert RefutationProof(jobs, WEIGHTED, 15, without_limit).lines(2) is None
    lines = RefutationProof(jobs, WEIGHTED, 15, without_limit).lines(2, by_cases=True)  # the optimum is 2 + 5 + 9
    assert lines is not None
    assert {line.split()[0] for line in lines} >= {"before", "contradiction"}
    assert RefutationProof(jobs, WEIGHTED, 16, without_limit).lines(2, by_cases=True) is None


def test_no_seconds_are_no_proof_by_cases() -> None:
    """Tests that cases end when the time does."""
    assert RefutationProof(three_jobs(), WEIGHTED, 15, lambda: 0.0).lines(2, by_cases=True) is None
    assert RefutationProof(three_jobs(), WEIGHTED, 15, without_limit, most_cases=0).lines(2, by_cases=True) is None


def test_deep_cases_end_without_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a proof that goes ever deeper is given up before Python ends it."""
    monkeypatch.setattr(RefutationProof, "_contradiction", lambda *_: None)
    monkeypatch.setattr(RefutationProof, "_with_forced_orders", lambda _, state: ([], state))
    monkeypatch.setattr(RefutationProof, "_on", lambda _, state, *__, **___: state)
    monkeypatch.setattr(refutation_proof, "_open_gpu", lambda _: ("suppose", 0, 0))
    proof = RefutationProof(DagInstance.from_lists([[3]]), MAKESPAN, 2, without_limit)
    assert proof.lines(0, by_cases=True) is None
    assert proof.cases == 4_000 - refutation_proof.MOST_NESTED - 1
