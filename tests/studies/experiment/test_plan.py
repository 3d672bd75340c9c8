"""Tests of the runs that a specification asks for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from studies.experiment import plan
from studies.experiment.checked_method import CheckedMethod
from studies.experiment.instances import expand_instances
from studies.experiment.plan import StudyPlan, paired_seed, plan_seconds, study_plan
from studies.experiment.read_specification import read_study_spec, shipped_specs
from tests.studies.experiment.study_specs import small_spec

if TYPE_CHECKING:
    from studies.experiment.specification import StudySpec


def _plan(spec: StudySpec) -> StudyPlan:
    return study_plan(spec, expand_instances(spec))


def test_runs_are_those_of_the_design() -> None:
    """Tests that references and constructions run once per instance, searches per repetition and budget."""
    plan = _plan(small_spec())
    counts = Counter((run.phase, run.label, str(run.budget)) for run in plan.runs)
    assert counts == {
        ("bound", "critical-path", "-"): 2,
        ("bound", "area", "-"): 2,
        ("exact", "cp-sat", "20 s"): 2,
        ("method", "heft", "-"): 2,
        ("method", "random-search", "40 evaluations"): 4,
        ("method", "random-search", "80 evaluations"): 4,
        ("method", "woa, no HEFT seed", "40 evaluations"): 4,
        ("method", "woa, no HEFT seed", "80 evaluations"): 4,
    }
    assert len({run.key for run in plan.runs}) == len(plan.runs) == 24
    phases = [run.phase for run in plan.runs]
    assert phases == sorted(phases, key=["bound", "exact", "method"].index)


@pytest.mark.parametrize("name", shipped_specs())
def test_shipped_specifications_can_be_carried_out(name: str) -> None:
    """Tests that every method of a shipped specification exists and takes its parameters."""
    study_plan(read_study_spec(shipped_specs()[name]), [])


def test_headline_experiment() -> None:
    """Tests the size of the experiment on whales: crossed instances, three pairs, with and without HEFT."""
    plan = _plan(read_study_spec(shipped_specs()["whales"]))
    cells = Counter((item.family, item.cluster, item.ccr, item.heterogeneity) for item in plan.instances)
    assert len(cells) == 3 * 2 * 2 * 2
    assert set(cells.values()) == {1}
    runs = Counter((run.label, str(run.budget)) for run in plan.runs)
    for label in ("woa", "ga", "random-search", "worl-rtgs"):
        for seeded in (label, f"{label}, no HEFT seed"):
            assert runs[(seeded, "2000 evaluations")] == 24 * 3
    assert runs[("heft", "-")] == runs[("ddqn", "-")] == runs[("probing", "-")] == 24


def test_seeds_are_paired() -> None:
    """Tests that all methods share the seed of a repetition on an instance, and that no two repetitions do."""
    plan = _plan(small_spec())
    for item in plan.instances:
        for repetition in range(2):
            seeds = {
                run.seed
                for run in plan.runs
                if run.sha256 == item.instance.sha256 and run.kind == "search" and run.repetition == repetition
            }
            assert seeds == {paired_seed(3, item.instance, repetition)}
    assert len({run.seed for run in plan.runs if run.kind == "search"}) == 4


def test_a_random_construction_runs_per_repetition() -> None:
    """Tests that a construction that draws random numbers is repeated, one that does not is not."""
    spec = small_spec(('[[methods]]\nmethod = "heft"', '[[methods]]\nmethod = "random"'))
    runs = [run for run in _plan(spec).runs if run.label == "random"]
    assert [(run.repetition, str(run.budget)) for run in runs] == [(0, "-"), (1, "-")] * 2


def test_too_many_runs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that 18 runs of methods are not planned where 17 are the most."""
    monkeypatch.setattr(plan, "MAX_RUNS", 17)
    with pytest.raises(ValueError, match=r"study.repetitions: expected at most 17 runs of the study, got 18\."):
        _plan(small_spec())


def test_keys_tell_runs_apart() -> None:
    """Tests that a run keeps its key under another label and with a default written out, and no other way."""
    before = {run.key for run in _plan(small_spec()).runs}

    def num_new(*changes: tuple[str, str]) -> int:
        return len({run.key for run in _plan(small_spec(*changes)).runs} - before)

    assert num_new(('label = "woa, no HEFT seed"', 'label = "whales"')) == 0
    assert num_new(("population = 5,", 'decoding = "ranked", population = 5,')) == 0
    assert num_new(("repetitions = 2", "repetitions = 1")) == 0
    assert num_new(("repetitions = 2", "repetitions = 3")) == 2 * 2 * 2
    assert num_new(("population = 5", "population = 6")) == 8
    assert num_new(("seed = 3", "seed = 4")) == 16 + 2  # searches, and the exact method, which is seeded too
    assert num_new(("evaluations = 80", "evaluations = 81")) == 8
    assert num_new(("time_limit = 20", "time_limit = 21")) == 2
    assert num_new(("[6, 8]", "[6, 9]")) == 12


def test_methods_against_the_clock() -> None:
    """Tests that exact and improving methods run under budgets in seconds only, and are refused without one."""
    lns = ("[[budgets]]\nevaluations = 40", '[[methods]]\nmethod = "lns"\n[[budgets]]\nevaluations = 40')
    with pytest.raises(ValueError, match=r"methods\[3\]: expected \[\[budgets\]\] with seconds for lns, got none."):
        _plan(small_spec(lns))
    plan = _plan(small_spec(lns, ("evaluations = 80", "seconds = 0.5"), ("seed = 3", "seed = 3\nthreads = 2")))
    runs = [run for run in plan.runs if run.label == "lns"]
    assert {(str(run.budget), run.threads) for run in runs} == {("0.5 s", 2)}
    assert len(runs) == 4
    assert {run.threads for run in plan.runs if run.kind == "search"} == {1}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "population = 5",
            "populaton = 5",
            r"methods\[2\].parameters: expected a parameter of woa \(population, .*'pop",
        ),
        ("population = 5", 'contention = "nic"', r"methods\[2\].parameters: expected a parameter of woa"),
        (
            '"woa"\nparameters = { population = 5, heft_seed = false }',
            '"random-search"',
            "methods: expected methods that differ, got 'random-search' and 'woa, no HEFT seed'.",
        ),
        ('method = "woa"', 'method = "no_such:thing"', r"methods\[2\].method: expected MODULE:FUNCTION that can be"),
        ('method = "woa"', 'method = ":thing"', r"methods\[2\].method: expected MODULE:FUNCTION that can be imported"),
        (
            'method = "woa"',
            'method = "os:sep"',
            r"methods\[2\].method: expected MODULE:FUNCTION that can be called, got",
        ),
        (
            '"woa"\nparameters = { population = 5, heft_seed = false }',
            '"os:getcwd"',
            r"methods\[2\].method: expected a function of an instance, got os:getcwd, which takes nothing\.",
        ),
        (
            '"woa"\nparameters = { population = 5, heft_seed = false }',
            '"shutil:copyfile"',
            r"methods\[2\].parameters: expected 'dst', which shutil:copyfile has no default for, got none\.",
        ),
        ("population = 5", "instance = 5", r"methods\[2\].parameters: expected a parameter of woa .*got 'instance'"),
        (
            '"random-search"',
            '"cp-sat"\n[[budgets]]\nseconds = 20',
            r"methods: expected methods that differ, got 'cp-sat' of \[\[reference.exact\]\] and 'cp-sat'\.",
        ),
        ("time_limit = 20", "time_limit = 20\nparameters = { a = 1 }", r"reference.exact\[0\].parameters: expected a"),
    ],
)
def test_what_cannot_run_is_refused(old: str, new: str, message: str) -> None:
    """Tests that a plan is refused before anything runs, with the place in the specification."""
    with pytest.raises(ValueError, match=message):
        _plan(small_spec((old, new)))


def test_keys_hold_no_addresses() -> None:
    """Tests that a default that is a function has the same text in every process: else nothing would ever resume."""
    checked = CheckedMethod("here", "shutil:copytree", {"dst": "there"})
    assert checked.all_parameters["copy_function"] == "<function copy2>"
    assert checked.all_parameters["dst"] == "there"


def test_budgets_are_needed_by_searches_only() -> None:
    """Tests that a study of constructions needs no budget, and one of searches does."""
    spec = small_spec()
    assert len(study_plan(replace(spec, budgets=(), methods=spec.methods[:1]), []).runs) == 0
    with pytest.raises(
        ValueError,
        match=r"methods\[1\]: expected \[\[budgets\]\] with evaluations or seconds for random-search, got none.",
    ):
        study_plan(replace(spec, budgets=()), [])


def test_estimate_counts_what_is_left() -> None:
    """Tests that the estimate is of seconds budgets at least, shrinks with workers and with what is done."""
    plan = _plan(small_spec(("evaluations = 80", "seconds = 2")))
    timed = 2.0 * 2 * 2 * 2
    assert plan_seconds(plan, 1) > timed
    assert plan_seconds(plan, 2) == pytest.approx(plan_seconds(plan, 1) / 2)
    assert plan_seconds(plan, 1, {run.key for run in plan.runs}) == 0.0
