"""Tests of specifications for jobs: what is read, which instances and runs they describe, what is refused."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heuristics.jobs.placements.registry import PLACEMENTS
from heuristics.jobs.predictors.predictor import PREDICTORS
from instances.dag.json import write_dag_instance
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.json import write_jobs_instance
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.verify import verify_jobs_schedule
from solvers.methods import JOBS_METHODS
from studies.experiment.checked_method import CheckedMethod
from studies.experiment.instances import expand_instances
from studies.experiment.plan import StudyPlan, paired_seed, plan_seconds, study_plan
from studies.experiment.read_specification import read_study_spec, shipped_specs, study_spec_from_toml
from studies.experiment.specification import ExactReference, JobsGrid, SearchBudget
from studies.experiment.stored_documents import read_stored_instance, stored_schedule, stored_schedule_text
from studies.papers.online_policies import policy_entries
from tests.heuristics.jobs.policies.called import called
from tests.jobs_strategies import worked_example
from tests.studies.experiment.study_specs import SMALL, jobs_spec

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance
    from studies.experiment.specification import StudySpec


def _plan(spec: StudySpec) -> StudyPlan:
    return study_plan(spec, expand_instances(spec))


def test_every_part_is_read() -> None:
    """Tests that a specification for jobs becomes what it says, with the objective of jobs by default."""
    spec = jobs_spec()
    assert (spec.problem, spec.objective) == ("jobs", JobsObjective.TOTAL_COMPLETION)
    assert spec.instances == (JobsGrid(families=("jobs-small",), jobs=(5,), loads=(0.7, 1.1), count=2, seed=3),)
    assert spec.methods[2].parameters == {"predictor": "noisy-oracle", "predictor_parameters": {"mu": 4.0}}
    assert spec.bounds == ("default", "virtual-srpt")
    assert spec.exact == (ExactReference(method="cp-sat", time_limit=30.0),)
    weighted = jobs_spec(("seed = 5", 'seed = 5\nobjective = "weighted_completion"'))
    assert weighted.objective is JobsObjective.WEIGHTED_COMPLETION


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"jobs"', '"flow-shop"', r"study.problem: expected one of dag, jobs, got 'flow-shop'\."),
        ("seed = 5", 'objective = "makespan"', r"study.objective: expected one of total_completion, weighted_comple"),
        ("jobs = 5", "tasks = 5", r'instances\[0\].tasks: expected fields of the problem "jobs", got one of the prob'),
        ("jobs = 5", "", r"instances\[0\]: expected the key 'jobs', got none\."),
        (
            "load = [0.7, 1.1]",
            "laod = 1",
            r"instances\[0\]: expected the key 'load', got the key 'laod' \(did you mean load",
        ),
        ("load = [0.7, 1.1]", "load = -1", r"instances\[0\].load: expected numbers of at least 0, got -1\.0\."),
        ("count = 2", "counts = 2", r"instances\[0\]: expected .*, got the key 'counts' \(did you mean count\?\)\."),
        (
            '"jobs-small"',
            '"layered"',
            r'instances\[0\].family: expected families of the problem "jobs" \(jobs-poisson, .*got .layered. of "dag"',
        ),
        ('"jobs-small"', '"jobs-smal"', r"instances\[0\].family: expected one of .*did you mean jobs-small"),
        ('"fifo"', '"heft"', r'methods\[0\].method: expected a method of the problem "jobs" \(.*\), got .heft. of'),
        ('"fifo"', '"fifu"', r"methods\[0\].method: expected one of cp-sat, .* \(did you mean fifo\?\)\."),
        ('"virtual-srpt"', '"area"', r"reference.bounds\[1\]: expected one of default, virtual-srpt, .*, got 'area'"),
        ('"cp-sat"', '"nip"', r"reference.exact\[0\].method: expected one of cp-sat, milp-time-indexed.*got 'nip'\."),
        ("mu = 4.0", "mu = inf", r"methods\[2\].parameters.predictor_parameters.mu: expected a truth value, number"),
        ("{ mu = 4.0 }", "{ mu = { a = 1 } }", r"methods\[2\].parameters.predictor_parameters.mu: expected a truth"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    """Tests that fields and names of the other problem, and unknown ones, are refused with their place."""
    with pytest.raises(ValueError, match=message):
        jobs_spec((old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tasks = [6, 8]", "jobs = 5", r'instances\[0\].jobs: expected fields of the problem "dag", got one of the pr'),
        ('"layered"', '"jobs-small"', r'instances\[0\].family: expected families of the problem "dag" \(.*"jobs"\.'),
        ('"heft"', '"fifo"', r'methods\[0\].method: expected a method of the problem "dag" \(.*"jobs"\.'),
    ],
)
def test_jobs_in_a_study_of_dags_are_named(old: str, new: str, message: str) -> None:
    """Tests the same the other way round."""
    with pytest.raises(ValueError, match=message):
        study_spec_from_toml(SMALL.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "mu = 4.0",
            "nu = 4.0",
            r"methods\[2\].parameters.predictor_parameters of noisy-oracle: .*, got 'nu' \(did you mean mu\?\)\.",
        ),
        (
            '"noisy-oracle"',
            '"noisy"',
            r"predictor: expected one of oracle, .*, got 'noisy' \(did you mean noisy-oracle",
        ),
        ("predictor_parameters = {", "placement = {", r"methods\[2\].parameters.placement: expected one of heavy-edge"),
        ("{ mu = 4.0 }", "4.0", r"methods\[2\].parameters.predictor_parameters: expected a table"),
        (
            '"a-srpt"',
            '"a-srpt"\nparameters = { mode = "x" }',
            r"methods\[1\].parameters.mode: expected one of provable",
        ),
        (
            '"a-srpt"',
            '"a-srpt"\nparameters = { tau = -1 }',
            r"methods\[1\].parameters.tau: expected at least 0, got -1",
        ),
        (
            '"fifo"',
            '"fifo"\nparameters = { mode = "x" }',
            r"methods\[0\].parameters: expected a parameter of fifo \(pl",
        ),
        ('"fifo"', '"milp-time-indexed"', r"methods\[0\]: expected \[\[budgets\]\] with seconds for milp-time-ind"),
        ('"fifo"', '"no_such:policy"', r"methods\[0\].method: expected MODULE:FUNCTION that can be imported"),
    ],
)
def test_what_cannot_run_is_refused(old: str, new: str, message: str) -> None:
    """Tests that parameters of policies are checked, names in them too, before anything runs."""
    with pytest.raises(ValueError, match=message):
        study_plan(jobs_spec((old, new)), [])


def test_instances_of_a_seed_share_their_jobs() -> None:
    """Tests that loads move arrivals only, and that instances are those of the generator, under names of their own."""
    items = expand_instances(jobs_spec())
    assert [(item.load, item.instance.name) for item in items] == [
        (load, f"jobs-small-n5-load{load}-s{seed}") for load in (0.7, 1.1) for seed in (3, 4)
    ]
    for low, high, seed in ((items[0], items[2], 3), (items[1], items[3], 4)):
        assert low.instance.sha256 == generate_jobs("jobs-small", jobs=5, seed=seed, load=0.7).sha256
        assert low.instance.sha256 != high.instance.sha256
        assert low.instance.iterations.tolist() == high.instance.iterations.tolist()  # type: ignore[union-attr]
        assert low.instance.time_of.tolist() == high.instance.time_of.tolist()  # type: ignore[union-attr]
    assert {(item.family, item.num_tasks, item.num_edges, item.ccr) for item in items} == {
        ("jobs-small", None, None, None)
    }
    other = expand_instances(jobs_spec(("count = 2", 'count = 2\ncluster = ["2xT4,2xP100", "3xT4,2xP100"]')))
    assert len({item.instance.name for item in other}) == len({item.file_name for item in other}) == 8
    assert other[0].cluster == "2xT4,2xP100"
    at_once = expand_instances(jobs_spec(("[0.7, 1.1]", "0")))
    assert {item.load for item in at_once} == {None}


def test_files_are_of_the_problem(tmp_path: Path, example_e: DagInstance) -> None:
    """Tests that patterns find jobs files with the load that they have, and name files of the other problem."""
    write_jobs_instance(worked_example(), tmp_path / "w.json")
    text = 'study.name = "s"\nstudy.problem = "jobs"\n[[instances]]\nfiles = "*.json"'
    (item,) = expand_instances(study_spec_from_toml(text, folder=tmp_path))
    assert (item.family, item.instance.name, item.instance.num_jobs) == ("file", "worked", 3)
    assert item.load is not None
    assert item.load > 0
    with pytest.raises(ValueError, match=r"instances\[0\].files, w.json, format: expected"):
        expand_instances(study_spec_from_toml(text.replace("jobs", "dag"), folder=tmp_path))
    write_dag_instance(example_e, tmp_path / "w.json")
    with pytest.raises(ValueError, match=r'instances\[0\].files, w.json, format: expected "optgap/jobs"'):
        expand_instances(study_spec_from_toml(text, folder=tmp_path))


def test_either_problem_is_read_back(tmp_path: Path, example_e: DagInstance) -> None:
    """Tests that one function reads files of both problems, and refuses another content."""
    write_dag_instance(example_e, tmp_path / "e.json")
    write_jobs_instance(worked_example(), tmp_path / "w.json")
    for name, instance in (("e.json", example_e), ("w.json", worked_example())):
        assert read_stored_instance(tmp_path / name, instance.sha256).sha256 == instance.sha256
        assert type(read_stored_instance(tmp_path / name)) is type(instance)
        with pytest.raises(ValueError, match=r"sha256: expected the content 0000000000000000\.\.\., got"):
            read_stored_instance(tmp_path / name, "0" * 64)


def test_schedules_are_kept_whole() -> None:
    """Tests that the text of a schedule of jobs brings it back: it verifies and has the same objective."""
    instance = worked_example()
    schedule = JOBS_METHODS["fifo"].resolve()(instance, np.random.default_rng(0))
    again = stored_schedule(instance, stored_schedule_text(schedule))
    assert verify_jobs_schedule(instance, again) == []  # type: ignore[arg-type]
    value = jobs_objective_value(instance, schedule, JobsObjective.TOTAL_COMPLETION)
    assert jobs_objective_value(instance, again, JobsObjective.TOTAL_COMPLETION) == value  # type: ignore[arg-type]
    assert stored_schedule_text(again) == stored_schedule_text(schedule)
    assert stored_schedule(instance, stored_schedule_text(None)) is None


def test_runs_are_those_of_the_design() -> None:
    """Tests that references and policies without random numbers run once per instance, others per repetition."""
    spec = jobs_spec(more='\n[[methods]]\nlabel = "exact"\nmethod = "cp-sat"\n[[budgets]]\nseconds = 5\n')
    plan = _plan(spec)
    counts = Counter((run.phase, run.kind, run.label, str(run.budget)) for run in plan.runs)
    assert counts == {
        ("bound", "bound", "default", "-"): 4,
        ("bound", "bound", "virtual-srpt", "-"): 4,
        ("exact", "exact", "cp-sat", "30 s"): 4,
        ("method", "policy", "fifo", "-"): 4,
        ("method", "policy", "a-srpt", "-"): 4,
        ("method", "policy", "spjf, wrong by up to 4", "-"): 8,
        ("method", "exact", "exact", "5 s"): 8,
    }
    assert len({run.key for run in plan.runs}) == len(plan.runs)
    for item in plan.instances:
        mine = [run for run in plan.runs if run.sha256 == item.instance.sha256 and run.repetition == 1]
        assert {run.seed for run in mine} == {paired_seed(5, item.instance, 1)}
    assert {run.seed for run in plan.runs if run.label == "fifo"} == {0}
    assert plan_seconds(plan, 1) > plan_seconds(plan, 2) > 8 * 5 / 4


@pytest.mark.slow
def test_only_what_draws_is_repeated() -> None:
    """Tests the rule of what runs once: with such parameters no seed changes a schedule, with others some seed does."""
    instance = generate_jobs("jobs-recurrent", jobs=60, seed=1, load=1.0)
    seen = Counter[bool]()
    for name, method in JOBS_METHODS.items():
        if method.kind != "policy":
            continue
        function = method.resolve()
        accepted = inspect.signature(function).parameters
        choices: list[dict[str, Any]] = [{"placement": rule} for rule in PLACEMENTS if "placement" in accepted]
        if name == "spjf":  # predictors are made in one place for all policies
            few_trees = {"predictor_parameters": {"trees": 3, "cold_start": 10}}
            choices += [{"predictor": known, **(few_trees if "forest" in known else {})} for known in PREDICTORS]
        for parameters in choices:
            schedules = {
                stored_schedule_text(called(function, instance, JobsObjective.TOTAL_COMPLETION, seed, **parameters))
                for seed in range(3)
            }
            assert CheckedMethod("here", name, parameters, "jobs").is_seeded == (len(schedules) > 1), (name, parameters)
            seen[len(schedules) > 1] += 1
    assert seen[True] > 8
    assert seen[False] > 20


def test_functions_of_ones_own_are_repeated_if_they_take_a_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that nothing is claimed of functions that are not ours."""
    monkeypatch.syspath_prepend(".")
    with_rng = CheckedMethod("here", "heuristics.jobs.policies.key_policies:fifo", {}, "jobs")
    without = CheckedMethod("here", "heuristics.jobs.policies.key_policies:load_balancing", {}, "jobs")
    assert (with_rng.kind, with_rng.is_seeded) == ("policy", True)
    assert (without.kind, without.is_seeded) == ("policy", False)


def test_keys_tell_runs_apart() -> None:
    """Tests that a default written out is no new run, and another predictor, error or load is one."""
    before = {run.key for run in _plan(jobs_spec()).runs}

    def num_new(*changes: tuple[str, str]) -> int:
        return len({run.key for run in _plan(jobs_spec(*changes)).runs} - before)

    assert num_new(('method = "fifo"', 'method = "fifo"\nparameters = { placement = "heavy-edge" }')) == 0
    assert num_new(('method = "fifo"', 'method = "fifo"\nparameters = { placement = "stage-order" }')) == 4
    assert num_new(("mu = 4.0", "mu = 3.0")) == 8
    assert num_new(("seed = 5", "seed = 6")) == 8 + 4  # what draws, and the exact method, which is seeded too
    assert num_new(("[0.7, 1.1]", "[0.7, 1.2]")) == len(before) // 2


def test_the_stored_online_study_is_that_of_the_command() -> None:
    """Tests that the shipped specification holds the policies of `study online --predictor running-median`."""
    spec = read_study_spec(shipped_specs()["online"])
    assert list(spec.methods) == policy_entries("running-median")
    items = expand_instances(spec)
    assert Counter(item.load for item in items) == {0.7: 10, 0.9: 10, 1.1: 10}
    assert {item.instance.num_jobs for item in items} == {200}
    counts = Counter(run.label for run in study_plan(spec, items).runs)
    assert set(counts.values()) == {30}
    assert spec.budgets == ()
    assert SearchBudget() in {run.budget for run in study_plan(spec, items).runs}
