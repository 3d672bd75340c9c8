"""Tests of the checker of certificates: what it accepts is true, and edits do not change what it accepts."""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.certificates import BoundCertificate, bound_certificate
from formulations.dag.bounds.placed_paths import placed_paths_proof
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.generators.dag.generate import generate
from optgap import check_certificate
from optgap.check_certificate import Instance, Known, check
from solvers.solve import solve
from tests.brute_force import optimum
from tests.formulations.dag.test_ancestor_balls import chain
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.schedule import DagSchedule

CHECKER = Path(check_certificate.__file__)
TIGHT = CostModel(memory_tightness=0.8, ccr=1.0)


def written(instance: DagInstance, objective: Objective, folder: Path) -> tuple[str, str]:
    """Write an instance and the certificate of its best bound; return the two paths."""
    write_dag_instance(instance, folder / "instance.json")
    made = bound_certificate(instance, objective, most_cases=40)
    (folder / "certificate.txt").write_text(made.text(objective))
    return str(folder / "instance.json"), str(folder / "certificate.txt")


@given(instance=dag_instances(max_tasks=6, max_jobs=3), objective=st.sampled_from(FINISH_OBJECTIVES))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_accepted_is_true(instance: DagInstance, objective: Objective, tmp_path: Path) -> None:
    """Tests against brute force that every certificate is accepted and proves no more than the optimum."""
    proved = check(*written(instance, objective, tmp_path))
    best = optimum(instance, objective)
    assert proved[0] == objective
    assert best is None or proved[1] <= best


@pytest.mark.slow
@given(instance=dag_instances(max_tasks=7, max_jobs=3), objective=st.sampled_from(FINISH_OBJECTIVES))
@settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_accepted_is_true_at_length(instance: DagInstance, objective: Objective, tmp_path: Path) -> None:
    """Tests the same on many more instances."""
    best = optimum(instance, objective)
    assert best is None or check(*written(instance, objective, tmp_path))[1] <= best


def edited(lines: Sequence[str], rng: random.Random) -> list[str]:
    """Change a number, remove, repeat or exchange lines, at random."""
    lines, place = list(lines), rng.randrange(len(lines))
    words = lines[place].split()
    numbers = [index for index, word in enumerate(words) if word.isdecimal()]
    kind = rng.randrange(6)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(place, lines[rng.randrange(len(lines))])
    elif kind == 2:
        other = rng.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    elif numbers:
        index = rng.choice(numbers)
        value = int(words[index])
        words[index] = str(rng.choice([value + 1, max(0, value - 1), 0, 2 * value, rng.randrange(2 * value + 2)]))
        lines[place] = " ".join(words)
    return lines


def refused_edits(paths: tuple[str, str], edits: int) -> None:
    """Assert that edits of a certificate are refused, many of them, or are accepted with the same claim."""
    lines = Path(paths[1]).read_text().splitlines()
    claim, rng, refused = check(*paths), random.Random(1), 0
    for _ in range(edits):
        Path(paths[1]).write_text("\n".join(edited(lines, rng)) + "\n")
        try:
            assert check(*paths) == claim
        except (ValueError, LookupError, TypeError):
            refused += 1
    assert refused > edits / 4


CASES = [
    ("cholesky", Objective.MAKESPAN, "refuted"),
    ("chains", Objective.MAKESPAN, "refuted"),
    ("independent", Objective.MAKESPAN, "refuted"),
    ("layered", Objective.WEIGHTED_COMPLETION, "refuted"),
    ("unrelated-machines", Objective.WEIGHTED_COMPLETION, "columns"),
]


@pytest.mark.parametrize("edits", [25, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("family", "objective", "kind"), CASES)
def test_no_edit_changes_an_accepted_claim(
    family: str, objective: Objective, kind: str, edits: int, tmp_path: Path
) -> None:
    """Tests that random edits are refused, or are accepted with the very same claim, such as a needless line less."""
    instance = generate(family, tasks=9, seed=3, cost=CostModel() if family == "independent" else TIGHT)
    refused_edits(written(instance, objective, tmp_path), edits)


@pytest.mark.parametrize("edits", [50, pytest.param(2_000, marks=pytest.mark.slow)])
def test_no_edit_changes_an_accepted_claim_by_paths(edits: int, tmp_path: Path) -> None:
    """Tests the same where paths, loads and prices of bytes prove the bound together."""
    instance = generate("gaussian-elimination", tasks=9, seed=3, cost=CostModel(memory_tightness=0.9, ccr=1.0))
    proof = placed_paths_proof(instance)
    assert proof is not None
    text = BoundCertificate(proof[0], "refuted", proof[1]).text(Objective.MAKESPAN)
    assert {line.split()[0] for line in proof[1]} >= {"edge", "memory"}
    paths = (str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt"))
    write_dag_instance(instance, Path(paths[0]))
    Path(paths[1]).write_text(text)
    refused_edits(paths, edits)


@pytest.mark.parametrize("edits", [50, pytest.param(2_000, marks=pytest.mark.slow)])
def test_no_edit_changes_an_accepted_claim_by_ancestors(edits: int, tmp_path: Path) -> None:
    """Tests the same where heads from all ancestors prove the bound: memory holds two tasks of a chain of six."""
    paths = written(chain(6, 3, 2), Objective.MAKESPAN, tmp_path)
    assert "ancestors" in Path(paths[1]).read_text()
    refused_edits(paths, edits)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("bound", "bound 8"), "expected 7"),
        (("bound", "bound 012"), "bound 012': expected .*'bound': 1"),
        (("objective", "objective stage_span"), "a known objective"),
        (("proof", "proof word-of-honour"), "kind of proof"),
        (("deadline", "deadline 99"), "expected more work than there is time"),
        (("suppose", "suppose 99 0"), "suppose 99 0: expected a task and a GPU"),
        (("suppose", "before 1 1"), "before 1 1: expected .* two on one GPU"),
        (("suppose", "before 0 1"), "before 0 1: expected .* two on one GPU"),
        (("suppose", "window 0 5 5 1"), "expected more work than there is time"),
        (("suppose", "window 0 9 1 1"), "expected more work than there is time"),
        (("suppose", "window 9 0 5 1"), "expected more work than there is time"),
        (("suppose", "gpus 0"), "expected more work than there is time"),
        (("suppose", "times 0 2"), "expected more work than there is time"),
        (("suppose", "times 0"), "times 0': expected .*'times': 2"),
        (("suppose", "late 99 0"), "or one, or a job, and a tick"),
        (("suppose", "task 0 1"), "expected more work than there is time"),
        (("suppose", "edge 0 1 0 0 1"), "edge 0 1: expected an edge of the instance or a chosen order"),
        (("suppose", "edge 0 1 0 1"), "edge 0 1 0 1': expected .*'edge': 5"),
        (("suppose", "edge 0 1 0 0 -1"), "edge 0 1 0 0 -1': expected .* integers of at least 0"),
        (("contradiction", "believe 1"), "believe 1': expected a word"),
        (("end", "contradiction\nend"), "nothing after it"),
    ],
)
def test_what_is_wrong_is_said(change: tuple[str, str], why: str, tmp_path: Path) -> None:
    """Tests the reasons for a refusal, line by line: five tasks of 3 ticks do not end by tick 6 on two GPUs."""
    write_dag_instance(DagInstance.from_lists([[3, 3]] * 5), tmp_path / "instance.json")
    loads = "window 0 0 6 1\nwindow 1 0 6 1\ncontradiction\n"
    text = "optgap-certificate 1\nobjective makespan\nbound 7\nproof refuted\ndeadline 6\nsuppose 0 0\nsuppose 0 1\n"
    text += f"contradiction\n{loads}{loads}end\n"
    (tmp_path / "certificate.txt").write_text(text)
    assert check(str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt")) == ("makespan", 7)
    lines = text.splitlines()
    place = next(index for index, line in enumerate(lines) if line.startswith(change[0]))
    lines[place] = f"{change[1]}\n{lines[place]}" if change[0] == "contradiction" else change[1]
    (tmp_path / "certificate.txt").write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=why):
        check(str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[0, 1, 0]", "[0, 1, 0], [0, 1, 0]"),  # counted twice on one GPU
        ('"memory_bytes": 0', f'"memory_bytes": {2**62 + 1}'),  # not more than an unlimited GPU holds
        ('"durations": [2]', f'"durations": [{2**62}]'),  # not longer than any time
        ('"durations": [2]', '"durations": [0.1]'),
        ('"durations": [2]', '"durations": [-3]'),
        ('"durations": [2]', '"durations": [NaN]'),
        ('"durations": [2]', '"durations": [true]'),
        ('"durations": [2]', '"durations": [2], "durations": [30]'),
        ('"weight": 1', '"weight": -1'),
        ('"job": 0', '"job": -1'),
        ('"weight": 1', '"weight": null'),
        ("[0, 1, 0]", "[0, 1, null]"),
        ('"durations": [2]', '"durations": [2, 3]'),  # more than there are GPUs
        ('"latency_ticks": [[0]]', '"latency_ticks": [[0, 7]]'),
    ],
)
def test_a_file_that_is_no_instance_is_refused(before: str, after: str, tmp_path: Path) -> None:
    """Tests that a false bound cannot be had from numbers, keys or edges that no instance may have."""
    instance, certificate = tmp_path / "instance.json", tmp_path / "certificate.txt"
    write_dag_instance(DagInstance.from_lists([[2], [3]], edges=[(0, 1, 0)]), instance)
    certificate.write_text(
        "optgap-certificate 1\nobjective makespan\nbound 5\nproof refuted\ndeadline 4\ncontradiction\nend\n"
    )
    assert check(str(instance), str(certificate)) == ("makespan", 5)
    text = instance.read_text()
    assert before in text
    instance.write_text(text.replace(before, after, 1))
    with pytest.raises(ValueError, match="the instance: expected integers"):
        check(str(instance), str(certificate))


@pytest.mark.parametrize("orders", ["before 1 0", "before 1 2\nbefore 2 1"])
def test_an_order_against_one_that_is_there_is_refused(orders: str, tmp_path: Path) -> None:
    """Tests that neither an edge nor a choice between two tasks is followed by the opposite order."""
    write_dag_instance(DagInstance.from_lists([[2], [3], [4]], edges=[(0, 1, 0)]), tmp_path / "instance.json")
    lines = ["optgap-certificate 1", "objective makespan", "bound 30", "proof refuted", "deadline 29", orders, "end"]
    (tmp_path / "certificate.txt").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="cycle"):
        check(str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt"))


def test_an_order_that_is_there_already_does_not_count_twice(tmp_path: Path) -> None:
    """Tests that a choice between two tasks with an edge, or the same choice again, tells nothing."""
    write_dag_instance(DagInstance.from_lists([[2], [3], [4]], edges=[(0, 1, 0)]), tmp_path / "instance.json")
    state = Known(Instance((tmp_path / "instance.json").read_text()), "makespan", 30)
    once = state.with_choice("before", 1, 2)
    again = once.with_choice("before", 0, 1).with_choice("before", 1, 2)
    assert again.rows == once.rows == [[[0], [2], [5]], [[7], [4], [0]]]


def test_completions_of_jobs_add_up_to_a_weighted_completion(tmp_path: Path) -> None:
    """Tests two jobs of which the last ends at 5 at least, one by case: then the weights of the other case count."""
    instance = DagInstance.from_lists([[2], [3]], job_of_task=[0, 1], release=[0, 0], weight=[1, 4])
    write_dag_instance(instance, tmp_path / "instance.json")
    lines = ["finish 0 5", "finish 1 5", "window 0 0 4 1", "contradiction", "contradiction"]
    text = "\n".join(
        ["optgap-certificate 1", "objective weighted_completion", "bound {}", "proof refuted", "deadline {}", *lines]
    )
    (tmp_path / "certificate.txt").write_text(text.format(17, 16) + "\ncontradiction\nend\n")
    assert check(str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt")) == ("weighted_completion", 17)
    (tmp_path / "certificate.txt").write_text(text.format(18, 17) + "\ncontradiction\nend\n")
    with pytest.raises(ValueError, match="expected more work"):
        check(str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt"))


@pytest.mark.parametrize(
    "instance",
    [
        DagInstance.from_lists(
            [[1], [3], [3], [2]], job_of_task=[2, 2, 2, 0], release=[0, 1, 1, 3], weight=[1, 3, 1, 0]
        ),
        DagInstance.from_lists([[8], [1], [7]], [(0, 1, 0)], job_of_task=[1, 0, 1], release=[3, 6], weight=[1, 3]),
        DagInstance.from_lists(
            [[2], [1], [3]], [(0, 2, 0)], job_of_task=[2, 2, 1], release=[0, 0, 0], weight=[2, 5, 3]
        ),
    ],
    ids=["a-job-without-tasks", "an-edge-between-jobs", "an-edge-between-jobs-of-three"],
)
def test_weighted_completions_of_odd_jobs_have_certificates(instance: DagInstance, tmp_path: Path) -> None:
    """Tests that what is written about jobs without tasks, and jobs joined by edges, is accepted and true."""
    certificate = bound_certificate(instance, Objective.WEIGHTED_COMPLETION)
    write_dag_instance(instance, tmp_path / "instance.json")
    (tmp_path / "certificate.txt").write_text(certificate.text(Objective.WEIGHTED_COMPLETION))
    accepted = check(str(tmp_path / "instance.json"), str(tmp_path / "certificate.txt"))
    assert accepted == ("weighted_completion", certificate.bound)
    assert certificate.bound <= int(optimum(instance, Objective.WEIGHTED_COMPLETION) or 0)


def random_loads(state: Known, rng: random.Random) -> list[tuple[str | int, ...]]:
    """Return multipliers of everything that lines may price, among them edges that were chosen."""
    one, numbers = state.instance, range(state.instance.n)
    loads: list[tuple[str | int, ...]] = [("task", rng.choice(numbers), rng.randrange(3)) for _ in range(2)]
    loads += [("memory", k, rng.randrange(3)) for k in one.gpus if one.capacity[k] is not None]
    loads += [("window", k, rng.randrange(9), rng.randrange(30), rng.randrange(3)) for k in one.gpus]
    for i, h in [(i, h) for i in numbers for h in state.before[i]]:
        loads.append(("edge", h, i, *(rng.randrange(9) for _ in one.gpus), rng.randrange(3)))
    return rng.sample(loads, rng.randint(1, len(loads)))


STEPS = ("suppose", "before", "finish", "early", "late", "gpus", "times", "reduce", "ancestors", "descendants")


def next_state(state: Known, schedule: DagSchedule, rng: random.Random) -> Known:
    """Return what follows from one step that a certificate may take, where the schedule keeps to what is chosen."""
    start, tasks = schedule.start.tolist(), range(state.instance.n)
    i, j, tick = rng.choice(tasks), rng.choice(tasks), rng.randrange(20)
    step = rng.choice(list(STEPS))
    if step == "suppose":
        k = rng.choice(state.instance.gpus)
        return state.with_choice("suppose", i, k, k == schedule.gpu[i])
    if (step in ("early", "late", "times") and not state.is_makespan) or (step == "finish" and state.is_makespan):
        return state
    if step in ("early", "late"):
        return state.with_choice(step, i, tick, (start[i] < tick) == (step == "early"))
    if step == "finish":
        one, job = state.instance, rng.randrange(len(state.instance.weight))
        ends = [start[h] + one.duration[h][k] for h, k in enumerate(schedule.gpu.tolist()) if one.job[h] == job]
        tick = max([one.release[job], *ends]) + rng.randrange(-1, 2)
        return state.with_choice("finish", job, max(0, tick), max([one.release[job], *ends]) < max(0, tick))
    if step == "before":
        try:
            return state.with_choice("before", i, j, start[i] < start[j])
        except ValueError:  # not on one GPU as far as is known, or against an order that is there
            return state
    if step in ("ancestors", "descendants"):
        state.look_far(i, step == "ancestors")
    elif step == "reduce":
        state.weigh(random_loads(state, rng))
        state.settle(tasks)
    else:
        on_gpus = [("suppose", i, k) for k in state.allowed[i]]
        state.keep_common(on_gpus if step == "gpus" else [("early", i, tick), ("late", i, tick)])
    return state


def keeps_a_schedule(instance: DagInstance, objective: Objective, rng: random.Random, folder: Path) -> None:
    """Assert that all steps agree with an optimal schedule if its objective is the limit."""
    found = solve(instance, "cp-sat", objective=str(objective), threads=1, seed=1)
    if found.schedule is None:
        return
    gpu, start = found.schedule.gpu.tolist(), found.schedule.start.tolist()
    finish = [start[i] + int(instance.durations[i, k]) for i, k in enumerate(gpu)]
    completion = [
        max([f for f, job in zip(finish, instance.job_of_task, strict=True) if job == j], default=0)
        for j in range(instance.num_jobs)
    ]
    end = found.objective if objective == Objective.MAKESPAN else max(finish)
    write_dag_instance(instance, folder / "instance.json")
    state = Known(Instance((folder / "instance.json").read_text(encoding="utf-8")), objective, found.objective)
    for _ in range(15):
        state = next_state(state, found.schedule, rng)
        for i, k in enumerate(gpu):
            assert k in state.allowed[i]
            assert state.rows[0][i][k] <= start[i]
            assert state.rows[1][i][k] <= end - finish[i]
            assert (
                state.rows[-1][i][k] <= (end if state.is_makespan else completion[instance.job_of_task[i]]) - finish[i]
            )


@given(
    instance=dag_instances(max_tasks=6, max_jobs=3), objective=st.sampled_from(FINISH_OBJECTIVES), seed=st.integers(0)
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_step_loses_an_optimal_schedule(
    instance: DagInstance, objective: Objective, seed: int, tmp_path: Path
) -> None:
    """Tests that random steps of proofs, in any order, keep what an optimal schedule does."""
    keeps_a_schedule(instance, objective, random.Random(seed), tmp_path)


@pytest.mark.slow
@given(
    instance=dag_instances(max_tasks=7, max_jobs=3), objective=st.sampled_from(FINISH_OBJECTIVES), seed=st.integers(0)
)
@settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_step_loses_an_optimal_schedule_at_length(
    instance: DagInstance, objective: Objective, seed: int, tmp_path: Path
) -> None:
    """Tests the same on many more instances."""
    keeps_a_schedule(instance, objective, random.Random(seed), tmp_path)


@pytest.mark.parametrize("diagonal", [0, None, -1, "none"])
def test_the_diagonal_of_links_is_ignored(diagonal: object, tmp_path: Path, example_e: DagInstance) -> None:
    """Tests that links from a GPU to itself may be anything, as in the instance's format."""
    paths = written(example_e, Objective.MAKESPAN, tmp_path)
    claim, document = check(*paths), json.loads(Path(paths[0]).read_text())
    for key in ("bytes_per_tick", "latency_ticks"):
        for k, row in enumerate(document["links"][key]):
            row[k] = diagonal
    Path(paths[0]).write_text(json.dumps(document))
    assert check(*paths) == claim


def test_compressed_data_that_end_early_or_are_damaged_are_refused_in_one_line(
    tmp_path: Path, example_e: DagInstance
) -> None:
    """Tests the command on a compressed instance, every file of which is cut off or changed at some byte."""
    instance, certificate = tmp_path / "instance.json.gz", written(example_e, Objective.MAKESPAN, tmp_path)[1]
    write_dag_instance(example_e, instance)
    data = instance.read_bytes()
    cut, place = len(data) // 2, len(data) // 3
    for damaged in (data[:cut], data[: len(data) - 8], data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]):
        instance.write_bytes(damaged)
        command = [sys.executable, "-I", str(CHECKER), str(instance), certificate]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("refused: ")
        assert done.stderr.count("\n") == 1


def test_the_file_runs_alone_and_says_what_is_proved(tmp_path: Path, example_e: DagInstance) -> None:
    """Tests the command in an isolated Python, accepted with status 0 and refused with status 1, also compressed."""
    instance, certificate = written(example_e, Objective.MAKESPAN, tmp_path)
    write_dag_instance(example_e, tmp_path / "instance.json.gz")
    for path in (instance, f"{instance}.gz"):
        command = [sys.executable, "-I", str(CHECKER), path, certificate]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
        assert done.stdout.startswith("proved: makespan at least ")
    Path(certificate).write_text("end\n")
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr.startswith("refused: expected the lines")) == (1, True)
    assert subprocess.run(command[:3], capture_output=True, check=False).returncode == 1


def test_the_checker_is_short_and_needs_only_python() -> None:
    """Tests that the file has at most 300 lines and imports modules of the standard library alone."""
    text = CHECKER.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    nodes = list(ast.walk(ast.parse(text)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
