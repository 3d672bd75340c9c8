"""Tests of the steps that `probing` writes down; the tests of the checker say that they are accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from formulations.dag.bounds.certificates import BoundCertificate
from formulations.dag.bounds.probing_proof import ProbingProof, overlap
from formulations.dag.bounds.refuted_makespans import probing
from formulations.time_left import without_limit
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from instances.library.library import read_library
from optgap.check_certificate import check

if TYPE_CHECKING:
    from pathlib import Path

MAKESPAN = Objective.MAKESPAN
FAMILIES = ["chains", "cholesky", "layered", "nasnet", "out-tree", "transformer"]


def accepted(instance: DagInstance, makespan: int, lines: list[str], folder: Path) -> bool:
    """Say whether the checker accepts that a makespan is refuted."""
    write_dag_instance(instance, folder / "instance.json")
    certificate = BoundCertificate(makespan + 1, "refuted", [f"deadline {makespan}", *lines])
    (folder / "certificate.txt").write_text(certificate.text(MAKESPAN))
    return check(str(folder / "instance.json"), str(folder / "certificate.txt")) == ("makespan", makespan + 1)


@pytest.mark.parametrize("seeds", [range(3, 4), pytest.param(range(25), marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_probing_refutes_is_written_and_accepted(family: str, seeds: range, tmp_path: Path) -> None:
    """Tests the makespan below the bound of probing, which nearly always has a proof of the same steps."""
    written = 0
    for seed in seeds:
        cost = CostModel(memory_tightness=0.8 if seed % 2 else None, ccr=3.0)
        instance = generate(family, tasks=18, seed=seed, cost=cost)
        makespan = probing(instance, MAKESPAN) - 1
        lines = ProbingProof(instance, makespan, without_limit).lines(10_000)
        if lines is not None:
            written += 1
            assert accepted(instance, makespan, lines, tmp_path)
    assert written >= 0.8 * len(seeds)


@pytest.mark.parametrize("word", ["gpus", "times"])
def test_choices_among_gpus_and_starts_are_needed(word: str, tmp_path: Path) -> None:
    """Tests instances whose bounds do not follow without what holds for all choices of a task."""
    instance, makespan = generate("layered", tasks=18, seed=1, cost=CostModel(memory_tightness=0.8, ccr=3.0)), 1583
    if word == "times":
        instance, makespan = read_library().instance("dag-120-layered-n30-mixed-2-ccr10-consistent-forbidden"), 2619
    lines = ProbingProof(instance, makespan, without_limit).lines(10_000)
    assert lines is not None
    assert accepted(instance, makespan, lines, tmp_path)
    with pytest.raises(ValueError):
        accepted(instance, makespan, [line for line in lines if line.split()[0] != word], tmp_path)


def test_nothing_is_written_of_a_makespan_that_a_schedule_has() -> None:
    """Tests one task, which ends by tick 3, and that neither seconds nor cases are none."""
    instance = DagInstance.from_lists([[3]])
    assert ProbingProof(instance, 3, without_limit).lines(100) is None
    assert ProbingProof(instance, 2, without_limit).lines(100) == ["contradiction"]


@pytest.mark.parametrize(("begin", "end", "least"), [(0, 12, 4), (2, 6, 2), (4, 8, 2), (6, 8, 0), (0, 3, 0)])
def test_least_work_inside_a_window(begin: int, end: int, least: int) -> None:
    """Tests a run of 4 ticks between ticks 2 and 10 by hand: the first or the last position has the least inside."""
    head, duration, latest = (np.array([value]) for value in (2, 4, 8))
    assert overlap(head, duration, latest, begin, end).tolist() == [least]
