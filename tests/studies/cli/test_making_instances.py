"""Tests of the commands on jobs: generate, convert and verify."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from instances.generators.jobs.generate import ALL_JOBS_FAMILIES
from instances.jobs.json import read_jobs_instance, read_jobs_schedule
from instances.readers.jobs.read import JOBS_READERS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run


TRACE = """u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status
0,1,1,0,1,0,600,0,Pass
1,1,2,0,1,30,700,0,Failed
"""


@pytest.mark.parametrize("family", ALL_JOBS_FAMILIES)
def test_generate(run: Run, tmp_path: Path, family: str) -> None:
    """Tests that every family is written, with jobs, load and seed as asked for."""
    ended = run("generate", family, "--jobs", "7", "--load", "0.9", "--seed", "3", "-o", "i.json", "--json")
    instance = read_jobs_instance(tmp_path / "i.json")
    assert (ended.status, ended.document["num_jobs"], ended.document["family"]) == (0, 7, family)
    assert ended.document["instance_sha256"] == instance.sha256
    assert ended.document["load"] == pytest.approx(0.9, rel=0.1)
    assert ended.err == ""


def test_generate_sets_parameters_and_servers(run: Run, tmp_path: Path) -> None:
    """Tests that parameters of the family, servers and ticks reach it, and the answer for readers says the load."""
    arguments = ["--gpus", "4xT4,2xV100-16GB", "--tick-seconds", "0.01", "--set", "models=AlexNet,VGG-16"]
    ended = run("generate", "jobs-recurrent", *arguments, "--set", "users=2", "-o", "i.json")
    instance = read_jobs_instance(tmp_path / "i.json")
    assert (instance.kinds, instance.num_gpus_of.tolist(), instance.tick_seconds) == (("T4", "V100-16GB"), [4, 2], 0.01)
    assert set(instance.model_tag) <= {"AlexNet", "VGG-16"}
    assert set(instance.user) <= {"u0", "u1"}
    assert "load: 0.700" in ended.out


def test_planted_schedule_verifies(run: Run, tmp_path: Path) -> None:
    """Tests that the planted schedule is written, verifies, and has the optimum that was told."""
    made = run("generate", "jobs-planted", "--jobs", "9", "-o", "i.json", "--schedule-out", "s.json", "--json")
    ended = run("verify", "i.json", "s.json", "--json")
    assert (made.status, ended.status, ended.document["verifies"]) == (0, 0, True)
    assert ended.document["objectives"][made.document["objective"]] == made.document["optimum"]
    assert "weighted completion: " in run("verify", "i.json", "s.json").out
    instance = read_jobs_instance(tmp_path / "i.json")
    assert len(read_jobs_schedule(tmp_path / "s.json", instance).start) == 9


def test_verify_lists_every_violation(run: Run, tmp_path: Path) -> None:
    """Tests that a schedule that does not verify ends with status 1 and all that is wrong with it."""
    run("generate", "jobs-planted", "--jobs", "9", "--set", "tightness=0", "-o", "i.json", "--schedule-out", "s.json")
    document = json.loads((tmp_path / "s.json").read_text())
    for job in document["jobs"]:
        job["start"] = -1
    (tmp_path / "bad.json").write_text(json.dumps(document))
    ended = run("verify", "i.json", "bad.json", "--json")
    kinds = {violation["kind"] for violation in ended.document["violations"]}
    assert (ended.status, ended.document["objectives"]) == (1, None)
    assert kinds == {"StartBeforeRelease", "CapacityExceeded"}
    for_readers = run("verify", "i.json", "bad.json")
    assert for_readers.out.count("\n") == len(ended.document["violations"]) + 1
    assert for_readers.status == 1


def test_convert(run: Run, tmp_path: Path) -> None:
    """Tests that a trace is read with options of its own and options of the command."""
    (tmp_path / "cut.csv").write_text(TRACE)
    arguments = ["--from", "philly", "cut.csv", "--set", "skip_rows=0", "--gpus", "2xT4", "--seed", "2"]
    ended = run("convert", *arguments, "-o", "i.json", "--json")
    instance = read_jobs_instance(tmp_path / "i.json")
    assert (ended.status, ended.document["from_format"], ended.document["num_gpus"]) == (0, "philly", 2)
    assert ended.document["instance_sha256"] == instance.sha256
    assert "written to: j.json" in run("convert", *arguments, "-o", "j.json").out


def test_lists(run: Run) -> None:
    """Tests that families and traces of jobs are listed beside the others, in 80 columns."""
    families, formats = run("generate", "--list", "--json"), run("convert", "--list", "--json")
    assert [item["name"] for item in families.document["jobs_families"]] == [*ALL_JOBS_FAMILIES, "jobs-planted"]
    assert [item["name"] for item in formats.document["jobs_formats"]] == list(JOBS_READERS)
    for command, names in (("generate", (*ALL_JOBS_FAMILIES, "jobs-planted")), ("convert", JOBS_READERS)):
        for_readers = run(command, "--list").out
        assert all(f" {name} " in for_readers for name in names)
        assert max(map(len, for_readers.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("generate", "jobs-poisson", "--tasks", "3"), "--tasks: expected none for jobs-poisson, which has no such"),
        (
            ("generate", "jobs-poisson", "--ccr", "1"),
            "--ccr: expected none for jobs-poisson, which has no such option.",
        ),
        (("generate", "jobs-poisson", "--forbidden", "0.1"), "--forbidden: expected none for jobs-poisson, which has"),
        (("generate", "jobs-poisson", "--schedule-out", "s"), "--schedule-out: expected none for jobs-poisson; only"),
        (("generate", "jobs-planted", "--load", "1"), "--load: expected none for jobs-planted, whose arrivals follow"),
        (("generate", "jobs-planted", "--jobs", "2"), "--jobs: expected at least 4, one per server, got 2."),
        (
            ("generate", "jobs-small", "--set", "max_time=0"),
            "--set max_time: expected an integer in 1..1000000, got 0.",
        ),
        (("generate", "jobs-small", "--gpus", "mixed-3"), "--gpus: expected one kind of GPU per server, got V100-16GB"),
        (("generate", "jobs-small", "--load", "x"), "--load: expected a number, got 'x'."),
        (("generate", "lu", "--load", "1"), "--load: expected none for lu; only families jobs-... have jobs that"),
        (("generate", "lu", "--jobs", "3"), "--jobs: expected none for lu; only families jobs-... have jobs that"),
        (("convert", "cut.csv", "--from", "philly", "--ccr", "1"), "--ccr: expected none for format philly, which"),
        (("convert", "cut.csv", "--from", "philly"), "--set skip_rows: expected jobs with GPUs"),
        (("convert", "cut.csv", "--from", "helios", "--set", "nodes=no.csv"), "--set nodes: expected a file that can"),
        (("convert", "cut.csv", "--from", "helios", "--set", "count=9"), "--set count: expected at most 2, the usable"),
        (("convert", "bad.csv", "--from", "helios"), "bad.csv: line 1: expected the columns u_id,user,"),
        (("convert", "cut.csv", "--from", "hellos"), "--from: expected one of stg, dot, "),
    ],
)
def test_misuse_is_told_in_one_line(run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Tests that misuse ends with status 2 and one line that names the option or the file, and writes nothing."""
    (tmp_path / "cut.csv").write_text(TRACE)
    (tmp_path / "bad.csv").write_text("x\n")
    ended = run(*arguments, "-o", "i.json")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(message)
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "i.json").exists()


def test_verify_tells_bad_files(run: Run, tmp_path: Path) -> None:
    """Tests that unknown keys, other formats and contention are refused."""
    run("generate", "jobs-planted", "--jobs", "4", "-o", "i.json", "--schedule-out", "s.json")
    document = json.loads((tmp_path / "i.json").read_text())
    document["jobs"][1]["colour"] = 1
    (tmp_path / "odd.json").write_text(json.dumps(document))
    for arguments, message in (
        (("odd.json", "s.json"), "odd.json: jobs[1].colour: expected no such key."),
        (("i.json", "i.json"), 'i.json: format: expected "optgap/jobs-schedule", got "optgap/jobs".'),
        (("i.json", "no.json"), "no.json: expected a file that can be read, got: "),
        (("i.json", "s.json", "--contention", "nic"), "--contention: expected none for jobs, got nic."),
    ):
        ended = run("verify", *arguments)
        assert ended.status == 2
        assert ended.err.startswith(message)
