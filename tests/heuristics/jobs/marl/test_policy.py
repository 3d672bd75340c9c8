"""Tests that the multi-agent policy places by its network on any instance, repeatably, and refuses what cannot be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heuristics.jobs.marl.network_files import (
    AgentNetworks,
    load_network,
    save_agent_networks,
    save_network,
    untrained_network,
)
from heuristics.jobs.marl.policy import marl, marl_run
from heuristics.jobs.policies.key_policies import spjf
from heuristics.jobs.policies.run_policy import run_policy
from heuristics.search.progress import Callback
from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.objective import JobsObjective, job_durations
from instances.jobs.verify import verify_jobs_schedule
from solvers.run.outcome import Termination
from solvers.solve import solve
from studies.experiment.stored_documents import stored_schedule_text
from tests.heuristics.jobs.marl.seen import stream
from tests.heuristics.jobs.marl.test_partitions import servers_and_jobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heuristics.jobs.marl.environment import AgentsRun
    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.rounds import Decision
    from instances.jobs.instance import JobsInstance


ROOT = Path(__file__).parents[4]
TOTAL, WEIGHTED = JobsObjective.TOTAL_COMPLETION, JobsObjective.WEIGHTED_COMPLETION


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the file of an untrained network that knows two of the four kinds of the generated servers, and others."""
    path = tmp_path_factory.mktemp("own") / "own.npz"
    kinds = ("no such kind", "V100-32GB", "T4")
    save_network(path, untrained_network(5, kappa=1e5, variant="inner-outer", kinds=kinds, num_agents=3))
    return str(path)


def run_of(instance: JobsInstance, seed: int = 0, **parameters: Any) -> AgentsRun:
    """Return a whole run."""
    run = marl_run(instance, np.random.default_rng(seed), **parameters)
    assert run is not None
    return run


@pytest.mark.parametrize(
    ("family", "parameters", "agents"),
    [
        ("jobs-poisson", {}, 4),
        ("jobs-co-located", {}, 4),
        ("jobs-co-located", {"servers_per_rack": 4}, 2),  # two racks, which stay whole
        ("jobs-shared-gpus", {}, 4),
    ],
)
def test_schedules_replay_and_repeat(family: str, parameters: Mapping[str, int], agents: int, own: str) -> None:
    """Tests with and without interference, racks and shared GPUs: verified, completions of the run, the same twice."""
    instance = stream(family, jobs=30, **parameters)
    first, second = run_of(instance, 0, weights=own), run_of(instance, 1, weights=own)
    schedule = first.simulation.schedule
    assert verify_jobs_schedule(instance, schedule) == []
    assert (schedule.start + job_durations(instance, schedule)).tolist() == first.simulation.completion.tolist()
    assert stored_schedule_text(schedule) == stored_schedule_text(second.simulation.schedule)
    assert first.rounds.num_agents == agents
    assert first.rounds.num_decisions > 30
    assert first.rounds.num_forwards.max() <= 1
    again = marl(instance, np.random.default_rng(2), weights=own)
    assert stored_schedule_text(again) == stored_schedule_text(schedule)


def test_unknown_kinds_have_no_mark(own: str) -> None:
    """Tests marks of kinds: those of the network in its order, zeros for a kind that it does not know."""
    instance = stream("jobs-co-located", jobs=30)
    seen: list[tuple[Decision, Observation]] = []
    run_of(instance, weights=own, agents=1, watch=lambda decision, sight, slot: seen.append((decision, sight)))
    marks = seen[0][1].gpus[:, 0, :3]
    names = [instance.kinds[kind] for kind in instance.server_kind.tolist()]
    assert {name: row for name, row in zip(names, marks.tolist(), strict=True)} == {
        name: [0.0, float(name == "V100-32GB"), float(name == "T4")] for name in names
    }
    assert len(set(names) - {"V100-32GB", "T4"}) >= 1
    other = servers_and_jobs([2, 2], [1, 2, 1])  # a kind that no network has seen
    assert verify_jobs_schedule(other, run_of(other).simulation.schedule) == []


def test_no_jobs_and_one_server() -> None:
    """Tests an empty schedule, and a cluster that leaves nothing to cut."""
    empty = run_of(servers_and_jobs([1, 1], []))
    assert (empty.simulation.schedule.start.tolist(), empty.rounds.num_decisions) == ([], 0)
    one = servers_and_jobs([3], [2, 2, 1])
    run = run_of(one)
    assert run.rounds.num_agents == 1
    assert sorted(run.simulation.completion.tolist()) == [1, 1, 2]


def test_agents(own: str) -> None:
    """Tests that A is 4 unless a job needs more servers, that it can be chosen, and what is refused."""
    instance = stream("jobs-poisson", jobs=15)
    assert stored_schedule_text(run_of(instance, weights=own).simulation.schedule) == stored_schedule_text(
        run_of(instance, weights=own, agents=4).simulation.schedule
    )
    for agents in (1, 2, 8):
        run = run_of(instance, weights=own, agents=agents)
        assert run.rounds.num_agents == run.rounds.partitions.num_agents == agents
        assert verify_jobs_schedule(instance, run.simulation.schedule) == []
    wide = servers_and_jobs([2] * 8, [9, 1])
    assert run_of(wide).rounds.num_agents == 1
    with pytest.raises(ValueError, match=r"^agents: expected a number under which every job has a home, such as 1, "):
        run_of(wide, agents=2)


def test_a_network_for_each_agent(own: str, tmp_path: Path) -> None:
    """Tests that copies of one network decide as it does, and that their number is A."""
    instance = stream("jobs-co-located", jobs=15)
    save_agent_networks(tmp_path / "each.npz", AgentNetworks.copies(load_network(own)))
    run = run_of(instance, weights=str(tmp_path / "each.npz"))
    assert run.rounds.num_agents == 3
    shared = run_of(instance, weights=own, agents=3)
    assert stored_schedule_text(run.simulation.schedule) == stored_schedule_text(shared.simulation.schedule)
    with pytest.raises(ValueError, match=r"^agents: expected 3, as each has a network, got 2\.$"):
        run_of(instance, weights=str(tmp_path / "each.npz"), agents=2)
    with pytest.raises(ValueError, match=r"^agents: expected a number under which every job has a home, such as 1, "):
        run_of(servers_and_jobs([2] * 8, [9, 1]), weights=str(tmp_path / "each.npz"))


def test_forwards(own: str) -> None:
    """Tests that F bounds how often a job is forwarded, and that 0 leaves everybody at home."""
    instance = stream("jobs-co-located", jobs=30)
    assert run_of(instance, weights=own, forwards=0).rounds.forwards == []
    counts = [int(run_of(instance, weights=own, forwards=most).rounds.num_forwards.max()) for most in (1, 3)]
    assert counts[0] <= 1
    assert counts[1] <= 3
    with pytest.raises(ValueError, match=r"^forwards: expected at least 0, got -1\.$"):
        run_of(instance, forwards=-1)


def test_predictions_are_those_of_other_policies(own: str) -> None:
    """Tests that a seed gives the same predictions as under another policy, and another seed gives others."""
    instance = stream("jobs-co-located", jobs=20)
    given: dict[str, Any] = {"predictor": "noisy-oracle", "predictor_parameters": {"mu": 4.0}}
    found = [run_of(instance, seed, weights=own, **given).simulation.prediction for seed in (3, 4)]
    other = run_policy(spjf.make(instance), np.random.default_rng(3), **given)
    assert other is not None
    assert found[0] is not None
    assert other.prediction is not None
    assert found[0].tolist() == other.prediction.tolist() != instance.iterations.tolist()
    assert found[1] is not None
    assert found[0].tolist() != found[1].tolist()
    with pytest.raises(ValueError, match=r"^predictor: expected one of oracle, .*, got 'crystal'"):
        run_of(instance, predictor="crystal")


def test_the_network_decides(own: str) -> None:
    """Tests that stages and files are other policies, and the default is the trained one of the index."""
    instance = stream("jobs-co-located", jobs=15)
    texts = {
        name: stored_schedule_text(run_of(instance, **parameters).simulation.schedule)
        for name, parameters in {
            "default": {},
            "trained": {"stage": "trained"},
            "untrained": {"training": 1, "stage": "untrained"},
            "another": {"training": 2, "stage": "untrained"},
            "own": {"weights": own},
        }.items()
    }
    assert texts["default"] == texts["trained"]
    assert len({texts["untrained"], texts["another"], texts["own"]}) == 3
    with pytest.raises(ValueError, match=r"^training: expected none beside weights, got 2\.$"):
        run_of(instance, weights=own, training=2)
    with pytest.raises(ValueError, match=r"^training: expected one of 1, 2, 3, 4, 5, got 9\.$"):
        solve(instance, "marl", training=9)


class StopAfter(Callback):
    """Asks to stop after some reports."""

    def __init__(self, reports: int) -> None:
        self.left, self.rows = reports, []  # type: ignore[var-annotated]

    @property
    def wants_stop(self) -> bool:  # type: ignore[override]
        """Whether to stop."""
        return self.left <= 0

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Count."""
        self.left -= 1
        self.rows.append(row["jobs_started"])


def test_stop_and_time_limit() -> None:
    """Tests a stop from the beginning, one in between, and a time limit that nobody meets: no schedule."""
    instance = stream("jobs-co-located", jobs=30)
    for reports in (0, 3):
        callback = StopAfter(reports)
        assert marl(instance, np.random.default_rng(0), callback) is None
        assert len(callback.rows) == reports
    result = solve(instance, "marl", time_limit=1e-9)
    assert (result.schedule, result.termination) == (None, Termination.TIME_LIMIT)


def test_weighted_objective_has_a_gap() -> None:
    """Tests the front door under both objectives: gaps of at least 0 for one schedule."""
    instance = generate_jobs("jobs-small-co-located", jobs=8, seed=3, load=1.0)
    results = [solve(instance, "marl", objective=objective) for objective in JobsObjective]
    assert all(result.gap is not None and result.gap >= 0 for result in results)
    assert stored_schedule_text(results[0].schedule) == stored_schedule_text(results[1].schedule)


def test_large_cluster() -> None:
    """Tests servers by the hundred."""
    instance = generate_jobs("jobs-poisson", jobs=12, seed=1, load=0.9, cluster=parse_cluster("200*4xV100-16GB"))
    run = run_of(instance)
    assert run.rounds.num_agents == 4
    assert verify_jobs_schedule(instance, run.simulation.schedule) == []


@pytest.mark.whole
def test_decisions_need_no_jax() -> None:
    """Tests that a run by the command line's way imports neither JAX nor Optax."""
    program = (
        "import sys; from solvers.solve import solve; from instances.generators.jobs.generate import generate_jobs; "
        "print(solve(generate_jobs('jobs-small', jobs=3, seed=0), 'marl').objective > 0, "
        "{'jax', 'jaxlib', 'optax'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.split("\n")[0] == "True set()"
