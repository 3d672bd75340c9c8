"""Tests that networks of several agents survive their files bit for bit, and decide for their own agent each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heuristics.array_files import arrays_in, checked_arrays, save_arrays
from heuristics.jobs.marl.environment import simulate_agents
from heuristics.jobs.marl.network import Variant, embed, initial_parameters, scores
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.network_files import (
    AGENT_NETWORKS_FORMAT,
    NETWORK_FORMAT,
    AgentNetworks,
    TrainedNetwork,
    load_any_network,
    load_network,
    save_agent_networks,
    save_network,
    untrained_network,
)
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.training.instances import validation_set
from heuristics.jobs.marl.training.train import MarlTrainer
from heuristics.jobs.predictors.simple_predictors import Oracle
from tests.heuristics.jobs.marl.seen import stream
from tests.heuristics.jobs.marl.training.tiny import tiny

if TYPE_CHECKING:
    from pathlib import Path

    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.rounds import Decision
    from instances.jobs.instance import JobsInstance


def _network(seed: int, instance: JobsInstance, num_agents: int = 2) -> TrainedNetwork:
    """Return an untrained network."""
    size = ObservationSize.of(Partitions(instance, num_agents))
    parameters = initial_parameters(np.random.default_rng(seed), size, Variant.FLAT)
    return TrainedNetwork(
        parameters=parameters, kappa=2e4, variant=Variant.FLAT, kinds=size.kinds, num_agents=num_agents
    )


def test_round_trip(tmp_path: Path) -> None:
    """Tests that what is read is what was written, and that files of one network are still read."""
    instance = stream("jobs-co-located")
    networks = AgentNetworks(agents=(_network(1, instance), _network(2, instance)))
    for name in ("a.npz", "b.npz"):
        save_agent_networks(tmp_path / name, networks)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    read = load_any_network(tmp_path / "a.npz")
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
    with arrays_in(path, "network") as stored:
        arrays = checked_arrays(stored, AGENT_NETWORKS_FORMAT)
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


KINDS = ("A", "B")


def network(variant: Variant = Variant.INNER_OUTER, **changes: Any) -> TrainedNetwork:
    """Return an untrained network."""
    size = ObservationSize(kinds=KINDS, num_agents=3, num_servers=9, num_gpus=8, num_racks=2)
    given = {"parameters": initial_parameters(np.random.default_rng(1), size, variant), "kappa": 12.5}
    return TrainedNetwork(**{**given, "variant": variant, "kinds": KINDS, "num_agents": 3, **changes})


@pytest.mark.parametrize("variant", list(Variant))
def test_round_trip_trained_network(variant: Variant, tmp_path: Path) -> None:
    """Tests that what is read is what was written, and that writing twice gives the same bytes."""
    first = network(variant)
    for name in ("a.npz", "b.npz"):
        save_network(tmp_path / name, first)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    read = load_network(tmp_path / "a.npz")
    assert read.sha256 == first.sha256
    assert (read.kappa, read.variant, read.kinds, read.num_agents) == (12.5, variant, KINDS, 3)
    for name, array in first.parameters.items():
        assert read.parameters[name].tobytes() == array.tobytes()
    assert network(variant, kappa=12.6).sha256 != first.sha256


def test_broken_files_trained_network(tmp_path: Path) -> None:
    """Tests a file of text, another format, a changed number, and arrays that do not belong together."""
    path = tmp_path / "n.npz"
    path.write_text("no arrays")
    with pytest.raises(ValueError, match="expected a file of a network, got something else"):
        load_network(path)
    save_arrays(path, {"format": np.array("other")})
    with pytest.raises(ValueError, match="expected format 'optgap/marl-network 1', got 'other'"):
        load_network(path)
    save_network(path, network())
    with arrays_in(path, "network") as stored:
        arrays = checked_arrays(stored, NETWORK_FORMAT)
    save_arrays(path, {**arrays, "num_agents": np.array(2)})
    with pytest.raises(ValueError, match=r"critic.hidden.weight: expected float32 \(56, 64\), got float32 \(68, 64\)"):
        load_network(path)
    save_arrays(path, {name: array for name, array in arrays.items() if name != "kappa"})
    with pytest.raises(ValueError, match="expected an array 'kappa', got none"):
        load_network(path)
    save_network(path, network())
    with np.load(path) as stored:
        changed = dict(stored)
    changed["kappa"] = np.array(1.0)
    np.savez(path, **changed)
    with pytest.raises(ValueError, match="expected content of SHA-256"):
        load_network(path)


def test_wrong_parts() -> None:
    """Tests numbers and arrays that no network has."""
    with pytest.raises(ValueError, match=r"kappa: expected a finite number of ticks above 0, got 0\.0"):
        network(kappa=0.0)
    with pytest.raises(ValueError, match="num_agents: expected at least 1, got 0"):
        network(num_agents=0)
    flat = network(Variant.FLAT).parameters
    with pytest.raises(ValueError, match="parameters: expected those of inner, got more or less: "):
        network(Variant.INNER, parameters=flat)
    with pytest.raises(ValueError, match=r"wait.score.bias: expected finite numbers, got nan"):
        network(Variant.FLAT, parameters={**flat, "wait.score.bias": np.array([np.nan], dtype=np.float32)})


def test_first_stream_of_the_seed() -> None:
    """Tests the weights against those drawn from the first of five streams, and that each seed has its own."""
    given: dict[str, Any] = {"kappa": 12.5, "variant": "inner", "kinds": ["A", "B"], "num_agents": 3}
    network = untrained_network(7, **given)
    rng, *_ = (np.random.default_rng(child) for child in np.random.SeedSequence(7).spawn(5))
    size = ObservationSize(kinds=("A", "B"), num_agents=3, num_servers=9, num_gpus=8, num_racks=2)
    expected = initial_parameters(rng, size, Variant.INNER)
    assert {name: array.tobytes() for name, array in network.parameters.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }
    assert (network.kappa, network.variant, network.kinds, network.num_agents) == (12.5, Variant.INNER, ("A", "B"), 3)
    assert untrained_network(7, **given).sha256 == network.sha256 != untrained_network(8, **given).sha256


@pytest.mark.whole
def test_a_training_begins_with_it() -> None:
    """Tests that a trainer's first network is made again from its seed and what a network says of itself."""
    settings = tiny(updates=0, imitation_episodes=0)
    trainer = MarlTrainer(settings, seed=11).fit(validation_set(settings))
    like = trainer.network_
    again = untrained_network(11, kappa=like.kappa, variant=like.variant, kinds=like.kinds, num_agents=like.num_agents)
    assert again.sha256 == trainer.start_network_.sha256 == trainer.network_.sha256
