"""Tests of schedules as Chrome traces."""

from __future__ import annotations

import dataclasses

import pytest

import optgap
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from studies.export.chrome_trace import chrome_trace
from tests.contended_instances import contended_instance
from tests.studies.export.trace_rules import checked_trace


@pytest.mark.parametrize("family", ["pipeline-training", "inception", "multi-tenant", "layered"])
@pytest.mark.parametrize("cluster", ["mixed-4", "v100-t4-p100-pair"])
def test_a_trace_obeys_the_format(family: str, cluster: str) -> None:
    """Tests order, units, arrows and slices that do not overlap, and that every task is there at its time."""
    instance = optgap.generate(family, tasks=40, seed=3, cluster=optgap.parse_cluster(cluster))
    schedule = optgap.solve(instance, "heft").schedule
    document = checked_trace(chrome_trace(instance, schedule))
    tasks = [event for event in document["traceEvents"] if event.get("cat") == "task"]
    assert sorted(event["args"]["start_ticks"] for event in tasks) == sorted(schedule.start.tolist())
    seconds = {event["args"]["start_ticks"]: event["ts"] / 1e6 for event in tasks}
    for ticks, time in seconds.items():
        assert time == pytest.approx(ticks * instance.tick_seconds, abs=1e-9)
    processes = {event["args"]["name"] for event in document["traceEvents"] if event["name"] == "process_name"}
    assert processes == set(instance.gpu_servers)
    counters = [event for event in document["traceEvents"] if event["ph"] == "C"]
    used = {event["name"]: event["args"]["bytes"] for event in counters}
    assert sum(used.values()) == int(instance.task_memory.sum())


def test_traces_of_contended_transfers_and_of_jobs() -> None:
    """Tests that transfers between interfaces, and jobs in lanes of servers, give traces that obey the format too."""
    contended = contended_instance(1)
    schedule = optgap.solve(contended, "heft", contention="nic").schedule
    assert checked_trace(chrome_trace(contended, schedule))["otherData"]["instance_sha256"] == contended.sha256
    jobs = optgap.generate("jobs-recurrent", jobs=12, seed=1)
    events = checked_trace(chrome_trace(jobs, optgap.solve(jobs, "fifo").schedule))["traceEvents"]
    assert len([event for event in events if event["ph"] == "X"]) == int(jobs.gang_size.sum())


def test_ticks_below_a_nanosecond_stay_apart() -> None:
    """Tests that a tick that is too short for the format is drawn as a nanosecond, and that the file says so."""
    instance = DagInstance.from_lists([[1], [1], [0]], [(0, 1, 0)], tick_seconds=1e-12)
    schedule = DagSchedule(gpu=[0, 0, 0], start=[0, 1, 1])
    document = checked_trace(chrome_trace(instance, schedule))
    tasks = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert [(event["name"], event["ts"], event["dur"]) for event in tasks] == [
        ("t0", 0.0, 0.001),
        ("t1", 0.001, 0.001),
        ("t2", 0.001, 0.0),
    ]
    assert document["otherData"]["time"] == "one tick is drawn as 1 ns"
    whole = dataclasses.replace(instance, tick_seconds=1.0)
    assert "time" not in checked_trace(chrome_trace(whole, schedule))["otherData"]
