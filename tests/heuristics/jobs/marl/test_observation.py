"""Tests every number of an observation by hand, and that padding is zero."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.marl.environment import simulate_agents
from heuristics.jobs.marl.network import Variant
from heuristics.jobs.marl.observation import Observation, ObservationSize, agent_graph, num_sockets, switch_of_gpu
from heuristics.jobs.marl.observer import Observer
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.rounds import Rounds
from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.predictors.simple_predictors import Oracle
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.servers import JobsServer, Racks
from tests.heuristics.jobs.fixed_predictor import FixedPredictor
from tests.heuristics.jobs.marl.deciders import FirstSlot
from tests.heuristics.jobs.marl.seen import stream, watched_run

if TYPE_CHECKING:
    from heuristics.jobs.marl.rounds import Decision


KAPPA = 5.0


class Looker(FirstSlot):
    """Keeps observations."""

    def __init__(self, size: ObservationSize | None = None) -> None:
        super().__init__(np.random.default_rng(0))
        self.seen: list[Observation] = []
        self.ticks: list[int] = []
        self._size = size
        self._observer: Observer | None = None

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Pass it on."""
        super().begin_round(rounds, time)
        if self._observer is None:
            self._observer = Observer(rounds, KAPPA, self._size)
        self._observer.begin_round(time)

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Look, and take the first slot."""
        assert self._observer is not None
        self.seen.append(self._observer.observe(decision))
        self.ticks.append(decision.time)
        return super().decide(rounds, decision)


def example() -> JobsInstance:
    """Return two servers, 3 GPUs of F and 5 of S, and two jobs; the second has 2 stages, one not allowed on S."""
    servers = [
        JobsServer(kind="F", gpus=3, nic_bytes_per_tick=10),
        JobsServer(kind="S", gpus=5, nic_bytes_per_tick=20),
    ]
    jobs = [
        Job(stages=[Stage(times={"S": 4}, replicas=2)], iterations=5),
        Job(
            stages=[Stage(times={"F": 3}), Stage(times={"F": 2, "S": 6})],
            iterations=2,
            micro_batches=3,
            release=8,
        ),
    ]
    interference = Interference(
        resources=("pcie", "nic", "cpu"),
        use=np.array([[100, 0, 300], [20, 0, 40]]),
        sens=np.array([[200, 0, 400], [60, 0, 80]]),
    )
    return JobsInstance.from_parts(servers, jobs, interference=interference)


def test_every_number_of_an_observation() -> None:
    """Tests job 1 at tick 8 with one agent: job 0 has been on GPUs 0 and 1 of server 1 since 0, until 20."""
    looker = Looker()
    instance = example()
    run = simulate_agents(instance, looker, Oracle(instance), num_agents=1)
    assert run is not None
    assert run.simulation.schedule.start.tolist() == [0, 8]
    seen = looker.seen[-1]
    # Job 1: T* = 3 (both stages on F), 4 slots: alpha^lb 12; on one server no traffic, so alpha^min is 12, too.
    fast = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    slow_busy = [0, 1, 0, 2, 0, 8 / 5, 0.3, 0.1, 0, 0.4, 0.2, 0]
    slow_idle = [0, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0]
    nothing = [0] * 12
    assert seen.gpus[0].tolist() == [fast] * 3 + [nothing] * 2
    assert seen.gpus[1] == pytest.approx(np.array([slow_busy] * 2 + [slow_idle] * 3))
    assert seen.servers == pytest.approx(np.array([[0.5, 0, 0, 0], [1, 0, 0.2, 0.6]]))
    assert seen.job == pytest.approx(
        np.array([math.log(2), 2, 3, 12 / 5, 1, 0, 0.04, 0.02, 0, 0.08, 0.06, 0, 0, 0, 24 / 5])
    )
    # Groups: Heavy-Edge on F, which is best fit, load balance and least interference at once.
    assert seen.groups == pytest.approx(np.array([[1, 1, 0, 0.5]] + [[0] * 4] * 7))
    assert seen.group_servers.tolist() == [[1, 0]] + [[0, 0]] * 7
    assert seen.mask.tolist() == [True] + [False] * 7 + [True]
    # Summary: one job of 2 GPUs queued since now, one running, 6 of 8 GPUs idle, 3 of 5 at most on one server, half of
    # the servers idle; mean load cpu 300, pcie 100, nic 0; full speed; work 2 * 24 + 2 * (20 - 8) = 72 GPU-ticks.
    assert seen.summaries == pytest.approx(
        np.array([[0.1, 2 / 8, 0, 0.1, 6 / 8, 3 / 5, 1 / 2, 0.3, 0.1, 0, 1, 72 / 40]])
    )
    assert seen.has_server.tolist() == [1, 1]
    assert seen.in_rack.tolist() == [[1], [1]]


def test_offers() -> None:
    """Tests three agents: one with 2 fast GPUs, one with 3 slow ones, one with 1 fast and 1 that is not allowed."""
    servers = [
        JobsServer(kind=kind, gpus=gpus, nic_bytes_per_tick=10)
        for kind, gpus in (("F", 2), ("S", 3), ("F", 1), ("X", 1))
    ]
    jobs = [Job(stages=[Stage(times={"F": 3, "S": 6}, replicas=replicas)], iterations=9) for replicas in (1, 2, 3)]
    instance = JobsInstance.from_parts(servers, jobs)
    looker = Looker()
    assert Partitions(instance, 3).home.tolist() == [0, 1, 1]
    assert simulate_agents(instance, looker, Oracle(instance), num_agents=3) is not None
    two = math.log(2)
    found = {round(float(np.exp(seen.job[0]))): seen.offers[:, 0].tolist() for seen in looker.seen}
    # The deciding agent comes first; an agent with too few GPUs offers 0.
    assert found[1] == pytest.approx([0, two, 0])  # by agent 0
    assert found[2] == pytest.approx([two, 0, 0])  # by agent 1


def test_first_observation_of_the_example_is_of_nothing_running() -> None:
    """Tests that job 0 at tick 0 needs no decision: its one group is the only slot."""
    looker = Looker()
    instance = example()
    run = simulate_agents(instance, looker, Oracle(instance), num_agents=1)
    assert run is not None
    assert (run.rounds.num_decisions, len(looker.seen)) == (1, 1)


def test_observations_know_no_iterations() -> None:
    """Tests that with the same predictions nothing that is seen before a completion depends on true iterations."""
    instance = stream("jobs-co-located", jobs=12)
    last = int(instance.release.max())
    longer = dataclasses.replace(instance, iterations=instance.iterations + 10**6)
    twins = []
    for each in (instance, longer):
        looker = Looker()
        assert simulate_agents(each, looker, FixedPredictor([50] * 12), num_agents=2) is not None
        twins.append(looker)
    one, two = twins
    until = next(number for number, time in enumerate(one.times) if time != two.times[number])
    assert one.times[until - 1] > 0
    assert 0 < one.times[until] < last  # a completion, so what was seen before has no other reason to be the same
    common = sum(time < one.times[until] for time in one.ticks)
    assert common >= 3
    for first, second in zip(one.seen[:common], two.seen[:common], strict=True):
        assert all((a == b).all() for a, b in zip(first, second, strict=True))


def test_padding_is_zero_and_kinds_may_be_unknown() -> None:
    """Tests a larger size with the kinds in another order, and without one of them."""
    instance = example()
    least = Looker()
    larger = Looker(ObservationSize(kinds=("T", "S"), num_agents=1, num_servers=4, num_gpus=7, num_racks=3))
    for looker in (least, larger):
        assert simulate_agents(instance, looker, Oracle(instance), num_agents=1) is not None
    small, large = least.seen[-1], larger.seen[-1]
    assert large.gpus[:2, :5, 2:].tolist() == small.gpus[..., 2:].tolist()
    assert large.gpus[0, :3, :2].tolist() == [[0, 0]] * 3
    assert large.gpus[1, :5, :2].tolist() == [[0, 1]] * 5
    assert not large.gpus[2:].any()
    assert not large.gpus[:, 5:].any()
    for name in ("servers", "has_server", "has_socket", "in_rack"):
        assert not getattr(large, name)[2:].any()
    assert large.group_servers[:, :2].tolist() == small.group_servers.tolist()
    assert large.has_gpu[:2, :5].tolist() == small.has_gpu.tolist()
    for name in ("summaries", "job", "groups", "mask"):
        assert getattr(large, name).tolist() == getattr(small, name).tolist()


@pytest.mark.parametrize("family", ["jobs-poisson", "jobs-co-located", "jobs-shared-gpus"])
def test_observations_of_streams(family: str) -> None:
    """Tests what holds for every observation: finite, in range, the deciding agent's summary first, groups whole."""
    instance = stream(family)
    run, seen = watched_run(instance, 4, Variant.FLAT)
    assert len(seen) > 20
    for decision, each, slot in seen:
        assert all(np.isfinite(array).all() for array in each)
        assert each.mask[slot]
        count = len(decision.groups)
        assert each.group_servers[:count].sum(axis=1) == pytest.approx(np.ones(count))
        assert (each.groups[:count, 0] >= 1).all()
        own = run.rounds.partitions.servers_of(decision.agent)
        assert each.has_server.sum() == own.stop - own.start
        assert each.has_gpu.sum() == run.rounds.partitions.num_gpus_of[decision.agent]
        assert each.summaries[0, 0] >= 0.1 or run.rounds.num_forwards[decision.job]  # its queue is not empty
        assert each.gpus[..., len(instance.kinds)].max() <= instance.share
    if family == "jobs-shared-gpus":
        assert max(each.gpus[..., 4 + 3].max() for _, each, _ in seen) > 0


def test_sizes_are_checked() -> None:
    """Tests that too small a size is refused."""
    instance = example()
    rounds = Rounds(JobShapes(instance), Partitions(instance, 1), FirstSlot(np.random.default_rng(0)))
    size = ObservationSize.of(rounds.partitions)
    assert (size.num_servers, size.num_gpus, size.num_racks, size.gpu_features, size.num_slots) == (2, 5, 1, 12, 9)
    with pytest.raises(ValueError, match=r"size\.num_gpus: expected at least 5, got 4\."):
        Observer(rounds, 1.0, ObservationSize(kinds=("F",), num_agents=1, num_servers=2, num_gpus=4, num_racks=1))
    with pytest.raises(ValueError, match=r"size\.num_agents: expected 1, got 2\."):
        Observer(rounds, 1.0, ObservationSize(kinds=("F",), num_agents=2, num_servers=2, num_gpus=5, num_racks=1))
    with pytest.raises(ValueError, match=r"kappa: expected a number of ticks above 0, got 0\."):
        Observer(rounds, 0)


@pytest.mark.parametrize(
    ("gpus", "switches"),
    [(1, [0]), (4, [0, 0, 0, 0]), (5, [0, 0, 0, 1, 1]), (6, [0, 0, 0, 1, 1, 1]), (8, [0, 0, 0, 0, 1, 1, 1, 1])],
)
def test_gpus_are_split_evenly(gpus: int, switches: list[int]) -> None:
    """Tests one socket up to four GPUs, two beyond."""
    assert switch_of_gpu(gpus).tolist() == switches
    assert num_sockets(gpus) == max(switches) + 1


def test_graphs_of_two_agents() -> None:
    """Tests servers of 1, 5 and 2 GPUs, the last two in racks of their own agents' view."""
    servers = [JobsServer(kind="F", gpus=gpus, nic_bytes_per_tick=1) for gpus in (1, 5, 2, 1)]
    instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times=1)])])
    racked = dataclasses.replace(instance, racks=Racks.of([-1, 1, 0, -1], [1, 1]))
    first, second = (agent_graph(Partitions(racked, 2), agent) for agent in range(2))
    assert first.has_gpu.tolist() == [[1, 0, 0, 0, 0], [1] * 5]
    assert first.has_socket.tolist() == [[1, 0], [1, 1]]
    assert first.on_switch.tolist() == [[[1, 0, 0, 0, 0], [0] * 5], [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]]
    assert first.in_rack.tolist() == [[1, 0], [0, 1]]  # that of no rack first
    assert second.in_rack.tolist() == [[0, 1], [1, 0]]
    assert agent_graph(Partitions(instance, 1), 0).in_rack.tolist() == [[1]] * 4
