"""Tests that many servers are seen and judged as few are: in parts, and with a sparse map of racks."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.jobs.marl import network
from heuristics.jobs.marl.network import embed, scores
from heuristics.jobs.marl.observation import Observation, ObservationSize, empty_observation
from heuristics.jobs.marl.parameters import Variant, initial_parameters
from heuristics.jobs.marl.sparse_racks import WORTH_IT, SparseRacks
from tests.heuristics.jobs.marl.seen import stream, watched_run

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
    assert seen.in_rack.size >= WORTH_IT
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
