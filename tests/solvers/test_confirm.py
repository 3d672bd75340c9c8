"""Tests of confirmation by a second model: lies are caught, truths confirmed, and time that is over is told."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solvers.confirmation.claim
from heuristics.search.progress import Callback
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.pipeline import pipeline_instance
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from solvers.backends.highs import HighsAnswer, run_highs
from solvers.backends.second_opinion import Answer, Opinion, SecondCpSat, SecondHighs, second_opinion
from solvers.confirm import confirm_bounds
from solvers.confirmation.claim import confirmation_run
from solvers.confirmation.reproducer import Reproducer, read_reproducer
from solvers.lower_bound import lower_bound
from solvers.problem import DAG, PROBLEMS
from solvers.run.bound import Bound
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Outcome, Status, Termination
from solvers.run.versions import version_of
from solvers.solve import solve
from tests.brute_force import optimum
from tests.buffered_instances import random_buffered
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from pathlib import Path

    from solvers.backends.second_opinion import SecondModel
    from solvers.result import Result
    from solvers.run.exact_run import ExactRun

HEFT = DagSchedule(gpu=[0, 0, 0, 1, 0], start=[0, 7, 4, 15, 10])  # 18 on example E
ORTOOLS = f"ortools {version_of('ortools')}"
CP_SAT, MILP = f"CP-SAT, {ORTOOLS}", f"disjunctive MILP, highspy {version_of('highspy')}"


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let HiGHS answer in this process, without the second that a process takes to start."""
    monkeypatch.setattr("solvers.backends.highs_worker.run_highs_in_worker", run_highs)


@pytest.fixture
def no_list_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let exact methods begin without a schedule."""
    monkeypatch.setitem(PROBLEMS, "dag", dataclasses.replace(DAG, warm_starts=()))


def _lie(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Let the back end of CP-SAT return something."""
    outcome = Outcome(**{"schedule": None, "lower_bound": None, "solver": ORTOOLS, **fields})  # type: ignore[arg-type]
    monkeypatch.setattr("solvers.backends.cp_sat.cp_sat", lambda instance, objective, run: outcome)


def _left_behind(folder: Path) -> Reproducer:
    """Read the one reproducer in a folder."""
    (path,) = folder.glob("optgap-reproducer-*.json")
    return read_reproducer(path)


def test_bound_of_cp_sat_that_is_too_high_is_caught(
    example_e: DagInstance, in_this_process: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that the MILP finds 15 where CP-SAT claims 18, and that the reproducer holds both schedules and claims."""
    monkeypatch.chdir(tmp_path)
    _lie(monkeypatch, schedule=HEFT, lower_bound=18)
    assert solve(example_e, "cp-sat", bounds=[], threads=1).status is Status.OPTIMAL  # nobody notices
    with pytest.raises(ContradictionError, match=r"cp-sat .* claims: no makespan below 18\. .*MILP.* makespan 15\."):
        solve(example_e, "cp-sat", bounds=[], threads=1, confirm=True, seed=4)
    found = _left_behind(tmp_path)
    assert found.instance.sha256 == example_e.sha256
    assert found.schedule is not None
    assert found.other_schedule is not None
    assert verify_dag_schedule(found.instance, found.schedule) == []
    assert objective_value(found.instance, found.schedule, Objective.MAKESPAN) == 15
    assert found.other_schedule.start.tolist() == HEFT.start.tolist()
    assert found.claims == {f"cp-sat ({ORTOOLS})": "no makespan below 18", MILP: "a schedule with makespan 15"}
    assert found.versions["ortools"] == version_of("ortools")
    assert found.versions["highspy"] == version_of("highspy")
    assert (found.evidence["bound"]["value"], found.evidence["objective"], found.evidence["seed"]) == (18, 15, 4)


def test_bound_of_the_milp_that_is_too_high_is_caught(
    example_e: DagInstance, no_list_schedules: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests the other direction: CP-SAT finds 15 where HiGHS claims 18, with both schedules and claims as well."""
    monkeypatch.chdir(tmp_path)
    lie = HighsAnswer(solution=None, dual_bound=18.0, is_finished=True, is_infeasible=False, seconds=0.0)
    monkeypatch.setattr("solvers.backends.run_pyomo.run_highs", lambda *_, **__: lie)
    with pytest.raises(ContradictionError, match="HiGHS proves 18, CP-SAT finds 15"):
        solve(example_e, "milp-disjunctive", bounds=[], start=HEFT, threads=1, confirm=True)
    found = _left_behind(tmp_path)
    assert found.schedule is not None
    assert found.other_schedule is not None
    assert objective_value(found.instance, found.schedule, Objective.MAKESPAN) == 15
    assert found.other_schedule.start.tolist() == HEFT.start.tolist()
    assert found.claims == {f"highspy {version_of('highspy')}": "a bound of 18", "CP-SAT": "a schedule of 15"}


def test_dropped_schedule_is_caught(
    example_e: DagInstance,
    in_this_process: None,
    no_list_schedules: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Tests that a bound that is too high is caught where the back end lost its schedule; then there is only one."""
    monkeypatch.chdir(tmp_path)
    _lie(monkeypatch, schedule=None, lower_bound=16, termination=Termination.TIME_LIMIT)
    assert solve(example_e, "cp-sat", bounds=[], threads=1).lower_bound == 16
    with pytest.raises(ContradictionError, match="no makespan below 16"):
        solve(example_e, "cp-sat", bounds=[], threads=1, confirm=True)
    found = _left_behind(tmp_path)
    assert found.schedule is not None
    assert found.other_schedule is None


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_infeasibility_that_is_none_is_caught(
    example_e: DagInstance,
    in_this_process: None,
    no_list_schedules: None,
    objective: Objective,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Tests that the MILP finds a schedule where CP-SAT claims that none exists."""
    monkeypatch.chdir(tmp_path)
    _lie(monkeypatch, is_infeasible=True)
    with pytest.raises(ContradictionError, match=r"claims: no schedule at all\. .*MILP"):
        solve(example_e, "cp-sat", objective=objective, bounds=[], threads=1, confirm=True)
    assert _left_behind(tmp_path).evidence["objective"] == 15


def test_wrong_bound_that_is_handed_in_is_caught(
    example_e: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that a bound of 16, with which a back end stops at 16 and calls it optimal, is refuted by CP-SAT."""
    monkeypatch.chdir(tmp_path)
    _lie(monkeypatch, schedule=DagSchedule(gpu=[0, 1, 0, 1, 0], start=[0, 8, 4, 13, 7]), lower_bound=16)
    told = [Bound(value=16, method="told", proof="none")]
    believed = solve(example_e, "cp-sat", bounds=told, threads=1)
    assert (believed.status, believed.objective) == (Status.OPTIMAL, 16)
    with pytest.raises(ContradictionError, match=r"^told \(no solver\) claims: no makespan below 16\. CP-SAT, .* 15\."):
        solve(example_e, "cp-sat", bounds=told, threads=1, confirm=True)
    other = _left_behind(tmp_path).other_schedule
    assert other is not None
    assert objective_value(example_e, other, Objective.MAKESPAN) == 16


def test_formula_that_is_too_high_is_caught(
    example_e: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that CP-SAT refutes a wrong critical path, though heads and tails are as wrong: it does not use them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("formulations.dag.bounds.paths.critical_path", lambda instance, objective: 17)
    monkeypatch.setattr("formulations.dag.probing.windows.heads_and_tails", lambda *_, **__: 1 // 0)
    assert lower_bound(example_e, methods=["critical-path", "area"])[0].value == 17
    with pytest.raises(ContradictionError, match=r"critical-path .* claims: no makespan below 17"):
        lower_bound(example_e, methods=["area", "critical-path"], threads=1, confirm=True)
    assert _left_behind(tmp_path).schedule is not None


def test_schedule_below_the_bound_of_another_method(
    example_e: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that a table raises where one method has a schedule below the bound of another, without being asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("formulations.dag.bounds.paths.critical_path", lambda instance, objective: 17)
    for methods in (["critical-path", "cp-sat"], ["cp-sat", "critical-path"]):
        with pytest.raises(ContradictionError, match=r"^critical-path claims a bound of 17, cp-sat has .* of 15\."):
            lower_bound(example_e, methods=methods, threads=1)
    assert _left_behind(tmp_path).claims["critical-path"] == "a bound of 17"


def test_infeasibility_beside_a_schedule_of_another_method(
    example_e: DagInstance, no_list_schedules: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that a table raises where CP-SAT calls infeasible what the MILP has a schedule for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("solvers.backends.run_pyomo.run_highs_in_worker", run_highs)
    _lie(monkeypatch, is_infeasible=True)
    with pytest.raises(ContradictionError, match=r"^cp-sat claims no schedule exists, milp-disjunctive has"):
        lower_bound(example_e, methods=["cp-sat", "milp-disjunctive"], threads=1)


@settings(max_examples=25, deadline=None)
@given(
    instance=dag_instances(max_tasks=4),
    objective=st.sampled_from(FINISH_OBJECTIVES),
    second=st.sampled_from([SecondCpSat(), SecondHighs()]),
    own=st.booleans(),
)
def test_second_models_know_the_optimum(
    instance: DagInstance, objective: Objective, second: SecondModel, own: bool
) -> None:
    """Tests that both refute all below the optimum of brute force, and find it if asked for one tick more."""
    best = optimum(instance, objective)
    run = confirmation_run(time_limit=60.0, threads=1, seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solvers.backends.highs_worker.run_highs_in_worker", run_highs)
        if best is None:
            everything = second_opinion(second, instance, objective, None, run, own_windows_only=own)
            assert everything.confirmed_by in (second.name, "releases and durations")
            return
        below = second_opinion(second, instance, objective, best, run, own_windows_only=own)
        above = second_opinion(second, instance, objective, best + 1, run, own_windows_only=own)
    assert below.confirmed_by in (second.name, "releases and durations", "times of at least 0")
    assert above.confirmed_by is None
    assert above.schedule is not None
    assert verify_dag_schedule(instance, above.schedule) == []
    assert objective_value(instance, above.schedule, objective) == best


@pytest.mark.parametrize(("method", "by"), [("cp-sat", MILP), ("milp-disjunctive", CP_SAT)])
def test_optimum_of_each_is_confirmed_by_the_other(
    heft_example: DagInstance, in_this_process: None, method: str, by: str
) -> None:
    """Tests that the published example is proved by one model and confirmed by the other, and that all views say so."""
    result = solve(heft_example, method, bounds=[], threads=1, confirm=True)
    assert (result.status, result.objective) == (Status.OPTIMAL, 73)
    assert result.bound is not None
    assert (result.bound.method, result.bound.confirmed_by) == (method, by)
    assert result.summary()["confirmation"].startswith(f"no makespan below 73: confirmed by {by} in ")
    document = json.loads(json.dumps(result.to_dict()))
    assert document["lower_bound_from"]["confirmed_by"] == by
    assert (document["confirmation"]["claim"], document["confirmation"]["reason"]) == ("no makespan below 73", None)
    assert f"confirmed by {by}" in result._repr_html_()


def test_second_model_in_a_process_of_its_own(example_e: DagInstance) -> None:
    """Tests the way that is taken without any patch."""
    result = solve(example_e, "cp-sat", bounds=[], threads=1, confirm=True)
    assert (result.objective, result.bound.confirmed_by if result.bound else None) == (15, MILP)


@pytest.mark.parametrize(("method", "by"), [("cp-sat", MILP), ("milp-disjunctive", CP_SAT)])
def test_infeasibility_is_confirmed(in_this_process: None, method: str, by: str) -> None:
    """Tests that two models agree that three tasks of 2 bytes do not fit on two GPUs of 3."""
    refuted = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    result = solve(refuted, method, threads=1, confirm=True)
    assert (result.status, result.bound) == (Status.INFEASIBLE, None)
    assert result.confirmation is not None
    assert (result.confirmation.claim, result.confirmation.confirmed_by) == ("no schedule at all", by)
    assert "no schedule at all: confirmed" in result.summary()["confirmation"]


def test_bound_that_a_formula_proves_is_asked_of_cp_sat(example_e: DagInstance) -> None:
    """Tests that a start that meets the join-aware path is confirmed by CP-SAT, which knows nothing of paths."""
    result = solve(example_e, "cp-sat", threads=1, confirm=True)
    assert result.bound is not None
    assert (result.bound.value, result.bound.solver, result.bound.confirmed_by) == (15, None, CP_SAT)


def test_time_that_is_over_is_told(heft_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a second model that does not get there leaves the bound as it is, and that the result says so."""
    monkeypatch.setattr(SecondHighs, "ask", lambda *_, **__: Answer())
    result = solve(heft_example, "cp-sat", bounds=[], threads=1, confirm=True, confirm_time_limit=5.0)
    assert (result.status, result.lower_bound) == (Status.OPTIMAL, 73)
    assert result.bound is not None
    assert result.bound.confirmed_by is None
    assert result.confirmation is not None
    assert (result.confirmation.confirmed_by, result.confirmation.time_limit) == (None, 5.0)
    assert result.confirmation.reason is not None
    assert result.confirmation.reason.startswith("not reached in ")
    assert result.summary()["confirmation"].startswith("no makespan below 73: not confirmed, not reached in ")


def test_instances_beyond_the_milp_are_told(in_this_process: None) -> None:
    """Tests that an instance that is nothing for HiGHS stays unconfirmed, with the reason."""
    instance = DagInstance.from_lists([[10**6, 10**6]] * 3)
    result = solve(instance, "cp-sat", bounds=[], threads=1, confirm=True)
    assert (result.objective, result.lower_bound) == (2 * 10**6, 2 * 10**6)
    assert result.confirmation is not None
    assert result.confirmation.confirmed_by is None
    assert "beyond the reach of the MILP (horizon: expected at most" in str(result.confirmation)


def test_shared_windows_are_told(heft_example: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a refutation within the first model's windows says so, and is never used for a formula."""
    answers = [Answer(), Answer(is_refuted=True)]
    monkeypatch.setattr(SecondHighs, "ask", lambda *_, **__: answers.pop(0))
    run = confirmation_run(time_limit=60.0, threads=1, seed=0)
    found = second_opinion(SecondHighs(), heft_example, Objective.MAKESPAN, 73, run, own_windows_only=False)
    assert found.confirmed_by == f"{MILP}, windows shared"
    answers = [Answer(), Answer(is_refuted=True)]
    found = second_opinion(SecondHighs(), heft_example, Objective.MAKESPAN, 73, run, own_windows_only=True)
    assert (found.confirmed_by, len(answers)) == (None, 1)


def test_schedule_that_is_none_contradicts_nothing(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a solution of HiGHS that means no such schedule neither confirms nor contradicts."""

    def nonsense(milp: object, **options: object) -> HighsAnswer:
        zeros = milp.lower * 0  # type: ignore[attr-defined]
        return HighsAnswer(solution=zeros, dual_bound=None, is_finished=True, is_infeasible=False, seconds=0.0)

    monkeypatch.setattr("solvers.backends.highs_worker.run_highs_in_worker", nonsense)
    result = solve(example_e, "cp-sat", bounds=[], threads=1, confirm=True)
    assert (result.status, result.bound.confirmed_by if result.bound else "") == (Status.OPTIMAL, None)
    assert "what it found is no such schedule" in result.summary()["confirmation"]


def test_interrupted_run_is_not_confirmed(heft_example: DagInstance) -> None:
    """Tests that whoever stops the search does not wait for a second model."""

    class Stop(Callback):
        wants_stop = True

    result = solve(heft_example, "cp-sat", threads=1, confirm=True, callback=Stop())
    assert result.termination is Termination.INTERRUPTED
    assert result.confirmation is not None
    assert result.confirmation.reason == "interrupted"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "heft", "confirm": True}, r"^confirm: expected none for heft, which is no exact method and proves"),
        ({"method": "woa", "confirm": True}, r"^confirm: expected none for woa, "),
        ({"confirm_time_limit": 3.0}, r"^confirm_time_limit: expected none without confirm, got 3\.0\.$"),
        ({"confirm": True, "confirm_time_limit": 0.0}, r"^confirm_time_limit: expected a positive number of seconds"),
        ({"confirm": True, "confirm_time_limit": float("nan")}, r"^confirm_time_limit: expected a positive number"),
    ],
)
def test_arguments_are_checked(example_e: DagInstance, arguments: dict[str, object], message: str) -> None:
    """Tests that heuristics, which prove nothing, and times for nothing are refused."""
    with pytest.raises(ValueError, match=message):
        solve(example_e, **arguments)  # type: ignore[arg-type]


def test_not_asked_says_nothing(example_e: DagInstance) -> None:
    """Tests that a run without confirmation shows none."""
    result = solve(example_e, "cp-sat", threads=1)
    assert result.confirmation is None
    assert "confirmation" not in result.summary()
    assert result.to_dict()["confirmation"] is None


def _bounds(*values: int) -> list[Bound]:
    """Return bounds that no exact method proved."""
    return [Bound(value=value, method=f"b{value}", proof="x") for value in values]


def test_largest_bound_is_asked_first(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that one refutation confirms all smaller bounds, and that a larger one that is not reached is left out."""
    asked: list[int] = []

    def up_to_ten(
        second: SecondModel, instance: DagInstance, objective: Objective, bound: int, run: ExactRun, **_: object
    ) -> Opinion:
        asked.append(bound)
        return Opinion(confirmed_by="me") if bound <= 10 else Opinion(reason="not reached")

    monkeypatch.setattr(solvers.confirmation.claim, "second_opinion", up_to_ten)
    run = confirmation_run(time_limit=1.0, threads=1, seed=0)
    done, confirmations = confirm_bounds(example_e, Objective.MAKESPAN, _bounds(4, 12, 9, 10, 12), run=run)
    assert asked == [12, 10]
    assert [bound.confirmed_by for bound in done] == ["me", None, "me", "me", None]
    assert [item.confirmed_by for item in confirmations] == [None, "me"]


def test_confirmed_table(heft_example: DagInstance, in_this_process: None) -> None:
    """Tests that every bound of a table is confirmed by the model that does not stand behind it."""
    table = lower_bound(
        heft_example, methods=["critical-path", "area", "join-aware-path", "cp-sat"], threads=1, confirm=True
    )
    assert [(bound.value, bound.confirmed_by) for bound in table] == [
        (41, CP_SAT),
        (31, CP_SAT),
        (63, CP_SAT),
        (73, MILP),
    ]
    assert [item.claim for item in table.confirmations] == ["no makespan below 73", "no makespan below 63"]


def test_reproducer_where_the_folder_is_gone(
    example_e: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that a contradiction is told, with its reproducer elsewhere, where the current folder cannot be written."""
    gone, elsewhere = tmp_path / "gone", tmp_path / "elsewhere"
    gone.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    with pytest.raises(ContradictionError, match="elsewhere"):
        solve(example_e, "heft", bounds=[Bound(value=99, method="told", proof="none")])
    found = _left_behind(elsewhere)
    assert found.evidence["bound"]["value"] == 99
    assert found.other_schedule is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "optgap/dag"}, r'^format: expected "optgap/reproducer", got "optgap/dag"\.$'),
        ({"version": 2}, r"^version: expected 1, got 2\.$"),
        ({"more": 1}, r"^more: expected no such key\.$"),
        ({"claims": 3}, r"^claims: expected an object, got 3\.$"),
    ],
)
def test_reproducer_is_read_strictly(
    example_e: DagInstance, change: dict[str, object], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that a file of another kind names the place."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ContradictionError):
        solve(example_e, "heft", bounds=[Bound(value=99, method="told", proof="none")])
    (path,) = tmp_path.glob("optgap-reproducer-*.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=message):
        read_reproducer(path)


def test_result_without_bound_has_nothing_to_confirm() -> None:
    """Tests that an empty instance is confirmed without a model: nothing is below 0."""
    result: Result = solve(DagInstance.from_lists([], num_gpus=2), "cp-sat", threads=1, confirm=True)
    assert result.bound is not None
    assert (result.bound.value, result.bound.confirmed_by) == (0, "times of at least 0")


@pytest.fixture
def busy_link() -> DagInstance:
    """Return two transfers of 5 ticks from one server to another at about the same time; 8, with contention 12."""
    return DagInstance.from_lists(
        [[1, None], [1, None], [None, 1], [None, 1]],
        [(0, 2, 5), (1, 3, 5)],
        gpu_servers=["a", "b"],
        name="busy link",
    )


def test_contention_is_asked_of_who_knows_it(busy_link: DagInstance, in_this_process: None) -> None:
    """Tests that CP-SAT confirms a bound that rests on contention, and the MILP, which knows none, only others."""
    without = solve(busy_link, "cp-sat", bounds=[], threads=1, confirm=True)
    assert (without.objective, without.bound.confirmed_by if without.bound else None) == (8, MILP)
    with_it = solve(busy_link, "cp-sat", bounds=[], threads=1, confirm=True, contention="nic")
    assert (with_it.objective, with_it.status) == (12, Status.OPTIMAL)
    assert with_it.bound is not None
    assert (with_it.bound.solver, with_it.bound.confirmed_by) == (ORTOOLS, None)
    assert "what it found is no such schedule" in with_it.summary()["confirmation"]
    run = confirmation_run(time_limit=60.0, threads=1, seed=0)
    told = Bound(value=12, method="told", proof="x", contention=Contention.NIC)
    (asked,), _ = confirm_bounds(busy_link, Objective.MAKESPAN, [told], run=run)
    assert asked.confirmed_by == CP_SAT


def test_wrong_bound_with_contention_is_caught(
    busy_link: DagInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that 12 without contention is refuted, and 13 with it, by a schedule that keeps the rule."""
    monkeypatch.chdir(tmp_path)
    run = confirmation_run(time_limit=60.0, threads=1, seed=0)
    for value, rule, optimum_ in ((12, Contention.NONE, 8), (13, Contention.NIC, 12)):
        told = Bound(value=value, method="told", proof="x", contention=rule)
        with pytest.raises(ContradictionError, match=f"finds a schedule with makespan {optimum_}"):
            confirm_bounds(busy_link, Objective.MAKESPAN, [told], run=run)
        found = _left_behind(tmp_path)
        assert found.schedule is not None
        assert verify_dag_schedule(found.instance, found.schedule, rule) == []
        assert found.evidence["contention"] == str(rule)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(instance=dag_instances(max_tasks=5), objective=st.sampled_from(FINISH_OBJECTIVES))
def test_every_right_answer_is_confirmed(instance: DagInstance, objective: Objective) -> None:
    """Tests that what CP-SAT and the MILP prove is confirmed by the other, whatever the instance."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solvers.backends.highs_worker.run_highs_in_worker", run_highs)
        for method in ("cp-sat", "milp-disjunctive"):
            result = solve(instance, method, objective=objective, threads=1, confirm=True)
            assert result.confirmation is not None
            assert result.confirmation.confirmed_by is not None
            assert result.objective == optimum(instance, objective)


@pytest.mark.parametrize("objective", Objective)
def test_buffers_are_confirmed_and_lies_caught(
    objective: Objective, in_this_process: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests that the MILP confirms CP-SAT with buffers, groups and the stage span, and finds what a lie denies."""
    monkeypatch.chdir(tmp_path)
    instance = random_buffered(7, max_tasks=5)
    result = solve(instance, "cp-sat", objective=objective, threads=1, bounds=[], confirm=True)
    assert (result.status, result.bound.confirmed_by) == (Status.OPTIMAL, MILP)
    worse = solve(instance, "buffer-list", objective=objective, bounds=[]).objective + 40
    _lie(monkeypatch, lower_bound=worse)
    monkeypatch.setattr("solvers.solve._warm_start", lambda goal, start: None)
    with pytest.raises(ContradictionError, match="MILP"):
        solve(instance, "cp-sat", objective=objective, threads=1, bounds=[], confirm=True)


def test_a_search_without_a_solver_may_share_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that CP-SAT is asked twice about what the search for pipelines proves: the second time with index order."""
    asked: list[bool] = []

    def ask(*_: object, is_plain: bool, **__: object) -> Answer:
        asked.append(is_plain)
        return Answer(is_refuted=not is_plain)

    monkeypatch.setattr(SecondCpSat, "ask", ask)
    costs = {"forward": [5, 5, 5], "backward": [6, 6, 6], "weight": [4, 4, 4]}
    instance = pipeline_instance(micro_batches=6, transfer=0, limits=4, **costs)
    result = solve(instance, "cp-sat", bounds=[], threads=1, confirm=True)
    assert result.bound is not None
    assert (result.bound.value, result.bound.solver) == (130, None)
    assert result.bound.confirmed_by == f"{CP_SAT}, windows shared"
    assert asked == [True, False]
