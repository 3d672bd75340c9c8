"""Tests of the search over down-sets as a method and as a phase of `cp-sat`: what proves, ends and survives it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.down_sets import search as layers
from formulations.dag.down_sets.counts import Counted, CountSearch
from formulations.dag.down_sets.search import DownSetSearch
from heuristics.search.progress import Callback
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.json import read_dag_instance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.pipeline import pipeline_instance
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from solvers.backends import cp_sat as cp_sat_module
from solvers.backends import down_sets as down_set_phase
from solvers.backends.down_sets import BEAM, FIRST_WIDTH, GROWTH, PROOF, TRIAL, WIDE, DownSetRounds
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Status, Termination
from solvers.solve import solve
from tests.brute_force import optimum
from tests.runs import run_with
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from collections.abc import Callable

    from formulations.dag.down_sets.search import Found
    from formulations.dag.windows import Windows
    from heuristics.search.progress import Progress


SUITE = Path(__file__).parents[2] / "benchmarks" / "proof_suite"


def stored(number: str) -> DagInstance:
    """Return an instance of the stored suite."""
    return read_dag_instance(next(SUITE.glob(f"{number}-*.json")))


@pytest.mark.parametrize(
    ("number", "optimum"),
    [
        ("13", 2337),
        ("10", 465),
        pytest.param("46", 1438, marks=pytest.mark.slow),
        pytest.param("49", 5213, marks=pytest.mark.slow),
    ],
)
def test_proves_stored_instances(number: str, optimum: int) -> None:
    """Tests 30 to 99 tasks on 2 to 8 GPUs from the list schedules on, with no bound: optima that CP-SAT proves too."""
    result = solve(stored(number), "down-sets", bounds=[], threads=2)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, optimum, optimum)
    assert result.bound is not None
    assert (result.bound.method, result.bound.proof, result.bound.solver) == ("down-sets", PROOF, None)


@pytest.mark.parametrize(("number", "optimum"), [("13", 2337), pytest.param("09", 280, marks=pytest.mark.slow)])
def test_is_a_phase_of_cp_sat(monkeypatch: pytest.MonkeyPatch, number: str, optimum: int) -> None:
    """Tests that cp-sat ends with the proof of this search where CP-SAT has none, and says what proves it."""
    instance = stored(number)
    nothing = cp_sat_module._Answer(
        schedule=None, lower_bound=None, is_infeasible=False, is_finished=False, seconds=0.0, effort=0.0
    )
    monkeypatch.setattr(cp_sat_module, "_solve_phase", lambda *_: nothing)
    monkeypatch.setattr(cp_sat_module, "probing", lambda *rest, **named: 0)
    monkeypatch.setattr(cp_sat_module.WindowRounds, "search", lambda rounds, *rest: None)  # it would prove it before
    result = solve(instance, "cp-sat", threads=2, seed=1, bounds=[])
    assert (result.status, result.objective) == (Status.OPTIMAL, optimum)
    assert result.bound is not None
    assert (result.bound.method, result.bound.proof, result.bound.solver) == ("cp-sat", PROOF, None)


def test_cp_sat_confirms_it() -> None:
    """Tests that a second model, CP-SAT, refutes that anything better exists."""
    result = solve(stored("13"), "down-sets", bounds=[], threads=2, confirm=True)
    assert result.bound is not None
    assert result.bound.confirmed_by is not None
    assert result.bound.confirmed_by.startswith("CP-SAT")


def test_repeats_bit_for_bit() -> None:
    """Tests that neither seed nor a second run changes the schedule."""
    instance = generate("cholesky", tasks=20, seed=2, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    first, second = (solve(instance, "down-sets", bounds=[], threads=2, seed=seed).schedule for seed in (1, 2))
    assert first is not None
    assert second is not None
    assert np.array_equal(first.gpu, second.gpu)
    assert np.array_equal(first.start, second.start)


def test_ends_where_memory_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that layers that cannot grow end the run, with the schedule that was found and no claim."""
    monkeypatch.setattr(layers, "MOST_BYTES", 400_000)
    instance = generate("layered", tasks=60, seed=1, cluster=parse_cluster("mixed-4"), cost=CostModel(ccr=1.0))
    heft = solve(instance, "heft")
    result = solve(instance, "down-sets", bounds=[], threads=1)
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.FAILED)
    assert 0 < result.lower_bound <= result.objective < heft.objective


def test_a_time_limit_keeps_what_was_found() -> None:
    """Tests that a run that is cut short is no worse than where it began, and proves nothing."""
    instance = generate("layered", tasks=80, seed=1, cluster=parse_cluster("mixed-4"), cost=CostModel(ccr=1.0))
    names = ("heft", "cpop", "peft", "etf", "min-min", "max-min")
    start = min(solve(instance, name, bounds=[]).objective for name in names)
    result = solve(instance, "down-sets", bounds=[], threads=2, time_limit=1.0)
    assert (result.status, result.termination, result.lower_bound) == (Status.FEASIBLE, Termination.TIME_LIMIT, 0)
    assert result.schedule is not None
    assert verify_dag_schedule(instance, result.schedule) == []
    assert result.objective <= start  # in a slow moment nothing better is found


def test_a_callback_ends_it() -> None:
    """Tests that it stops once a better schedule is told of, in the middle of its rounds."""

    class StopAtSecond(Callback):
        """Wants to stop at the second schedule, which is the first that is found."""

        heard = 0

        def on_incumbent(self, progress: Progress) -> None:
            """Count."""
            self.heard += 1
            self.wants_stop = self.heard == 2

    instance = generate("layered", tasks=40, seed=1, cluster=parse_cluster("mixed-4"), cost=CostModel(ccr=1.0))
    result = solve(instance, "down-sets", bounds=[], threads=2, callback=StopAtSecond())
    assert result.termination is Termination.INTERRUPTED
    assert result.schedule is not None


def test_numbers_beyond_its_range_end_it_at_once() -> None:
    """Tests that a makespan that labels cannot hold leaves the list schedule, and a bound that needs no labels."""
    instance = generate("cholesky", tasks=20, seed=1, cluster=parse_cluster("mixed-3"), cost=CostModel(ccr=1.0))
    large = replace(instance, durations=instance.durations * 10**8)
    result = solve(large, "down-sets", bounds=[])
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.FAILED)
    assert 0 < result.lower_bound <= 10**8 * solve(instance, "down-sets").objective
    assert str(result.failure).startswith("horizon: expected fewer than ")


def test_no_tasks_and_no_room() -> None:
    """Tests the empty instance, and one whose tasks fit one by one but not together."""
    empty = solve(DagInstance.from_lists([]), "down-sets", bounds=[])
    assert (empty.status, empty.objective) == (Status.OPTIMAL, 0)
    full = DagInstance.from_lists([[3, 3]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    for objective in FINISH_OBJECTIVES:
        assert solve(full, "down-sets", objective=objective, bounds=[]).status is Status.INFEASIBLE


def test_a_late_job_without_tasks_ends_it() -> None:
    """Tests a release beyond the range of labels: the run ends, with the schedule it began with."""
    late = DagInstance.from_lists([[5], [5], [5]], job_of_task=[0, 1, 2], release=[0, 0, 0, 2**30])
    result = solve(late, "down-sets", objective=Objective.WEIGHTED_COMPLETION, bounds=[])
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.FAILED)


def test_windows_are_derived_once_per_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that rounds in both directions and of several widths share the probing for one objective to be met."""
    instance = generate("layered", tasks=40, seed=1, cluster=parse_cluster("mixed-4"), cost=CostModel(ccr=1.0))
    start = solve(instance, "heft").schedule
    asked: list[int | None] = []
    windows = DownSetSearch.windows

    def remember(search: DownSetSearch, at_most: int | None, lower_bound: int) -> Windows:
        asked.append(at_most)
        return windows(search, at_most, lower_bound)

    monkeypatch.setattr(DownSetSearch, "windows", remember)
    rounds = DownSetRounds(instance, Objective.MAKESPAN, run_with(), start, 0)
    for width in (2, 4, 8):
        rounds.round(width, lambda: False)
    assert asked
    assert len(asked) == len(set(asked))


def test_a_schedule_that_meets_an_older_bound_leaves_the_proof_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that cp-sat names its solver where the search finds the schedule, but CP-SAT had proved the bound."""
    instance = generate("cholesky", tasks=20, seed=1, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    best = solve(instance, "cp-sat")
    assert best.objective is not None
    start = solve(instance, "heft").schedule
    phase = cp_sat_module._Answer(
        schedule=start, lower_bound=best.objective, is_infeasible=False, is_finished=False, seconds=0.0, effort=0.0
    )
    monkeypatch.setattr(cp_sat_module, "_solve_phase", lambda *_: phase)

    def find(rounds: DownSetRounds, *_: object, **__: object) -> int:
        rounds.schedule = best.schedule
        return 0

    monkeypatch.setattr(DownSetRounds, "round", find)
    result = solve(instance, "cp-sat", bounds=[], threads=2, seed=1)
    assert (result.status, result.objective) == (Status.OPTIMAL, best.objective)
    assert result.bound is not None
    assert result.bound.proof == "search to the end"
    assert result.bound.solver is not None
    assert result.bound.solver.startswith("ortools")


def test_a_proof_with_few_labels_comes_before_the_first_one_by_cp_sat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that cp-sat asks its solver for nothing but a first schedule if few labels prove the optimum."""
    instance = generate("cholesky", tasks=20, seed=1, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    phases: list[tuple[Any, ...]] = []

    def look(*arguments: Any) -> cp_sat_module._Answer:
        phases.append(arguments)
        start = solve(instance, "heft").schedule
        return cp_sat_module._Answer(start, 0, is_infeasible=False, is_finished=False, seconds=0.0, effort=0.0)

    monkeypatch.setattr(cp_sat_module, "_solve_phase", look)
    monkeypatch.setattr(cp_sat_module, "probing", lambda *_, **__: 0)
    result = solve(instance, "cp-sat", bounds=[], threads=1)
    assert (result.status, len(phases)) == (Status.OPTIMAL, 1)
    assert result.bound is not None
    assert result.bound.proof == PROOF


WEIGHTED = Objective.WEIGHTED_COMPLETION


def buffered() -> DagInstance:
    """Return a pipeline of two stages and two micro-batches; no bound proves its weighted completion."""
    return pipeline_instance(micro_batches=2, forward=[4, 1], backward=[2, 1], weight=[1, 7], limits=[4, 3])


def test_counts_grow_up_to_the_most_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that with buffers the last round has the width that the failure names."""
    widths: list[int] = []

    def nothing(search: CountSearch, at_most: int | None, width: int, should_stop: object) -> Counted:
        widths.append(width)
        return Counted(None, False)

    monkeypatch.setattr(CountSearch, "search", nothing)
    monkeypatch.setattr(down_set_phase, "MOST_LABELS", 3_000)
    result = solve(buffered(), "down-sets", objective=WEIGHTED, bounds=[])
    assert widths == [500, 2_000, 3_000]
    assert result.failure == "memory: expected at most 3000 labels in each layer, got more."


def test_a_stop_after_the_last_proof_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that what is settled when the run is stopped counts as settled."""
    stopped: list[bool] = []
    search = CountSearch.search

    def stop_after(self: CountSearch, at_most: int | None, width: int, should_stop: Callable[[], bool]) -> Counted:
        found = search(self, at_most, width, should_stop)
        if found.schedule is None:
            stopped.append(True)
        return found

    monkeypatch.setattr(CountSearch, "search", stop_after)
    run = run_with(should_stop=lambda: bool(stopped))
    outcome = down_set_phase.down_sets(buffered(), WEIGHTED, run)
    assert stopped
    assert outcome.schedule is not None
    expected = (objective_value(buffered(), outcome.schedule, WEIGHTED), Termination.FINISHED)
    assert (outcome.lower_bound, outcome.termination) == expected


def test_contention_is_refused() -> None:
    """Tests that it does not pretend to know the rule of network interfaces."""
    with pytest.raises(ValueError, match="expected none for down-sets"):
        solve(DagInstance.from_lists([[3]]), "down-sets", contention="nic")


def test_a_false_claim_is_an_alarm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tests that a search that calls itself complete too early contradicts what is found later."""
    monkeypatch.chdir(tmp_path)
    instance = generate("cholesky", tasks=20, seed=1, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    best = solve(instance, "cp-sat").schedule
    claimed = solve(instance, "heft").objective
    monkeypatch.setattr(DownSetRounds, "round", lambda rounds, *_, **__: setattr(rounds, "bound", claimed))
    with pytest.raises(ContradictionError):
        solve(instance, "down-sets", bounds=[], start=best)


def test_the_wide_round_needs_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the last round is for a proof only where down-sets are few and the bound near, or trials got far."""
    depths: dict[bool, int] = {}
    asked: list[tuple[int, bool]] = []

    class Rounds(DownSetRounds):
        """Remembers widths and whether labels are settled, and finds nothing."""

        def round(self, width: int, should_stop: object, *, settles: bool = False, **rest: bool | None) -> int:
            """Remember."""
            asked.append((width, settles))
            self._exact_depth[False] = max(depths.values())
            return depths[settles]

        def climb(self, width: int, should_stop: object, *, settles: bool) -> bool:
            """Prove nothing."""
            return False

    many = generate("layered", tasks=60, seed=1, cluster=parse_cluster("mixed-4"), cost=CostModel(ccr=1.0))
    few = generate("chains", tasks=9, seed=1, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    trials = [(FIRST_WIDTH, False), (TRIAL, False), (TRIAL, True)]
    for instance, is_near, plain, settled, expected in (
        (many, True, 1, 2, [*trials, (BEAM, False)]),
        (few, False, 1, 2, [*trials, (BEAM, False)]),
        (few, True, 1, 2, [(GROWTH * FIRST_WIDTH, False), (WIDE, False), (WIDE, True)]),
        (many, False, 1, 59, [*trials, (WIDE, True), (WIDE, False)]),
    ):
        asked.clear()
        depths.update({False: plain, True: settled})
        start = solve(instance, "heft").schedule
        assert start is not None
        bound = objective_value(instance, start, Objective.MAKESPAN) - 1 if is_near else 0
        rounds = Rounds(instance, Objective.MAKESPAN, run_with(), start, bound)
        rounds.search_narrowly()
        assert asked == expected[:3]
        rounds.search_widely()
        assert asked == expected


def searches(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return a list to which every search from now on adds how it is made."""
    asked: list[dict[str, Any]] = []
    search_once = DownSetRounds._search_once

    def remember(rounds: DownSetRounds, *args: Any, **how: Any) -> Found:
        """Search, and remember how."""
        asked.append(how)
        return search_once(rounds, *args, **how)

    monkeypatch.setattr(DownSetRounds, "_search_once", remember)
    return asked


def test_brief_rounds_end_where_a_proof_is_hopeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a wide graph gets one kind of labels only, and a graph with few down-sets is never hopeless."""
    asked = searches(monkeypatch)
    for family, tasks, is_hopeless in (("layered", 73, True), ("chains", 9, False)):
        instance = generate(family, tasks=tasks, seed=1, cluster=parse_cluster("mixed-4"), cost=CostModel(ccr=0.3))
        rounds = DownSetRounds(instance, Objective.MAKESPAN, run_with(), solve(instance, "heft").schedule, 0)
        assert not rounds.is_hopeless
        rounds.search_briefly()
        rounds._widest[True, False] = 1e30
        assert rounds.is_hopeless == is_hopeless
        assert not is_hopeless or {how["settles"] for how in asked} == {True}


def test_rounds_for_a_schedule_go_on_as_long_as_they_find_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that wide rounds wait until rounds with 500 labels find nothing where down-sets are few."""
    asked: list[tuple[int, int | None]] = []

    def search(rounds: DownSetRounds, width: int, should_stop: object, **how: bool | None) -> int:
        """Remember, and find a better schedule in the first round."""
        asked.append((width, rounds.value))
        if len(asked) == 1:
            rounds.schedule = better
        return 0

    monkeypatch.setattr(DownSetRounds, "round", search)
    monkeypatch.setattr(DownSetRounds, "climb", lambda *_, settles: False)
    instance = generate("chains", tasks=9, seed=2, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    better, start = solve(instance, "cp-sat").schedule, solve(instance, "heft").schedule
    assert better is not None
    assert start is not None
    best, value = (objective_value(instance, schedule, Objective.MAKESPAN) for schedule in (better, start))
    assert best < value
    rounds = DownSetRounds(instance, Objective.MAKESPAN, run_with(), start, best - 1)
    monkeypatch.setattr(DownSetRounds, "is_near", True)
    rounds.search_narrowly()
    narrow = GROWTH * FIRST_WIDTH
    assert asked == [(narrow, value), (narrow, best), (WIDE, best), (WIDE, best)]


def test_a_wide_round_comes_at_once_where_few_labels_are_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests which direction and labels it takes, settled ones counting fourfold, and that no wide round follows it."""
    foreseen: dict[tuple[bool, bool], float] = {}
    asked: list[tuple[int, bool, bool | None]] = []

    def search(rounds: DownSetRounds, width: int, should_stop: object, **how: bool | None) -> int:
        """Remember wide rounds, and foresee after narrow ones."""
        if width == WIDE:
            asked.append((width, bool(how["settles"]), how["backwards"]))
        rounds._widest.update(foreseen)
        return 0

    monkeypatch.setattr(DownSetRounds, "round", search)
    monkeypatch.setattr(DownSetRounds, "climb", lambda *_, settles: False)
    instance = generate("chains", tasks=9, seed=1, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    start = solve(instance, "heft").schedule
    for plain, settled, expected in (
        (WIDE, WIDE, (WIDE, False, False)),
        (WIDE, WIDE // 5, (WIDE, True, True)),
        (WIDE + 1, WIDE, None),
    ):
        asked.clear()
        foreseen.update({(False, False): plain, (True, True): settled})
        rounds = DownSetRounds(instance, Objective.MAKESPAN, run_with(), start, 0)
        rounds.search_narrowly()
        assert asked == [expected] * (expected is not None)
        rounds.search_widely()
        assert asked == [expected] * (expected is not None)


def test_only_attempts_at_a_proof_foresee_labels() -> None:
    """Tests that a search within a smaller objective, which needs fewer labels, does not count."""
    instance = generate("stencil", tasks=25, seed=2, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    rounds = DownSetRounds(instance, Objective.MAKESPAN, run_with(), solve(instance, "heft").schedule, 0)
    assert rounds.value is not None
    for at_most, number in ((rounds.value - 2, 0), (rounds.value - 1, 1)):
        rounds._search_once(at_most, 1, lambda: False, backwards=False, until_dropped=True, settles=False)
        assert len(rounds._widest) == number


def test_rounds_take_what_others_found() -> None:
    """Tests that they go on with a better schedule, and that a bound of others is not called theirs."""
    instance = generate("chains", tasks=9, seed=1, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    start, best = solve(instance, "heft").schedule, solve(instance, "cp-sat").schedule
    rounds = DownSetRounds(instance, Objective.MAKESPAN, run_with(), start, 5)
    rounds.has_proved = True
    rounds.take(best, 5)
    assert (rounds.schedule, rounds.bound, rounds.has_proved) == (best, 5, True)
    rounds.take(best, 6)
    assert (rounds.bound, rounds.has_proved) == (6, False)
    rounds.take(best, rounds.value or 0)
    assert rounds.is_settled
    rounds.search_widely()  # nothing is left to do
    assert not rounds.has_proved


def test_rounds_for_a_proof_take_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that they begin with the direction that raised the bound, and that others take that one only."""
    instance = generate("stencil", tasks=25, seed=2, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    rounds = DownSetRounds(instance, Objective.MAKESPAN, run_with(), solve(instance, "heft").schedule, 0)
    asked = searches(monkeypatch)
    rounds._climbs_backwards = True
    rounds.round(1, lambda: False, until_dropped=True)
    assert [how["backwards"] for how in asked] == [True, False]
    asked.clear()
    rounds.round(1, lambda: False)
    assert {how["backwards"] for how in asked} == {True}


@pytest.mark.parametrize("family", ["cholesky", "stencil", "gaussian-elimination"])
def test_climbing_raises_the_bound_to_no_more_than_the_optimum(family: str) -> None:
    """Tests that bisection with few labels proves more than nothing, and that a wide round agrees with it."""
    instance = generate(family, tasks=25, seed=2, cluster=parse_cluster("mixed-2"), cost=CostModel(ccr=1.0))
    best = solve(instance, "down-sets").objective
    rounds = DownSetRounds(instance, Objective.MAKESPAN, run_with(), solve(instance, "heft").schedule, 0)
    rounds.climb(80, lambda: False, settles=True)
    assert rounds.has_proved
    assert best is not None
    assert 0.8 * best < rounds.bound <= best
    assert len(rounds._directions()) == 1
    rounds.round(40_000, lambda: False, settles=True)
    assert rounds.is_settled
    assert rounds.value == best


@given(
    instance=dag_instances(max_tasks=7, max_gpus=4),
    objective=st.sampled_from(FINISH_OBJECTIVES),
    width=st.integers(4, 40),
    settles=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_climbing_never_exceeds_the_optimum(
    instance: DagInstance, objective: Objective, width: int, settles: bool
) -> None:
    """Tests bounds by bisection below HEFT's schedule against enumeration."""
    start = solve(instance, "heft", objective=objective, bounds=[]).schedule
    best = optimum(instance, objective)
    if start is None or best is None:
        return
    rounds = DownSetRounds(instance, objective, run_with(), start, 0)
    rounds.climb(width, lambda: False, settles=settles)
    assert rounds.bound <= best
    assert rounds.has_proved == (rounds.bound > 0)
