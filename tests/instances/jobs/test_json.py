"""Tests of the JSON files of jobs instances and schedules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.jobs.json import (
    jobs_instance_from_json,
    jobs_instance_to_json,
    jobs_schedule_from_json,
    jobs_schedule_to_json,
    read_jobs_instance,
    read_jobs_schedule,
    write_jobs_instance,
    write_jobs_schedule,
)
from instances.jobs.schedule import JobsSchedule
from tests.jobs_strategies import jobs_instances, placements, worked_example

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from instances.jobs.instance import JobsInstance


def _schedule(instance: JobsInstance) -> JobsSchedule:
    """Return the best schedule of the worked example."""
    matrices = [np.array([[2, 0]]), np.array([[0, 2], [1, 0]]), np.array([[1, 0]])]
    return JobsSchedule.from_placements(instance, [30, 2, 4], matrices)


@settings(max_examples=40, deadline=None)
@given(instance=jobs_instances(), data=st.data())
def test_round_trips_are_exact(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that instances and schedules come back with the same content and the same text."""
    text = jobs_instance_to_json(instance)
    back = jobs_instance_from_json(text)
    assert (back.sha256, jobs_instance_to_json(back)) == (instance.sha256, text)
    drawn = [data.draw(placements(instance, job)) for job in range(instance.num_jobs)]
    schedule = JobsSchedule.from_placements(instance, instance.release, drawn)
    written = jobs_schedule_to_json(instance, schedule)
    again = jobs_schedule_from_json(written, instance)
    assert jobs_schedule_to_json(instance, again) == written
    assert all((again.placement(instance, job) == drawn[job]).all() for job in range(instance.num_jobs))


def test_files(tmp_path: Path) -> None:
    """Tests that files keep what they hold, names beyond ASCII too, and say what they are."""
    instance = worked_example()
    write_jobs_instance(instance, tmp_path / "i.json")
    write_jobs_schedule(instance, _schedule(instance), tmp_path / "s.json")
    assert read_jobs_instance(tmp_path / "i.json").sha256 == instance.sha256
    assert read_jobs_schedule(tmp_path / "s.json", instance).start.tolist() == [30, 2, 4]


def test_the_format() -> None:
    """Tests that the worked example has the keys of the public format."""
    document = json.loads(jobs_instance_to_json(worked_example()))
    assert (document["format"], document["version"], document["kinds"]) == ("optgap/jobs", 1, ["F", "S"])
    assert document["servers"][1] == {"name": "s1", "kind": 1, "gpus": 2, "nic_bytes_per_tick": [10, 1]}
    assert document["jobs"][1] == {
        "name": "j1",
        "release": 2,
        "weight": 1,
        "iterations": 2,
        "micro_batches": 2,
        "user": None,
        "group": None,
        "model_tag": None,
        "stages": [
            {"replicas": 2, "times": [2, 3], "activation_bytes": 20, "parameter_bytes": 10},
            {"replicas": 1, "times": [4, 6], "activation_bytes": 0, "parameter_bytes": 0},
        ],
    }
    schedule = json.loads(jobs_schedule_to_json(worked_example(), _schedule(worked_example())))
    assert list(schedule) == ["format", "version", "instance", "instance_sha256", "jobs"]
    assert schedule["jobs"][1] == {"start": 2, "stages": [[[1, 2]], [[0, 1]]]}


def test_defaults() -> None:
    """Tests that everything with a usual value may be left out."""
    document = json.loads(jobs_instance_to_json(worked_example()))
    for key in ("release", "weight", "micro_batches", "user", "group", "model_tag"):
        del document["jobs"][2][key]
    for key in ("activation_bytes", "parameter_bytes"):
        del document["jobs"][2]["stages"][0][key]
    instance = jobs_instance_from_json(json.dumps(document))
    assert (instance.release[2], instance.weight[2], instance.micro_batches[2], instance.user[2]) == (0, 1, 1, None)
    assert instance.parameter_bytes[3] == 0


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    """Return what sets the value at a path, the last of the arguments."""
    *keys, last, value = path

    def change(document: Any) -> None:
        for key in keys:
            document = document[key]
        document[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("colour", 1), r"colour: expected no such key\."),
        (_set("servers", 0, "colour", 1), r"servers\[0\]\.colour: expected no such key\."),
        (_set("jobs", 1, "colour", 1), r"jobs\[1\]\.colour: expected no such key\."),
        (_set("jobs", 1, "stages", 0, "colour", 1), r"jobs\[1\]\.stages\[0\]\.colour: expected no such key\."),
        (_set("format", "optgap/dag"), r'format: expected "optgap/jobs", got "optgap/dag"\.'),
        (_set("version", 2), r"version: expected 1, got 2\."),
        (_set("kinds", ["F", 1]), r"kinds\[1\]: expected text, got 1\."),
        (_set("servers", 0, "nic_bytes_per_tick", [1]), r"servers\[0\]\.nic_bytes_per_tick: expected \[numerator"),
        (_set("servers", 0, "nic_bytes_per_tick", [1, 0]), r"expected integers of at least 1, got \[1, 0\]\."),
        (_set("servers", 0, "nic_bytes_per_tick", 1.5), r"nic_bytes_per_tick: expected a list, got 1\.5\."),
        (_set("jobs", 0, "stages", 0, "times", [1]), r"stages\[0\]\.times: expected 2 entries, one per kind, got 1\."),
        (_set("jobs", 0, "stages", 0, "times", [1, -1]), r"times\[1\]: expected an integer of at least 1 or null"),
        (_set("jobs", 0, "stages", 0, "replicas", 1.0), r"jobs\[0\]\.stages\[0\]\.replicas: expected an integer"),
        (_set("jobs", 0, "stages", []), r"jobs\[0\]\.stages: expected at least one stage, got 0\."),
        (_set("jobs", 0, "user", 3), r"jobs\[0\]\.user: expected text or null, got 3\."),
        (_set("jobs", 0, "iterations", 2**70), r"jobs\[\]\.iterations: expected values up to 2\*\*53"),
        (_set("jobs", 0, "iterations", 2**53), r"jobs: expected a horizon of at most 2\*\*53 ticks"),
        (_set("jobs", 0, {}), r"jobs\[0\]\.stages: expected a list, got nothing\."),
        (_set("jobs", 0, 5), r"jobs\[0\]: expected an object, got 5\."),
    ],
)
def test_bad_instances(change: Callable[[dict[str, Any]], None], message: str) -> None:
    """Tests that every mistake in a file is told with its place."""
    document = json.loads(jobs_instance_to_json(worked_example()))
    change(document)
    with pytest.raises(ValueError, match=message):
        jobs_instance_from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("colour", 1), r"colour: expected no such key\."),
        (_set("jobs", 0, "finish", 1), r"jobs\[0\]\.finish: expected no such key\."),
        (_set("jobs", 0, "start", 1.5), r"jobs\[0\]\.start: expected an integer, got 1\.5\."),
        (_set("jobs", 0, "stages", 0, [[0, 1, 2]]), r"jobs\[0\]\.stages\[0\]\[0\]: expected \[server, replicas\]"),
        (_set("jobs", 0, "stages", 0, 1), r"jobs\[0\]\.stages\[0\]: expected a list, got 1\."),
        (_set("jobs", 0, "stages", 0, [[1, 1], [0, 1]]), r"stages\[0\]\[1\]: expected a server above 1, got 0\."),
        (_set("jobs", 0, "stages", 0, [[1, 1], [1, 1]]), r"stages\[0\]\[1\]: expected a server above 1, got 1\."),
        (_set("jobs", 0, "stages", []), r"jobs\[0\]\.stages: expected 1 entries, one per stage, got 0\."),
        (_set("jobs", []), r"jobs: expected 3 entries, one per job, got 0\."),
        (_set("instance_sha256", "0" * 64), r"instance_sha256: expected [0-9a-f]{16}\.\.\. of instance 'worked', got"),
    ],
)
def test_bad_schedules(change: Callable[[dict[str, Any]], None], message: str) -> None:
    """Tests that every mistake in a schedule is told with its place."""
    instance = worked_example()
    document = json.loads(jobs_schedule_to_json(instance, _schedule(instance)))
    change(document)
    with pytest.raises(ValueError, match=message):
        jobs_schedule_from_json(json.dumps(document), instance)
