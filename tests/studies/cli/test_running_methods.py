"""Tests of the commands on jobs: solve, bound, methods and study online."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

from heuristics.search.progress import Callback
from instances.jobs.json import read_jobs_instance, read_jobs_schedule, write_jobs_instance
from instances.jobs.verify import verify_jobs_schedule
from solvers.bound_methods import JOBS_BOUND_METHODS
from solvers.methods import JOBS_METHODS
from solvers.run.versions import usable_threads
from studies.cli.progress import LiveProgress
from tests.check_latex import check_latex
from tests.jobs_strategies import worked_example

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole


@pytest.fixture
def worked(tmp_path: Path) -> str:
    """Return the worked example as a file in the folder of `run`: FIFO 120, optimum 98."""
    write_jobs_instance(worked_example(), tmp_path / "w.json")
    return "w.json"


def test_solve_promises_its_keys(run: Run, worked: str) -> None:
    """Tests the keys and values of `solve --json`, with the exact method as default."""
    ended = run("solve", worked, "--json", "--threads", "1", "--time-limit", "60")
    promised = [
        "objective",
        "lower_bound",
        "gap",
        "status",
        "termination",
        "runtime_seconds",
        "method",
        "seed",
        "versions",
    ]
    assert set(promised) <= set(ended.document)
    found = [ended.document[key] for key in ("objective", "lower_bound", "gap", "status", "method")]
    assert found == [98, 98, 0.0, "optimal", "cp-sat"]
    assert ended.err == ""


def test_solve_writes_schedule_and_gantt(run: Run, worked: str, tmp_path: Path) -> None:
    """Tests that the schedule verifies and has the printed objective, and both kinds of chart are written."""
    solved = run("solve", worked, "-m", "fifo", "--schedule-out", "s.json", "--gantt", "g.svg", "--json")
    instance = read_jobs_instance(tmp_path / worked)
    schedule = read_jobs_schedule(tmp_path / "s.json", instance)
    assert verify_jobs_schedule(instance, schedule) == []
    verified = run("verify", worked, "s.json", "--json")
    assert verified.document["objectives"]["total_completion"] == solved.document["objective"] == 120
    assert (tmp_path / "g.svg").read_text().startswith("<svg")
    run("solve", worked, "-m", "fifo", "--gantt", "g.png")
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


def test_solve_takes_parameters_of_policies(run: Run, worked: str) -> None:
    """Tests that names, fractions and parameters of a predictor reach the policy and stand in its result."""
    settings = ["--set", "placement=stage-order", "--set", "tau=1/2", "--set", "predictor=noisy-oracle"]
    ended = run("solve", worked, "-m", "a-srpt", *settings, "--set", "predictor-parameters=mu=2", "--json")
    assert ended.status == 0
    assert ended.document["parameters"] == {
        "placement": "stage-order",
        "tau": "1/2",
        "predictor": "noisy-oracle",
        "predictor_parameters": {"mu": 2},
    }


def test_solve_against_an_exact_method(run: Run, worked: str) -> None:
    """Tests that the gap of a policy is to the optimum that `--against` proves, and is told in aligned lines."""
    ended = run("solve", worked, "-m", "spjf", "--against", "cp-sat", "--threads", "1", "--time-limit", "60")
    assert (ended.status, ended.err) == (0, "")
    assert "gap: 2.04 % (optimality gap)" in ended.out
    assert "JCT: mean 31.3, p50 " in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_solve_weighs_where_it_is_asked(run: Run, worked: str) -> None:
    """Tests that the objective is the one that is named, with a hyphen too."""
    ended = run("solve", worked, "-m", "fifo", "--objective", "weighted-completion", "--json")
    assert ended.document["objective_name"] == "weighted_completion"


def test_bound_lists_bounds_and_writes_tables(run: Run, worked: str, tmp_path: Path) -> None:
    """Tests values, CSV and LaTeX of `optgap bound` on jobs."""
    options = ["--csv", "b.csv", "--latex", "b.tex", "--json", "--threads", "1", "--time-limit", "60"]
    ended = run("bound", worked, "--methods", "virtual-srpt,mean-busy-time,cp-sat", *options)
    assert [bound["value"] for bound in ended.document["bounds"]] == [54, 66, 98]
    assert (ended.document["lower_bound"], ended.document["num_jobs"]) == (98, 3)
    with (tmp_path / "b.csv").open() as file:
        assert [row["value"] for row in csv.DictReader(file)] == ["54", "66", "98"]
    head, row = check_latex((tmp_path / "b.tex").read_text())
    assert (head[1:4], row[1:4]) == (["jobs", "servers", "GPUs"], ["3", "2", "4"])
    assert "virtual-srpt" in run("bound", worked).out


def test_more_threads_than_help_are_not_used(run: Run, worked: str) -> None:
    """Tests that a thousand threads are said not to be used, and that the result says how many were."""
    ended = run("solve", worked, "--threads", "1000", "--json")
    used = usable_threads(1000)
    assert (ended.status, ended.document["threads"]) == (0, used)
    assert ended.err == f"--threads: {used} are used, more than these and the cores do not help.\n"


def test_methods_lists_both_problems(run: Run) -> None:
    """Tests that methods and bounds of jobs are listed beside those of DAGs."""
    document = run("methods", "--json").document
    assert [method["name"] for method in document["jobs_methods"]] == list(JOBS_METHODS)
    assert [bound["name"] for bound in document["jobs_bounds"]] == list(JOBS_BOUND_METHODS)
    assert {"heft", "cp-sat"} <= {method["name"] for method in document["methods"]}
    shown = run("methods").out
    assert "Methods for `optgap solve` on jobs" in shown
    assert "a-srpt" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve", "w.json", "-m", "heft"), "--method: expected one for jobs (cp-sat, "),
        (("solve", "w.json", "-m", "fifo", "--objective", "makespan"), "--objective: expected total_completion or "),
        (("solve", "w.json", "--contention", "nic"), "--contention: expected none for a jobs instance, got nic."),
        (("solve", "w.json", "--confirm"), "--confirm: expected none for a jobs instance, got it."),
        (("solve", "w.json", "-m", "fifo", "--evaluations", "5"), "--evaluations: expected none for a jobs instance"),
        (
            ("solve", "w.json", "-m", "fifo", "--set", "predictor=oracle"),
            "--set: expected a parameter of fifo (placement)",
        ),
        (("solve", "w.json", "-m", "a-srpt", "--set", "tau=x"), "--set tau: expected a number such as 0.25 or 1/4"),
        (("solve", "w.json", "-m", "a-srpt", "--set", "tau=1/0"), "--set tau: expected a number such as 0.25 or 1/4"),
        (("solve", "w.json", "-m", "a-srpt", "--set", "tau=-1"), "--set tau: expected at least 0, got -1."),
        (("solve", "w.json", "-m", "spjf", "--set", "predictor=x"), "--set predictor: expected one of oracle, "),
        (("solve", "w.json", "-m", "fifo", "--set", "placement=x"), "--set placement: expected one of heavy-edge, "),
        (
            ("solve", "w.json", "-m", "spjf", "--set", "predictor-parameters=mu"),
            "--set predictor_parameters: expected KEY",
        ),
        (
            ("solve", "w.json", "-m", "marl", "--set", "weights=nope.npz"),
            "marl: expected a file that can be read, got 'nope.npz': no such file or directory.",
        ),
        (("bound", "w.json", "--methods", "area"), "--methods: expected one of virtual-srpt, "),
        (("bound", "w.json", "--objective", "makespan"), "--objective: expected total_completion or "),
        (("solve", "e.json", "-m", "a-srpt"), "--method: expected one for DAGs of tasks (cp-sat, "),
        (("solve", "e.json", "-m", "heft", "--objective", "total-completion"), "--objective: expected makespan or "),
        (
            ("bound", "e.json", "--objective", "total_completion"),
            "--objective: expected makespan or weighted_completion ",
        ),
        (("bound", "e.json", "--methods", "virtual-srpt"), "--methods: expected one of critical-path, "),
        (("bound", "w.json", "--certificate", "c.txt"), "--certificate: expected none for a jobs instance, got c.txt."),
        (("bound", "e.json", "--certificate", "e.json"), "e.json: expected"),
        (("study", "online", "--compare", "x"), "--compare: expected one of policies, noise, "),
        (("study", "online", "--loads", "0"), "--loads: expected a number in 0..1000, got 0."),
        (("study", "online", "--figure", "f.jpg"), "f.jpg: expected a name that ends in .png or .pdf or .svg."),
        (("study", "online", "--family", "layered"), "--family: expected one of jobs-"),
        (("study", "online", "missing.json"), "missing.json: expected a file that can be read"),
    ],
)
def test_misuse_is_told_in_one_line(
    run: Run, worked: str, example_file: str, arguments: tuple[str, ...], message: str
) -> None:
    """Tests that a method, bound or option of the other problem, or a bad value, ends with status 2 and one line."""
    ended = run(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(message)
    assert ended.err.count("\n") == 1


def test_broken_jobs_file_is_named(run: Run, worked: str, tmp_path: Path) -> None:
    """Tests that what is wrong in a jobs file is told with its name and place."""
    document = json.loads((tmp_path / worked).read_text())
    document["jobs"][1]["release"] = -3
    (tmp_path / "b.json").write_text(json.dumps(document))
    ended = run("solve", "b.json", "-m", "fifo")
    assert ended.status == 2
    assert ended.err.startswith("b.json: jobs[1].release: expected")


@pytest.mark.usefixtures("runs_here")
def test_study_online(run: Run, tmp_path: Path) -> None:
    """Tests that the study runs every policy on every instance against proven optima, and writes what is asked for."""
    options = [
        "--family",
        "jobs-small",
        "--jobs",
        "5",
        "--loads",
        "0.9,1.1",
        "--seeds",
        "2",
        "--exact",
        "--threads",
        "1",
    ]
    outputs = ["--csv", "r.csv", "--markdown", "t.md", "--figure", "f.png"]
    ended = run("study", "online", *options, "--compare", "placements", *outputs, "--json")
    runs = ended.document["runs"]
    assert len(runs) == 4 * 8
    assert all(run["is_optimum"] and run["gap"] >= 0 for run in runs)
    assert {run["load"] for run in runs} == {0.9, 1.1}
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 33
    assert (tmp_path / "t.md").read_text().count("proven optimum") == 2
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("runs_here")
def test_study_online_of_files(run: Run, worked: str) -> None:
    """Tests that instances may come from files; one instance has no intervals."""
    ended = run("study", "online", worked, "--compare", "holds")
    assert ended.status == 0
    assert "worked, load " in ended.out
    assert "a-srpt, provable, tau=1/4" in " ".join(ended.out.split())
    assert "127 [" not in ended.out


@pytest.mark.usefixtures("runs_here")
def test_study_online_of_gang_rules(run: Run, worked: str) -> None:
    """Tests that the rivals with gang rules may be compared, and that a wrong predictor is told for them too."""
    ended = run("study", "online", worked, "--compare", "gang-rules", "--json")
    assert ended.status == 0
    labels = {row["label"]: row["objective"] for row in ended.document["runs"]}
    assert {"tetris", "drf", "fifo, load-balance", "spjf, load-balance"} < set(labels)
    assert labels["drf"] == labels["fifo, load-balance"]  # nobody has a user
    told = run("study", "online", worked, "--compare", "gang-rules", "--predictor", "best")
    assert (told.status, "--predictor" in told.err) == (2, True)


def test_progress_shows_a_bar_of_jobs() -> None:
    """Tests the line of a replay: a bar as long as the share of jobs that have started; bounds and gaps before that."""
    progress = LiveProgress("a-srpt", 5)
    assert "bound 5" in progress.line()
    progress.on_round({"jobs_started": 150, "num_jobs": 600, "ticks": 7})
    line = progress.line()
    assert line.endswith("150/600 jobs")
    assert line.count("\N{BOX DRAWINGS HEAVY HORIZONTAL}") == 5
    assert line.count("\N{BOX DRAWINGS LIGHT HORIZONTAL}") == 15
    assert isinstance(progress, Callback)
