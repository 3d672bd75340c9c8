"""Tests that networks of several agents survive their files bit for bit, and decide for their own agent each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.hashed_arrays import load_arrays, save_arrays
from heuristics.jobs.marl.agent_networks import FORMAT, AgentNetworks, load_agent_networks, save_agent_networks
from heuristics.jobs.marl.load_any_network import load_any_network
from heuristics.jobs.marl.network import embed, scores
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.parameters import Variant, initial_parameters
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.simulate_agents import simulate_agents
from heuristics.jobs.marl.trained_network import TrainedNetwork, save_network
from heuristics.jobs.predictors.oracle import Oracle
from tests.heuristics.jobs.marl.seen import stream

if TYPE_CHECKING:
    from pathlib import Path

    from heuristics.jobs.marl.decider import Decision
    from heuristics.jobs.marl.observation import Observation
    from instances.jobs import JobsInstance


def _network(seed: int, instance: JobsInstance, num_agents: int = 2) -> TrainedNetwork:
    """Return an untrained network."""
    size = ObservationSize.of(Partitions(instance, num_agents))
    parameters = initial_parameters(np.random.default_rng(seed), size, Variant.FLAT)
    return TrainedNetwork(
        parameters=parameters, kappa=2e4, variant=Variant.FLAT, kinds=size.kinds, num_agents=num_agents
    )


def test_round_trip(tmp_path: Path) -> None:
    """Tests that what is read is what was written, by either loader, and that files of one network are still read."""
    instance = stream("jobs-co-located")
    networks = AgentNetworks(agents=(_network(1, instance), _network(2, instance)))
    for name in ("a.npz", "b.npz"):
        save_agent_networks(tmp_path / name, networks)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    for read in (load_agent_networks(tmp_path / "a.npz"), load_any_network(tmp_path / "a.npz")):
        assert isinstance(read, AgentNetworks)
        assert (read.sha256, read.num_agents, read.kappa) == (networks.sha256, 2, 2e4)
        assert [one.sha256 for one in read.agents] == [one.sha256 for one in networks.agents]
    swapped = AgentNetworks(agents=networks.agents[::-1])
    assert swapped.sha256 != networks.sha256
    save_network(tmp_path / "one.npz", networks.agents[0])
    one = load_any_network(tmp_path / "one.npz")
    assert isinstance(one, TrainedNetwork)
    assert one.sha256 == networks.agents[0].sha256
    assert {agent.sha256 for agent in AgentNetworks.copies(one).agents} == {one.sha256}


def test_broken_files(tmp_path: Path) -> None:
    """Tests a file of text, another format, a missing array, and networks that do not belong together."""
    instance, path = stream("jobs-co-located"), tmp_path / "n.npz"
    path.write_text("no arrays")
    with pytest.raises(ValueError, match="expected a file of a network, got something else"):
        load_any_network(path)
    save_arrays(path, {"format": np.array("other")})
    with pytest.raises(ValueError, match="expected format 'optgap/marl-network 1', got 'other'"):
        load_any_network(path)
    save_agent_networks(path, AgentNetworks.copies(_network(1, instance)))
    arrays = load_arrays(path, "networks of agents", FORMAT)
    save_arrays(path, {name: array for name, array in arrays.items() if name != "agent 1 kappa"})
    with pytest.raises(ValueError, match=r"n\.npz: expected an array 'kappa', got none"):
        load_any_network(path)
    save_arrays(path, {**arrays, "agent 1 kappa": np.array(7.0)})
    with pytest.raises(ValueError, match=r"n\.npz: agents\[1\]: expected kappa 20000\.0 as agents\[0\] has it, got 7"):
        load_any_network(path)
    with pytest.raises(ValueError, match=r"agents\[0\]: expected one of 2 agents, got 1"):
        AgentNetworks(agents=(_network(1, instance),))
    with pytest.raises(ValueError, match="agents: expected at least one network, got none"):
        AgentNetworks(agents=())


def test_every_agent_has_parameters_of_its_own() -> None:
    """Tests that each agent takes the slot that its own network scores highest, and that A must be the same."""
    instance = stream("jobs-co-located", jobs=16)
    networks = AgentNetworks(agents=(_network(1, instance), _network(5, instance)))
    differ = [0, 0]

    def watch(decision: Decision, seen: Observation, slot: int) -> None:
        """Ask both networks."""
        best = [int(scores(np, one, seen, embed(np, one, seen, Variant.FLAT)).argmax()) for one in networks.parameters]
        assert slot == best[decision.agent]
        differ[decision.agent] += best[0] != best[1]

    decider = NetworkDecider(networks.parameters, networks.kappa, networks.variant, watch=watch)
    assert simulate_agents(instance, decider, Oracle(instance), num_agents=2) is not None
    assert min(differ) > 0
    decider = NetworkDecider(networks.parameters, networks.kappa, networks.variant)
    with pytest.raises(ValueError, match=r"num_agents: expected 2, as each has parameters of its own, got 3\."):
        simulate_agents(instance, decider, Oracle(instance), num_agents=3)
