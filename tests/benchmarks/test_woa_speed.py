"""How fast whales are: one generation, and a run beside DEAP's idiom with a plain-Python decoder."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.dag.random_keys import RandomKeys
from heuristics.dag.whale_optimisation import woa
from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import MaxEvaluations
from instances.clusters.cluster import parse_cluster
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from tests.benchmarks.plain_woa import plain_woa
from tests.search_trace import SearchTrace

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pytest_benchmark.fixture import BenchmarkFixture

    from instances.dag.instance import DagInstance

pytestmark = pytest.mark.speed

WHALES = 50


def hundred_tasks() -> DagInstance:
    """Return 100 tasks on 8 GPUs."""
    return generate("layered", tasks=100, seed=1, cluster=parse_cluster("mixed-8"))


def whales(instance: DagInstance, rounds: int, callback: Callback | None = None, **options: object) -> None:
    """Run 50 whales for some rounds after the first population."""
    stop = MaxEvaluations(WHALES * (rounds + 1))
    rng = np.random.default_rng(7)
    woa(instance, Objective.MAKESPAN, rng, stop, callback or Callback(), population=WHALES, **options)


@pytest.mark.parametrize("variant", ["printed", "reference", "mealpy"])
def test_one_generation(benchmark: BenchmarkFixture, variant: str) -> None:
    """Tests that 20 rounds of 50 whales on 100 tasks and 8 GPUs are whole; reports the milliseconds per round.

    A round is everything: draws, moves, decoding, evaluation, DEAP's bookkeeping, log, counting.
    """
    instance, trace, rounds = hundred_tasks(), SearchTrace(), 20
    whales(instance, rounds, trace, variant=variant)
    assert [row["evaluations"] for row in trace.rounds] == [WHALES * (number + 1) for number in range(rounds + 1)]
    benchmark(whales, instance, rounds, variant=variant)
    if benchmark.stats is not None:
        milliseconds = 1e3 * benchmark.stats["median"] / (rounds + 1)
        benchmark.extra_info["milliseconds_per_generation"] = milliseconds
        print(f"\n{variant}: {milliseconds:.2f} ms per generation of {WHALES} whales")


@pytest.mark.parametrize("tabulated", [False, True], ids=["delays computed", "delays tabulated"])
def test_beside_plain_python(benchmark: BenchmarkFixture, monkeypatch: pytest.MonkeyPatch, tabulated: bool) -> None:
    """Tests that all whales of both have the same makespans, generation by generation; reports the ratio of times.

    The plain decoder computes transfer delays where it needs them, as plain code does, or looks them up in a table.
    """
    instance, rounds = hundred_tasks(), 39  # 2,000 evaluations, the default budget
    makespans: list[int] = []
    evaluate_many = RandomKeys.evaluate_many

    def remember(keys: RandomKeys, points: NDArray[np.float64]) -> NDArray[np.int64]:
        fitness = evaluate_many(keys, points)
        makespans.extend(fitness[:, 1].tolist())
        return fitness

    with monkeypatch.context() as patched:
        patched.setattr(RandomKeys, "evaluate_many", remember)
        whales(instance, rounds)
    plain_seconds = []
    for _ in range(2):
        begin = time.perf_counter()
        expected = plain_woa(instance, np.random.default_rng(7), population=WHALES, rounds=rounds, tabulated=tabulated)
        plain_seconds.append(time.perf_counter() - begin)
    assert makespans == expected
    assert len(expected) == WHALES * (rounds + 1)
    benchmark(whales, instance, rounds)
    if benchmark.stats is not None:
        ratio = statistics.median(plain_seconds) / benchmark.stats["median"]
        benchmark.extra_info["plain_seconds"] = statistics.median(plain_seconds)
        benchmark.extra_info["ratio"] = ratio
        print(f"\nplain Python / ours: {ratio:.0f}, delays {'tabulated' if tabulated else 'computed'}")
