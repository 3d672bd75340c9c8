"""Tests of jobs instances: what is checked, kept and shown."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from instances.jobs.instance import NOT_ALLOWED, Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer
from tests.jobs_strategies import worked_example

FAST = JobsServer(kind="F", gpus=2, nic_bytes_per_tick=10)
SLOW = JobsServer(kind="S", gpus=1, nic_bytes_per_tick=Fraction(5, 2))


def _with_stage(**fields: Any) -> JobsInstance:
    """Make an instance of one job with one stage."""
    return JobsInstance.from_parts([FAST, SLOW], [Job(stages=[Stage(**{"times": 1, **fields})])])


def test_arrays_of_the_worked_example() -> None:
    """Tests that parts become rows: stages of all jobs in one list, kinds in the order of servers."""
    instance = worked_example()
    assert (instance.num_servers, instance.num_jobs, instance.num_kinds, instance.num_gpus) == (2, 3, 2, 4)
    assert instance.kinds == ("F", "S")
    assert instance.stage_offsets.tolist() == [0, 1, 3, 4]
    assert instance.replicas.tolist() == [2, 2, 1, 1]
    assert instance.time_of.tolist() == [[2, 5], [2, 3], [4, 6], [1, 2]]
    assert instance.gang_size.tolist() == [2, 3, 1]
    assert (instance.num_stages_of(1), instance.stages_of(1)) == (2, slice(1, 3))


def test_arrays_are_private_and_read_only() -> None:
    """Tests that neither the caller's array nor the instance's can change the other."""
    release = np.array([1, 2, 3])
    instance = replace(worked_example(), release=release)
    release[0] = 99
    assert instance.release.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        instance.release[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        instance.gang_size[0] = 5


def test_bandwidth_is_kept_in_lowest_terms() -> None:
    """Tests that equal fractions give equal instances."""
    instance = worked_example()
    same = replace(instance, nic_numerator=instance.nic_numerator * 6, nic_denominator=instance.nic_denominator * 6)
    assert same.sha256 == instance.sha256
    assert same.nic_bytes_per_tick(1) == 10


def test_kinds_that_are_left_out_are_not_allowed() -> None:
    """Tests that a mapping without a kind, or with None, forbids it, and a number holds for all kinds."""
    assert _with_stage(times={"S": 4}).time_of.tolist() == [[NOT_ALLOWED, 4]]
    assert _with_stage(times={"S": 4, "F": None}).time_of.tolist() == [[NOT_ALLOWED, 4]]
    assert _with_stage(times=7).time_of.tolist() == [[7, 7]]


@pytest.mark.parametrize("job", [0, 1])
def test_content_decides_the_hash(job: int) -> None:
    """Tests that one other number gives another hash, and the same content the same one."""
    instance = worked_example()
    iterations = np.array(instance.iterations)
    iterations[job] += 1
    assert replace(instance, iterations=iterations).sha256 != instance.sha256
    assert replace(instance, user=("a", None, None)).sha256 != instance.sha256
    assert replace(instance).sha256 == instance.sha256


def test_hash_is_that_of_every_machine() -> None:
    """Tests that the hash of the worked example is the stored one."""
    assert worked_example().sha256 == "47713784e58926ea76736dd42479b03b0c09148e351d7410a0e59142d863b074"


def test_copies() -> None:
    """Tests that deep copies are the instance itself and copies of another process are equal and read-only."""
    instance = worked_example()
    assert copy.deepcopy(instance) is instance
    copied = pickle.loads(pickle.dumps(instance))
    assert copied.sha256 == instance.sha256
    assert not copied.time_of.flags.writeable


def test_no_jobs() -> None:
    """Tests that an instance without jobs is one, and can show itself."""
    instance = JobsInstance.from_parts([FAST], [])
    assert (instance.num_jobs, instance.gang_size.tolist(), instance.time_of.shape) == (0, [], (0, 1))
    assert "arrivals: none" in str(instance)


def test_summary() -> None:
    """Tests that the summary counts GPUs by kind, for text and notebooks."""
    instance = worked_example()
    assert "4 (2 x F, 2 x S) on 2 server(s)" in str(instance)
    assert "<table>" in instance._repr_html_()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"times": 0}, r"jobs\[0\]\.stages\[0\]\.times\[0\]: expected at least 1 or not allowed, got 0\."),
        ({"times": {"F": 0}}, r"jobs\[0\]\.stages\[0\]\.times: expected at least 1 tick or none on F, got 0\."),
        ({"times": {"F": -1}}, r"jobs\[0\]\.stages\[0\]\.times: expected at least 1 tick or none on F, got -1\."),
        ({"times": {"X": 1}}, r"jobs\[0\]\.stages\[0\]\.times: expected kinds among F, S, got 'X'\."),
        ({"times": {}}, r"jobs\[0\]\.stages\[0\]\.times: expected at least one allowed kind, got none\."),
        ({"replicas": 0}, r"jobs\[0\]\.stages\[0\]\.replicas: expected at least 1, got 0\."),
        ({"replicas": 4}, r"jobs\[0\]\.stages: expected at most 3 replicas, one per GPU, got 4\."),
        ({"replicas": 2, "times": {"S": 1}}, r"jobs\[0\]\.stages: expected replicas that fit .*, got \[2\]\."),
        ({"activation_bytes": 1}, r"jobs\[0\]\.stages\[0\]\.activation_bytes: expected 0 at the last stage, got 1\."),
        ({"parameter_bytes": -1}, r"jobs\[0\]\.stages\[0\]\.parameter_bytes: expected at least 0, got -1\."),
    ],
)
def test_bad_stages(fields: dict[str, Any], message: str) -> None:
    """Tests that a stage that cannot be is refused with its place."""
    with pytest.raises(ValueError, match=message):
        _with_stage(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"release": [-1, 0, 0]}, r"jobs\[0\]\.release: expected at least 0, got -1\."),
        ({"weight": [1, 0, 1]}, r"jobs\[1\]\.weight: expected at least 1, got 0\."),
        ({"iterations": [1, 1, 0]}, r"jobs\[2\]\.iterations: expected at least 1, got 0\."),
        ({"micro_batches": [1, 1, 0]}, r"jobs\[2\]\.micro_batches: expected at least 1, got 0\."),
        ({"stage_offsets": [0, 1, 1, 4]}, r"jobs\[1\]\.stages: expected at least one stage, got 0\."),
        ({"stage_offsets": [0, 1, 2, 3]}, r"jobs\[\]\.stages: expected offsets from 0 to 4, got \[0, 1, 2, 3\]\."),
        ({"server_kind": [0, 2]}, r"servers\[1\]\.kind: expected a kind in 0\.\.1, got 2\."),
        ({"server_kind": [1, 0]}, r"kinds: expected the kinds of the servers in the order of the first server"),
        ({"server_kind": [0, 0]}, r"kinds: expected the kinds of the servers in the order of the first server"),
        ({"kinds": ("F", "F")}, r"kinds: expected each kind once, got F, F\."),
        ({"num_gpus_of": [4, 10**9]}, r"servers\[1\]\.gpus: expected at most 65536 GPUs on a server, got 1000000000\."),
        ({"num_gpus_of": [0, 4]}, r"servers\[0\]\.gpus: expected at least 1, got 0\."),
        ({"nic_numerator": [1, 0]}, r"servers\[1\]\.nic_bytes_per_tick: expected at least 1, got 0\."),
        ({"tick_seconds": 0.0}, r"tick_seconds: expected a positive number, got 0\.0\."),
        ({"release": [0, 0, 2**53]}, r"jobs: expected a horizon of at most 2\*\*53 ticks"),
        ({"weight": [2**53] * 3, "release": [0, 0, 2000]}, r"jobs: expected weights whose sum times the horizon"),
        ({"release": [0, 0]}, r"jobs\[\]\.release: expected 3 entries, got 2 entries\."),
        ({"user": ("a",)}, r"jobs\[\]\.user: expected 3 entries, got 1\."),
        ({"name": "\ud800"}, r"name: expected text without lone surrogates"),
    ],
)
def test_bad_instances(fields: dict[str, Any], message: str) -> None:
    """Tests that values that cannot be are refused with their place."""
    with pytest.raises(ValueError, match=message):
        replace(worked_example(), **fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"release": [0.5, 0, 0]}, r"jobs\[\]\.release: expected integers, got 0\.5"),
        ({"job_names": ("a", 1, "c")}, r"jobs\[1\]\.name: expected text, got 1\."),
        ({"group": ("a", 1, "c")}, r"jobs\[1\]\.group: expected text, got 1\."),
        ({"tick_seconds": "1"}, r"tick_seconds: expected a number, got '1'\."),
    ],
)
def test_wrong_kinds(fields: dict[str, Any], message: str) -> None:
    """Tests that fractions are no ticks and numbers no names."""
    with pytest.raises(TypeError, match=message):
        replace(worked_example(), **fields)


def test_bandwidth_is_exact_or_refused() -> None:
    """Tests that a float, whose value nobody wrote down, is no bandwidth."""
    server = JobsServer(kind="F", gpus=1, nic_bytes_per_tick=0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"servers\[0\]\.nic_bytes_per_tick: expected an integer or a fraction, got"):
        JobsInstance.from_parts([server], [])


def test_no_servers() -> None:
    """Tests that jobs need a server."""
    with pytest.raises(ValueError, match=r"servers: expected at least one server, got none\."):
        JobsInstance.from_parts([], [])


def test_repr_is_one_line() -> None:
    """Tests that the representation names the instance and its sizes instead of printing arrays."""
    assert repr(worked_example()) == "JobsInstance('worked': 3 jobs, 4 stages, 4 GPUs on 2 server(s))"
