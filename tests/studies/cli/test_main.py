"""Tests of the commands: what they print, write and end with."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from instances.dag.instance import DagInstance
from instances.dag.json import (
    dag_instance_to_json,
    read_dag_instance,
    read_dag_schedule,
    write_dag_instance,
    write_dag_schedule,
)
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.generators.dag.generate import BUFFER_FAMILIES, FAMILIES
from instances.readers.dag.bundled import bundled_path
from instances.readers.dag.read import READERS
from solvers.bound_methods import BOUND_METHODS
from solvers.problem import DAG
from solvers.run.bound import Bound
from solvers.run.contradiction import ContradictionError
from solvers.solve import solve
from studies.cli.main import COMMANDS, GROUPS
from studies.cli.progress import LiveProgress
from tests.studies.run_command import check_fits, run_with_tables

if TYPE_CHECKING:
    from tests.studies.run_command import Run


ROOT = Path(__file__).parents[3]


def _start(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "studies.cli.main", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.whole
def test_exit_status_reaches_the_shell() -> None:
    """Tests that a process ends with status 0 for help and 2 for misuse, and only then writes to stderr."""
    helped, misused = _start("--help"), _start("solve")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert all(f"\n  {name} " in helped.stdout for name in (*COMMANDS, *GROUPS) if " " not in name)
    assert (misused.returncode, misused.stdout) == (2, "")
    assert misused.stderr == "FILE: expected a value for optgap solve, got nothing.\n"


def test_closed_pipe_is_no_error() -> None:
    """Tests that `optgap --version | head -n 0` ends with status 0 and in silence."""
    command = [sys.executable, "-m", "studies.cli.main", "--version"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run: Run, command: str) -> None:
    """Tests that help fits 80 columns, begins with the registry's line, and that every command knows `--json`."""
    ended = run(*command.split(), "--help")
    assert ended.status == 0
    assert "--json" in ended.out
    assert COMMANDS[command][1] in " ".join(ended.out.split())
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_every_group_lists_its_commands(run: Run, group: str) -> None:
    """Tests that the list of a group's commands fits 80 columns and shows the line of each."""
    ended = run(*group.split(), "--help")
    listed = " ".join(ended.out.split())
    assert ended.status == 0
    for name, (_, line) in COMMANDS.items():
        if name.rpartition(" ")[0] == group:
            assert f"{name.rpartition(' ')[2]} {line}" in listed
    assert max(map(len, ended.out.splitlines())) <= 80


TABLES = [
    ("methods",),
    ("generate", "--list"),
    ("convert", "--list"),
    ("bound", "e.json"),
    ("library", "list"),
    ("study", "run", "whales", "--dry-run"),
]
"""Commands that print tables."""


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
def test_tables_fit_80_columns(
    arguments: tuple[str, ...], run: Run, example_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that no word is broken, no row takes four lines, and `--wide` shows what is left out."""
    ended, tables = run_with_tables(run, monkeypatch, *arguments)
    assert (ended.status, bool(tables)) == (0, True)
    assert max(map(len, ended.out.splitlines())) <= 80 + 12 * (arguments == ("library", "list"))  # the identifier
    for table, text in tables:
        check_fits(table, text)
    if "Not shown" in ended.out:
        wide = run(*arguments, "--wide")
        assert "Not shown" not in wide.out
        assert all(f" {heading}" in wide.out for table, _ in tables for heading in table.headings)


def test_version_is_one_line(run: Run) -> None:
    """Tests that `--version` prints name and version."""
    ended = run("--version")
    assert ended.status == 0
    assert ended.out.startswith("optgap ")
    assert ended.out.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("optgap sol", ["solve"]),
        ("optgap study tab", ["table"]),
        ("optgap solve x.json --evalu", ["--evaluations"]),
        ("optgap solve x.json --method he", ["heft"]),
        ("optgap bound x.json --methods area,critical", ["area,critical-path"]),
        ("optgap solve x.json --objective total", ["total_completion"]),
        ("optgap generate pipe", ["pipeline-training", "pipeline"]),
        ("optgap generate layered --gpus mixed-1", ["mixed-16"]),
        ("optgap convert --from pipe", ["pipedream"]),
        (
            "optgap study run wh",
            [
                "whales",
                "whales_again",
                "whales_control",
                "whales_control_long",
                "whales_control_trainings",
                "whales_fresh",
                "whales_long",
                "whales_obedience",
            ],
        ),
        ("optgap library show dag-000", ["dag-000-layered-n8-mixed-3-ccr3-inconsistent-memory0.5"]),
        ("optgap library list --family chol", ["cholesky"]),
    ],
)
def test_completion(words: str, offered: list[str], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that Bash, zsh and fish are offered commands, options, and the names that registries know."""
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", words)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    for shell in ("bash", "zsh", "fish"):
        script = run("--show-completion", shell).out
        assert f"_OPTGAP_COMPLETE=complete_{shell}" in script
        with monkeypatch.context() as asked:
            asked.setenv("_OPTGAP_COMPLETE", f"complete_{shell}")
            ended = run()
        assert (ended.status, ended.err) == (0, "")
        assert all(name in ended.out for name in offered)
        if shell == "bash":
            assert ended.out.splitlines() == offered


def test_solve_keeps_its_contract(run: Run, example_file: str) -> None:
    """Tests that `solve --json` prints one document with the promised keys, and the optimum."""
    ended = run("solve", example_file, "--threads", "1", "--seed", "5", "--json")
    assert (ended.status, ended.err) == (0, "")
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
    found = [ended.document[key] for key in ("objective", "lower_bound", "gap", "status", "method", "seed")]
    assert found == [15, 15, 0.0, "optimal", "cp-sat", 5]


def test_solve_prints_aligned_lines(run: Run, example_file: str) -> None:
    """Tests that labels are aligned on the colon and no line is longer than 80 columns."""
    ended = run("solve", example_file, "--method", "heft")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert all(line.index(":") == len("seed, threads") for line in lines if not line.startswith(" " * 14))
    assert max(map(len, lines)) <= 80
    assert "    objective: 18" in lines


def test_solve_minimises_what_is_asked(run: Run, tmp_path: Path) -> None:
    """Tests that `--objective` reaches the method: weights decide which of two jobs goes first."""
    jobs = DagInstance.from_lists([[3], [5]], job_of_task=[0, 1], release=[0, 0], weight=[1, 9], name="jobs")
    write_dag_instance(jobs, tmp_path / "jobs.json")
    ended = run("solve", "jobs.json", "--objective", "weighted-completion", "--json")
    assert ended.document["objective"] == 9 * 5 + 1 * 8
    assert ended.document["objective_name"] == "weighted_completion"


def test_solve_passes_parameters_and_budget_on(run: Run, example_file: str) -> None:
    """Tests that `--set` and `--evaluations` reach a search and stand in its result."""
    ended = run("solve", example_file, "-m", "woa", "--evaluations", "30", "--set", "heft-seed=no", "--json")
    assert ended.status == 0
    assert ended.document["parameters"] == {"heft_seed": False}
    assert ended.document["termination"] == "evaluations"


def test_searches_are_repeated_bit_for_bit(run: Run, example_file: str, tmp_path: Path) -> None:
    """Tests that the same seed and budget give the same schedule file."""
    for name in ("a.json", "b.json"):
        run("solve", example_file, "-m", "woa", "--evaluations", "50", "--seed", "3", "--schedule-out", name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_solve_writes_a_schedule_that_verifies(
    run: Run, example_file: str, example_e: DagInstance, tmp_path: Path
) -> None:
    """Tests that the file of `--schedule-out` holds the schedule whose objective is printed."""
    solved = run("solve", example_file, "-m", "cpop", "--schedule-out", "s.json", "--json")
    verified = run("verify", example_file, "s.json", "--json")
    assert verified.status == 0
    assert (verified.document["verifies"], verified.document["violations"]) == (True, [])
    assert verified.document["objectives"]["makespan"] == solved.document["objective"]
    schedule = read_dag_schedule(tmp_path / "s.json", example_e)
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == solved.document["objective"]


def test_solve_writes_gantt_charts(run: Run, example_file: str, tmp_path: Path) -> None:
    """Tests that the suffix chooses between SVG and PNG."""
    assert run("solve", example_file, "-m", "heft", "--gantt", "g.svg").status == 0
    assert run("solve", example_file, "-m", "heft", "--gantt", "g.png").status == 0
    assert ElementTree.parse(tmp_path / "g.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


def test_no_schedule_is_an_answer(run: Run, no_room: DagInstance, tmp_path: Path) -> None:
    """Tests that a method that finds nothing ends with status 0, keeps its bound and says which file is missing."""
    write_dag_instance(no_room, tmp_path / "i.json")
    ended = run("solve", "i.json", "-m", "round-robin", "--schedule-out", "s.json", "--json")
    assert ended.status == 0
    assert [ended.document[key] for key in ("objective", "lower_bound", "gap", "status")] == [None, 4, None, "unknown"]
    assert ended.err.splitlines() == [
        "round-robin: found no schedule within the memory limits; cp-sat says whether one exists.",
        "s.json: not written, as no schedule was found.",
    ]
    assert not (tmp_path / "s.json").exists()


def test_ctrl_c_keeps_the_best_so_far(run: Run, example_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that Ctrl-C during a search gives its best schedule, `interrupted`, and status 0."""
    monkeypatch.setattr(LiveProgress, "on_incumbent", lambda self, progress: signal.raise_signal(signal.SIGINT))
    ended = run("solve", example_file, "-m", "random-search", "--evaluations", "1000000", "--json")
    assert ended.status == 0
    assert (ended.document["termination"], ended.document["objective"]) == ("interrupted", 18)


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN], ids=["terminal", "background"])
def test_sigterm_is_like_ctrl_c(run: Run, example_file: str, monkeypatch: pytest.MonkeyPatch, ctrl_c: Any) -> None:
    """Tests SIGTERM in a search, twice as `timeout` sends it, and before one, also where Ctrl-C is ignored."""

    def terminate(*arguments: object) -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)

    search = ("solve", example_file, "-m", "random-search", "--evaluations", "1000000", "--json")
    signal.signal(signal.SIGINT, ctrl_c)
    with monkeypatch.context() as patch:
        patch.setattr(LiveProgress, "on_incumbent", terminate)
        ended = run(*search)
    assert (ended.status, ended.document["termination"], ended.err) == (0, "interrupted", "")
    with monkeypatch.context() as patch:
        patch.setattr(LiveProgress, "__enter__", terminate)
        ended = run(*search)
    assert (ended.status, ended.out, ended.err) == (143, "", "")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is ctrl_c


def test_ctrl_c_is_heard_while_an_object_is_deleted(
    run: Run, example_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that an interrupt in `__del__`, which Python prints and drops, ends the command all the same."""

    class Loud:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def delete(*arguments: object) -> None:
        Loud()
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(LiveProgress, "__enter__", delete)
    ended = run("solve", example_file, "-m", "heft")
    assert (ended.status, ended.out, ended.err) == (130, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_bounds_that_are_there_are_printed(
    run: Run, example_file: str, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Tests that Ctrl-C and SIGTERM in the third bound show the first two; in the first one the status is that."""
    nothing = Bound(value=0, method="mean-busy-time", proof="nothing yet")
    press = SimpleNamespace(bound=lambda *_: signal.raise_signal(number) or nothing, is_limited=True)
    monkeypatch.setitem(BOUND_METHODS, "mean-busy-time", press)
    ended = run("bound", example_file, "--json", "--methods", "mean-busy-time,area")
    assert (ended.status, ended.out) == (128 + number, "")
    ended = run("bound", example_file, "--json", "--methods", "area,critical-path,mean-busy-time,energetic")
    assert (ended.status, [bound["method"] for bound in ended.document["bounds"]]) == (0, ["area", "critical-path"])
    assert ended.document["left_out"] == ["mean-busy-time", "energetic"]


@pytest.mark.whole
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_closed_and_full_streams_keep_the_status(example_file: str, tmp_path: Path, example_e: DagInstance) -> None:
    """Tests an answer and misuse without stdout or stderr, and with characters that the encoding does not have."""
    schedule = solve(example_e, "heft").schedule
    assert isinstance(schedule, DagSchedule)
    write_dag_schedule(example_e, schedule, tmp_path / "s.json")
    optgap = f"{shlex.quote(sys.executable)} -m studies.cli.main verify"
    script = f"""
        {optgap} {tmp_path}/e.json {tmp_path}/s.json >&- 2>&-; echo $?
        {optgap} {tmp_path}/é.json {tmp_path}/s.json 2>/dev/full; echo $?
        PYTHONIOENCODING=ascii:strict {optgap} {tmp_path}/é.json --help | tail -n 1 >&2; echo $?
    """
    ended = subprocess.run(["sh", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.stdout.split() == ["0", "2", "0"]
    assert "Traceback" not in ended.stderr


def test_ctrl_c_before_a_run_ends_with_130(run: Run, example_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that Ctrl-C outside a method ends without a word."""
    monkeypatch.setattr(LiveProgress, "__enter__", lambda self: signal.raise_signal(signal.SIGINT))
    ended = run("solve", example_file, "-m", "heft", "--json")
    assert (ended.status, ended.out, ended.err.strip()) == (130, "", "")


def test_errors_of_this_software_are_no_answers(run: Run, example_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that an error inside, which is nobody's input, ends with status 3 and its traceback."""
    monkeypatch.setattr("solvers.solve.solve", lambda *arguments, **options: 1 // 0)
    ended = run("solve", example_file, "-m", "heft", "--json")
    assert (ended.status, ended.out) == (3, "")
    assert "ZeroDivisionError" in ended.err


def test_contradictions_are_told_in_one_line(run: Run, example_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a contradiction of proofs ends with status 3 and the line that names its reproducer."""

    def contradict(*arguments: object, **options: object) -> None:
        raise ContradictionError("The bound 16 exceeds 15. The reproducer is r.json.")

    monkeypatch.setattr("solvers.solve.solve", contradict)
    ended = run("solve", example_file, "-m", "heft", "--json")
    assert (ended.status, ended.out) == (3, "")
    assert ended.err == "optgap: The bound 16 exceeds 15. The reproducer is r.json.\n"


def test_verify_lists_every_violation(run: Run, example_file: str, example_e: DagInstance, tmp_path: Path) -> None:
    """Tests that all violations are listed and the status is 1."""
    schedule = DagSchedule(gpu=[0] * 5, start=[0] * 5)
    write_dag_schedule(example_e, schedule, tmp_path / "s.json")
    as_json, for_readers = run("verify", example_file, "s.json", "--json"), run("verify", example_file, "s.json")
    assert (as_json.status, for_readers.status) == (1, 1)
    found = [(item["kind"], item.get("tasks", item.get("edge"))) for item in as_json.document["violations"]]
    pairs = [("Overlap", [first, second]) for first in range(5) for second in range(first + 1, 5)]
    assert sorted(found, key=str) == sorted([*pairs, *(("LateTransfer", edge) for edge in range(5))], key=str)
    assert as_json.document["objectives"] is None
    assert for_readers.out.count("\n") == 16
    assert "tasks 0 and 1: overlap by 3 ticks on GPU 0.\n" in for_readers.out


def test_wrong_length_is_a_violation(run: Run, example_file: str, example_e: DagInstance, tmp_path: Path) -> None:
    """Tests that a schedule of another number of tasks is no broken file but the answer no."""
    write_dag_schedule(example_e, DagSchedule(gpu=[0], start=[0]), tmp_path / "s.json")
    ended = run("verify", example_file, "s.json", "--json")
    assert (ended.status, ended.document["violations"][0]["kind"]) == (1, "WrongLength")


def test_bound_tells_what_proves_each(run: Run, example_file: str) -> None:
    """Tests that all bounds without search or contention are listed, none beyond the optimum, and their maximum."""
    ended = run("bound", example_file, "--json")
    values = {bound["method"]: bound["value"] for bound in ended.document["bounds"]}
    assert ended.status == 0
    quick = {
        name
        for name, method in BOUND_METHODS.items()
        if method.rule is None and not method.needs_search and not method.knows_buffers
    }
    assert set(values) == quick
    assert ended.document["lower_bound"] == max(values.values()) <= 15
    assert all(bound["proof"] for bound in ended.document["bounds"])


def test_bound_takes_exact_methods(run: Run, example_file: str) -> None:
    """Tests that exact methods prove the optimum, in the given order and in 80 columns."""
    ended = run("bound", example_file, "--methods", "area,cp-sat")
    assert ended.status == 0
    assert ended.out.index(" area ") < ended.out.index(" cp-sat ")
    assert "best: 15, the optimum" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_bound_says_that_no_schedule_exists(run: Run, tmp_path: Path) -> None:
    """Tests that a refuted instance, three tasks of 2 bytes on two GPUs of 3, is called infeasible."""
    refuted = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3], name="refuted")
    write_dag_instance(refuted, tmp_path / "i.json")
    for_readers = run("bound", "i.json", "--methods", "area,cp-sat")
    assert (for_readers.status, for_readers.err) == (0, "")
    assert "no schedule exists (proved by cp-sat)" in for_readers.out
    document = run("bound", "i.json", "--methods", "area,cp-sat", "--json").document
    assert [document[key] for key in ("lower_bound", "is_infeasible", "infeasible_by")] == [None, True, ["cp-sat"]]


def test_gap_against_an_exact_method(run: Run, example_file: str) -> None:
    """Tests that `--against` proves the optimum 15 first, so that HEFT's 18 has an optimality gap of 20 %."""
    ended = run("solve", example_file, "--method", "heft", "--against", "cp-sat")
    assert (ended.status, ended.err) == (0, "")
    assert "gap: 20.00 % (optimality gap)\n" in ended.out


@pytest.mark.parametrize("certificate", ["area", "path"])
def test_generate_plants_an_optimum(certificate: str, run: Run, tmp_path: Path) -> None:
    """Tests that instance, optimum and schedule of the planted family belong together."""
    arguments = ["planted", "--tasks", "40", "--set", "num_gpus=8", "--set", f"certificate={certificate}"]
    ended = run("generate", *arguments, "-o", "i.json", "--schedule-out", "s.json", "--json")
    assert (ended.status, ended.document["certificate"], ended.document["num_gpus"]) == (0, certificate, 8)
    verified = run("verify", "i.json", "s.json", "--json")
    assert verified.document["objectives"]["makespan"] == ended.document["optimum"]
    assert "optimum: " in run("generate", *arguments, "-o", "i.json").out


def test_generate_writes_what_the_options_say(run: Run, tmp_path: Path) -> None:
    """Tests that family, size, cluster and costs reach the instance, and that its hash is told."""
    arguments = ["fork-join", "--tasks", "9", "--seed", "4", "--gpus", "T4+P100,V100-16GB", "--tick-seconds", "1e-7"]
    ended = run("generate", *arguments, "--memory-tightness", "0", "--set", "width=3", "-o", "i.json", "--json")
    instance = read_dag_instance(tmp_path / "i.json")
    assert ended.status == 0
    assert ended.document["instance_sha256"] == instance.sha256
    assert ended.document["parameters"] == {"width": 3}
    assert (instance.gpu_kinds, instance.tick_seconds) == (("T4", "P100", "V100-16GB"), 1e-7)
    assert (instance.gpu_memory < 0).all()


def test_generate_is_repeated_by_its_seed(run: Run) -> None:
    """Tests that the same seed gives the same instance and another seed another one."""
    hashes = [
        run("generate", "layered", "--tasks", "8", "--seed", seed, "-o", "i.json", "--json").document["instance_sha256"]
        for seed in ("1", "1", "2")
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_rounding_is_one_line_on_stderr(run: Run) -> None:
    """Tests that a warning of the library is one line and leaves stdout to the answer."""
    ended = run("generate", "layered", "--tasks", "5", "--tick-seconds", "1e-4", "-o", "i.json", "--json")
    assert (ended.status, ended.document["num_tasks"]) == (0, 5)
    assert ended.err.startswith("warning: ")
    assert "change by more than 0.1 %" in ended.err
    assert ended.err.count("\n") == 1


def test_generate_lists_what_there_is(run: Run) -> None:
    """Tests that families, presets and kinds are listed, for readers and as JSON."""
    as_json, for_readers = run("generate", "--list", "--json"), run("generate", "--list")
    assert [family["name"] for family in as_json.document["families"]] == [*FAMILIES, *BUFFER_FAMILIES, "planted"]
    assert all(f" {name} " in for_readers.out for name in (*FAMILIES, "mixed-4", "A100-40GB"))
    assert max(map(len, for_readers.out.splitlines())) <= 80


def test_convert_reads_a_public_format(run: Run, tmp_path: Path) -> None:
    """Tests that options of the format, the cluster and the seed reach the reader."""
    arguments = ["--from", "pipedream", str(bundled_path("inception-block")), "--gpus", "mixed-2", "--seed", "3"]
    ended = run("convert", *arguments, "--set", "training=true", "-o", "i.json", "--json")
    instance = read_dag_instance(tmp_path / "i.json")
    assert (ended.status, ended.document["from_format"]) == (0, "pipedream")
    assert ended.document["instance_sha256"] == instance.sha256
    assert instance.gpu_kinds == ("V100-16GB", "T4")
    assert instance.num_tasks > 15  # the backward pass


def test_convert_on_identical_processors_with_measured_durations(run: Run, tmp_path: Path) -> None:
    """Tests that processors and scale reach the reader, by its own word for them, and that durations are replaced."""
    (tmp_path / "g.dot").write_text("digraph { 0 [Weight=8]; 1 [Weight=2.5]; 0 -> 1 [Weight=3] }")
    (tmp_path / "durations.csv").write_text("operator,kind,seconds\n1,processor,4\n")
    common = ["--from", "dot", "g.dot", "--processors", "3", "--scale", "2"]
    ended = run("convert", *common, "--durations", "durations.csv", "-o", "i.json", "--json")
    assert read_dag_instance(tmp_path / "i.json").durations.tolist() == [[16] * 3, [8] * 3]
    assert (ended.document["measured_durations"], ended.document["allowed_durations"]) == (3, 6)
    ended = run("convert", *common, "--durations", "durations.csv", "-o", "j.json")
    assert "measured durations: 3 of 6, the others as modelled" in ended.out
    (tmp_path / "durations.csv").write_text("operator,kind,seconds\n1,T4,4\n")
    ended = run("convert", *common, "--durations", "durations.csv", "-o", "k.json")
    assert (ended.status, ended.err) == (
        2,
        "durations.csv: durations: expected operators such as '0' on processor, got 1 on T4.\n",
    )
    (tmp_path / "g.stg").write_text("1\n0 0 0\n1 6 1 0\n2 0 1 1\n")
    run("convert", "--from", "stg", "g.stg", "--processors", "5", "-o", "s.json")
    assert read_dag_instance(tmp_path / "s.json").durations.tolist() == [[6] * 5]


def test_convert_lists_formats(run: Run) -> None:
    """Tests that all formats are listed with their options."""
    ended = run("convert", "--list", "--json")
    assert [item["name"] for item in ended.document["formats"]] == list(READERS)
    assert "num_gpus" in ended.document["formats"][0]["options"]
    assert max(map(len, run("convert", "--list").out.splitlines())) <= 80


def test_methods_lists_all(run: Run) -> None:
    """Tests that every registered method and bound is listed, and the table fits 80 columns."""
    as_json, for_readers = run("methods", "--json"), run("methods")
    assert [method["name"] for method in as_json.document["methods"]] == list(DAG.methods)
    assert [bound["name"] for bound in as_json.document["bounds"]] == list(BOUND_METHODS)
    assert all(name in for_readers.out for name in (*DAG.methods, *BOUND_METHODS))
    assert max(map(len, for_readers.out.splitlines())) <= 80


def test_narrow_terminals_lose_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that in 40 columns tables are wrapped: no line is longer, and no word ends in an ellipsis."""
    monkeypatch.setenv("COLUMNS", "40")
    ended = run("methods")
    assert "\N{HORIZONTAL ELLIPSIS}" not in ended.out
    assert max(map(len, ended.out.splitlines())) <= 40


def test_show_versions_names_what_computes(run: Run) -> None:
    """Tests that versions and hardware are shown."""
    ended = run("show-versions", "--json")
    assert {"python", "ortools", "numba", "highspy"} <= set(ended.document["versions"])
    assert f"ortools: {ended.document['versions']['ortools']}" in run("show-versions").out


def test_names_cannot_steer_the_terminal(run: Run, example_e: DagInstance, tmp_path: Path) -> None:
    """Tests that control characters in a name are escaped where it is printed and kept where it is written."""
    document = json.loads(dag_instance_to_json(example_e))
    document["name"] = "a\x1b[31m\nb"
    (tmp_path / "e.json").write_text(json.dumps(document))
    ended = run("solve", "e.json", "-m", "heft")
    assert ended.status == 0
    assert "instance: a\\x1b[31m\\nb\n" in ended.out
