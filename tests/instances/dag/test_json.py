"""Tests of the JSON files of DAG instances and schedules."""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from instances.dag.instance import DagInstance
from instances.dag.json import (
    dag_instance_from_json,
    dag_instance_to_json,
    dag_schedule_from_json,
    dag_schedule_to_json,
    read_dag_instance,
    read_dag_schedule,
    write_dag_instance,
    write_dag_schedule,
)
from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from pathlib import Path


PUBLISHED = """
{"format": "optgap/dag", "version": 1, "name": "example", "tick_seconds": 1e-6,
 "gpus":  [{"name": "g0", "kind": "A100-40GB", "memory_bytes": 42949672960, "server": "s0"}],
 "links": {"latency_ticks": [[0]], "bytes_per_tick": [[1.0]]},
 "jobs":  [{"name": "j0", "release": 0, "weight": 1}],
 "tasks": [{"name": "t0", "job": 0, "memory_bytes": 0, "durations": [14]}],
 "edges": [[0, 1, 18]]}
"""
SECOND_TASK = '{"name": "t1", "job": 0, "memory_bytes": 0, "durations": [16]}'

TINY = {
    "format": "optgap/dag",
    "version": 1,
    "name": "tiny",
    "tick_seconds": 0.001,
    "gpus": [
        {"name": "g0", "kind": "A", "memory_bytes": 8, "server": "s0"},
        {"name": "g1", "kind": "B", "memory_bytes": None, "server": "s1"},
    ],
    "links": {"latency_ticks": [[0, 1], [2, 0]], "bytes_per_tick": [[1.0, 0.5], [3.0, 1.0]]},
    "jobs": [{"name": "j0", "release": 3, "weight": 2}],
    "tasks": [
        {"name": "a", "job": 0, "memory_bytes": 4, "durations": [5, None]},
        {"name": "b", "job": 0, "memory_bytes": 0, "durations": [0, 7]},
    ],
    "edges": [[0, 1, 9]],
}
TINY_SHA256 = "2dddd3a974c8768eff613cb3e1182cd7bb051c4d4b0ad233ffca0feb63425754"


def tiny(**changes: Any) -> str:
    """Return the tiny instance as JSON text, with some keys changed; None for a key that is left out."""
    document = {**TINY, **changes}
    return json.dumps({key: value for key, value in document.items() if value != "left out"})


def refusal(text: str) -> str:
    """Return the message with which a text is refused."""
    with pytest.raises(ValueError) as caught:
        dag_instance_from_json(text)
    return str(caught.value)


def test_published_example() -> None:
    """Tests that the documented example, completed by the task that its edge leads to, reads field by field."""
    text = PUBLISHED.replace('"durations": [14]}]', f'"durations": [14]}}, {SECOND_TASK}]')
    instance = dag_instance_from_json(text)
    assert (instance.name, instance.tick_seconds) == ("example", 1e-6)
    assert (instance.gpu_names, instance.gpu_kinds, instance.gpu_servers) == (("g0",), ("A100-40GB",), ("s0",))
    assert instance.gpu_memory.tolist() == [42949672960]
    assert (instance.job_names, instance.release.tolist(), instance.weight.tolist()) == (("j0",), [0], [1])
    assert (instance.task_names, instance.durations.tolist()) == (("t0", "t1"), [[14], [16]])
    assert (instance.edges.tolist(), instance.edge_bytes.tolist()) == ([[0, 1]], [18])


def test_published_example_shows_one_task_only() -> None:
    """Tests that the documented example as it stands is refused: its edge leads to a task that it does not show."""
    assert refusal(PUBLISHED) == "edges[0]: expected tasks in 0..0, got 0 -> 1."


def test_jobs_may_be_left_out() -> None:
    """Tests that without jobs there is one, released at 0 with weight 1, and that writing states it."""
    instance = dag_instance_from_json(tiny(jobs="left out"))
    assert (instance.job_names, instance.release.tolist(), instance.weight.tolist()) == (("j0",), [0], [1])
    assert json.loads(dag_instance_to_json(instance))["jobs"] == [{"name": "j0", "release": 0, "weight": 1}]


def test_job_and_memory_of_a_task_may_be_left_out() -> None:
    """Tests that a task without job and memory belongs to job 0 and needs none."""
    instance = dag_instance_from_json(tiny(tasks=[{"name": "a", "durations": [1, 2]}], edges=[]))
    assert (instance.job_of_task.tolist(), instance.task_memory.tolist()) == ([0], [0])


def test_null_means_no_limit_and_not_allowed() -> None:
    """Tests that null is no memory limit of a GPU and a forbidden pair in durations, in both directions."""
    instance = dag_instance_from_json(tiny())
    assert instance.gpu_memory.tolist() == [8, -1]
    assert instance.durations.tolist() == [[5, -1], [0, 7]]
    assert json.loads(dag_instance_to_json(instance)) == TINY


def test_hash_is_pinned() -> None:
    """Tests that the content hash of a stored instance can never change unnoticed: studies refer to it."""
    canonical = (
        '{"edges":[[0,1,9]],"format":"optgap/dag","gpus":[{"kind":"A","memory_bytes":8,"name":"g0","server":"s0"},'
        '{"kind":"B","memory_bytes":null,"name":"g1","server":"s1"}],"jobs":[{"name":"j0","release":3,"weight":2}],'
        '"links":{"bytes_per_tick":[[1.0,0.5],[3.0,1.0]],"latency_ticks":[[0,1],[2,0]]},"name":"tiny","tasks":'
        '[{"durations":[5,null],"job":0,"memory_bytes":4,"name":"a"},{"durations":[0,7],"job":0,"memory_bytes":0,'
        '"name":"b"}],"tick_seconds":0.001,"version":1}'
    )
    assert hashlib.sha256(canonical.encode()).hexdigest() == TINY_SHA256
    assert dag_instance_from_json(tiny()).sha256 == TINY_SHA256


def test_order_of_keys_is_no_matter() -> None:
    """Tests that reversing the keys at every level keeps the hash."""

    def reverse(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: reverse(value[key]) for key in reversed(value)}
        return [reverse(entry) for entry in value] if isinstance(value, list) else value

    assert dag_instance_from_json(json.dumps(reverse(TINY))).sha256 == TINY_SHA256


def test_integers_where_numbers_stand() -> None:
    """Tests that bandwidth and tick may be written as integers and give the same hash as floats."""
    links = {"latency_ticks": [[0, 1], [2, 0]], "bytes_per_tick": [[1, 0.5], [3, 1]]}
    assert dag_instance_from_json(tiny(links=links)).sha256 == TINY_SHA256
    whole, fraction = (dag_instance_from_json(tiny(tick_seconds=tick)) for tick in (2, 2.0))
    assert whole.sha256 == fraction.sha256


def test_every_field_counts_for_the_hash() -> None:
    """Tests that changing any one thing changes the hash."""
    documents = [
        {"name": "other"},
        {"tick_seconds": 0.002},
        {"gpus": [{**TINY["gpus"][0], "kind": "C"}, TINY["gpus"][1]]},
        {"gpus": [{**TINY["gpus"][0], "memory_bytes": None}, TINY["gpus"][1]]},
        {"links": {"latency_ticks": [[0, 2], [2, 0]], "bytes_per_tick": [[1, 0.5], [3, 1]]}},
        {"links": {"latency_ticks": [[0, 1], [2, 0]], "bytes_per_tick": [[1, 0.5], [3.1, 1]]}},
        {"jobs": [{"name": "j0", "release": 3, "weight": 1}]},
        {"tasks": [TINY["tasks"][0], {**TINY["tasks"][1], "durations": [0, 8]}]},
        {"edges": [[0, 1, 8]]},
        {"edges": []},
    ]
    hashes = {TINY_SHA256, *(dag_instance_from_json(tiny(**changes)).sha256 for changes in documents)}
    assert len(hashes) == len(documents) + 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "optgap/jobs"}, 'format: expected "optgap/dag", got "optgap/jobs".'),
        ({"format": "left out"}, "format: expected text, got nothing."),
        ({"version": 3}, "version: expected 1 or 2, got 3."),
        ({"buffers": []}, "buffers: expected no such key."),
        ({"version": 2, "buffers": [[0, 3, 1]]}, "buffers[0]: expected [task, bytes, [task, ...]], got [0, 3, 1]."),
        ({"version": 1.0}, "version: expected an integer, got 1.0."),
        ({"name": None}, "name: expected text, got null."),
        ({"tick_seconds": "1"}, 'tick_seconds: expected a number, got "1".'),
        ({"tick_seconds": 0}, "tick_seconds: expected a positive number, got 0.0."),
        ({"gpus": {}}, "gpus: expected a list, got {}."),
        ({"gpus": []}, "gpus: expected at least one GPU, got none."),
        ({"gpus": [3, 4]}, "gpus[0]: expected an object, got 3."),
        (
            {"gpus": [{**TINY["gpus"][0], "memory_bytes": 1.5}, TINY["gpus"][1]]},
            "gpus[0].memory_bytes: expected an integer or null, got 1.5.",
        ),
        (
            {"gpus": [{**TINY["gpus"][0], "memory_bytes": -1}, TINY["gpus"][1]]},
            "gpus[0].memory_bytes: expected at least 0 or null, got -1.",
        ),
        ({"gpus": [TINY["gpus"][0], {"name": "g1"}]}, "gpus[1].kind: expected text, got nothing."),
        ({"links": []}, "links: expected an object, got []."),
        ({"links": {"latency_ticks": [[0]]}}, "links.bytes_per_tick: expected a list, got nothing."),
        (
            {"links": {"latency_ticks": [[0, 1.5], [2, 0]], "bytes_per_tick": [[1, 1], [1, 1]]}},
            "links.latency_ticks[0][1]: expected an integer, got 1.5.",
        ),
        (
            {"links": {"latency_ticks": [[0, 1], [2, 0]], "bytes_per_tick": [[1, 1], [None, 1]]}},
            "links.bytes_per_tick[1][0]: expected a number, got null.",
        ),
        (
            {"links": {"latency_ticks": [[0, 1], [2]], "bytes_per_tick": [[1, 1], [1, 1]]}},
            "links.latency_ticks[1]: expected a list of 2 entries, one per GPU.",
        ),
        ({"jobs": [{"name": "j0", "release": 0}]}, "jobs[0].weight: expected an integer, got nothing."),
        ({"jobs": []}, "jobs: expected at least one job, as there are tasks, got none."),
        ({"tasks": [{"name": "a"}]}, "tasks[0].durations: expected a list, got nothing."),
        (
            {"tasks": [{"name": "a", "durations": [1, 2.0]}]},
            "tasks[0].durations[1]: expected an integer or null, got 2.0.",
        ),
        (
            {"tasks": [{"name": "a", "durations": [1, -1]}], "edges": []},
            "tasks[0].durations[1]: expected at least 0 or null, got -1.",
        ),
        (
            {"tasks": [{"name": "a", "durations": [1]}], "edges": []},
            "tasks[0].durations: expected 2 entries, one per GPU, got 1.",
        ),
        ({"edges": [[0, 1]]}, "edges[0]: expected [from, to, bytes], three integers, got [0, 1]."),
        ({"edges": [[0, 1, 2.5]]}, "edges[0]: expected [from, to, bytes], three integers, got [0, 1, 2.5]."),
        ({"edges": [[0, 1, True]]}, "edges[0]: expected [from, to, bytes], three integers, got [0, 1, true]."),
        ({"edges": [[0, 1, 1], [1, 0, 1]]}, "edges: expected no cycle, got 0 -> 1 -> 0."),
        ({"colour": 1}, "colour: expected no such key."),
        ({"links": {**TINY["links"], "jitter": []}}, "links.jitter: expected no such key."),
        ({"gpus": [{**TINY["gpus"][0], "x": 1}, TINY["gpus"][1]]}, "gpus[0].x: expected no such key."),
        ({"jobs": [{**TINY["jobs"][0], "x": 1}]}, "jobs[0].x: expected no such key."),
        ({"tasks": [TINY["tasks"][0], {**TINY["tasks"][1], "x": 1}]}, "tasks[1].x: expected no such key."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_documents(changes: dict[str, Any], message: str) -> None:
    """Tests that wrong types, unknown keys and wrong values are refused with their place in the file."""
    assert refusal(tiny(**changes)) == message


def test_broken_text() -> None:
    """Tests that syntax errors give line and column, and that duplicate keys and NaN are named."""
    assert (
        refusal('{"format": "optgap/dag",\n "version": }') == "line 2, column 13: expected JSON, got Expecting value."
    )
    assert refusal(tiny()[:-1] + ', "name": "again"}') == "name: expected each key once, got it twice."
    assert (
        refusal(tiny().replace('"durations"', '"job": 0, "durations"', 1))
        == "tasks[0].job: expected each key once, got it twice."
    )
    assert refusal(tiny().replace("0.001", "NaN")) == "document: expected finite numbers, got NaN."
    assert refusal("[]") == "document: expected an object, got []."


def test_numbers_beyond_floating_point() -> None:
    """Tests that a number that reads as infinity is refused where it stands."""
    assert refusal(tiny().replace("0.5", "1e999")) == "links.bytes_per_tick[0][1]: expected a finite number, got inf."
    assert refusal(tiny().replace("0.001", "1e999")) == "tick_seconds: expected a positive number, got inf."
    assert refusal(tiny().replace("[0, 1, 9]", f"[0, 1, {2**64}]")) == (
        f"edges[].bytes: expected values up to 2**53, got {2**64}."
    )


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_files(tmp_path: Path, name: str) -> None:
    """Tests that what is written reads back with the same hash, one task per line, compressed or not."""
    instance = dag_instance_from_json(tiny())
    write_dag_instance(instance, tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert text == dag_instance_to_json(instance)
    assert [line for line in text.splitlines() if '"durations": [0, 7]' in line] == [
        '  {"name": "b", "job": 0, "memory_bytes": 0, "durations": [0, 7]}],'
    ]
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(text.encode()))
    assert read_dag_instance(tmp_path / name).sha256 == TINY_SHA256


def test_names_are_free_text() -> None:
    """Tests that names of any characters come back as they were."""
    name = 'é "quoted"\n\\ \u2028 🐋'
    instance = DagInstance.from_lists([[1]], name=name, task_names=[name])
    again = dag_instance_from_json(dag_instance_to_json(instance))
    assert (again.name, again.task_names, again.sha256) == (name, (name,), instance.sha256)


def schedule_text(**changes: Any) -> str:
    """Return a schedule of the tiny instance as JSON text, with some keys changed."""
    document = {
        "format": "optgap/dag-schedule",
        "version": 1,
        "instance": "tiny",
        "instance_sha256": TINY_SHA256,
        "gpu": [0, 1],
        "start": [3, 27],
    }
    return json.dumps({**document, **changes})


def test_schedule_reads_and_writes(tmp_path: Path) -> None:
    """Tests that the documented form of a schedule reads, and that writing gives it back."""
    instance = dag_instance_from_json(tiny())
    schedule = dag_schedule_from_json(schedule_text(), instance)
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == ([0, 1], [3, 27])
    assert schedule.instance is instance
    write_dag_schedule(instance, schedule, tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text()) == json.loads(schedule_text())
    assert read_dag_schedule(tmp_path / "s.json", instance).start.tolist() == [3, 27]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "optgap/dag"}, 'format: expected "optgap/dag-schedule", got "optgap/dag".'),
        ({"gpu": [0, None]}, "gpu[1]: expected an integer, got null."),
        ({"start": [0.5, 1]}, "start[0]: expected an integer, got 0.5."),
        ({"start": [1]}, "start: expected 2 entries, one per task, got 1."),
        ({"start": 1}, "start: expected a list, got 1."),
        ({"finish": []}, "finish: expected no such key."),
        (
            {"instance_sha256": "0" * 64},
            f"instance_sha256: expected {TINY_SHA256[:16]}... of instance 'tiny', got 0000000000000000...",
        ),
    ],
)
def test_wrong_schedules(changes: dict[str, Any], message: str) -> None:
    """Tests that a wrong schedule file, or one of another instance, is refused with its place."""
    with pytest.raises(ValueError) as caught:
        dag_schedule_from_json(schedule_text(**changes), dag_instance_from_json(tiny()))
    assert str(caught.value) == message


def test_schedule_of_no_tasks() -> None:
    """Tests that an empty schedule makes the round trip."""
    instance = DagInstance.from_lists([], num_gpus=2)
    empty = DagSchedule(gpu=[], start=[])
    again = dag_schedule_from_json(dag_schedule_to_json(instance, empty), instance)
    assert (again.gpu.tolist(), again.start.tolist()) == ([], [])


def test_transfer_starts_make_the_round_trip() -> None:
    """Tests that starts of transfers are written where there are some, left out where not, and read back exactly."""
    instance = dag_instance_from_json(tiny())
    schedule = dag_schedule_from_json(schedule_text(transfer_start=[17]), instance)
    assert schedule.transfer_start is not None
    assert schedule.transfer_start.tolist() == [17]
    text = dag_schedule_to_json(instance, schedule)
    assert json.loads(text) == json.loads(schedule_text(transfer_start=[17]))
    assert dag_schedule_to_json(instance, dag_schedule_from_json(text, instance)) == text
    without = dag_schedule_from_json(schedule_text(), instance)
    assert without.transfer_start is None
    assert "transfer_start" not in json.loads(dag_schedule_to_json(instance, without))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.5], "transfer_start[0]: expected an integer, got 1.5."),
        ([3, None], "transfer_start[1]: expected an integer, got null."),
        (None, "transfer_start: expected a list, got null."),
        ({"0": 4}, 'transfer_start: expected a list, got {"0": 4}.'),
    ],
)
def test_wrong_transfer_starts(given: Any, message: str) -> None:
    """Tests that starts of transfers are a list of integers."""
    with pytest.raises(ValueError) as caught:
        dag_schedule_from_json(schedule_text(transfer_start=given), dag_instance_from_json(tiny()))
    assert str(caught.value) == message
