"""Tests of the table of bounds and its views."""

from __future__ import annotations

import copy
import csv
import html
import io
import json
import pickle
import re
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import solvers.backends.highs_worker
from heuristics.search.progress import Callback
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from solvers.bound_table import RECORD_COLUMNS, BoundTable
from solvers.confirmation.claim import Confirmation
from solvers.lower_bound import lower_bound
from solvers.run.bound import Bound
from solvers.run.outcome import Outcome, Status, Termination
from solvers.run.versions import hardware, version_of
from solvers.solve import solve
from tests.check_latex import check_latex

if TYPE_CHECKING:
    import subprocess


@pytest.fixture
def table(example_e: DagInstance) -> BoundTable:
    """Return two bounds of an instance with an awkward name, one of them the optimum and confirmed."""
    bounds = [
        Bound(value=13, method="critical-path", proof="longest, path", seconds=0.25, threads=1),
        Bound(
            value=15,
            method="cp-sat",
            proof="search to the end",
            seconds=1.5,
            solver="ortools 9.15",
            confirmed_by="MILP <1>",
            is_optimum=True,
            objective_name="makespan",
            threads=2,
            seed=7,
            hardware="one core",
        ),
    ]
    made = BoundTable(bounds, instance=replace(example_e, name='a_b% "x"'), objective=Objective.MAKESPAN)
    made.confirmations.append(Confirmation(claim="no makespan below 15", asked="MILP <1>", confirmed_by="MILP <1>"))
    return made


def test_bounds_say_everything_about_themselves(heft_example: DagInstance) -> None:
    """Tests that value, proof, solver, version, threads, seed and hardware are there, for formulas and for searches."""
    area, searched = lower_bound(heft_example, methods=["area", "cp-sat"], threads=1, seed=5)
    assert area == Bound(
        value=31,
        method="area",
        proof="area LP, multipliers checked in integers",
        seconds=area.seconds,
        solver=f"highspy {version_of('highspy')}",
        objective_name="makespan",
        threads=1,
        seed=None,
        hardware=hardware(),
    )
    assert searched == Bound(
        value=73,
        method="cp-sat",
        proof="search to the end",
        seconds=searched.seconds,
        solver=f"ortools {version_of('ortools')}",
        is_optimum=True,
        objective_name="makespan",
        threads=1,
        seed=5,
        hardware=hardware(),
    )


def test_table_is_a_list(table: BoundTable, example_e: DagInstance) -> None:
    """Tests that whatever takes a list of bounds takes a table."""
    assert table == [table[0], table[1]]
    assert (len(table), table[-1].value, [bound.value for bound in table]) == (2, 15, [13, 15])
    assert solve(example_e, "heft", bounds=table).gap == pytest.approx(0.2)
    for copied in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert copied == table
        assert copied.to_dicts() == table.to_dicts()
        assert copied.best == table[1]


def test_best(table: BoundTable) -> None:
    """Tests that the largest bound is the best, and that none is where no schedule exists."""
    assert table.best is table[1]
    table.infeasible_by.append("cp-sat")
    assert table.best is None
    assert "no schedule exists (proved by cp-sat): the instance is infeasible" in table.caption()


def test_text(table: BoundTable) -> None:
    """Tests title, alignment and caption."""
    lines = [line for line in str(table).splitlines() if "\N{BOX DRAWINGS LIGHT HORIZONTAL}" not in line]
    assert lines == [
        'Lower bounds on the makespan of a_b% "x"',
        " bound  method         proved by          confirmed by  seconds",
        "    13  critical-path  longest, path      -               0.250",
        "    15  cp-sat         search to the end  MILP <1>        1.500",
        "best: 15, the optimum",
    ]
    assert "confirmed by" not in str(BoundTable(table[:1], instance=table.instance, objective=Objective.MAKESPAN))


def test_html_shows_the_same(table: BoundTable) -> None:
    """Tests that the notebook's view has the same cells, escaped."""
    shown = re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", table._repr_html_())
    assert [html.unescape(cell) for cell in shown] == [
        *table.headings(),
        *(cell for row in table.rows() for cell in row),
    ]
    assert "MILP &lt;1&gt;" in shown


def test_csv(table: BoundTable) -> None:
    """Tests that the file has one row per bound with all its fields, and nothing for what is unknown."""
    text = table.to_csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert text.splitlines()[0] == ",".join(RECORD_COLUMNS)
    assert [row["instance"] for row in rows] == ['a_b% "x"'] * 2
    for row, bound in zip(rows, table, strict=True):
        for name, value in bound.to_dict().items():
            assert row[name] == ("" if value is None else str(value))
    assert {row["instance_sha256"] for row in rows} == {table.instance.sha256}
    assert (rows[0]["num_tasks"], rows[0]["num_edges"], rows[0]["num_gpus"]) == ("5", "5", "2")


def test_json(table: BoundTable) -> None:
    """Tests that the document holds all bounds, the best value, confirmations and provenance."""
    document = json.loads(table.to_json())
    assert document == table.to_dict()
    assert document["bounds"] == table.to_dicts() == [bound.to_dict() for bound in table]
    assert (document["lower_bound"], document["is_optimum"], document["is_infeasible"]) == (15, True, False)
    assert document["confirmations"][0]["confirmed_by"] == "MILP <1>"
    assert document["versions"]["ortools"] == version_of("ortools")


def test_frame(table: BoundTable) -> None:
    """Tests that a data frame has the same columns and values, and that seeds stay integers beside unknown ones."""
    frame = table.to_frame()
    assert frame.columns.tolist() == list(RECORD_COLUMNS)
    assert frame["value"].tolist() == [13, 15]
    assert frame["seed"].isna().tolist() == [True, False]
    assert frame["seed"].tolist()[1] == 7
    assert BoundTable(instance=table.instance, objective=Objective.MAKESPAN).to_frame().empty


def test_latex(table: BoundTable) -> None:
    """Tests that the table would compile, with names escaped and one row per bound."""
    rows = check_latex(table.to_latex())
    assert rows[0] == ["bound", "method", "proved by", "confirmed by", "seconds"]
    assert rows[1:] == [
        ["13", "critical-path", "longest, path", "-", "0.250"],
        ["15", "cp-sat", "search to the end", r"MILP \textless{}1\textgreater{}", "1.500"],
    ]
    assert f"% sha256 {table.instance.sha256}\n" in table.to_latex()


def test_what_is_not_confirmed_is_told(table: BoundTable) -> None:
    """Tests that a question without an answer stands below the table."""
    table.confirmations.append(
        Confirmation(claim="no makespan below 13", asked="CP-SAT", confirmed_by=None, reason="not reached in 2 s")
    )
    assert "no makespan below 13: not confirmed, not reached in 2 s (asked: CP-SAT)" in str(table)


def test_table_says_that_no_schedule_exists() -> None:
    """Tests an instance without a schedule: the bounds stay, but are the best of nothing."""
    refuted = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    table = lower_bound(refuted, methods=["area", "cp-sat"], threads=1)
    assert (table.infeasible_by, [bound.method for bound in table], table.best) == (["cp-sat"], ["area"], None)


def test_dying_solver_takes_no_other_bound_along(heft_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a table keeps all other bounds, and what the run began with, where HiGHS is killed while it solves."""
    start, killed = solvers.backends.highs_worker.subprocess.Popen, []

    def killed_at_once(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        worker: subprocess.Popen[bytes] = start(*arguments, **options)  # type: ignore[call-overload]
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        killed.append(worker.returncode)
        return worker

    monkeypatch.setattr(solvers.backends.highs_worker.subprocess, "Popen", killed_at_once)
    table = lower_bound(heft_example, methods=["critical-path", "milp-disjunctive", "cp-sat"], threads=1)
    assert killed == [-signal.SIGKILL]
    assert [(bound.method, bound.is_optimum) for bound in table] == [
        ("critical-path", False),
        ("milp-disjunctive", False),
        ("cp-sat", True),
    ]
    assert [table[0].value, table[2].value] == [41, 73]
    assert 63 <= table[1].value <= 73
    assert table[1].proof.startswith("no more than ")


def test_bound_survives_where_no_schedule_was_found(heft_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a run that ends without any schedule keeps the bound that it proved, in the result and in a table."""
    unfinished = Outcome(schedule=None, lower_bound=70, termination=Termination.TIME_LIMIT, solver="ortools 9.15")
    monkeypatch.setattr("solvers.backends.cp_sat.cp_sat", lambda instance, objective, run: unfinished)
    result = solve(heft_example, "cp-sat", threads=1, bounds=[])
    assert (result.status, result.objective, result.gap) == (Status.UNKNOWN, None, None)
    assert result.bound is not None
    assert (result.lower_bound, result.bound.method, result.bound.proof) == (70, "cp-sat", "search, not finished")
    table = lower_bound(heft_example, methods=["area", "cp-sat"], threads=1)
    assert [(bound.method, bound.value) for bound in table] == [("area", 31), ("cp-sat", 73)]  # probing proves more
    assert table.best is not None
    assert not table.best.is_optimum


def test_methods_are_told_before_they_begin(example_e: DagInstance) -> None:
    """Tests that whoever watches hears of every method with the table so far, and of the confirmation."""
    heard: list[tuple[str, int]] = []
    lower_bound(
        example_e,
        methods=["area", "cp-sat"],
        threads=1,
        confirm=True,
        on_method=lambda name, so_far: heard.append((name, len(so_far))),
    )
    assert heard == [("area", 0), ("cp-sat", 1), ("confirmation", 2)]


def test_ctrl_c_keeps_what_there_is(heft_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that Ctrl-C in an exact method ends the table there, and that it says what did not run."""
    before = Callback.on_start
    monkeypatch.setattr(Callback, "on_start", lambda self: (before(self), signal.raise_signal(signal.SIGINT))[0])
    table = lower_bound(heft_example, methods=["critical-path", "cp-sat", "area", "join-aware-path"], threads=1)
    assert [bound.method for bound in table] == ["critical-path", "cp-sat"]
    assert table.left_out == ["area", "join-aware-path"]
    assert "interrupted; left out: area, join-aware-path" in str(table)


def test_unknown_methods_are_refused_before_any_runs(example_e: DagInstance) -> None:
    """Tests that a wrong name at the end costs no time at the beginning."""
    heard: list[str] = []
    with pytest.raises(ValueError, match=r"^methods: expected one of .*, got 'heft'\.$"):
        lower_bound(example_e, methods=["area", "heft"], on_method=lambda name, so_far: heard.append(name))
    with pytest.raises(ValueError, match=r"^confirm_time_limit: expected none without confirm, got 2\.$"):
        lower_bound(example_e, confirm_time_limit=2)
    assert heard == []
