"""Tests of `optgap adversary` and of what it stores."""

from __future__ import annotations

import csv
import json
import shutil
import signal
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from heuristics.search.progress import Callback
from instances.dag.json import read_dag_instance, read_dag_schedule
from solvers.backends.second_opinion import Opinion
from solvers.solve import solve
from studies.adversary import run as run_adversary_module
from studies.adversary.certificate import AdversaryFolder, check_certificate
from studies.adversary.run import ratio_figure

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole


SMALL = ("--tasks", "5", "--gpus", "mixed-2", "--max-duration", "9", "--steps", "14", "--random", "3")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of one search; tests that tamper with it copy it first."""
    from studies.cli.main import main

    folder = tmp_path_factory.mktemp("adversary") / "w"
    with pytest.raises(SystemExit) as ending:
        main(("study", "adversary", "min-min", "--out", str(folder), *SMALL, "--searches", "2"))
    assert ending.value.code == 0
    return folder


def certificate_of(folder: Path) -> dict[str, Any]:
    """Read a certificate."""
    document: dict[str, Any] = json.loads((folder / "certificate.json").read_text())
    return document


def test_a_search_leaves_everything_that_is_needed_to_believe_it(stored: Path) -> None:
    """Tests names, ratio, confirmation, trace, schedules and figure of a stored search."""
    document = certificate_of(stored)
    assert document["ratio"] == document["heuristic"]["objective"] / document["optimum"] > 1.0
    assert document["proof"]["confirmed_by"] is not None
    assert (document["random_instances"]["count"], document["random_instances"]["with_ratio"]) == (3, 3)
    assert document["random_instances"]["mean"] >= 1.0
    instance = read_dag_instance(stored / "instance.json")
    assert instance.sha256 == document["instance_sha256"]
    assert (instance.num_tasks, instance.num_gpus) == (5, 2)
    for name in ("heuristic", "optimal"):
        read_dag_schedule(stored / f"{name}.json", instance)
    with (stored / "trace.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 15
    assert float(rows[-1]["best"]) == document["ratio"]
    counted = document["search"]["decisions"]
    assert sum(counted.values()) == len(rows)
    assert (stored / "ratio.png").read_bytes().startswith(b"\x89PNG")
    assert not list(stored.glob(".*"))


def test_same_seed_same_bytes(stored: Path, run: Run, tmp_path: Path) -> None:
    """Tests that the same command writes the same certificate and trace, byte for byte, and --json says the same."""
    document = run("study", "adversary", "min-min", "--out", "w", *SMALL, "--searches", "2", "--json").document
    for name in ("certificate.json", "trace.csv", "instance.json"):
        assert (tmp_path / "w" / name).read_bytes() == (stored / name).read_bytes()
    assert (document["folder"], document["is_interrupted"]) == ("w", False)
    assert document["ratio"] == certificate_of(stored)["ratio"]
    assert "instance" not in document


def test_a_certificate_verifies(stored: Path, run: Run) -> None:
    """Tests the command on a certificate that holds, as text and as JSON."""
    ended = run("study", "adversary", "--verify", str(stored))
    assert (ended.status, ended.out) == (
        0,
        f"{stored}: everything in the certificate that can be computed again holds.\n",
    )
    ended = run("study", "adversary", "--verify", str(stored), "--json")
    assert (ended.status, ended.document["holds"], ended.document["problems"]) == (0, True, [])


def _worse_optimum(document: dict[str, Any]) -> None:
    document["optimum"] -= 1


def _larger_ratio(document: dict[str, Any]) -> None:
    document["ratio"] *= 1.01


def _shorter_task(document: dict[str, Any]) -> None:
    tasks = document["instance"]["tasks"]
    tasks[0]["durations"][0] = tasks[0]["durations"][0] % 9 + 1


def _beyond_the_range(document: dict[str, Any]) -> None:
    document["search"]["ranges"]["max_duration"] = 1


def _another_seed(document: dict[str, Any]) -> None:
    document["search"] |= {"seed": 1, "family": document["search"]["family"]}


def _fewer_steps(document: dict[str, Any]) -> None:
    document["search"]["decisions"]["started"] -= 1


def _earlier_start(document: dict[str, Any]) -> None:
    schedule = document["schedules"]["heuristic"]
    late = max(range(5), key=lambda task: schedule["start"][task])
    schedule["start"][late] = 0


def _another_heuristic(document: dict[str, Any]) -> None:
    document["heuristic"]["method"] = "cp-sat"


def _no_heuristic(document: dict[str, Any]) -> None:
    document["heuristic"]["method"] = "nobody:knows"


def _not_optimal(document: dict[str, Any]) -> None:
    document["schedules"]["optimal"] = document["schedules"]["heuristic"]
    document["optimum"] = document["heuristic"]["objective"]
    document["ratio"] = document["ratio_to_optimum"] = 1.0


def _kinder_random_instances(document: dict[str, Any]) -> None:
    document["random_instances"]["mean"] = 1.0


def _other_seeds(document: dict[str, Any]) -> None:
    document["heuristic"]["objectives_of_other_seeds"] = [1]


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (_worse_optimum, "objective of optimal: expected"),
        (_larger_ratio, "ratio: expected"),
        (_shorter_task, "instance_sha256: expected"),
        (_beyond_the_range, "instance: expected one inside the ranges"),
        (_another_seed, "search_sha256: expected"),
        (_fewer_steps, "search.decisions: expected"),
        (_earlier_start, "schedules.heuristic: expected no violation"),
        (_another_heuristic, "heuristic, run again: expected"),
        (_no_heuristic, "heuristic: expected a run that can be repeated"),
        (_not_optimal, "optimum: expected"),
        (_kinder_random_instances, "random_instances.mean: expected"),
        (_other_seeds, "heuristic, run with other seeds: expected"),
    ],
)
def test_a_tampered_certificate_does_not(stored: Path, tmp_path: Path, run: Run, tamper: Any, problem: str) -> None:
    """Tests that each part of the claim is checked: what was changed is named, and the exit status is 1."""
    folder = tmp_path / "copy"
    shutil.copytree(stored, folder)
    document = certificate_of(folder)
    tamper(document)
    (folder / "certificate.json").write_text(json.dumps(document))
    ended = run("study", "adversary", "--verify", "copy")
    assert ended.status == 1
    assert any(line.startswith(problem) for line in ended.out.splitlines()), ended.out


def test_files_beside_a_certificate_must_agree_with_it(stored: Path, tmp_path: Path) -> None:
    """Tests that a missing or another instance beside the certificate is told, and that a missing schedule is not."""
    folder = tmp_path / "copy"
    shutil.copytree(stored, folder)
    (folder / "optimal.json").unlink()
    assert check_certificate(folder) == []
    text = (folder / "instance.json").read_text()
    (folder / "instance.json").write_text(text.replace('"name": "', '"name": "my ', 1))
    told = ["instance.json: expected what the certificate holds, got something else."]
    assert check_certificate(folder) == told
    (folder / "instance.json").write_text("{")
    assert check_certificate(folder) == told
    (folder / "instance.json").unlink()
    assert check_certificate(folder) == [
        "instance.json: expected a file that can be read, got: No such file or directory."
    ]


def test_a_rival_and_other_seeds_are_stored(run: Run, tmp_path: Path) -> None:
    """Tests a randomised heuristic against another one: denominators, ten other seeds, and a certificate that holds."""
    options = ("--against", "heft", "--evaluations", "3", "--set", "heft-seed=no", *SMALL)
    ended = run("study", "adversary", "random-search", "--out", "w", *options)
    assert ended.status == 0
    assert "of heft)" in ended.out
    assert "with 10 other seeds there" in ended.out
    document = certificate_of(tmp_path / "w")
    assert document["ratio"] == document["heuristic"]["objective"] / document["rival"]["objective"]
    assert document["ratio_to_optimum"] == document["heuristic"]["objective"] / document["optimum"]
    assert len(document["heuristic"]["objectives_of_other_seeds"]) == 10
    assert document["heuristic"]["parameters"] == {"heft_seed": False}
    assert (tmp_path / "w" / "rival.json").is_file()
    assert check_certificate(tmp_path / "w") == []


def test_a_file_can_be_the_start(run: Run, example_file: str, tmp_path: Path) -> None:
    """Tests that the ranges follow the file: durations of at most 8 ticks, and no random instances to compare with."""
    ended = run("study", "adversary", "heft", "--start", example_file, "--out", "w", "--steps", "5", "--json")
    assert ended.status == 0
    assert ended.document["search"]["ranges"]["max_duration"] == 8
    assert ended.document["random_instances"] is None
    assert ended.document["ratio"] >= 18 / 15
    assert check_certificate(tmp_path / "w") == []


def test_ctrl_c_keeps_the_best(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the search ends in order, with a certificate that holds and a trace of what was done."""
    kept = AdversaryFolder.add_step

    def press(self: AdversaryFolder, step: Any) -> None:
        kept(self, step)
        if step.step == 9:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(run_adversary_module.AdversaryFolder, "add_step", press)
    ended = run("study", "adversary", "min-min", "--out", "w", *SMALL)
    assert ended.status == 0
    assert "interrupted; what was found until then is kept" in ended.err
    assert len((tmp_path / "w" / "trace.csv").read_text().splitlines()) == 1 + 10
    document = certificate_of(tmp_path / "w")
    assert sum(document["search"]["decisions"].values()) == 10
    assert (document["random_instances"], document["proof"]["confirmed_by"]) == (None, None)
    assert check_certificate(tmp_path / "w") == []


def test_ctrl_c_in_the_confirmation(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that what was there before the second model was asked is kept, and that the interrupt is told."""
    kept = run_adversary_module.confirm_bound

    def press(*arguments: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return kept(*arguments, **options)

    monkeypatch.setattr(run_adversary_module, "confirm_bound", press)
    ended = run("study", "adversary", "min-min", "--out", "w", *SMALL, "--steps", "2", "--json")
    assert ended.status == 0
    assert ended.document["is_interrupted"] is True
    assert "interrupted; what was found until then is kept" in ended.err
    document = certificate_of(tmp_path / "w")
    assert document["random_instances"]["count"] == 3
    assert (document["proof"]["confirmed_by"], document["proof"]["not_confirmed"]) == (None, "interrupted")
    assert check_certificate(tmp_path / "w") == []


def test_ctrl_c_before_the_first_instance(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a search that has found nothing yet ends as interrupted, not as one that was asked in vain."""
    monkeypatch.setattr(run_adversary_module, "adversary_search", lambda *given, **options: (None, False))
    ended = run("study", "adversary", "min-min", "--out", "w", *SMALL)
    assert (ended.status, ended.out) == (130, "")


def test_ctrl_c_while_a_certificate_is_checked(run: Run, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that nothing is said to be wrong with a certificate because a proof or a confirmation was interrupted."""
    stopping = Callback()
    stopping.wants_stop = True
    with monkeypatch.context() as patch:
        patch.setattr("studies.adversary.certificate.solve", partial(solve, callback=stopping))
        ended = run("study", "adversary", "--verify", str(stored))
        assert (ended.status, ended.out) == (130, "")
    interrupted = Opinion(reason="interrupted")
    monkeypatch.setattr("solvers.confirmation.claim.second_opinion", lambda *given, **options: interrupted)
    ended = run("study", "adversary", "--verify", str(stored))
    assert (ended.status, ended.out) == (130, "")


def test_a_death_between_two_files(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a search that dies, or finds the disk full, between two files leaves the last certificate whole."""
    written: list[str] = []

    def die(path: Path, text: str) -> None:
        written.append(path.name)
        if len(written) == 6:
            raise RuntimeError("the end")
        path.write_text(text, encoding="utf-8")

    monkeypatch.setattr("studies.adversary.certificate.write_text", die)
    assert run("study", "adversary", "min-min", "--out", "w", *SMALL).status == 3
    assert [name.rpartition("-")[2] for name in written[4:]] == ["instance.json", "heuristic.json"]
    names = {"certificate.json", "trace.csv", "instance.json", "heuristic.json", "optimal.json"}
    assert {path.name for path in (tmp_path / "w").iterdir()} == names
    assert check_certificate(tmp_path / "w") == []


def test_a_confirmation_that_is_claimed_is_asked_for_again(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a certificate does not hold where no second model confirms what it claims to be confirmed."""
    monkeypatch.setattr(
        "solvers.confirmation.claim.second_opinion", lambda *given, **options: Opinion(reason="not reached")
    )
    told = ["proof.confirmed_by: expected a second model that does, got not reached."]
    assert check_certificate(stored) == told


def test_each_improvement_is_stored_at_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a search that dies leaves the certificate of its last improvement, whole, and it holds."""
    kept = AdversaryFolder.add_step

    def die(self: AdversaryFolder, step: Any) -> None:
        kept(self, step)
        if step.step == 12:
            raise RuntimeError("the end")

    monkeypatch.setattr(run_adversary_module.AdversaryFolder, "add_step", die)
    assert run("study", "adversary", "min-min", "--out", "w", *SMALL).status == 3
    with (tmp_path / "w" / "trace.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 13
    assert certificate_of(tmp_path / "w")["ratio"] == float(rows[-1]["best"])
    assert check_certificate(tmp_path / "w") == []


def test_misuse_is_told_in_one_line(run: Run, stored: Path) -> None:
    """Tests the messages of wrong arguments, each naming the option."""
    for arguments, message in (
        (["heft"], "--out: expected one, got nothing."),
        (["--out", "x"], "METHOD: expected one, got nothing."),
        (["heft", "--out", str(stored)], "expected a folder without a search, got one with certificate.json."),
        (["nobody", "--out", "x"], "METHOD: expected one of "),
        (["heft", "--against", "nobody", "--out", "x"], "--against: expected one of "),
        (["heft", "--out", "x", "--changes", "weather"], "--changes: expected one of "),
        (["heft", "--out", "x", "--cold", "3"], "--cold: expected a positive number of at most 0.1, got 3.0."),
        (["heft", "--out", "x", "--gpus", "9xnothing"], "--gpus: expected "),
        (["heft", "--out", "x", "--family", "nothing"], "--family: expected one of "),
        (["heft", "--verify", str(stored)], "--verify: expected neither METHOD nor --out with it."),
        (["--verify", "nowhere"], "expected a file that can be read"),
        (
            ["worl-rtgs", "--out", "x", "--set", "weights=nope.npz"],
            "worl-rtgs: expected a file that can be read, got 'nope.npz': no such file or directory.",
        ),
        (["heft", "--out", str(stored / "trace.csv" / "x")], "x: expected a file that can be written, got: not a dir"),
    ):
        ended = run("study", "adversary", *arguments)
        assert ended.status == 2, ended
        assert message in ended.err, ended.err
        assert ended.err.count("\n") == 1


def test_figure_draws_the_trace(stored: Path) -> None:
    """Tests that the lines of the figure are the columns of the trace, one line per search."""
    with (stored / "trace.csv").open() as file:
        rows = list(csv.DictReader(file))
    ax = ratio_figure(stored / "trace.csv", "min-min over optimum", mean=1.1)
    lines = {str(line.get_label()): line for line in ax.lines}
    assert [float(value) for value in lines["largest so far"].get_ydata()] == [float(row["best"]) for row in rows]
    drawn = [value for line in ax.lines[:2] for value in line.get_ydata()]
    assert drawn == [float(row["current"]) for row in rows]
    assert {"optimum", "mean of random instances", "current instance"} <= set(lines)
