from __future__ import annotations

import numpy as np
import pytest

from instances.jobs import iteration_time
from tests.benchmarks.heavy_edge_against_enumeration import least, measure, random_job, traffic_of
from tests.placement_instances import all_placements


@pytest.mark.parametrize("num_kinds", [1, 2])
def test_minima_are_those_of_plain_enumeration(num_kinds: int) -> None:
    """Tests the fast enumeration of the benchmark against a list of all placements, on five jobs."""
    rng = np.random.default_rng(num_kinds)
    for _ in range(5):
        instance, free = random_job(rng, num_kinds)
        while free.sum() > 10:
            instance, free = random_job(rng, num_kinds)
        placements = list(all_placements(instance, 0, free))
        expected = (
            min(iteration_time(instance, 0, placement) for placement in placements),
            min(traffic_of(instance, placement) for placement in placements),
        )
        assert tuple(least(instance, free)) == expected


@pytest.mark.parametrize("num_kinds", [1, 2])
def test_heavy_edge_is_near_the_minimum(num_kinds: int) -> None:
    """Tests on 200 jobs that Heavy-Edge is within a per cent or two on average and ahead of each of its rivals."""
    rows = measure(num_kinds, 200, seed=7)
    mean = {name: float(np.mean([float(one.alpha) for one in outcomes])) for name, outcomes in rows.items()}
    assert mean["heavy-edge"] < 1.02
    assert np.mean([one.alpha == 1 for one in rows["heavy-edge"]]) > 0.75
    assert (
        mean["heavy-edge"] < min(mean["grow only"], mean["contract only"]) < mean["stage order only"] < mean["random"]
    )
    for one, other in zip(rows["heavy-edge"], rows["stage order only"], strict=True):
        assert one.alpha <= other.alpha
