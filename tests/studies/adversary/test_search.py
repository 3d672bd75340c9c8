"""Tests of the search for bad instances against enumerated optima."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from instances.dag.objective import Objective, objective_value
from solvers.run.bound import Bound
from solvers.run.outcome import Outcome, Termination
from solvers.solve import solve
from studies.adversary import ratio as proven_optimum_module
from studies.adversary import ratio as ratio_oracle
from studies.adversary.random_family import STARTS, RandomFamily
from studies.adversary.ratio import BelowError, Contestant, NoRatioError, RatioOracle, proven_optimum
from studies.adversary.search import CandidateOutcome, Cooling, Step, adversary_search, least_ratio
from studies.adversary.search_space import InstanceSpace
from tests.brute_force import optimum as brute_force_optimum

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from studies.adversary.ratio import WorstCase

pytestmark = pytest.mark.whole


FAMILY = RandomFamily(tasks=5, gpus="mixed-2", max_duration=9)
COOLING = Cooling(steps=12)


def search(
    oracle: RatioOracle, *, seed: int = 0, searches: int = 1, changes: tuple[str, ...] = ("durations", "data", "edges")
) -> tuple[WorstCase | None, list[Step], list[WorstCase]]:
    """Return the worst case of small searches, all steps and all improvements."""
    starts = [FAMILY.instance(seed, STARTS, number) for number in range(searches)]
    space = InstanceSpace.around(starts, max_duration=9, changes=changes)
    steps: list[Step] = []
    improvements: list[WorstCase] = []
    worst, is_complete = adversary_search(
        starts, space, oracle, COOLING, seed, on_step=steps.append, on_worst=improvements.append
    )
    assert is_complete
    assert all(space.contains(found.instance) for found in improvements)
    return worst, steps, improvements


@pytest.mark.parametrize("method", ["heft", "woa"])
def test_same_seed_same_search_and_ratios_are_those_of_brute_force(method: str) -> None:
    """Tests that two searches are the same step by step, and each improvement against an enumerated optimum."""
    oracle = RatioOracle(heuristic=Contestant(method=method, evaluations=5, parameters={}))
    worst, steps, improvements = search(oracle, searches=2)
    again = search(oracle, searches=2)
    assert steps == again[1]
    assert len(steps) == 2 * (COOLING.steps + 1)
    assert [found.instance.sha256 for found in improvements] == [found.instance.sha256 for found in again[2]]
    assert worst is not None
    ratios = []
    for found in improvements:
        assert found.optimum == brute_force_optimum(found.instance)
        run = oracle.heuristic.run(found.instance, Objective.MAKESPAN)
        assert run.objective == found.value
        ratios.append(run.objective / brute_force_optimum(found.instance))
    assert ratios == [found.ratio for found in improvements] == sorted(set(ratios))
    assert worst.ratio == ratios[-1] == steps[-1].best
    assert worst.ratio > 1.0
    assert search(oracle, seed=1)[1] != steps


def test_every_step_follows_the_rule() -> None:
    """Tests decisions, current and best ratio of all steps, and that bounds turn down what would be turned down."""
    _, steps, _ = search(RatioOracle(heuristic=Contestant(method="min-min")))
    assert {step.decision for step in steps} == {
        CandidateOutcome.STARTED,
        CandidateOutcome.ACCEPTED,
        CandidateOutcome.REJECTED,
        CandidateOutcome.BELOW,
    }
    current = best = 0.0
    for step in steps:
        if step.decision is CandidateOutcome.BELOW:
            assert step.ratio is None
        elif step.decision is not CandidateOutcome.STARTED:
            assert step.ratio is not None
            assert step.needed is not None
            assert (step.decision is CandidateOutcome.ACCEPTED) == (step.ratio >= step.needed)
        if step.decision in (CandidateOutcome.STARTED, CandidateOutcome.ACCEPTED):
            assert step.ratio is not None
            current, best = step.ratio, max(best, step.ratio)
        assert (step.current, step.best) == (current, best)


def test_skipping_proofs_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a search that solves every candidate goes the same way."""
    oracle = RatioOracle(heuristic=Contestant(method="heft"))
    _, quick, _ = search(oracle)
    asked = RatioOracle.ratio
    monkeypatch.setattr(RatioOracle, "ratio", lambda self, instance, at_least=0.0: asked(self, instance))
    _, full, _ = search(oracle)
    assert CandidateOutcome.BELOW in {step.decision for step in quick}
    assert CandidateOutcome.BELOW not in {step.decision for step in full}
    for one, other in zip(quick, full, strict=True):
        below = one.decision is CandidateOutcome.BELOW
        assert other.decision is (CandidateOutcome.REJECTED if below else one.decision)
        assert (one.current, one.best, one.needed) == (other.current, other.best, other.needed)


def test_an_optimal_method_has_ratio_1() -> None:
    """Tests that no instance is found on which CP-SAT is above the optimum."""
    worst, steps, improvements = search(RatioOracle(heuristic=Contestant(method="cp-sat")))
    assert worst is not None
    assert (worst.ratio, len(improvements)) == (1.0, 1)
    assert {step.ratio for step in steps} == {1.0}


def test_ratio_to_another_heuristic() -> None:
    """Tests that `rival` is the denominator, that the optimum is proven too, and that a method ties with itself."""
    oracle = RatioOracle(heuristic=Contestant(method="min-min"), rival=Contestant(method="heft"))
    worst, _, _ = search(oracle)
    assert worst is not None
    assert worst.rival is not None
    values = [solve(worst.instance, method).objective for method in ("min-min", "heft", "cp-sat")]
    assert [worst.value, worst.rival_value, worst.optimum] == values
    assert worst.ratio == values[0] / values[1] > 1.0
    assert worst.ratio_to_optimum == values[0] / values[2]
    same = RatioOracle(heuristic=Contestant(method="heft"), rival=Contestant(method="heft"))
    assert {step.ratio for step in search(same)[1]} <= {1.0, None}


def test_weighted_completion_has_its_own_worst_cases() -> None:
    """Tests that the other objective is maximised against its own optimum."""
    oracle = RatioOracle(heuristic=Contestant(method="heft"), objective=Objective.WEIGHTED_COMPLETION)
    worst, _, _ = search(oracle)
    assert worst is not None
    assert worst.optimum == brute_force_optimum(worst.instance, Objective.WEIGHTED_COMPLETION)
    assert worst.value == objective_value(worst.instance, worst.heuristic, Objective.WEIGHTED_COMPLETION)


def test_instances_without_a_schedule_are_turned_down(no_room: DagInstance) -> None:
    """Tests that a heuristic that runs into memory limits is not called infinitely bad."""
    limited = no_room
    oracle = RatioOracle(heuristic=Contestant(method="round-robin"))
    with pytest.raises(NoRatioError, match="no schedule"):
        oracle.ratio(limited)
    steps: list[Step] = []
    space = InstanceSpace.around([limited], changes=["memory"])
    worst, is_complete = adversary_search([limited], space, oracle, COOLING, 0, on_step=steps.append)
    assert (worst, is_complete) == (None, True)
    assert [step.decision for step in steps] == [CandidateOutcome.NO_SCHEDULE]
    free = replace(limited, gpu_memory=limited.gpu_memory + 5)
    adversary_search([free], space, oracle, Cooling(steps=20), 0, on_step=steps.append)
    assert CandidateOutcome.NO_SCHEDULE in {step.decision for step in steps[2:]}


def test_what_is_not_proven_is_turned_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that steps without a proof are counted, change nothing and store nothing."""
    prove, asked = ratio_oracle.proven_optimum, []

    def every_third_fails(*arguments: Any, **options: Any) -> Any:
        asked.append(options["limit"])
        return None if len(asked) % 3 == 0 else prove(*arguments, **options)

    monkeypatch.setattr(ratio_oracle, "proven_optimum", every_third_fails)
    _, steps, improvements = search(RatioOracle(heuristic=Contestant(method="heft"), limit=7.5))
    turned_down = [index for index, step in enumerate(steps) if step.decision is CandidateOutcome.NOT_PROVEN]
    assert turned_down
    assert set(asked) == {7.5}
    for index in turned_down:
        assert (steps[index].ratio, steps[index].current) == (None, steps[index - 1].current)
    for found in improvements:
        assert found.optimum == brute_force_optimum(found.instance)


def test_no_proof_within_the_limit_is_no_optimum(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a run of CP-SAT that ends at its limit with a gap gives nothing, and that it is given the limit."""
    heft = solve(example_e, "heft").schedule
    assert heft is not None
    runs = []

    def ends_early(instance: DagInstance, objective: Objective, run: Any) -> Outcome[DagSchedule]:
        runs.append(run)
        return Outcome(schedule=run.start, lower_bound=14, termination=Termination.TIME_LIMIT)

    monkeypatch.setattr(proven_optimum_module, "cp_sat", ends_early)
    bound = Bound(value=9, method="join-aware-path", proof="paths")
    assert proven_optimum(example_e, Objective.MAKESPAN, heft, bound, limit=0.5) is None
    assert [(run.deterministic_limit, run.time_limit, run.threads, run.lower_bound) for run in runs] == [
        (0.5, None, 1, 9)
    ]


def test_a_bound_below_what_is_asked_for_is_enough(example_e: DagInstance) -> None:
    """Tests that HEFT's 18 over a bound is refused above 18/13 and solved below; the optimum is 15."""
    oracle = RatioOracle(heuristic=Contestant(method="heft"))
    assert oracle.ratio(example_e, at_least=1.2) == 18 / 15
    with pytest.raises(BelowError):
        oracle.ratio(example_e, at_least=2.0)


def test_a_schedule_that_meets_the_bound_is_proven_without_search(example_e: DagInstance) -> None:
    """Tests that the proof names the bound, and that a search names CP-SAT."""
    best = solve(example_e, "cp-sat", threads=1)
    assert best.schedule is not None
    assert best.bound is not None
    found = proven_optimum(example_e, Objective.MAKESPAN, best.schedule, best.bound)
    assert found is not None
    assert found[0] is best.schedule
    assert (found[1].method, found[1].value) == (best.bound.method, 15)
    heft = solve(example_e, "heft").schedule
    assert heft is not None
    weak = replace(best.bound, value=1)
    found = proven_optimum(example_e, Objective.MAKESPAN, heft, weak)
    assert found is not None
    assert (found[1].method, found[1].value) == ("cp-sat", 15)
    assert objective_value(example_e, found[0], Objective.MAKESPAN) == 15


def test_stopping_keeps_what_was_found() -> None:
    """Tests that a search that is stopped says so and returns its worst case."""
    start = FAMILY.instance(0, STARTS, 0)
    steps: list[Step] = []
    worst, is_complete = adversary_search(
        [start],
        InstanceSpace.around([start]),
        RatioOracle(heuristic=Contestant(method="heft")),
        COOLING,
        0,
        on_step=steps.append,
        should_stop=lambda: len(steps) >= 7,
    )
    assert (len(steps), is_complete) == (7, False)
    assert worst is not None
    assert worst.ratio == steps[-1].best


def test_acceptance_on_worked_numbers() -> None:
    """Tests the rule at ratio 2 and temperature 0.5: 1.75 is kept with probability exp(-1/2) = 0.6065."""
    assert math.exp(-(2.0 - 1.75) / 0.5) == pytest.approx(0.60653, abs=1e-5)
    assert least_ratio(2.0, 0.5, 0.6065) <= 1.75 < least_ratio(2.0, 0.5, 0.6066)
    assert least_ratio(2.0, 0.5, 1.0) == 2.0  # an equal one is always kept
    assert least_ratio(2.0, 0.5, 0.5) == pytest.approx(2.0 - 0.5 * 0.693147, abs=1e-6)


@pytest.mark.parametrize(("worse_by", "temperature"), [(0.01, 0.1), (0.1, 0.1), (0.5, 0.25)])
def test_share_that_is_kept_is_the_probability(worse_by: float, temperature: float) -> None:
    """Tests that of many draws the share exp(-difference / temperature) keeps a worse candidate."""
    draws = 1.0 - np.random.default_rng(1).random(20_000)
    kept = np.mean([3.0 - worse_by >= least_ratio(3.0, temperature, draw) for draw in draws.tolist()])
    assert kept == pytest.approx(math.exp(-worse_by / temperature), abs=0.012)


def test_temperatures_are_geometric() -> None:
    """Tests first, middle and last temperature, and that one step has the first."""
    cooling = Cooling(hot=0.4, cold=0.004, steps=101)
    assert [cooling.at(step) for step in (0, 50, 100)] == pytest.approx([0.4, 0.04, 0.004])
    assert Cooling(hot=0.4, cold=0.004, steps=1).at(0) == 0.4


@pytest.mark.parametrize("wrong", [{"hot": 0.0}, {"hot": math.inf}, {"cold": 0.0}, {"cold": 1.0}, {"steps": 0}])
def test_impossible_temperatures_are_refused(wrong: dict[str, float]) -> None:
    """Tests that the message names what is wrong."""
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: expected"):
        Cooling(**wrong)
