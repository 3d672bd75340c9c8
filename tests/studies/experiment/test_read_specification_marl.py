"""Tests of studies of jobs that slow each other down: families, trainings in the place of repetitions, what is kept."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heuristics.jobs.marl.policy import marl_run
from heuristics.jobs.marl.training.instances import held_out_set
from heuristics.jobs.marl.training.settings import TrainingSettings
from instances.generators.jobs.generate import INTERFERING_FAMILIES, generate_jobs
from instances.jobs.instance import JobsInstance
from studies.analysis.frames import to_frame
from studies.analysis.gaps import study_gaps
from studies.analysis.stability import stability
from studies.experiment.checked_method import network_sha256
from studies.experiment.instances import expand_instances
from studies.experiment.plan import plan_seconds, study_plan
from studies.experiment.read_specification import read_study_spec, shipped_specs, study_spec_from_toml
from studies.experiment.store import StudyStore
from tests.studies.experiment.run_here import run_here

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run


SPEC = """
[study]
name = "marl"
problem = "jobs"

[[instances]]
family = "jobs-small-co-located"
jobs = 4
load = 0.9
cluster = "2xV100-32GB,2xT4"
count = 2
parameters = { strength = 2.0, max_gang = 1 }

[[instances]]
family = "jobs-small-co-located"
jobs = 4
load = 0.9
cluster = "2xV100-32GB,2xT4"
parameters = { strength = 0.5, max_gang = 1 }

[[methods]]
method = "fifo"

[[methods]]
method = "marl"
parameters = { stage = "imitated", agents = 2 }
vary = { training = [2, 1] }

[reference]
bounds = []
"""


def _spec(*changes: tuple[str, str]) -> Any:
    """Return the specification with texts replaced."""
    text = SPEC
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return study_spec_from_toml(text)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the study here."""
    folder = tmp_path_factory.mktemp("finished")
    run_here(_spec(), folder)
    return folder


@pytest.mark.parametrize("family", INTERFERING_FAMILIES)
def test_families_with_interference_are_instances(family: str) -> None:
    """Tests that such a family is generated with its parameters, on its own cluster where none is named."""
    text = f'[study]\nname = "s"\nproblem = "jobs"\n[[instances]]\nfamily = "{family}"\njobs = 3\nload = 0.9\n'
    more = "parameters = { strength = 2.0, max_gang = 2 }\n"
    (item,) = expand_instances(study_spec_from_toml(text + more))
    assert isinstance(item.instance, JobsInstance)
    assert item.instance.interference is not None
    made = generate_jobs(family, jobs=3, seed=0, load=0.9, strength=2.0, max_gang=2)
    assert (item.instance.sha256, item.cluster) == (made.sha256, INTERFERING_FAMILIES[family].cluster)
    with pytest.raises(
        ValueError,
        match=r"instances\[0\], parameters: .*, got 'strenght' \(did you mean strength\?\)\.",
    ):
        expand_instances(study_spec_from_toml(f"{text}parameters = {{ strenght = 2.0 }}\n"))


def test_the_study_has_the_held_out_instances() -> None:
    """Tests that at load 0.9 it holds the held-out set of the default training, hash by hash but for the names."""
    text = shipped_specs()["marl"].read_text()
    assert text.count("[0.5, 0.7, 0.9, 1.1]") == text.count("count = 20") == 1
    spec = study_spec_from_toml(text.replace("[0.5, 0.7, 0.9, 1.1]", "0.9").replace("count = 20", "count = 3"))
    held_out = held_out_set(TrainingSettings(), 3)
    for item, instance in zip(expand_instances(spec), held_out, strict=True):
        assert dataclasses.replace(item.instance, name=instance.name).sha256 == instance.sha256


@pytest.mark.parametrize(
    ("name", "instances", "trained"),
    [("marl", 4, 5), ("marl_agents", 1, 5), ("marl_topologies", 7, 5), ("marl_tiny", 2, 5), ("marl_quick", 2, 2)],
)
def test_every_shipped_study_can_be_planned(name: str, instances: int, trained: int) -> None:
    """Tests that one instance of each place can be made, and that every method of agents runs once per training."""
    text = shipped_specs()[name].read_text()
    for count in ("count = 20", "count = 3"):
        text = text.replace(count, "count = 1")
    spec = study_spec_from_toml(text)
    items = expand_instances(spec)
    assert len(items) == instances
    plan = study_plan(spec, items)
    counts = Counter(run.label for run in plan.runs if run.phase == "method")
    for method in spec.methods:
        assert counts[method.label] == instances * (trained if method.method == "marl" else 1)
    assert plan_seconds(plan, 1) > 0


def test_trainings_take_the_place_of_repetitions() -> None:
    """Tests that runs differ in the parameter and in nothing else, each known by the hash of its network."""
    plan = study_plan(_spec(), expand_instances(_spec()))
    mine = [run for run in plan.runs if run.method == "marl" and run.sha256 == plan.runs[0].sha256]
    assert [(run.repetition, run.seed, run.parameters["training"]) for run in mine] == [(0, 0, 2), (1, 0, 1)]
    for run in mine:
        assert run.all_parameters["weights"] == network_sha256("marl", run.parameters)
        assert run.all_parameters["forwards"] == 1
    assert mine[0].all_parameters["weights"] != mine[1].all_parameters["weights"]
    drawing = _spec(("{ stage", '{ predictor = "noisy-oracle", stage'))
    assert len({run.seed for run in study_plan(drawing, expand_instances(drawing)).runs if run.method == "marl"}) == 6


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "{ training = [2, 1] }",
            "{ training = 2 }",
            r"methods\[1\].vary.training: expected a list of different values",
        ),
        ("[2, 1]", "[2, 2]", r"methods\[1\].vary.training: expected a list of different values, got \[2, 2\]"),
        ("[2, 1]", "[]", r"methods\[1\].vary.training: expected a list of different values"),
        ("{ training = [2, 1] }", "{ training = [1], forwards = [0] }", r"methods\[1\].vary: expected one parameter"),
        ("vary = { training", "vary = { agents", r"methods\[1\].vary: expected another parameter than those of"),
        ("[2, 1]", "[2, 99]", r"methods\[1\].parameters.training: expected weights, got: training: expected one of 1"),
        ("agents = 2", "agents = 0", r"methods\[1\].parameters.agents: expected an integer of at least 1, got 0\."),
        ("agents = 2", "agnets = 2", r"methods\[1\].parameters: expected a parameter of marl \(.*got 'agnets'"),
        ('stage = "imitated"', 'weights = "w.npz"', r"methods\[1\].parameters.weights: expected weights, got: "),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    """Tests that parameters that vary, and those of agents, are checked before anything runs."""
    with pytest.raises(ValueError, match=message):
        study_plan(_spec((old, new)), [])


def test_exact_methods_without_interference_are_refused() -> None:
    """Tests that a reference to which jobs do not interfere is refused with its place, and one that knows is not."""
    spec = _spec(("bounds = []", 'bounds = []\n[[reference.exact]]\nmethod = "cp-sat"\ntime_limit = 1'))
    with pytest.raises(ValueError, match=r"reference.exact\[0\].method: expected one that knows interference .*small"):
        study_plan(spec, expand_instances(spec))
    spec = _spec(("bounds = []", 'bounds = []\n[[reference.exact]]\nmethod = "co-location-search"\ntime_limit = 1'))
    assert len(study_plan(spec, expand_instances(spec)).runs) == 3 * (1 + 1 + 2)


def test_what_agents_did_is_kept(finished: Path) -> None:
    """Tests that counts are those of the run, that rivals have none, and that places and losses are told."""
    with StudyStore(finished) as store:
        frame = to_frame(store)
        assert frame["error"].isna().all()
        assert Counter(frame["setting"]) == {"strength=2.0": 6, "strength=0.5": 3}
        assert set(frame["cluster"]) == {"2xV100-32GB,2xT4"}
        for row in frame[frame["label"] == "marl"].to_dict("records"):
            instance = store.instance(row["sha256"])
            training = (2, 1)[row["repetition"]]
            assert isinstance(instance, JobsInstance)
            played = marl_run(instance, np.random.default_rng(0), training=training, stage="imitated", agents=2)
            assert played is not None
            assert (row["num_agents"], row["num_decisions"]) == (2, played.rounds.num_decisions)
            assert row["num_rounds"] == played.simulation.num_dispatches
            assert row["forwards_mean"] == played.rounds.num_forwards.mean()
            assert row["jct_mean"] == (played.simulation.completion - instance.release).mean()
    assert frame[frame["label"] == "fifo"]["num_agents"].isna().all()
    assert (frame["interference_speed_mean"] <= 1).all()
    bounded = frame.assign(bound=frame["objective"].min(), is_optimum=False)
    spread = stability(study_gaps(bounded))
    assert (spread["fifo"].is_deterministic, spread["marl"].is_deterministic) == (True, False)
    assert spread["marl"].num_instances == 3


@pytest.mark.slow
def test_the_reduced_study_runs_by_one_command(run: Run, tmp_path: Path) -> None:
    """Tests the shipped study of agents: optima proved, trainings averaged, tested and tabulated."""
    spec = read_study_spec(shipped_specs()["marl_quick"])
    run_here(spec, tmp_path / "out")
    what = ("--what", "gaps,jct,interference", "--baseline", "marl, imitated", "--by", "load")
    document = run("study", "table", "out", *what, "--json").document
    assert document["failed"] == []
    tables = {table.get("table"): table for table in document["comparisons"]}
    assert document["comparisons"][0]["num_proven"] == 6
    tests = [row for row in tables["jct_tests"]["rows"] if row["label"] == "marl"]
    assert [(row["load"], row["pairs"]) for row in tests] == [(0.7, 3), (1.1, 3)]
    assert all(row["seeds_low"] <= row["seeds_high"] for row in tests)
    assert {row["label"] for row in tables["agents"]["rows"]} == {"marl", "marl, imitated", "marl, untrained"}
    assert {row["num_agents"] for row in tables["agents"]["rows"]} == {2}
    assert all(0 < row["interference_speed_mean"] <= 1 for row in tables["interference"]["rows"])
    assert json.dumps(tables["waiting"])
    page = run("study", "report", "out", "--baseline", "marl, imitated", "-o", "page.html")
    assert page.status == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    for title in ("Mean JCT against marl, imitated", "Decisions of agents", "Interference, times in"):
        assert title in text
