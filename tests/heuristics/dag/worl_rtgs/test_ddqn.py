"""Tests of the trained network alone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.list_scheduling import heft
from heuristics.dag.worl_rtgs.ddqn import BATCH, ddqn, ddqn_sampling
from heuristics.dag.worl_rtgs.network import initial_weights, save_weights
from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from solvers.solve import solve
from tests.heuristics.dag.worl_rtgs.recorded_episode import WEIGHTS, recorded
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from pathlib import Path

    from heuristics.search.progress import Progress
    from instances.dag.schedule import DagSchedule


def test_is_the_greedy_episode(tmp_path: Path) -> None:
    """Tests that the schedule is that of a greedy episode with the given weights, and verifies."""
    instance, path = generate("layered", tasks=30, seed=3), tmp_path / "weights.npz"
    weights = initial_weights(np.random.default_rng(9))
    save_weights(path, weights)
    schedule = ddqn(instance, weights=str(path))
    timeline = recorded(instance, weights=weights).timeline
    assert schedule.gpu.tolist() == timeline.gpu.tolist()
    assert schedule.start.tolist() == timeline.start.tolist()
    assert verify_dag_schedule(instance, schedule) == []


def test_default_weights_are_trained(tmp_path: Path) -> None:
    """Tests that the default gives shorter schedules than untrained networks in nine of ten of 60 cases.

    Twelve instances on a cluster with one very fast GPU, where a random network may be lucky, and five of these.
    """
    paths = [str(tmp_path / f"{seed}.npz") for seed in range(5)]
    for seed, path in enumerate(paths):
        save_weights(path, initial_weights(np.random.default_rng(seed)))
    shorter = []
    for family in ("layered", "fork-join", "erdos-renyi", "series-parallel"):
        for seed in (901, 902, 903):
            instance = generate(family, tasks=40, seed=seed)
            trained, *untrained = (
                objective_value(instance, ddqn(instance, weights=weights), Objective.MAKESPAN)
                for weights in (None, *paths)
            )
            shorter += [trained < value for value in untrained]
    assert sum(shorter) >= 54


def test_serves_the_weighted_completion_too() -> None:
    """Tests that the network, trained on makespans, is at HEFT's level in mean where three jobs are weighted."""
    ratios = []
    for seed in range(12):
        jobs = np.random.default_rng(seed).integers(3, size=40)
        instance = replace(
            generate("layered", tasks=40, seed=seed),
            job_of_task=jobs,
            release=np.zeros(3, dtype=np.int64),
            weight=np.array([1, 2, 4]),
            job_names=("j0", "j1", "j2"),
        )
        schedules = ddqn(instance), heft(instance)
        ours, theirs = (objective_value(instance, schedule, Objective.WEIGHTED_COMPLETION) for schedule in schedules)
        ratios.append(ours / theirs)
    assert np.mean(ratios) < 1.1


def test_dead_end_is_no_schedule() -> None:
    """Tests that a placement that exceeds a memory limit is not returned."""
    instance = DagInstance.from_lists([[3, 3]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    assert ddqn(instance) is None


def test_no_tasks() -> None:
    """Tests that nothing is placed where there is nothing."""
    assert len(ddqn(DagInstance.from_lists([], num_gpus=2)).gpu) == 0


@pytest.mark.whole
def test_methods_do_not_import_jax() -> None:
    """Tests that a fresh process runs all three methods without JAX or Optax: they need no training."""
    program = (
        "import sys\nfrom solvers.solve import solve\nfrom instances.generators.dag.generate import generate\n"
        "from heuristics.search.stop_criteria import MaxEvaluations\n"
        "instance = generate('layered', tasks=5, seed=0)\n"
        "print(solve(instance, 'ddqn', bounds=[]).objective is not None)\n"
        "for method in ('ddqn-sampling', 'worl-rtgs'):\n"
        "    print(solve(instance, method, stop=MaxEvaluations(30), bounds=[]).objective is not None)\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('jax', 'jaxlib', 'optax')])\n"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.split("\n")[:4] == ["True", "True", "True", "[]"]


def test_parameters_stand_in_the_result(example_e: DagInstance, tmp_path: Path) -> None:
    """Tests that a result says which weights were used."""
    path = str(tmp_path / "weights.npz")
    save_weights(path, initial_weights(np.random.default_rng(9)))
    assert solve(example_e, "ddqn", weights=path, bounds=[]).to_dict()["parameters"] == {"weights": path}


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


def test_begins_with_heft_and_the_network() -> None:
    """Tests that the first placement is HEFT's, the second the network's own, and that HEFT's can be left out."""
    instance = generate("layered", tasks=20, seed=2)
    own = objective_value(instance, ddqn(instance), Objective.MAKESPAN)
    first = objective_value(instance, heft(instance), Objective.MAKESPAN)
    assert _run(instance, 2)[1] == [first, min(first, own)]
    assert _run(instance, 1, heft_seed=False)[1] == [own]


@settings(deadline=None, max_examples=30)
@given(instance=dag_instances(max_tasks=7), objective=st.sampled_from(FINISH_OBJECTIVES), seed=st.integers(0, 2**32))
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
