"""Tests of the reader of Alibaba's cluster trace of 2018."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from instances.clusters.cluster import parse_cluster
from instances.readers.dag.alibaba_v2018 import (
    COLUMNS,
    parse_alibaba_v2018,
    read_alibaba_v2018,
    read_alibaba_v2018_jobs,
)
from instances.readers.dag.measured_graph import READER_COST
from instances.text_file import read_text
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path


V100 = parse_cluster("2xV100-16GB")
SECONDS = replace(READER_COST, tick_seconds=1.0)
LONG_NAME = "R30_1_2_3_4_5_6_7_8_9_10_11_12_13_14_15_16_17_18_1"

TRACE = """M1,4,j_a,1,Terminated,100,110,100,0.5
R3_1_2,1,j_a,1,Terminated,101,125,50,1.5
M2,2.0,j_a,1,Terminated,100,120,100,
M1,1,j_b,1,Terminated,90,95,100,0.2
R2_1,1,j_b,1,Terminated,90,93,100,0.2
M1,1,j_running,1,Terminated,90,95,100,0.2
R2_1,1,j_running,1,Running,90,0,100,0.2
task_NTE1,1,j_plain,1,Terminated,90,95,100,0.2
M1_3,1,j_parent,1,Terminated,90,95,100,0.2
M1,1,j_twice,1,Terminated,90,95,100,0.2
R1,1,j_twice,1,Terminated,90,95,100,0.2
M1_2,1,j_cycle,1,Terminated,90,95,100,0.2
M2_1,1,j_cycle,1,Terminated,90,95,100,0.2
LONG,1,j_cut,1,Terminated,90,95,100,0.2
M1,1,j_c,1,Terminated,130,150,100,0.2
""".replace("LONG", LONG_NAME)


def write(tmp_path: Path, text: str) -> Path:
    """Write a file."""
    path = tmp_path / "batch_task.csv"
    path.write_text(text)
    return path


def test_job_by_name(tmp_path: Path) -> None:
    """Tests that a task's time begins when its parents have ended, and names give the edges."""
    path = write(tmp_path, TRACE)
    instance = read_alibaba_v2018(path, job="j_a", memory_unit_bytes=10, edge_bytes=3, cluster=V100, cost=SECONDS)
    assert instance.name == "batch_task j_a"
    assert instance.task_names == ("M1", "M2", "R3_1_2")
    assert instance.durations[:, 0].tolist() == [10, 20, 5]
    assert instance.edges.tolist() == [[0, 2], [1, 2]]
    assert instance.edge_bytes.tolist() == [3, 3]
    assert instance.task_memory.tolist() == [5, 0, 15]
    assert instance.job_names == ("j_a",)


def test_time_is_cut_at_zero(tmp_path: Path) -> None:
    """Tests that a task that ended before its parent takes no time, and joins the parent on request."""
    path = write(tmp_path, TRACE)
    instance = read_alibaba_v2018(path, job="j_b", cluster=V100, cost=SECONDS)
    assert instance.durations[:, 0].tolist() == [5, 0]
    contracted = read_alibaba_v2018(path, job="j_b", contract=True, cluster=V100, cost=SECONDS)
    assert contracted.durations[:, 0].tolist() == [5]


def test_jobs_in_one_instance(tmp_path: Path) -> None:
    """Tests that jobs of the asked sizes become jobs of one instance with the releases of the trace."""
    path = write(tmp_path, TRACE)
    instance = read_alibaba_v2018(path, count=3, min_tasks=1, release_gap_seconds=None, cluster=V100, cost=SECONDS)
    assert instance.job_names == ("j_b", "j_a", "j_c")
    assert instance.release.tolist() == [0, 10, 40]
    assert instance.job_of_task.tolist() == [0, 0, 1, 1, 1, 2]
    assert instance.task_names == ("j_b/M1", "j_b/R2_1", "j_a/M1", "j_a/M2", "j_a/R3_1_2", "j_c/M1")
    assert instance.edges.tolist() == [[0, 1], [2, 4], [3, 4]]


def test_drawn_releases(tmp_path: Path) -> None:
    """Tests that gaps of 0 release all jobs at once, and drawn gaps ascend from 0 and follow the seed."""
    path = write(tmp_path, TRACE)
    options = {"count": 3, "min_tasks": 1, "cluster": V100, "cost": SECONDS}
    assert read_alibaba_v2018(path, **options).release.tolist() == [0, 0, 0]  # type: ignore[arg-type]
    drawn = read_alibaba_v2018(path, release_gap_seconds=1000.0, seed=4, **options)  # type: ignore[arg-type]
    first, second, third = drawn.release.tolist()
    assert first == 0 < second < third
    again = read_alibaba_v2018(path, release_gap_seconds=1000.0, seed=4, **options)  # type: ignore[arg-type]
    assert again.sha256 == drawn.sha256


def test_jobs_as_instances(tmp_path: Path) -> None:
    """Tests that jobs can be instances of their own, first or drawn."""
    path = write(tmp_path, TRACE)
    instances = read_alibaba_v2018_jobs(path, count=2, cluster=V100, cost=SECONDS)
    assert [instance.name for instance in instances] == ["batch_task j_a", "batch_task j_b"]
    assert [instance.num_tasks for instance in instances] == [3, 2]
    drawn = {read_alibaba_v2018_jobs(path, min_tasks=1, pick="random", seed=seed)[0].job_names[0] for seed in range(20)}
    assert drawn == {"j_a", "j_b", "j_c"}


def test_headings_and_compression(tmp_path: Path) -> None:
    """Tests that a line of headings and gzip change nothing."""
    path = tmp_path / "batch_task.csv.gz"
    path.write_bytes(gzip.compress(f"{','.join(COLUMNS)}\r\n{TRACE}".encode()))
    plain = read_alibaba_v2018(write(tmp_path, TRACE), job="j_a")
    assert read_alibaba_v2018(path, job="j_a").sha256 == plain.sha256


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("j_running", "line 7: expected status Terminated, got 'Running'."),
        ("j_plain", "line 8: expected a task name such as R3_1_2, got 'task_NTE1'."),
        ("j_parent", "line 9: expected parents among the tasks of j_parent, got 3."),
        ("j_twice", "line 11: expected each task number of j_twice once, got 1 again."),
        ("j_cycle", "line 13: expected no cycle, got M1_2 -> M2_1 -> M1_2."),
        ("j_cut", "line 14: expected a task name that is not cut, got one of 50 characters."),
        ("j_z", "job: expected one of the 3 usable jobs of the file, got 'j_z'."),
    ],
)
def test_unusable_job(tmp_path: Path, job: str, message: str) -> None:
    """Tests that a job that cannot be used is left out, and says why where it is asked for by name."""
    path = write(tmp_path, TRACE)
    assert job not in parse_alibaba_v2018(TRACE)[0]
    with pytest.raises(ValueError, match=re.escape(message)):
        read_alibaba_v2018(path, job=job)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected at least one task, got none."),
        (",".join(COLUMNS) + "\n", "line 1: expected at least one task, got none."),
        (TRACE + "M1,1,j_d\n", "line 16: expected 9 columns (task_name, instance_num, job_name, task_type, status, "),
        (TRACE.replace("101,125", "101,x"), "line 2: expected end_time, a number of at least 0, got 'x'."),
        (TRACE.replace("101,125", "-1,125"), "line 2: expected start_time, a number of at least 0, got '-1'."),
        (TRACE.replace("101,125", ",125"), "line 2: expected start_time, a number of at least 0, got ''."),
        (TRACE + '"M1,1\n', "line 16: expected CSV, got "),
    ],
)
def test_broken_file(tmp_path: Path, text: str, message: str) -> None:
    """Tests that a broken file gives one error that names the line."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_alibaba_v2018(write(tmp_path, text))


def test_truncated_compression(tmp_path: Path) -> None:
    """Tests that a compressed file that ends early is one error."""
    path = tmp_path / "batch_task.csv.gz"
    path.write_bytes(gzip.compress(TRACE.encode())[:-20])
    with pytest.raises(ValueError, match="byte 0: expected gzip data, got "):
        read_alibaba_v2018(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "count: expected at least 1, got 0."),
        (
            {"count": 4},
            "count: expected at most 2, the usable jobs of 2 to 50 tasks, got 4; 6 of 9 jobs are not",
        ),
        ({"pick": "last"}, "pick: expected one of first, random, got 'last'."),
        ({"edge_bytes": -1}, "edge_bytes: expected the data on every edge, bytes in 0..2**53, got -1."),
        ({"memory_unit_bytes": -1.0}, "memory_unit_bytes: expected at least 0, got -1.0."),
        ({"release_gap_seconds": -1.0}, "release_gap_seconds: expected at least 0, got -1.0."),
        ({"seed": -1}, "seed: expected at least 0, got -1."),
    ],
)
def test_options_out_of_range(tmp_path: Path, options: dict[str, object], message: str) -> None:
    """Tests that options are checked."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_alibaba_v2018(write(tmp_path, TRACE), **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_published_cut() -> None:
    """Tests that the published cut has its known numbers of clean jobs, tasks, edges and tasks without time."""
    path = real_data("alibaba-v2018-dag/selected_DAGs.csv.gz")
    jobs, reasons = parse_alibaba_v2018(read_text(path))
    times = [seconds for job in jobs.values() for seconds in job.processing_seconds]
    assert (len(jobs), len(times), sum(len(job.edges) for job in jobs.values())) == (1881, 36803, 40700)
    assert len(jobs) + len(reasons) == 2120
    assert (sum(seconds == 0 for seconds in times), max(times)) == (8672, 4976)
    instance = read_alibaba_v2018(path, count=3, pick="random", min_tasks=10, max_tasks=20, seed=5)
    assert instance.num_jobs == 3
    assert 30 <= instance.num_tasks <= 60
