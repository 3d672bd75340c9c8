"""Tests that untrained networks place jobs by the rules, repeatably, and whatever servers are called."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.marl import network
from heuristics.jobs.marl.environment import simulate_agents
from heuristics.jobs.marl.network import Variant, embed, initial_parameters, scores
from heuristics.jobs.marl.network_decider import LEAST_SPARSE_SIZE, NetworkDecider, SparseRacks
from heuristics.jobs.marl.observation import Observation, ObservationSize, empty_observation
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.predictors.simple_predictors import Oracle
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.servers import JobsServer
from instances.jobs.verify import verify_jobs_schedule
from tests.heuristics.jobs.marl.seen import stream, watched_run

if TYPE_CHECKING:
    from heuristics.jobs.marl.rounds import Decision, Rounds


@pytest.mark.parametrize("family", ["jobs-poisson", "jobs-co-located", "jobs-shared-gpus"])
@pytest.mark.parametrize(("num_agents", "seed"), [(1, 1), (2, None), (4, 1)])
def test_untrained_schedules_verify(family: str, num_agents: int, seed: int | None) -> None:
    """Tests greedy and random slots on streams without and with interference, racks and two jobs per GPU."""
    instance = stream(family, jobs=12)
    runs = [watched_run(instance, num_agents, Variant.INNER_OUTER, seed)[0] for _ in range(2)]
    first, second = (run.simulation.schedule for run in runs)
    assert verify_jobs_schedule(instance, first) == []
    assert first.start.tolist() == second.start.tolist()
    assert first.entry_server.tolist() == second.entry_server.tolist()
    assert runs[0].rounds.num_forwards.max() <= 1


@pytest.mark.whole
def test_greedy_takes_the_largest_score() -> None:
    """Tests the slots of a greedy run against the scores, the lowest slot where scores are equal."""
    instance = stream("jobs-co-located")
    _, seen = watched_run(instance, 2, Variant.INNER, None)
    parameters = initial_parameters(
        np.random.default_rng(7), ObservationSize.of(Partitions(instance, 2)), Variant.INNER
    )
    for _, each, slot in seen:
        masked = scores(np, parameters, each, embed(np, parameters, each, Variant.INNER))
        assert slot == int(np.flatnonzero(masked == masked.max())[0])
    silent = {name: 0 * array for name, array in parameters.items()}
    decider = NetworkDecider(silent, 1.0, Variant.INNER)
    decider_slots: list[bool] = []
    for decision, each, _ in seen:
        masked = scores(np, silent, each, embed(np, silent, each, Variant.INNER))
        decider_slots.append(int(masked.argmax()) == int(np.flatnonzero(decision.mask)[0]))
    assert all(decider_slots)
    with pytest.raises(RuntimeError, match="begin_round: expected a call before decide"):
        decider.decide(None, seen[0][0])  # type: ignore[arg-type]


class PinnedFirst(NetworkDecider):
    """Starts the first eight jobs, which have but one place, at once."""

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Take the only group, or ask the network."""
        return 0 if decision.job < 8 else super().decide(rounds, decision)


def renamed(instance: JobsInstance, order: list[int]) -> JobsInstance:
    """Return an instance whose server v is server order[v] of another."""
    servers = [
        JobsServer(
            kind=instance.kinds[instance.server_kind[server]],
            gpus=int(instance.num_gpus_of[server]),
            nic_bytes_per_tick=instance.nic_bytes_per_tick(server),
        )
        for server in order
    ]
    times = [
        {kind: ticks for kind, ticks in zip(instance.kinds, row, strict=True) if ticks > 0}
        for row in instance.time_of.tolist()
    ]
    jobs = [
        Job(
            stages=[Stage(times=times[row], replicas=int(instance.replicas[row]))],
            release=int(instance.release[row]),
            iterations=int(instance.iterations[row]),
        )
        for row in range(instance.num_jobs)
    ]
    return JobsInstance.from_parts(servers, jobs, interference=instance.interference)


def test_names_of_servers_inside_a_partition_do_not_matter() -> None:
    """Tests a run of two agents, greedy, on servers whose order within partitions is turned around.

    Every server has a kind and a long job of its own, so that shares of busy GPUs, loads, free GPUs and times are all
    different and no tie is broken by number.
    """
    gpus, kinds = [3, 5, 8, 13, 2, 6, 9, 14], [f"k{number}" for number in range(8)]
    servers = [
        JobsServer(kind=kind, gpus=count, nic_bytes_per_tick=number + 1)
        for number, (kind, count) in enumerate(zip(kinds, gpus, strict=True))
    ]
    rng = np.random.default_rng(0)
    jobs = [Job(stages=[Stage(times={kind: 1})], iterations=1000) for kind in kinds]
    for release in range(1, 9):
        times: dict[str, int | None] = dict(zip(kinds, (10 + rng.permutation(8)).tolist(), strict=True))
        jobs.append(Job(stages=[Stage(times=times, replicas=int(rng.integers(2, 7)))], release=release))
    number = len(jobs)
    slow = Interference(
        resources=("cpu",), use=rng.integers(100, 400, (number, 1)), sens=rng.integers(100, 900, (number, 1))
    )
    instance = JobsInstance.from_parts(servers, jobs, interference=slow)
    order = [3, 2, 1, 0, 7, 6, 5, 4]
    other = renamed(instance, order)
    size = dataclasses.replace(ObservationSize.of(Partitions(instance, 2)), kinds=tuple(kinds))
    parameters = initial_parameters(np.random.default_rng(7), size)
    starts, places, slots, found = [], [], [], []
    for each, names in ((instance, list(range(8))), (other, order)):
        watched: list[tuple[Decision, Observation, int]] = []
        decider = PinnedFirst(parameters, 10.0, size=size, watch=lambda *what, into=watched: into.append(what))  # type: ignore[misc]
        run = simulate_agents(each, decider, Oracle(each), num_agents=2)
        assert run is not None
        starts.append(run.simulation.schedule.start.tolist())
        places.append(
            [
                sorted(
                    (names[server], int(count))
                    for server, count in enumerate(run.simulation.schedule.placement(each, job).sum(axis=0))
                    if count
                )
                for job in range(number)
            ]
        )
        slots.append([slot for _, _, slot in watched])
        found.append(
            [scores(np, parameters, seen, embed(np, parameters, seen, Variant.INNER_OUTER)) for _, seen, _ in watched]
        )
    assert starts[0] == starts[1]
    assert places[0] == places[1]
    assert slots[0] == slots[1]
    assert len(slots[0]) >= 8
    for one, two in zip(*found, strict=True):
        assert one == pytest.approx(two, rel=1e-4, abs=1e-5)


SERVERS, RACKS = 600, 300


def many_servers() -> tuple[ObservationSize, Observation]:
    """Return an invented observation of 600 servers, two to a rack."""
    size = ObservationSize(kinds=("a", "b"), num_agents=3, num_servers=SERVERS, num_gpus=8, num_racks=RACKS)
    seen, rng = empty_observation(size), np.random.default_rng(0)
    for array in seen[:-1]:
        array[:] = rng.random(array.shape)
    for array in (seen.has_server, seen.has_gpu, seen.has_socket):
        array[:] = 1
    seen.on_switch[:] = np.arange(8) // 4 == np.arange(2)[:, None]
    seen.in_rack[:] = np.arange(SERVERS)[:, None] // 2 == np.arange(RACKS)
    seen.mask[:] = True
    return size, seen


@pytest.mark.parametrize("variant", [Variant.INNER, Variant.INNER_OUTER])
def test_parts_and_sparse_maps_change_no_score(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests scores with all servers at once and a dense map against those in parts and with a sparse one."""
    size, seen = many_servers()
    assert seen.in_rack.size >= LEAST_SPARSE_SIZE
    assert network.TOGETHER < SERVERS
    parameters = initial_parameters(np.random.default_rng(1), size, variant)
    sparse = SparseRacks().of(0, seen)
    assert type(sparse.in_rack) is not np.ndarray
    fast = scores(np, parameters, sparse, embed(np, parameters, sparse, variant))
    monkeypatch.setattr(network, "TOGETHER", SERVERS)
    plain = scores(np, parameters, seen, embed(np, parameters, seen, variant))
    assert type(fast) is np.ndarray
    assert fast.dtype == plain.dtype
    assert fast == pytest.approx(plain, rel=1e-4, abs=1e-5)
    assert int(fast.argmax()) == int(plain.argmax())


def test_maps_are_made_once_and_only_where_they_are_worth_it() -> None:
    """Tests that a read-only map is remembered, one that may change is not, and a small one stays."""
    _, seen = many_servers()
    racks = SparseRacks()
    first = racks.of(1, seen).in_rack
    assert racks.of(1, seen).in_rack is not first
    seen.in_rack.flags.writeable = False
    kept = racks.of(1, seen).in_rack
    assert racks.of(1, seen).in_rack is kept
    assert (kept.toarray() == seen.in_rack).all()  # type: ignore[attr-defined]  # SciPy's
    small = seen._replace(in_rack=seen.in_rack[:, :8])
    assert racks.of(1, small) is small


def test_observations_of_an_agent_share_its_graph() -> None:
    """Tests that what never changes is one read-only array per agent, and what changes is not."""
    _, watched = watched_run(stream("jobs-co-located", jobs=12), 2, Variant.INNER_OUTER)
    by_agent = {agent: [seen for decision, seen, _ in watched if decision.agent == agent] for agent in (0, 1)}
    for observations in by_agent.values():
        first = observations[0]
        assert len(observations) > 1
        for seen in observations[1:]:
            for name in ("has_server", "has_gpu", "on_switch", "has_socket", "in_rack"):
                assert getattr(seen, name) is getattr(first, name)
                assert not getattr(seen, name).flags.writeable
            assert seen.gpus is not first.gpus
            assert seen.gpus.flags.writeable
    assert by_agent[0][0].in_rack is not by_agent[1][0].in_rack
