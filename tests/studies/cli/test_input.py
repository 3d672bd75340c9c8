"""Tests that misuse and broken input end with status 2 and one line that names file, place and expectation."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from instances.dag.json import dag_instance_to_json, dag_schedule_to_json, write_dag_instance
from instances.dag.schedule import DagSchedule
from instances.readers.dag.bundled import bundled_path

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from tests.studies.run_command import Run


Document = dict[str, Any]
Change = Callable[[Document], object]


def put(*path: str | int, value: object) -> Change:
    """Return a change that sets a value deep in a document."""

    def change(document: Document) -> None:
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def drop(*path: str | int) -> Change:
    """Return a change that removes a key."""

    def change(document: Document) -> None:
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return change


def tight(document: Document) -> None:
    """Give all GPUs 10 bytes, and the tasks 21 together."""
    for gpu in document["gpus"]:
        gpu["memory_bytes"] = 10
    for task, memory in zip(document["tasks"], (5, 5, 5, 5, 1), strict=True):
        task["memory_bytes"] = memory


CHANGED_INSTANCES: dict[str, tuple[Change, str]] = {
    "other format": (put("format", value="optgap/dags"), 'format: expected "optgap/dag", got "optgap/dags".'),
    "other version": (put("version", value=3), "version: expected 1 or 2, got 3."),
    "no version": (drop("version"), "version: expected an integer, got nothing."),
    "unknown key": (put("colour", value="red"), "colour: expected no such key."),
    "unknown key of a task": (put("tasks", 1, "cost", value=3), "tasks[1].cost: expected no such key."),
    "missing key of a GPU": (drop("gpus", 0, "kind"), "gpus[0].kind: expected text, got nothing."),
    "name of a wrong type": (put("name", value=7), "name: expected text, got 7."),
    "tasks of a wrong type": (put("tasks", value={}), "tasks: expected a list, got {}."),
    "task of a wrong type": (put("tasks", 2, value=[]), "tasks[2]: expected an object, got []."),
    "duration of a wrong type": (
        put("tasks", 0, "durations", 1, value="5"),
        'tasks[0].durations[1]: expected an integer or null, got "5".',
    ),
    "fractional duration": (
        put("tasks", 0, "durations", 1, value=1.5),
        "tasks[0].durations[1]: expected an integer or null, got 1.5.",
    ),
    "negative duration": (put("tasks", 0, "durations", 1, value=-3), "tasks[0].durations[1]: expected"),
    "ragged durations": (
        put("tasks", 3, "durations", value=[1]),
        "tasks[3].durations: expected 2 entries, one per GPU, got 1.",
    ),
    "no GPU allowed": (
        put("tasks", 4, "durations", value=[None, None]),
        "tasks[4].durations: expected at least one allowed GPU, got none.",
    ),
    "wrong job": (put("tasks", 1, "job", value=1), "tasks[1].job: expected a job in 0..0, got 1."),
    "negative memory": (
        put("tasks", 1, "memory_bytes", value=-1),
        "tasks[1].memory_bytes: expected at least 0, got -1.",
    ),
    "task that fits nowhere": (
        lambda document: (
            put("gpus", 0, "memory_bytes", value=9)(document),
            put("gpus", 1, "memory_bytes", value=8)(document),
            put("tasks", 2, "memory_bytes", value=10)(document),
        ),
        "tasks[2].memory_bytes: expected at most 9, the largest memory of an allowed GPU, got 10.",
    ),
    "tasks that fit only one by one": (
        tight,
        "tasks: expected at most 20 bytes, the memory of all GPUs together, got 21.",
    ),
    "negative capacity": (put("gpus", 0, "memory_bytes", value=-2), "gpus[0].memory_bytes: expected at least 0"),
    "no GPU": (
        lambda document: (
            put("gpus", value=[])(document),
            put("tasks", value=[])(document),
            put("edges", value=[])(document),
            put("links", value={"latency_ticks": [], "bytes_per_tick": []})(document),
        ),
        "gpus: expected at least one GPU, got none.",
    ),
    "negative release": (put("jobs", 0, "release", value=-1), "jobs[0].release: expected at least 0, got -1."),
    "negative weight": (put("jobs", 0, "weight", value=-1), "jobs[0].weight: expected at least 0, got -1."),
    "tick of length 0": (put("tick_seconds", value=0), "tick_seconds: expected a positive number, got 0"),
    "ragged links": (
        put("links", "latency_ticks", 1, value=[0]),
        "links.latency_ticks[1]: expected a list of 2 entries",
    ),
    "negative latency": (
        put("links", "latency_ticks", 0, 1, value=-1),
        "links.latency_ticks[0][1]: expected at least 0, got -1.",
    ),
    "bandwidth 0": (
        put("links", "bytes_per_tick", 0, 1, value=0),
        "links.bytes_per_tick[0][1]: expected above 0, got 0",
    ),
    "dangling edge": (put("edges", 0, value=[0, 5, 1]), "edges[0]: expected tasks in 0..4, got 0 -> 5."),
    "edge to itself": (put("edges", 0, value=[2, 2, 1]), "edges[0]: expected two different tasks, got 2 -> 2."),
    "edge of two numbers": (put("edges", 1, value=[0, 2]), "edges[1]: expected [from, to, bytes]"),
    "negative bytes": (put("edges", 1, value=[0, 2, -1]), "edges[1]: expected at least 0 bytes, got -1."),
    "duplicate edge": (
        lambda document: document["edges"].append([0, 1, 3]),
        "edges[5]: expected each edge once, got 0 -> 1 ",
    ),
    "cycle": (lambda document: document["edges"].append([3, 0, 0]), "edges: expected no cycle, got "),
    "beyond 2**53": (
        put("tasks", 0, "durations", 1, value=2**53 + 1),
        "tasks[].durations: expected values up to 2**53",
    ),
    "horizon beyond 2**53": (
        lambda document: [task.update(durations=[2**52, 2**52]) for task in document["tasks"]],
        "tasks: expected a horizon of at most 2**53 ticks",
    ),
    "very long number": (put("tick_seconds", value=10**400), "tick_seconds: expected a positive number"),
}
"""What is wrong with an instance file, and the line that says so."""


@pytest.mark.parametrize("case", CHANGED_INSTANCES)
def test_broken_instance(case: str, run: Run, example_e: DagInstance, tmp_path: Path) -> None:
    """Tests that an instance file with one mistake is refused with the file, the place and what was expected."""
    change, expected = CHANGED_INSTANCES[case]
    document = copy.deepcopy(json.loads(dag_instance_to_json(example_e)))
    change(document)
    (tmp_path / "bad.json").write_text(json.dumps(document))
    refused(run("solve", "bad.json", "-m", "heft", "--json"), "bad.json: ", expected)


def refused(ended: Any, *parts: str) -> None:
    """Check the contract of a refusal."""
    assert (ended.status, ended.out) == (2, ""), ended
    assert ended.err.endswith("\n")
    assert ended.err.count("\n") == 1, ended.err
    assert "Traceback" not in ended.err
    for part in parts:
        assert part in ended.err


RAW_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "line 1, column 1: expected JSON"),
    "not JSON": (b'{"format": "optgap/dag",\n "version": 1,,}', "line 2, column 15: expected JSON"),
    "cut off": (b'{"format": "optgap/dag", "version"', "line 1, column 35: expected JSON"),
    "a list": (b"[1, 2]", "document: expected an object, got [1, 2]."),
    "NaN": (b'{"format": "optgap/dag", "version": NaN}', "expected finite numbers, got NaN."),
    "duplicate key": (b'{"format": "optgap/dag", "format": "optgap/dag"}', "format: expected each key once"),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\xff", "byte 0: expected UTF-8 text, got 0x89."),
    "deep nesting": (b"[" * 100_000, "expected JSON of moderate depth"),
    "huge integer": (b'{"format": "optgap/dag", "version": ' + b"9" * 5000 + b"}", "document: expected integers of"),
}
"""Contents of files that are no JSON objects."""


@pytest.mark.parametrize("case", RAW_FILES)
@pytest.mark.parametrize("command", ["solve", "bound", "verify"])
def test_broken_file(case: str, command: str, run: Run, tmp_path: Path) -> None:
    """Tests that every command that reads an instance refuses what is no JSON object."""
    content, expected = RAW_FILES[case]
    (tmp_path / "bad.json").write_bytes(content)
    more = ["schedule.json"] if command == "verify" else []
    refused(run(command, "bad.json", *more, "--json"), "bad.json: ", expected)


CHANGED_SCHEDULES: dict[str, tuple[Change, str]] = {
    "other instance": (put("instance_sha256", value="0" * 64), "instance_sha256: expected"),
    "other format": (put("format", value="optgap/dag"), 'format: expected "optgap/dag-schedule", got "optgap/dag".'),
    "start of a wrong type": (put("start", 2, value=1.5), "start[2]: expected an integer, got 1.5."),
    "GPU of a wrong type": (put("gpu", 0, value=None), "gpu[0]: expected an integer, got null."),
    "lengths differ": (put("start", value=[0]), "start: expected 5 entries, one per task, got 1."),
    "missing key": (drop("gpu"), "gpu: expected a list, got nothing."),
    "unknown key": (put("objective", value=15), "objective: expected no such key."),
}
"""What is wrong with a schedule file, and the line that says so."""


@pytest.mark.parametrize("case", CHANGED_SCHEDULES)
def test_broken_schedule(case: str, run: Run, example_e: DagInstance, example_file: str, tmp_path: Path) -> None:
    """Tests that a file that is no schedule of the instance is refused, unlike one that does not verify."""
    change, expected = CHANGED_SCHEDULES[case]
    schedule = DagSchedule(gpu=[0] * 5, start=[0, 4, 7, 10, 18])
    document = json.loads(dag_schedule_to_json(example_e, schedule))
    change(document)
    (tmp_path / "bad.json").write_text(json.dumps(document))
    refused(run("verify", example_file, "bad.json", "--json"), "bad.json: ", expected)


PUBLIC_FILES: dict[str, tuple[str, str]] = {
    "stg": ("2\n0 0 0\n1 x 1 0\n2 5 1 1\n3 0 1 2\n", "line 3: expected"),
    "dot": ("digraph { a -> }", "line 1, column "),
    "pipedream": ("node1 -- Conv -- forward_compute_time=fast\n", "line 1: expected"),
    "dnn-partitioning": ('{"nodes": 3}', "maxFPGAs: expected an integer"),
    "wfformat": ('{"name": "w", "workflow": []}', "schemaVersion: expected text"),
    "alibaba-v2018": ("M1,1,j_1,1,Terminated,5,x,100,0.5\n", "line 1: expected"),
    "heterogeneous-text": ("#tasks\n1 a\n", "line 1: expected #critical"),
    "chakra": ('{"workload_graph": [{"Id": 1}]}', "workload_graph[0]: expected a node with Id, Name, NodeType"),
    "csv": ("task,V100\na,fast\n", "line 2: expected a time in seconds, or - where it may not run, a number of at"),
}
"""One broken file per format that can be converted."""


@pytest.mark.parametrize("format_name", PUBLIC_FILES)
def test_broken_public_file(format_name: str, run: Run, tmp_path: Path) -> None:
    """Tests that every reader refuses a broken file, and that nothing is written."""
    content, expected = PUBLIC_FILES[format_name]
    (tmp_path / "bad.txt").write_text(content)
    refused(run("convert", "--from", format_name, "bad.txt", "-o", "i.json", "--json"), "bad.txt: ", expected)
    assert not (tmp_path / "i.json").exists()


HEFT = ("solve", "e.json", "-m", "heft")
WOA = ("solve", "e.json", "-m", "woa")
GENERATE = ("generate", "layered", "-o", "i.json")
CONVERT = ("convert", "e.json", "-o", "i.json", "--from")
PROFILE = ("convert", "--from", "pipedream", str(bundled_path("inception-block")), "-o", "i.json")

ARGUMENTS: list[tuple[tuple[str, ...], str]] = [
    ((), "optgap: expected a command"),
    (("slove", "e.json"), "optgap: expected a command (demo, generate, "),
    (("--verbose",), "--verbose: expected an option of optgap."),
    (("solve",), "FILE: expected a value for optgap solve, got nothing."),
    (("verify", "e.json"), "SCHEDULE: expected a value for optgap verify, got nothing."),
    (("solve", "e.json", "f.json"), "optgap solve: expected fewer arguments"),
    (("solve", "e.json", "--methd", "heft"), "--methd: expected an option of optgap solve (did you mean --method?)."),
    ((*HEFT, "--seed"), "--seed: expected a value after it."),
    ((*HEFT, "--json=1"), "--json: expected no value after it."),
    (("solve", "missing.json"), "missing.json: expected a file that can be read, got: no such file or directory."),
    (("solve", "."), ".: expected a file that can be read, got: is a directory."),
    (("solve", "e.json/x"), "e.json/x: expected a file that can be read, got: not a directory."),
    (("solve", "e.json", "--method", "hef"), "--method: expected one of cp-sat, down-sets, milp-"),
    (
        (*HEFT, "--objective", "cost"),
        "--objective: expected one of makespan, weighted_completion, stage_span, for jobs total_completion or ",
    ),
    ((*HEFT, "--seed", "x"), "--seed: expected an integer, got 'x'."),
    ((*HEFT, "--seed", "-1"), "--seed: expected an integer of at least 0, got -1."),
    ((*HEFT, "--threads", "0"), "--threads: expected an integer of at least 1, got 0."),
    ((*HEFT, "--time-limit", "0"), "--time-limit: expected a number above 0, got 0."),
    ((*HEFT, "--time-limit", "nan"), "--time-limit: expected a number above 0, got nan."),
    ((*HEFT, "--time-limit", "soon"), "--time-limit: expected a number, got 'soon'."),
    ((*HEFT, "--evaluations", "5"), "--evaluations: expected none for heft, which is no search; got 5."),
    ((*WOA, "--evaluations", "0"), "--evaluations: expected an integer of at least 1, got 0."),
    ((*WOA, "--set", "population"), "--set: expected KEY=VALUE, got 'population'."),
    ((*WOA, "--set", "whales=3"), "--set: expected a parameter of woa (population, "),
    ((*WOA, "--set", "population=many"), "--set population: expected an integer, got 'many'."),
    ((*WOA, "--set", "population=1"), "--set population: expected at least 2, got 1."),
    ((*WOA, "--set", "population=4", "--set", "population=5"), "--set population: expected each key once"),
    ((*WOA, "--set", "spiral=inf"), "--set spiral: expected a finite number, got 'inf'."),
    (
        ("solve", "e.json", "-m", "milp-gdp", "--set", "transformation=cut"),
        "--set transformation: expected bigm or mbigm",
    ),
    ((*HEFT, "--set", "insertion=maybe"), "--set insertion: expected true or false, got 'maybe'."),
    ((*HEFT, "--gantt", "g.jpg"), "g.jpg: expected a name that ends in .svg or .png."),
    ((*HEFT, "--gantt", "nowhere/g.svg"), "nowhere/g.svg: expected a file that can be written"),
    ((*HEFT, "--schedule-out", "."), ".: expected a file that can be written, got: is a directory."),
    ((*HEFT, "--threads", "2000"), "--threads: expected an integer of at most 1024, got 2000."),
    ((*HEFT, "--against", "woa"), "--against: expected one of cp-sat, down-sets, milp-"),
    ((*HEFT, "--schedule-out", "e.json"), "e.json: expected another file to write than the one that is read."),
    ((*HEFT, "--schedule-out", "s.svg", "--gantt", "./s.svg"), "s.svg: expected a file of its own for each output"),
    (("convert", "e.json", "--from", "stg", "-o", "e.json"), "e.json: expected another file to write"),
    ((*GENERATE, "--tasks", "1000001"), "--tasks: expected an integer of at most 1000000, got 1000001."),
    ((*GENERATE, "--set", "layers=10000000000"), "--set layers: expected an integer of at most 1000000000"),
    ((*GENERATE, "--tick-seconds", "1e300"), "--tick-seconds: expected a number in 1e-12..1e+06, got 1e+300."),
    ((*GENERATE, "--memory-tightness", "1e-9"), "--memory-tightness: expected 0 or a number in 0.001..1, got 1e-09."),
    ((*GENERATE, "--schedule-out", "s.json"), "--schedule-out: expected none for layered"),
    (("generate", "planted", "-o", "i.json", "--ccr", "1"), "--ccr: expected none for planted"),
    (("generate", "planted", "-o", "i.json", "--set", "certificate=x"), "--set certificate: expected area or path"),
    (("generate", "planted", "-o", "i.json", "--tasks", "1"), "--tasks: expected at least 4, got 1."),
    ((*PROFILE, "--set", "micro_batches=0"), "--set micro_batches: expected at least 1, got 0."),
    ((*PROFILE, "--set", "micro_batches=10000000000"), "--set micro_batches: expected an integer of at most"),
    ((*PROFILE, "--reference-kind", "V100"), "--reference-kind: expected one of K80, "),
    (("solve", "/dev/zero"), "/dev/zero: expected a regular file, got a device or a pipe."),
    (
        ("solve", "e.json", "-m", "ddqn", "--set", "weights=/dev/zero"),
        "ddqn, /dev/zero: expected a regular file, got",
    ),
    (("bound", "e.json", "--methods", "heft"), "--methods: expected one of critical-path, "),
    (("bound", "e.json", "--methods", "area,"), "--methods: expected one of critical-path, "),
    (("generate",), "FAMILY: expected the name of a family (see --list), got nothing."),
    (("generate", "layered"), "--output: expected a file to write, got nothing."),
    (("generate", "layred", "-o", "i.json"), "FAMILY: expected one of layered, "),
    (("generate", "layered", "-o", "nowhere/i.json"), "nowhere/i.json: expected a file that can be written"),
    ((*GENERATE, "--tasks", "0"), "--tasks: expected an integer of at least 1, got 0."),
    ((*GENERATE, "--tasks", "9.5"), "--tasks: expected an integer, got '9.5'."),
    ((*GENERATE, "--gpus", "mixd-4"), "--gpus: expected a preset (mixed-2, "),
    ((*GENERATE, "--gpus", "2xT5"), "--gpus: expected "),
    ((*GENERATE, "--gpus", "0xT4"), "--gpus: expected at least one GPU on server 's0', got none."),
    ((*GENERATE, "--gpus", "2 T4 please"), "--gpus: expected a preset or COUNTxKIND+...,... such as 2xT4+1xP100"),
    ((*GENERATE, "--ccr", "-1"), "--ccr: expected a number in 0..1e+06, got -1."),
    ((*GENERATE, "--forbidden", "1.5"), "--forbidden: expected a number in 0..1, got 1.5."),
    ((*GENERATE, "--tick-seconds", "0"), "--tick-seconds: expected a number in 1e-12..1e+06, got 0."),
    ((*GENERATE, "--tick-seconds", "1e-200"), "--tick-seconds: expected a number in 1e-12..1e+06, got 1e-200."),
    ((*GENERATE, "--tick-seconds", "1", "--mean-ticks", "9"), "--mean-ticks: expected nothing beside --tick-seconds"),
    ((*GENERATE, "--set", "layers=0"), "--set layers: expected "),
    ((*GENERATE, "--set", "tasks=5"), "--set: expected a parameter of layered (layers, "),
    (("generate", "multi-tenant", "-o", "i.json", "--set", "families=x"), "--set families[0]: expected one of layered"),
    (("convert", "--from", "stg", "-o", "i.json"), "FILE: expected a file to read, got nothing."),
    (("convert", "e.json", "-o", "i.json"), "--from: expected the name of a format (see --list), got nothing."),
    (("convert", "e.json", "--from", "stg"), "--output: expected a file to write, got nothing."),
    ((*CONVERT, "gpx"), "--from: expected one of stg, dot, "),
    ((*CONVERT, "stg", "--set", "gpus=4"), "--set gpus: expected one of num_gpus, "),
    ((*CONVERT, "stg", "--set", "num_gpus=x"), "--set num_gpus: expected an integer, got 'x'."),
    ((*CONVERT, "stg", "--set", "cluster=mixed-4"), "--set cluster: expected its own option, --gpus"),
    ((*CONVERT, "dot", "--set", "processors=4"), "--set processors: expected its own option, --processors"),
    ((*CONVERT, "dot", "--processors", "0"), "--processors: expected an integer of at least 1, got 0."),
    ((*CONVERT, "pipedream", "--processors", "4"), "--processors: expected none for format pipedream, which"),
    ((*CONVERT, "philly", "--scale", "4"), "--scale: expected none for format philly, which has no such option."),
    ((*CONVERT, "stg", "--durations", "no.csv"), "no.csv: expected a file that can be read, got: no such file"),
    ((*CONVERT, "heterogeneous-text", "--gpus", "mixed-4"), "--gpus: expected none for format heterogeneous-text"),
    (("demo", "--out", "e.json"), "e.json: expected a file that can be written, got: file exists."),
    (
        ("solve", "e.json", "--method", "worl-rtgs", "--evaluations", "50", "--set", "weights=none.npz"),
        "worl-rtgs: expected a file that can be read, got 'none.npz': no such file",
    ),
    (("demo", "--time-limit", "-3"), "--time-limit: expected a number above 0, got -3."),
]
"""Arguments beside a good file `e.json`, and the line that refuses them."""


@pytest.mark.parametrize(
    ("arguments", "expected"), ARGUMENTS, ids=[" ".join(arguments)[:60] for arguments, _ in ARGUMENTS]
)
def test_misuse(arguments: tuple[str, ...], expected: str, run: Run, example_file: str) -> None:
    """Tests that misuse is refused with the option or file and what was expected there."""
    refused(run(*arguments), expected)
    assert sorted(path.name for path in Path.cwd().iterdir()) == [example_file]


MISSPELT = [
    (("slove", "e.json"), "solve"),
    (("study", "plan-distanse"), "plan-distance"),
    (("library", "chek"), "check"),
    (("solve", "e.json", "--method", "hetf"), "heft"),
    (("solve", "e.json", "--method", "srft"), "srtf"),
    (("solve", "e.json", "--against", "down_set"), "down-sets"),
    (("solve", "e.json", "--objective", "makspan"), "makespan"),
    (("solve", "e.json", "--contention", "nci"), "nic"),
    ((*WOA, "--set", "populaton=9"), "population"),
    (("bound", "e.json", "--methods", "area,critcal-path"), "critical-path"),
    (("generate", "layred", "-o", "i.json"), "layered"),
    (("generate", "jobs-posson", "-o", "i.json"), "jobs-poisson"),
    ((*GENERATE, "--set", "layer=3"), "layers"),
    ((*CONVERT, "pipedraem"), "pipedream"),
    ((*CONVERT, "stg", "--set", "num_gpu=4"), "num_gpus"),
    (("train", "marl-gosip", "-o", "w.npz"), "marl-gossip"),
    (("library", "list", "--family", "choleksy"), "cholesky"),
    (("library", "update", "dag-000", "--methods", "hetf"), "heft"),
    (("study", "run", "whaels"), "whales"),
    # What is misspelt is told before what is missing.
    (("solve", "--method", "hetf"), "heft"),
    (("verify", "--contention", "nci"), "nic"),
    (("bound", "--methods", "area,critcal-path"), "critical-path"),
    (("generate", "layred"), "layered"),
    (("generate", "--gpus", "mixd-4"), "mixed-4"),
    (("convert", "--from", "stgg"), "stg"),
    (("train", "marl-gosip"), "marl-gossip"),
    (("study", "table", "--what", "gasp"), "gaps"),
    (("study", "table", "--statistic", "medain"), "median"),
    (("study", "plot", "--format", "pgn"), "png"),
    (("study", "plot", "--what", "box-plot"), "box-plots"),
    (("study", "adversary", "hetf"), "heft"),
    (("study", "adversary", "--changes", "egdes"), "edges"),
    (("study", "prediction", "--predictors", "orcale"), "oracle"),
    (("library", "show", "--objective", "makspan"), "makespan"),
]
"""Arguments with a misspelt name, and the name that is meant."""


@pytest.mark.parametrize(("arguments", "meant"), MISSPELT, ids=[" ".join(arguments) for arguments, _ in MISSPELT])
def test_a_misspelt_name_is_recognised(arguments: tuple[str, ...], meant: str, run: Run, example_file: str) -> None:
    """Tests that the nearest command, method, family, format, preset, parameter or entry is suggested, and no other."""
    refused(run(*arguments), "", f" (did you mean {meant}?).\n")


def test_output_is_checked_before_work(
    run: Run, example_e: DagInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a file that cannot be written is told before a method runs, and that an old file survives."""
    write_dag_instance(example_e, tmp_path / "e.json")
    monkeypatch.setattr("solvers.solve.solve", lambda *arguments, **options: pytest.fail("the method ran"))
    (tmp_path / "old.json").write_text("old")
    refused(run(*HEFT, "--schedule-out", "old.json", "--gantt", "nowhere/g.svg"), "nowhere/g.svg: expected")
    assert (tmp_path / "old.json").read_text() == "old"


def test_control_characters_stay_on_one_line(run: Run) -> None:
    """Tests that line ends and escape sequences in arguments do not reach the terminal."""
    refused(run("solve", "a\nb\x1b[31m.json"), "a b\\x1b[31m.json: expected a file that can be read")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_under_stdout() -> None:
    """Tests that an answer that cannot be written leaves the exit status as it is and is told in one line."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "studies.cli.main", "--version"]
        root = Path(__file__).parents[3]
        ended = subprocess.run(command, cwd=root, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 0
    assert ended.stderr == "stdout: expected room for the answer, got: no space left on device.\n"
