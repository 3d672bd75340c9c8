"""Tests of interference and racks as data: what is checked, and how they stand in files."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.jobs.interference import NOT_TOGETHER, Interference
from instances.jobs.iteration_time import iteration_parts, largest_iteration_time
from instances.jobs.json import (
    jobs_instance_document,
    jobs_instance_from_json,
    jobs_instance_to_json,
    jobs_schedule_from_json,
    jobs_schedule_to_json,
)
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import NO_RACK, Racks
from instances.json_document import content_hash
from tests.interference_strategies import any_schedules, interfering_instances, plain_alpha, racks_of, two_jobs
from tests.jobs_strategies import all_placements, jobs_instances, worked_example

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.jobs.instance import JobsInstance


def _interference(**values: Any) -> Interference:
    """Return an interference of two jobs with some values exchanged."""
    known: dict[str, Any] = {
        "use": [[100, 200, 0], [0, 0, 0]],
        "sens": [[500, 500, 0], [0, 0, 0]],
        "share": 2,
        "classes": ("a", "b"),
        "job_class": [0, 1],
        "pair": [[900, 800], [700, NOT_TOGETHER]],
    }
    return Interference(**(known | values))


def test_without_it_nothing_is_new() -> None:
    """Tests that an instance without interference and racks keeps its document and its hash, to the digit."""
    instance = worked_example()
    assert instance.sha256 == "47713784e58926ea76736dd42479b03b0c09148e351d7410a0e59142d863b074"
    text = jobs_instance_to_json(instance)
    assert not any(key in text for key in ("rack", "interference", 'use"', "sens", "class"))
    assert "interference" not in instance.summary()


@settings(max_examples=40, deadline=None)
@given(instance=interfering_instances(), data=st.data())
def test_round_trips_are_exact(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests that instances and schedules with all of it come back with the same content, from files and processes."""
    text = jobs_instance_to_json(instance)
    back = jobs_instance_from_json(text)
    assert (back.sha256, jobs_instance_to_json(back)) == (instance.sha256, text)
    copied = pickle.loads(pickle.dumps(instance))
    assert copied.sha256 == instance.sha256 == copy.deepcopy(instance).sha256
    assert not copied.interference.use.flags.writeable
    schedule = data.draw(any_schedules(instance))
    written = jobs_schedule_to_json(instance, schedule)
    assert jobs_schedule_to_json(instance, jobs_schedule_from_json(written, instance)) == written
    remade = pickle.loads(pickle.dumps(schedule))
    assert (remade.gpu is None) == (schedule.gpu is None) == (instance.share == 1)
    if remade.gpu is not None:
        assert remade.gpu.tolist() == schedule.gpu.tolist()


@settings(max_examples=30, deadline=None)
@given(instance=interfering_instances())
def test_everything_is_part_of_the_hash(instance: JobsInstance) -> None:
    """Tests that leaving out interference or racks changes the hash, and leaving out both gives the base document."""
    bare = dataclasses.replace(instance, interference=None, racks=None)
    assert bare.sha256 != instance.sha256
    document = jobs_instance_document(instance)
    del document["interference"]
    document.pop("racks", None)
    for item in (*document["servers"], *document["jobs"]):
        for key in ("rack", "use", "sens", "class"):
            item.pop(key, None)
    assert content_hash(document) == bare.sha256


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"share": 3}, r"interference\.share: expected 1 or 2, got 3\."),
        ({"resources": ("a", "a", "b")}, r"interference\.resources: expected each name once, got a, a, b\."),
        ({"classes": ("a",)}, r"interference\.pair: expected 1 x 1 entries, got 2 x 2 entries\."),
        ({"job_class": [0, 2]}, r"jobs\[1\]\.class: expected a class in 0\.\.1, got 2\."),
        ({"use": [[1, 1, 1], [0, 0, 0]]}, r"jobs\[0\]\.use\[2\]: expected 0 for nic, which follows .*, got 1\."),
        ({"sens": [[0, 0, 0], [-1, 0, 0]]}, r"jobs\[1\]\.sens\[0\]: expected at least 0, got -1\."),
        ({"sens": [[0, 0, 0], [600, 401, 0]]}, r"jobs\[1\]\.sens: expected a sum of at most 1000 .*, got 1001\."),
        ({"pair": [[0, 1], [1, 1]]}, r"interference\.pair\[0\]\[0\]: expected 1 to 1000 or not allowed, got 0\."),
        ({"pair": [[1, 1001], [1, 1]]}, r"interference\.pair\[0\]\[1\]: expected 1 to 1000 or not allowed, got 1001\."),
        ({"pair": [[1, 5], [-1, 1]]}, r"interference\.pair\[1\]\[0\]: expected a speed, .*, got not allowed\."),
        ({"use": [[1, 1, 0]]}, r"jobs\[\]\.sens: expected 1 x 3 entries, got 2 x 3 entries\."),
    ],
)
def test_values_are_checked(values: dict[str, Any], message: str) -> None:
    """Tests that wrong values are refused with their place."""
    with pytest.raises(ValueError, match=message):
        _interference(**values)


def test_an_instance_checks_its_parts() -> None:
    """Tests that interference and racks must speak of the jobs and servers of the instance."""
    instance = two_jobs()
    with pytest.raises(ValueError, match=r"jobs\[\]\.use: expected 3 entries, one per job, got 2\."):
        dataclasses.replace(worked_example(), interference=instance.interference)
    with pytest.raises(ValueError, match=r"servers\[\]\.rack: expected 1 entries, one per server, got 2\."):
        dataclasses.replace(instance, racks=Racks.of([0, 0], [1]))
    with pytest.raises(TypeError, match=r"racks: expected Racks or None, got 3\."):
        dataclasses.replace(instance, racks=3)
    with pytest.raises(ValueError, match=r"jobs: expected a horizon of at most 2\*\*53 ticks"):
        dataclasses.replace(instance, iterations=[2**41, 1])  # at speed 1 it would take 1000 times as long
    assert dataclasses.replace(instance, iterations=[2**41, 1], interference=None).num_jobs == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Racks.of([0, 2], [1]), r"servers\[1\]\.rack: expected a rack in 0\.\.0 or none, got 2\."),
        (lambda: Racks.of([0, 0], [1, 2]), r"racks\[1\]: expected at least one server, got none\."),
        (lambda: Racks.of([0], [0]), r"racks\[0\]\.uplink_bytes_per_tick: expected at least 1, got 0\."),
    ],
)
def test_racks_are_checked(make: Callable[[], Racks], message: str) -> None:
    """Tests that wrong racks are refused with their place."""
    with pytest.raises(ValueError, match=message):
        make()


def _changed(change: Callable[[dict[str, Any]], object]) -> str:
    """Return the document of an instance with all parts after a change."""
    instance = dataclasses.replace(two_jobs(pair=700), racks=Racks.of([0], [Fraction(3, 2)]))
    document = json.loads(jobs_instance_to_json(instance))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("interference"), r"jobs\[0\]\.use: expected no such key \(did you mean user\?\)\."),
        (lambda d: d.pop("racks"), r"servers\[0\]\.rack: expected no such key\."),
        (lambda d: d["interference"].update(more=1), r"interference\.more: expected no such key\."),
        (lambda d: d["racks"][0].update(more=1), r"racks\[0\]\.more: expected no such key\."),
        (lambda d: d["jobs"][1].update(use=[]), r"jobs\[1\]\.use: expected 1 entries, one per resource, got 0\."),
        (lambda d: d["jobs"][1].pop("sens"), r"jobs\[1\]\.sens: expected a list, got nothing\."),
        (lambda d: d["interference"].update(pair=[[0]]), r"interference\.pair\[0\]\[0\]: expected 1 to 1000 or null"),
        (lambda d: d["interference"].update(pair=[]), r"interference\.pair: expected 1 rows, one per class, got 0\."),
        (lambda d: d["interference"].update(share=True), r"interference\.share: expected an integer, got true\."),
        (lambda d: d["servers"][0].update(rack=-1), r"servers\[0\]\.rack: expected a rack in 0\.\.0 or null, got -1\."),
    ],
)
def test_broken_documents(change: Callable[[dict[str, Any]], object], message: str) -> None:
    """Tests that a broken file gives one message that names the place."""
    with pytest.raises(ValueError, match=message):
        jobs_instance_from_json(_changed(change))


def test_defaults_of_a_document() -> None:
    """Tests that share, classes and pairs may be left out where they say nothing."""
    document = json.loads(jobs_instance_to_json(two_jobs()))
    for key in ("share", "classes", "pair"):
        del document["interference"][key]
    for job in document["jobs"]:
        del job["class"]
    assert jobs_instance_from_json(json.dumps(document)).sha256 == two_jobs().sha256


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ([0, 2, [0]], r"jobs\[0\]\.stages\[0\]\[0\]: expected 2 GPUs, one per replica, got 1\."),
        ([0, 2], r"jobs\[\]\.stages: expected GPUs with every entry or with none, got both\."),
        ([0, 2, [0, True]], r"jobs\[0\]\.stages\[0\]\[0\]: expected \[server, replicas\] or .*"),
    ],
)
def test_broken_schedules(entry: list[Any], message: str) -> None:
    """Tests that GPUs of a schedule are checked."""
    instance = two_jobs(pair=700)
    schedule = JobsSchedule.from_placements(instance, [0, 4], [np.array([[2]])] * 2, [{0: [0, 1]}, {0: [1, 2]}])
    document = json.loads(jobs_schedule_to_json(instance, schedule))
    assert document["jobs"][1]["stages"] == [[[0, 2, [1, 2]]]]
    document["jobs"][0]["stages"] = [[entry]]
    with pytest.raises(ValueError, match=message):
        jobs_schedule_from_json(json.dumps(document), instance)


def test_gpus_of_a_schedule() -> None:
    """Tests that stages take the GPUs of their job in order, and too few or too many are refused."""
    instance = two_jobs((3, 1), pair=700)
    matrices = [np.array([[3]]), np.array([[1]])]
    schedule = JobsSchedule.from_placements(instance, [0, 4], matrices, [{0: [3, 0, 1]}, {0: [3]}])
    assert schedule.gpus_of(instance, 0) == [(0, 3), (0, 0), (0, 1)]
    assert schedule.gpus_of(instance, 1) == [(0, 3)]
    for gpus in ([{0: [3, 0]}, {0: [3]}], [{0: [3, 0, 1]}, {0: [3, 2]}]):
        with pytest.raises(ValueError, match=r"gpus\[\d\]: expected one GPU per replica"):
            JobsSchedule.from_placements(instance, [0, 4], matrices, gpus)


@pytest.mark.parametrize(
    ("share", "job_class", "expected"),
    [(1, [0, 1], 1000), (2, [0, 0], 1800), (2, [0, 1], 1500), (2, [1, 1], 1000)],
)
def test_largest_pair_sum(share: int, job_class: list[int], expected: int) -> None:
    """Tests Phi on pairs 900 + 900, 800 + 700 and one that is not allowed; a class needs two jobs to meet itself."""
    assert _interference(share=share, job_class=job_class).largest_pair_sum() == expected


@settings(max_examples=60, deadline=None)
@given(instance=jobs_instances(max_stages=2), data=st.data())
def test_uplinks_in_the_iteration_time(instance: JobsInstance, data: st.DataObject) -> None:
    """Tests comm with racks against the formula; it never falls, and stays below the certified largest value."""
    behind = dataclasses.replace(instance, racks=data.draw(racks_of(instance.num_servers)))
    for job in range(instance.num_jobs):
        placed = data.draw(st.sampled_from(all_placements(instance, job)))
        comp, comm = iteration_parts(behind, job, placed)
        assert (comp, comm) == plain_alpha(behind, job, placed)
        assert comm >= iteration_parts(instance, job, placed)[1]
        assert comp + comm <= largest_iteration_time(behind, job)


def test_one_rack_for_all_changes_nothing() -> None:
    """Tests that a rack with all servers has no traffic out of it, and that two racks have an uplink of 1 byte."""
    base = worked_example()
    split = np.array([[1, 1]])
    one = dataclasses.replace(base, racks=Racks.of([0, 0], [1]))
    two = dataclasses.replace(base, racks=Racks.of([0, NO_RACK], [1]))
    assert iteration_parts(base, 0, split) == iteration_parts(one, 0, split) == (20, Fraction(5))
    assert iteration_parts(two, 0, split) == (20, Fraction(50))
