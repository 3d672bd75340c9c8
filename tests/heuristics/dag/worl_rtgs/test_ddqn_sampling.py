"""Tests of sampling from the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.callback import Callback
from heuristics.dag.heft import heft
from heuristics.dag.worl_rtgs.ddqn import ddqn
from heuristics.dag.worl_rtgs.ddqn_sampling import BATCH, ddqn_sampling
from heuristics.dag.worl_rtgs.network import save_weights
from heuristics.stop import MaxEvaluations
from instances import DagInstance, DagSchedule, Objective, objective_value
from instances.generators import generate
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.check_method import check_method
from tests.heuristics.dag.worl_rtgs.recorded_episode import WEIGHTS
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from pathlib import Path

    from heuristics.progress import Progress


class _Trace(Callback):
    """Keeps the best objective after every evaluation."""

    def __init__(self) -> None:
        self.best: list[int | None] = []

    def on_evaluation(self, progress: Progress) -> None:
        """Note it."""
        self.best.append(progress.objective)


def _run(
    instance: DagInstance, evaluations: int, seed: int = 0, objective: Objective = Objective.MAKESPAN, **options: object
) -> tuple[DagSchedule | None, list[int | None]]:
    """Return schedule and trace of a run."""
    trace, rng = _Trace(), np.random.default_rng(seed)
    return ddqn_sampling(instance, objective, rng, MaxEvaluations(evaluations), trace, **options), trace.best


def test_conforms() -> None:
    """Tests the method by the conformance kit."""
    check_method("ddqn-sampling")


def test_begins_with_heft_and_the_network() -> None:
    """Tests that the first placement is HEFT's, the second the network's own, and that HEFT's can be left out."""
    instance = generate("layered", tasks=20, seed=2)
    own = objective_value(instance, ddqn(instance), Objective.MAKESPAN)
    first = objective_value(instance, heft(instance), Objective.MAKESPAN)
    assert _run(instance, 2)[1] == [first, min(first, own)]
    assert _run(instance, 1, heft_seed=False)[1] == [own]


@settings(deadline=None, max_examples=30)
@given(instance=dag_instances(max_tasks=7), objective=st.sampled_from(Objective), seed=st.integers(0, 2**32))
def test_best_of_all(instance: DagInstance, objective: Objective, seed: int) -> None:
    """Tests that the schedule verifies and is the best one counted, to the unit of the budget."""
    schedule, trace = _run(instance, 2 + BATCH + 7, seed, objective)
    assert len(trace) == 2 + BATCH + 7
    if schedule is None:
        assert trace[-1] is None
    else:
        assert verify_dag_schedule(instance, schedule) == []
        assert objective_value(instance, schedule, objective) == trace[-1]


def test_without_noise_there_is_one_placement() -> None:
    """Tests that at temperature 0 nothing better than the network's own placement comes, with noise it does."""
    instance = generate("layered", tasks=40, seed=2)
    assert len(set(_run(instance, 300, temperature=0.0, heft_seed=False)[1])) == 1
    assert len(set(_run(instance, 300, heft_seed=False)[1])) > 1


def test_same_seed_same_trace(tmp_path: Path) -> None:
    """Tests that a run comes back with its seed, and another seed gives another; with an untrained network."""
    instance, path = generate("layered", tasks=25, seed=2), str(tmp_path / "weights.npz")
    save_weights(path, WEIGHTS)
    options = {"temperature": 0.1, "heft_seed": False, "weights": path}
    first, again, other = (_run(instance, 150, seed, **options)[1] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_temperature_out_of_range(example_e: DagInstance) -> None:
    """Tests that a negative temperature is refused."""
    with pytest.raises(ValueError, match="temperature: expected a number"):
        _run(example_e, 5, temperature=-0.1)
