"""Tests of the features of co-locations."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.interference_predictor.features import (
    FeatureSpace,
    RunningJob,
    predicted_speed,
    server_rows,
    slowness,
)
from instances.jobs.co_location import resource_demand
from tests.heuristics.jobs.interference_predictor.worlds import space_of, three_jobs

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


NAMES = (
    "class a", "class b", "use cpu", "use nic", "sens cpu", "sens nic", "replicas", "own cpu", "own nic",
    "others cpu", "others nic", "partner a", "partner b", "kind F", "kind G",
)  # fmt: skip


def running_jobs_on_server(instance: JobsInstance) -> list[RunningJob]:
    """Return all three jobs on server 0: one replica of the gang beside job 1 on a GPU, job 2 by itself."""
    gang = resource_demand(instance, 0, [0, 1], [[1, 1]])
    one, two = (resource_demand(instance, job, [0], [[1]]) for job in (1, 2))
    return [
        RunningJob(job=0, replicas=1, own=gang.own[0], sens=gang.sens, partners=(1,)),
        RunningJob(job=1, replicas=1, own=one.own[0], sens=one.sens, partners=(0,)),
        RunningJob(job=2, replicas=1, own=two.own[0], sens=two.sens),
    ]


def test_features_number_by_number() -> None:
    """Tests every feature of a gang across servers: comp 6, comm 20 / 10 = 2, alpha 8, own nic 1000 20 / (10 8)."""
    instance = three_jobs()
    space = space_of(instance)
    assert space.names == NAMES
    assert space.num_features == len(NAMES)
    rows = server_rows(space, instance, 0, running_jobs_on_server(instance))
    assert rows.load == (1500, 250)
    assert rows.position.tolist() == [0, 1, 2]
    assert rows.partner == (1, 0, None)
    assert rows.features.tolist() == [
        [1, 0, 0.7, 0, 0.5, 0.25, 1, 0.7, 0.25, 0.8, 0, 0, 1, 1, 0],
        [0, 1, 0.6, 0, 0.3, 0, 1, 0.6, 0, 0.9, 0.25, 1, 0, 1, 0],
        [0, 1, 0.2, 0, 0, 0, 1, 0.2, 0, 1.3, 0.25, 0, 0, 1, 0],
    ]


def test_a_row_per_class_of_partner() -> None:
    """Tests that a job with two partners of different classes has two rows that differ in the partner alone."""
    instance = three_jobs()
    space = space_of(instance)
    demand = resource_demand(instance, 0, [0], [[2]])
    gang = RunningJob(job=0, replicas=2, own=demand.own[0], sens=demand.sens, partners=(0, 1))
    rows = server_rows(space, instance, 0, [gang])
    assert rows.position.tolist() == [0, 0]
    differ = np.flatnonzero(rows.features[0] != rows.features[1])
    assert [space.names[feature] for feature in differ] == ["partner a", "partner b"]
    assert rows.features[0, space.names.index("own cpu")] == 1.4


def test_names_not_positions() -> None:
    """Tests that features go by name: another order moves columns, and an unknown class, resource or kind is zeros."""
    instance = three_jobs()
    rows = server_rows(space_of(instance), instance, 0, running_jobs_on_server(instance)).features
    turned = FeatureSpace(classes=("b", "a"), resources=("nic", "cpu"), kinds=("G", "F"))
    again = server_rows(turned, instance, 0, running_jobs_on_server(instance)).features
    assert again[:, [turned.names.index(name) for name in NAMES]].tolist() == rows.tolist()
    smaller = FeatureSpace(classes=("b",), resources=("cpu", "disk"), kinds=("G",))
    row = dict(
        zip(
            smaller.names,
            server_rows(smaller, instance, 0, running_jobs_on_server(instance)).features[0].tolist(),
            strict=True,
        )
    )
    known = {"use cpu": 0.7, "sens cpu": 0.5, "replicas": 1.0, "own cpu": 0.7, "others cpu": 0.8, "partner b": 1.0}
    assert {name: value for name, value in row.items() if value} == known


def test_without_interference() -> None:
    """Tests that an instance without interference is refused."""
    with pytest.raises(ValueError, match=r"^interference: expected instances with interference, got one without\.$"):
        FeatureSpace.of([dataclasses.replace(three_jobs(), interference=None)])


def test_every_speed_comes_back() -> None:
    """Tests that the y of each speed from 1 to 1000 gives that speed and not one less for rounding."""
    speeds = np.arange(1, 1001)
    assert predicted_speed(slowness(speeds)).tolist() == speeds.tolist()
    assert slowness([1000, 500]).tolist() == [0.0, math.log(2)]


def test_floor_and_ends() -> None:
    """Tests the formula in between, and that no y leads out of 1 to 1000."""
    assert predicted_speed([math.log(1000 / 768.99), math.log(1.3)]).tolist() == [768, 769]
    assert predicted_speed([-1000.0, -0.1, 0.0, 6.95, 1e9]).tolist() == [1000, 1000, 1000, 1, 1]
