"""Tests of the one way to run anything."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heuristics.dag.list_scheduling import heft
from heuristics.search.progress import Callback, Progress
from heuristics.search.stop_criteria import AnyOf, MaxEvaluations, MaxSeconds, MaxStagnation, TargetObjective
from instances.dag.instance import DagInstance
from instances.dag.json import dag_instance_document
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.frozen_array import frozen_integers
from solvers.lower_bound import lower_bound
from solvers.problem import DAG
from solvers.result import AlteredInstanceError, Result, UnverifiedScheduleError
from solvers.run.bound import Bound
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Outcome, Status, Termination
from solvers.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from solvers.bound_table import BoundTable
    from solvers.run.exact_run import ExactRun


def assert_trace_is_monotone(result: Result) -> None:
    """Check that objectives fall, bounds rise, times do not go back, and the last point is the result."""
    assert result.trace
    seconds = [point.seconds for point in result.trace]
    objectives = [point.objective for point in result.trace if point.objective is not None]
    bounds = [point.lower_bound for point in result.trace if point.lower_bound is not None]
    assert seconds == sorted(seconds)
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)
    assert objectives[-1] == result.objective


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_published_example_is_proved(heft_example: DagInstance, threads: int) -> None:
    """Tests that CP-SAT proves 73 with one phase and with two."""
    result = solve(heft_example, "cp-sat", threads=threads)
    assert (result.status, result.objective, result.lower_bound, result.gap) == (Status.OPTIMAL, 73, 73, 0.0)
    assert (result.termination, result.threads, result.gap_kind) == (Termination.FINISHED, threads, "optimality gap")
    assert result.bound.method == "cp-sat"
    assert result.bound.is_optimum
    assert_trace_is_monotone(result)


def test_heft_on_the_published_example(heft_example: DagInstance) -> None:
    """Tests HEFT's 80: a gap of 9.59 % to the proven optimum, a larger one to bounds without search."""
    proof = solve(heft_example, "cp-sat", threads=1).bound
    result = solve(heft_example, "heft", bounds=[proof])
    assert (result.objective, result.lower_bound, result.gap_kind) == (80, 73, "optimality gap")
    assert round(100 * result.gap, 2) == 9.59
    alone = solve(heft_example, "heft")
    assert (alone.status, alone.gap_kind, alone.backend_seconds) == (Status.FEASIBLE, "gap to lower bound", None)
    assert 63 <= alone.lower_bound <= 73
    assert alone.gap == (80 - alone.lower_bound) / alone.lower_bound


def test_example_e(example_e: DagInstance, example_e_with_memory: DagInstance) -> None:
    """Tests that both forms of E are proved at 15, and that HEFT's gap on the first is 0.2."""
    for instance in (example_e, example_e_with_memory):
        result = solve(instance, "cp-sat", threads=1)
        assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 15, 15)
    assert solve(example_e, "heft").gap == pytest.approx(0.2)


def test_heuristic_at_a_bound_is_optimal(example_e: DagInstance) -> None:
    """Tests that a heuristic whose schedule meets a bound without search is known to be optimal."""
    result = solve(example_e, "peft")
    assert (result.status, result.objective, result.gap, result.gap_kind) == (Status.OPTIMAL, 15, 0.0, "optimality gap")
    assert result.bound.method != "peft"


def test_bin_packing_without_solution() -> None:
    """Tests that three tasks that no two GPUs can hold are proved infeasible, with no bound and no schedule."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    for objective in FINISH_OBJECTIVES:
        result = solve(instance, "cp-sat", threads=1, objective=objective)
        assert (result.status, result.termination) == (Status.INFEASIBLE, Termination.FINISHED)
        assert (result.objective, result.lower_bound, result.schedule, result.gap) == (None, None, None, None)
    unpacked = solve(instance, "heft")
    assert (unpacked.status, unpacked.objective, unpacked.lower_bound) == (Status.INFEASIBLE, None, None)


def test_weighted_completion() -> None:
    """Tests that the heavy short job goes first: 2 x 9 + 11, though the makespan is 11 either way."""
    instance = DagInstance.from_lists([[9], [2]], job_of_task=[0, 1], release=[0, 0], weight=[1, 9])
    result = solve(instance, "cp-sat", objective="weighted_completion", threads=1)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 29, 29)
    assert result.schedule.start.tolist() == [2, 0]
    assert result.objective_name is Objective.WEIGHTED_COMPLETION
    assert solve(instance, "heft", objective="weighted_completion").objective == 9 + 9 * 11


def test_own_function(example_e: DagInstance) -> None:
    """Tests that a function is given what its signature names, seeded, and runs under its own name."""
    seen = []

    def shuffled(
        instance: DagInstance, rng: np.random.Generator, objective: Objective, *, tries: int = 1
    ) -> DagSchedule:
        seen.append((rng.random(), objective, tries))
        return DagSchedule(gpu=[0] * 5, start=[0, 4, 7, 10, 18])

    result = solve(example_e, shuffled, seed=3, tries=7)
    assert (result.method, result.objective, result.parameters, result.seed) == ("shuffled", 24, {"tries": 7}, 3)
    assert seen == [(np.random.default_rng(3).random(), Objective.MAKESPAN, 7)]
    assert [(point.objective, point.lower_bound) for point in result.trace] == [(24, None)]


def test_own_search(example_e: DagInstance) -> None:
    """Tests that a function that takes a stop criterion is a search with the default budget."""

    def asks_once(instance: DagInstance, stop: AnyOf) -> DagSchedule | None:
        assert stop.share(Progress(evaluations=500)) == 0.25
        return heft(instance)

    result = solve(example_e, asks_once)
    assert (result.objective, result.termination) == (18, Termination.FINISHED)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "heftt"}, r"^method: expected one of cp-sat, .*, got 'heftt' \(did you mean heft\?\)\.$"),
        (
            {"method": "cp-sat", "objective": "cost"},
            "objective: expected one of makespan, weighted_completion, stage_span, got 'cost'",
        ),
        ({"method": "heft", "time_limit": 0}, r"^time_limit: expected a positive number of seconds, got 0\.$"),
        ({"method": "heft", "time_limit": float("nan")}, "^time_limit: expected a positive number of seconds, got nan"),
        ({"method": "heft", "seed": -1}, r"^seed: expected an integer of at least 0, got -1\.$"),
        ({"method": "heft", "seed": 1.5}, r"^seed: expected an integer of at least 0, got 1\.5\.$"),
        ({"method": "heft", "seed": True}, r"^seed: expected an integer of at least 0, got True\.$"),
        ({"method": "cp-sat", "threads": 0}, r"^threads: expected an integer in 1..1024, got 0\.$"),
        (
            {"method": "heft", "stop": MaxEvaluations(5)},
            r"^stop: expected none for heft, which is no search; use time_limit\.$",
        ),
        ({"method": "heft", "insert": True}, r"^insert: expected a parameter of heft \(insertion\) \(did you mean "),
        ({"method": "cp-sat", "gap": 1}, r"^gap: expected a parameter of cp-sat \(it has none\)\.$"),
        ({"method": "woa", "rng": 3}, r"^rng: expected a parameter of woa \(population, "),
    ],
)
def test_arguments_are_checked(example_e: DagInstance, arguments: dict[str, object], message: str) -> None:
    """Tests that wrong arguments are refused before anything runs."""
    with pytest.raises(ValueError, match=message):
        solve(example_e, **arguments)


def test_values_are_refused_before_anything_is_bounded(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a value out of range costs no time, although bounds come before the search."""
    monkeypatch.setattr("solvers.solve.lower_bound", lambda *_, **__: pytest.fail("a bound was computed"))
    with pytest.raises(ValueError, match=r"^population: expected at least 2, got 1\.$"):
        solve(example_e, "ga", population=1)


def test_method_of_another_kind(example_e: DagInstance) -> None:
    """Tests that a method is a name or a function."""
    with pytest.raises(TypeError, match=r"^method: expected a name or a function, got 5\.$"):
        solve(example_e, 5)


def test_start_schedule_is_used(heft_example: DagInstance) -> None:
    """Tests that without any time the given schedule comes back where it is better than every list schedule."""
    best = solve(heft_example, "cp-sat", threads=1).schedule
    result = solve(heft_example, "cp-sat", start=best, time_limit=1e-9)
    assert (result.objective, result.termination) == (73, Termination.TIME_LIMIT)
    assert result.schedule.start.tolist() == best.start.tolist()


def test_bad_start_schedule(example_e: DagInstance) -> None:
    """Tests that a start that does not verify is refused with its first violation."""
    start = DagSchedule(gpu=[0] * 5, start=[0] * 5)
    with pytest.raises(
        ValueError, match=r"^start: expected a schedule that verifies, got \d+ violations\. tasks 0 and 1"
    ):
        solve(example_e, "cp-sat", start=start)


def test_time_limit_keeps_schedule_and_bound(heft_example: DagInstance) -> None:
    """Tests that without any time the best list schedule and the best bound without search come back."""
    result = solve(heft_example, "cp-sat", time_limit=1e-9)
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.TIME_LIMIT)
    assert result.objective == min(solve(heft_example, name).objective for name in DAG.warm_starts) == 76
    assert result.lower_bound == max(bound.value for bound in lower_bound(heft_example))


def test_bounds_after_an_exact_run_take_a_small_part_of_its_time(
    heft_example: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that they do not double the time of a run that ended without a proof."""
    limits = []

    def heard(instance: DagInstance, methods: list[str] | None = None, *, time_limit: float, **more: Any) -> BoundTable:
        limits.append(time_limit)
        return lower_bound(instance, methods=methods, **more)

    monkeypatch.setattr("solvers.solve.lower_bound", heard)

    def idle(instance: DagInstance, objective: Objective, run: ExactRun) -> Outcome:
        return Outcome(schedule=run.start, lower_bound=run.lower_bound)

    monkeypatch.setattr("solvers.backends.cp_sat.cp_sat", idle)
    assert solve(heft_example, "cp-sat", time_limit=200.0).status is Status.FEASIBLE
    assert limits == [200.0, 10.0]


def test_given_bounds_are_used(heft_example: DagInstance) -> None:
    """Tests that given bounds replace the computed ones, the largest counts, and none leaves the gap open."""
    bounds = [Bound(value=40, method="a", proof="x"), Bound(value=50, method="b", proof="y")]
    result = solve(heft_example, "heft", bounds=bounds)
    assert (result.lower_bound, result.bound.method, result.gap) == (50, "b", 0.6)
    nothing = solve(heft_example, "heft", bounds=[])
    assert (nothing.lower_bound, nothing.gap, nothing.status) == (None, None, Status.FEASIBLE)
    exact = solve(heft_example, "cp-sat", bounds=[Bound(value=73, method="told", proof="x")], threads=1)
    assert (exact.status, exact.objective) == (Status.OPTIMAL, 73)


@pytest.mark.parametrize("method", ["heft", "random-search", "cp-sat"])
def test_wrong_bound_is_a_contradiction(
    example_e: DagInstance, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a bound above a verified objective raises and leaves a file with all that is needed."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ContradictionError, match=r"^The bound 99 of told exceeds the objective \d+ of a verified"):
        solve(example_e, method, bounds=[Bound(value=99, method="told", proof="none")], seed=4, threads=1)
    path = tmp_path / f"optgap-reproducer-{example_e.sha256[:12]}.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("optgap/reproducer", 1)
    assert document["instance"] == dag_instance_document(example_e)
    assert document["schedule"]["instance_sha256"] == example_e.sha256
    schedule = DagSchedule(gpu=document["schedule"]["gpu"], start=document["schedule"]["start"])
    assert verify_dag_schedule(example_e, schedule) == []
    assert {"python", "ortools", "highspy", "optgap"} <= set(document["versions"])
    assert document["evidence"]["bound"]["value"] == 99
    assert (document["evidence"]["method"], document["evidence"]["seed"]) == (method, 4)


def _writes(instance: DagInstance) -> None:
    instance.durations.setflags(write=True)
    instance.durations[:] = 1
    instance.durations.setflags(write=False)  # kernels would be compiled once more for arrays that can be written


def _replaces(instance: DagInstance) -> None:
    ones = frozen_integers(np.ones_like(instance.durations), place="durations", shape=(None, None))
    object.__setattr__(instance, "durations", ones)


@pytest.mark.parametrize("alter", [_writes, _replaces])
@pytest.mark.parametrize("kind", ["construction", "search"])
def test_altered_instance_is_reported(example_e: DagInstance, alter: Callable[[DagInstance], None], kind: str) -> None:
    """Tests that a method that makes all durations 1 is refused, and that the user's instance stays as it was."""

    def construction(instance: DagInstance) -> DagSchedule | None:
        alter(instance)
        return heft(instance)

    def search(instance: DagInstance, stop: object) -> DagSchedule | None:
        return construction(instance)

    before = example_e.durations.tolist()
    message = f"^{kind}: expected the instance to stay as it was given, got another value of durations.$"
    with pytest.raises(AlteredInstanceError, match=message):
        solve(example_e, {"construction": construction, "search": search}[kind])
    assert example_e.durations.tolist() == before


def test_unverified_schedule_is_refused(example_e: DagInstance) -> None:
    """Tests that a schedule with violations never becomes a result, and that the message names them."""

    def hasty(instance: DagInstance) -> DagSchedule:
        return DagSchedule(gpu=[0, 0, 0, 1, 0], start=[0, 7, 4, 14, 10])

    with pytest.raises(UnverifiedScheduleError) as caught:
        solve(example_e, hasty)
    assert str(caught.value) == (
        "hasty: schedule with 1 violations. edges[2]: task 3 starts 1 ticks before the data of task 1."
    )


@pytest.mark.parametrize(
    ("options", "termination"),
    [
        ({"stop": MaxEvaluations(7)}, Termination.EVALUATIONS),
        ({"stop": AnyOf([MaxSeconds(1000.0), AnyOf([MaxEvaluations(7)])])}, Termination.EVALUATIONS),
        ({"stop": MaxSeconds(0.01)}, Termination.TIME_LIMIT),
        ({"time_limit": 0.01}, Termination.TIME_LIMIT),
        ({"stop": MaxEvaluations(7), "time_limit": 1000.0}, Termination.EVALUATIONS),
        ({"stop": TargetObjective(18)}, Termination.FINISHED),
        ({"stop": MaxStagnation(3)}, Termination.FINISHED),
        ({}, Termination.EVALUATIONS),
    ],
    ids=["evaluations", "nested", "seconds", "limit", "first", "target", "stagnation", "default"],
)
@pytest.mark.parametrize("method", ["woa", "random-search"])
def test_termination_of_searches(
    example_e: DagInstance, method: str, options: dict[str, object], termination: Termination
) -> None:
    """Tests that the result says which budget or criterion ended a search."""
    result = solve(example_e, method, **options)
    assert result.termination is termination
    assert_trace_is_monotone(result)


class AtThree(Callback):
    """Wants to stop after three evaluations."""

    def on_evaluation(self, progress: Progress) -> None:
        """Wish."""
        self.wants_stop = progress.evaluations == 3


def test_callback_interrupts(example_e: DagInstance) -> None:
    """Tests that a callback's wish ends the run, keeps the best and is told as an interrupt."""
    result = solve(example_e, "woa", callback=AtThree())
    assert (result.termination, result.trace[0].objective) == (Termination.INTERRUPTED, 18)
    assert result.objective is not None


def test_ctrl_c_keeps_the_best(heft_example: DagInstance) -> None:
    """Tests that Ctrl-C before the search of an exact method returns list schedule and bound, and is then over."""

    class CtrlC(Callback):
        def on_start(self) -> None:
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    result = solve(heft_example, "cp-sat", threads=1, callback=CtrlC())
    assert (result.termination, result.objective) == (Termination.INTERRUPTED, 76)
    assert result.lower_bound >= 63
    assert signal.getsignal(signal.SIGINT) is before
    assert solve(heft_example, "cp-sat", threads=1).objective == 73


@pytest.mark.parametrize("method", ["woa", "random-search", "random"])
def test_same_seed_same_schedule(heft_example: DagInstance, method: str) -> None:
    """Tests that the seed alone decides, also as a NumPy integer."""
    starts = [solve(heft_example, method, seed=seed).schedule.start.tolist() for seed in (5, np.int64(5), 6)]
    assert starts[0] == starts[1] != starts[2]


def test_no_tasks() -> None:
    """Tests that the empty schedule is optimal with objective 0 and an undefined gap."""
    result = solve(DagInstance.from_lists([], num_gpus=2), "cp-sat", threads=1)
    assert (result.status, result.objective, result.lower_bound, result.gap) == (Status.OPTIMAL, 0, 0, None)
