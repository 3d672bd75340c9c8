from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.dag.instance import DagInstance
from studies.adversary.random_family import COMPARED, STARTS, RandomFamily
from studies.adversary.search_space import CHANGES, InstanceSpace, path_leads, perturb
from tests.strategies import dag_instances


@settings(max_examples=60, deadline=None)
@given(
    instance=dag_instances(max_tasks=6, unit_bandwidth=False),
    changes=st.lists(st.sampled_from(CHANGES), min_size=1, unique=True),
    seed=st.integers(0, 10_000),
    max_duration=st.integers(1, 12),
)
def test_changes_keep_an_instance_valid_and_inside(
    instance: DagInstance, changes: list[str], seed: int, max_duration: int
) -> None:
    """Tests that every change makes another instance, valid (the constructor checks) and inside all ranges."""
    space = InstanceSpace.around([instance], max_duration=max_duration, changes=changes)
    current = space.bring_inside(instance)
    assert space.contains(current)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        try:
            changed, change = perturb(current, space, rng)
        except ValueError as error:
            assert "expected some that are possible" in str(error)  # one GPU and links only, say
            return
        assert change in changes
        assert changed.sha256 != current.sha256 or change == "links"  # both ways are set to what one of them had
        assert space.contains(changed)
        _check_ranges(changed, space)
        _check_what_changed(current, changed, change)
        current = changed


def _check_ranges(instance: DagInstance, space: InstanceSpace) -> None:
    """Check the ranges in plain words, without `SearchSpace.contains`."""
    for row in instance.durations.tolist():
        assert all(ticks == -1 or 1 <= ticks <= space.max_duration for ticks in row)
    assert all(0 <= data <= space.max_bytes for data in instance.edge_bytes.tolist())
    for source in range(instance.num_gpus):
        for target in range(instance.num_gpus):
            if source != target:
                assert 0 <= instance.latency[source, target] <= space.max_latency
                assert space.min_bandwidth <= instance.bytes_per_tick[source, target] <= space.max_bandwidth
    for edge in range(instance.num_edges):
        assert instance.transfer_delays(edge).max() <= space.max_duration + space.max_latency


def _check_what_changed(before: DagInstance, after: DagInstance, change: str) -> None:
    """Check that nothing else was touched."""
    fields = {
        "durations": ("durations",),
        "data": ("edge_bytes",),
        "edges": ("edges", "edge_bytes"),
        "links": ("latency", "bytes_per_tick"),
        "memory": ("gpu_memory",),
    }
    same = replace(before, **{name: getattr(after, name) for name in fields[change]})
    assert same.sha256 == after.sha256
    assert ((before.durations < 0) == (after.durations < 0)).all()
    if change == "edges":
        assert abs(after.num_edges - before.num_edges) == 1


def test_every_edge_that_closes_no_cycle_can_be_added() -> None:
    """Tests that a chain of three tasks gets its one missing edge, and never one backwards."""
    chain = DagInstance.from_lists([[1], [2], [3]], [(0, 1, 1), (1, 2, 1)])
    assert path_leads(chain).tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    space = InstanceSpace.around([chain], changes=["edges"])
    found = set()
    for seed in range(40):
        changed, _ = perturb(chain, space, np.random.default_rng(seed))
        found.add(tuple(map(tuple, changed.edges.tolist())))
    assert found == {((0, 1), (1, 2), (0, 2)), ((1, 2),), ((0, 1),)}


def test_ranges_follow_the_instance() -> None:
    """Tests that data is bounded by the longest duration over the slowest link, and what is outside is moved."""
    instance = DagInstance.from_lists(
        [[0, 50], [3, None]], [(0, 1, 400)], latency=2, bytes_per_tick=[[1.0, 4.0], [2.5, 1.0]]
    )
    space = InstanceSpace.around([instance], max_duration=20)
    assert (space.max_bytes, space.max_latency, space.min_bandwidth, space.max_bandwidth) == (50, 2, 2.5, 4.0)
    assert not space.contains(instance)
    inside = space.bring_inside(instance)
    assert inside.durations.tolist() == [[1, 20], [3, -1]]
    assert inside.edge_bytes.tolist() == [50]
    assert InstanceSpace.around([instance]).max_duration == 50


def test_impossible_ranges_are_refused() -> None:
    """Tests the messages of ranges without a value and of unknown changes."""
    ranges = {"max_duration": 9, "max_bytes": 5, "max_latency": 0, "min_bandwidth": 1.0, "max_bandwidth": 1.0}
    for wrong, message in (
        ({"max_duration": 0}, "max_duration: expected an integer of at least 1, got 0"),
        ({"min_bandwidth": 2.0}, "min_bandwidth: expected a range of positive bandwidths, got 2.0..1.0"),
        ({"changes": ("weather",)}, "changes: expected some of durations, data, edges, links, memory, each once"),
        ({"changes": ()}, "got 'nothing'"),
    ):
        with pytest.raises(ValueError, match=message):
            InstanceSpace(**{**ranges, **wrong})


def test_random_instances_differ_by_stream_and_number_and_share_a_range() -> None:
    """Tests that starts and compared instances are drawn from streams of their own, with one slowest link."""
    family = RandomFamily(tasks=6)
    made = [family.instance(3, stream, number) for stream in (STARTS, COMPARED) for number in range(2)]
    assert len({instance.sha256 for instance in made}) == 4
    assert family.instance(3, STARTS, 1).sha256 == made[1].sha256
    for instance in made:
        assert instance.bytes_per_tick[~np.eye(3, dtype=bool)].min() == pytest.approx(1000.0)
        assert (instance.gpu_memory < 0).all()
