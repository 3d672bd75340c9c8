"""Tests bounds on the weighted completion by which job ends last, and their certificates."""

from itertools import product
from pathlib import Path
from random import Random

import pytest

from formulations.dag.bounds.certificates import bound_certificate
from formulations.dag.bounds.last_jobs import MOST_SETS, Jobs, LastJobs, last_jobs
from formulations.dag.bounds.refuted_makespans import energetic, probing
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from optgap.check_certificate import check
from tests.brute_force import optimum

WEIGHTED = Objective.WEIGHTED_COMPLETION


def test_cheapest_last_job_counts() -> None:
    """Tests by hand: 5 + 3 * 2, and the last of both at 7 costs 2 for the first job and 15 for the second."""
    assert LastJobs([5, 2], {(0, 1): 7}).bound([1, 3]) == 11 + 2


def test_others_have_a_last_one_too() -> None:
    """Tests that a set without its last job costs what its own makespan says."""
    found = LastJobs([1, 1, 1], {(0, 1, 2): 5, (1, 2): 4, (0, 2): 2})
    assert found.bound([1, 1, 9]) == 11 + min(4 + 3, 4 + 1)


def test_sets_are_asked_for_by_their_cost_until_one_tells_nothing() -> None:
    """Tests the order of the questions; neither jobs without weight nor single jobs are asked about."""
    asked: list[Jobs] = []

    def makespan_of(jobs: Jobs) -> int:
        asked.append(jobs)
        return {(0, 1, 3): 9, (1, 3): 6}.get(jobs, 5)

    found = last_jobs([1, 3, 0, 2], [5, 2, 4, 3], makespan_of)
    assert asked == [(0, 1, 3), (1, 3)]
    assert found.makespan == {(0, 1, 3): 9, (1, 3): 6}
    assert found.bound([1, 3, 0, 2]) == 5 + 6 + 6 + 4 + 6


@pytest.mark.parametrize("seed", range(60))
def test_bound_is_the_least_sum_that_keeps_every_makespan(seed: int) -> None:
    """Tests the sum over the order in which jobs end against all completion times up to a limit."""
    rng = Random(seed)
    weight, early = [rng.randrange(4) for _ in range(3)], [rng.randrange(4) for _ in range(3)]
    times = {jobs: rng.randrange(8) for jobs in [(0, 1, 2), (0, 1), (0, 2), (1, 2)]}

    def makespan_of(jobs: Jobs) -> int:
        return max([times[jobs], *(early[job] for job in jobs)])

    bound = last_jobs(weight, early, makespan_of).bound(weight)
    known = {jobs: time for jobs, time in times.items() if all(weight[job] for job in jobs)}
    feasible = [
        ends
        for ends in product(range(8), repeat=3)
        if all(end >= least for end, least in zip(ends, early, strict=True))
        and all(max(ends[job] for job in jobs) >= time for jobs, time in known.items())
    ]
    assert bound <= min(sum(w * end for w, end in zip(weight, ends, strict=True)) for ends in feasible)


def test_questions_end() -> None:
    """Tests the limit on sets where every set tells something, and that no time means no question."""
    found = last_jobs([1] * 40, [0] * 40, lambda jobs: 100 + len(jobs))
    assert len(found.makespan) == MOST_SETS
    assert last_jobs([1, 1], [0, 0], lambda jobs: 5, seconds_left=lambda: 0.0).makespan == {}


def test_jobs_on_one_gpu_end_in_some_order() -> None:
    """Tests by hand: one of two jobs of 4 ticks ends at 8, where bounds on each alone say 4."""
    instance = DagInstance.from_lists([[4], [4]], job_of_task=[0, 1], release=[0, 0], weight=[1, 2])
    assert energetic(instance, WEIGHTED) == optimum(instance, WEIGHTED) == 8 + 2 * 4


@pytest.mark.parametrize("family", ["multi-tenant", "hyperparameter-sweep"])
@pytest.mark.parametrize("seed", range(3))
def test_certificates_prove_what_probing_does(family: str, seed: int, tmp_path: Path) -> None:
    """Tests several jobs on tight memory: the checker accepts the bound of `probing`, less 2 % at most."""
    instance = generate(family, tasks=16, seed=seed, cost=CostModel(memory_tightness=0.9, ccr=1.0))
    certificate = bound_certificate(instance, WEIGHTED)
    write_dag_instance(instance, tmp_path / "instance.json")
    (tmp_path / "certificate.txt").write_text(certificate.text(WEIGHTED))
    accepted = check(str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt"))
    assert accepted == ("weighted_completion", certificate.bound)
    assert certificate.bound >= 0.98 * probing(instance, WEIGHTED)
