"""Tests of the instances that a specification describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.dag.json import write_dag_instance
from instances.generators.dag.generate import generate
from instances.readers.dag.bundled import bundled_instance
from studies.experiment import instances
from studies.experiment.instances import TRACE_FOLDER, expand_instances
from studies.experiment.read_specification import study_spec_from_toml
from tests.studies.experiment.study_specs import small_spec

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance


GRID = """
study.name = "grid"
[[instances]]
family = ["layered", "independent"]
tasks = [5, 9]
cluster = ["mixed-2", "2xT4+1xP100"]
ccr = [0.5, 2.0]
heterogeneity = ["consistent", "inconsistent"]
count = 2
seed = 7
cost = { heterogeneity = 0.6 }
"""


def test_grid_is_crossed() -> None:
    """Tests that every combination is there once, under a name that tells it, with the sizes that it says."""
    items = expand_instances(study_spec_from_toml(GRID))
    assert len(items) == 2 * 2 * 2 * 2 * 2 * 2
    assert len({item.instance.sha256 for item in items}) == len(items)
    assert len({item.instance.name for item in items}) == len({item.file_name for item in items}) == len(items)
    first = items[0]
    assert first.instance.name == "layered-5-mixed-2-ccr0.5-consistent-s7"
    assert (first.family, first.ccr, first.heterogeneity) == ("layered", 0.5, "consistent")
    assert (first.instance.num_tasks, first.instance.num_gpus) == (5, 2)
    assert json.loads(first.origin)["cost"] == {"heterogeneity": 0.6}
    assert all(item.instance.num_edges == 0 for item in items if item.family == "independent")


def test_heterogeneity_is_what_it_says() -> None:
    """Tests that one kind of GPU is fastest for all tasks of a consistent instance, and not of an inconsistent one."""
    text = GRID.replace("[5, 9]", "60").replace('["mixed-2", "2xT4+1xP100"]', '"mixed-3"').replace("[0.5, 2.0]", "1")
    fastest = {}
    for item in expand_instances(study_spec_from_toml(text)):
        durations = np.asarray(item.instance.durations)
        order = [tuple(np.argsort(row, kind="stable")) for row in durations if len(set(row)) == len(row)]
        fastest[item.instance.name] = len(set(order))
    assert {count for name, count in fastest.items() if "-inconsistent" not in name} == {1}
    assert min(count for name, count in fastest.items() if "-inconsistent" in name) > 1


def test_one_graph_meets_all_costs() -> None:
    """Tests that the same replicate has the same edges whatever the ratio of communication."""
    items = expand_instances(study_spec_from_toml(GRID))
    pairs = {item.ccr: item.instance for item in items[:8] if item.heterogeneity == "consistent"}
    assert pairs[0.5].edges.tolist() == pairs[2.0].edges.tolist()
    assert pairs[0.5].sha256 != pairs[2.0].sha256


def test_names_and_bundled_instances() -> None:
    """Tests a name with its fields, one without a meaning, and an instance of the package."""
    grid = 'family = "layered"\ntasks = [8, 9]\ncluster = "mixed-3"\nseed = 4\nname = "{family}-n{tasks}-s{seed}"\n'
    text = f'study.name = "s"\n[[instances]]\n{grid}[[instances]]\nbundled = "inception-block"'
    *made, bundled = expand_instances(study_spec_from_toml(text))
    assert [item.instance.name for item in made] == ["layered-n8-s4", "layered-n9-s4"]
    assert made[0].instance.sha256 == generate("layered", tasks=8, seed=4, cluster=parse_cluster("mixed-3")).sha256
    assert (bundled.family, bundled.cluster, bundled.origin) == ("bundled", "mixed-3", '{"bundled": "inception-block"}')
    assert bundled.instance.sha256 == bundled_instance("inception-block").sha256
    with pytest.raises(ValueError, match=r"^instances\[0\].name: expected a text with some of {family}, .*, got '{x}'"):
        study_spec_from_toml(text.replace("{family}-n", "{x}").replace("{tasks}-s{seed}", ""))
    with pytest.raises(ValueError, match=r"^instances\[0\].bundled: expected fields of the problem \"jobs\""):
        study_spec_from_toml('study.name = "s"\nstudy.problem = "jobs"\n[[instances]]\nbundled = "inception-block"')


def test_files_of_a_family_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example_e: DagInstance) -> None:
    """Tests that the folder of recorded data is looked at where nothing is beside the specification."""
    (tmp_path / "data").mkdir()
    write_dag_instance(example_e, tmp_path / "data" / "a.json")
    spec = study_spec_from_toml('study.name = "s"\n[[instances]]\nfiles = ["*.json"]\nfamily = "ours"', folder=tmp_path)
    with pytest.raises(ValueError, match=f"{TRACE_FOLDER} names, got none"):
        expand_instances(spec)
    monkeypatch.setenv(TRACE_FOLDER, str(tmp_path / "data"))
    (item,) = expand_instances(spec)
    assert (item.instance.sha256, item.family) == (example_e.sha256, "ours")


def test_files_of_a_public_format(tmp_path: Path) -> None:
    """Tests that files of a reader are instances of a study, with options as values or as texts."""
    (tmp_path / "two.txt").write_text("3\n0\n0\n1\n600,2400\n200,800\n")
    text = 'study.name = "s"\n[[instances]]\nformat = "doppler"\nfiles = "*.txt"\nparameters = { num_gpus = 3 }'
    (item,) = expand_instances(study_spec_from_toml(text, folder=tmp_path))
    assert (item.instance.name, item.instance.num_gpus) == ("two", 3)
    with pytest.raises(ValueError, match=r"two.txt, option gpus: expected one of num_gpus"):
        expand_instances(study_spec_from_toml(text.replace("num_gpus", "gpus"), folder=tmp_path))
    with pytest.raises(ValueError, match=r"instances\[0\].format: expected one of stg, .*got 'doppel'"):
        study_spec_from_toml(text.replace("doppler", "doppel"))
    with pytest.raises(ValueError, match="parameters"):
        study_spec_from_toml(text.replace('format = "doppler"\n', ""))


def test_files(tmp_path: Path, example_e: DagInstance, join_example: DagInstance) -> None:
    """Tests that patterns are relative to the specification, sorted, and refused where they match nothing."""
    tmp_path = tmp_path / "version [2]"  # no pattern
    tmp_path.mkdir()
    write_dag_instance(join_example, tmp_path / "b.json")
    write_dag_instance(example_e, tmp_path / "a.json")
    text = 'study.name = "s"\n[[instances]]\nfiles = ["*.json"]'
    items = expand_instances(study_spec_from_toml(text, folder=tmp_path))
    assert [item.instance.sha256 for item in items] == [example_e.sha256, join_example.sha256]
    assert {item.family for item in items} == {"file"}
    with pytest.raises(ValueError, match=r"instances\[0\].files: expected files that match 'x/\*' in .*, got none."):
        expand_instances(study_spec_from_toml(text.replace("*.json", "x/*"), folder=tmp_path))
    both = text.replace('["*.json"]', '["x/*", "a.json"]\nabsent = "skip"')
    with pytest.warns(UserWarning, match=r"'x/\*' in .*, got none; these instances are skipped\."):
        assert len(expand_instances(study_spec_from_toml(both, folder=tmp_path))) == 1
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(ValueError, match=r"instances\[0\].files, c.json, [^:]*: expected"):
        expand_instances(study_spec_from_toml(text, folder=tmp_path))
    with pytest.raises(ValueError, match=r"instances\[0\].files, .*: expected a file to read, got: is a directory."):
        expand_instances(study_spec_from_toml(text.replace("*.json", "."), folder=tmp_path))


def test_the_same_instance_twice_is_refused(tmp_path: Path, example_e: DagInstance) -> None:
    """Tests that no instance can count twice."""
    for name in ("a", "b"):
        write_dag_instance(example_e, tmp_path / f"{name}.json")
    with pytest.raises(ValueError, match=r"instances\[0\]: expected instances that differ, got 'E' twice"):
        expand_instances(study_spec_from_toml('study.name = "s"\n[[instances]]\nfiles = "*.json"', folder=tmp_path))


def test_bad_cluster_is_named() -> None:
    """Tests that what a generator refuses is told with its place."""
    with pytest.raises(ValueError, match=r"instances\[0\], cluster: expected a preset .mixed-2, "):
        expand_instances(small_spec(('"mixed-2"', '"mixed-02"')))


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("ccr = 0.5\ncount = 10000", r"instances\[0\]: expected at most 10000 instances, got 20000 combinations"),
        ('cluster = "1000000000xT4"', r"instances\[0\], cluster: expected at most 4096 GPUs, got '1000000000xT4'"),
        ('cluster = "1000000000*1xT4"', r"instances\[0\], cluster: expected at most 4096 GPUs, got"),
    ],
)
def test_too_many_instances_and_gpus_are_refused(new: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that more instances or GPUs than anybody waits for are refused with their place, before one is made."""
    monkeypatch.setattr(instances, "MAX_INSTANCES", 10_000)
    old = 'cluster = "mixed-2"' if "cluster" in new else "ccr = 0.5"
    with pytest.raises(ValueError, match=message):
        expand_instances(small_spec((old, new)))


def test_stored_instances_are_not_made_again(example_e: DagInstance) -> None:
    """Tests that an instance of an origin that is stored stays what it was."""
    origin = expand_instances(small_spec())[1].origin
    items = expand_instances(small_spec(), stored={origin: example_e}.get)
    assert items[1].instance is example_e
    assert items[0].instance.num_tasks == 6


TRACE = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n" + "".join(
    f"{row},{row % 3},{1 + row % 2},0,1,{30 * (row % 4)},{100 + row},0,Pass\n" for row in range(30)
)
TRACE_SPEC = """
[study]
name = "windows"
problem = "jobs"

[[instances]]
trace = "philly"
file = "cut.csv"
jobs = 6
first_row = 2
stride = 10
count = 2
load = 0.8
cluster = "2*2xV100-16GB"
parameters = { max_gpus = 2 }

[[methods]]
method = "fifo"
"""


def test_windows_of_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests which rows each window has, its place in the design, and that a stored window needs no file."""
    (tmp_path / "cut.csv").write_text(TRACE)
    monkeypatch.setenv(TRACE_FOLDER, str(tmp_path))
    spec = study_spec_from_toml(TRACE_SPEC)
    items = expand_instances(spec)
    assert [item.instance.name for item in items] == ["philly-n6-row2", "philly-n6-row12"]
    assert [(item.family, item.load, item.instance.num_jobs) for item in items] == [("philly", 0.8, 6)] * 2
    assert [list(item.instance.job_names) for item in items] == [[str(row + n) for n in range(6)] for row in (2, 12)]
    monkeypatch.setenv(TRACE_FOLDER, str(tmp_path / "nowhere"))
    known = {item.origin: item.instance for item in items}
    assert [item.instance for item in expand_instances(spec, stored=known.get)] == list(known.values())


def test_absent_traces_say_where_they_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the one line for a trace that is not there, and the place of an option that the reader refuses."""
    monkeypatch.setenv(TRACE_FOLDER, str(tmp_path))
    message = r"instances\[0\]\.file: expected cut\.csv here or in the folder .*; it is Philly/training_data/.*GitHub"
    with pytest.raises(ValueError, match=message):
        expand_instances(study_spec_from_toml(TRACE_SPEC))
    (tmp_path / "cut.csv").write_text(TRACE)
    with pytest.raises(ValueError, match=r"instances\[0\], count: expected at most 28"):
        expand_instances(study_spec_from_toml(TRACE_SPEC.replace("jobs = 6", "jobs = 60")))
    with pytest.raises(ValueError, match=r"instances\[0\]\.trace: expected one of philly, helios"):
        study_spec_from_toml(TRACE_SPEC.replace('"philly"', '"borg"'))
