"""Tests of the arithmetic of compiled placements."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.jobs.placements.arrays import LARGEST, jobs_arrays
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.kernel_placer import compare_fractions, write_entries
from heuristics.jobs.placements.placement import JobPlacement
from heuristics.jobs.placements.random_placement import RandomPlacement
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.iteration_time import duration, iteration_parts
from instances.jobs.servers import NO_RACK, JobsServer, Racks
from tests.placement_instances import jobs_with_free_gpus

if TYPE_CHECKING:
    from collections.abc import Sequence


TERMS = st.one_of(st.integers(1, 9), st.integers(1, 2**62), st.integers(2**62 - 9, 2**62))


@settings(deadline=None)
@given(a=st.one_of(st.just(0), TERMS), b=TERMS, c=st.one_of(st.just(0), TERMS), d=TERMS)
def test_fractions_compare_exactly(a: int, b: int, c: int, d: int) -> None:
    """Tests the comparison of fractions of 62 bits against fractions of any size."""
    first, second = Fraction(a, b), Fraction(c, d)
    assert compare_fractions(a, b, c, d) == (first > second) - (first < second)


@settings(deadline=None)
@given(a=st.integers(1, 2**31), b=st.integers(1, 2**31), factor=st.integers(1, 2**30))
def test_equal_and_neighbouring_fractions(a: int, b: int, factor: int) -> None:
    """Tests fractions that no float tells apart: the same one in other terms, and one with the numerator next to it."""
    assert compare_fractions(a, b, a * factor, b * factor) == 0
    assert compare_fractions(a, b, a * factor + 1, b * factor) == -1
    assert compare_fractions(a, b, a * factor - 1, b * factor) == 1
    assert compare_fractions(a * factor + 1, b * factor, a, b) == 1


def placement(comp: int, comm: Fraction) -> JobPlacement:
    """Return a placement with these times."""
    one = np.ones(1, dtype=np.int64)
    return JobPlacement(stage=0 * one, server=0 * one, count=one, comp=comp, comm=comm)


@settings(deadline=None)
@given(
    iterations=st.integers(1, 2**50),
    comp=st.integers(1, 2**40),
    whole=st.integers(0, 2**40),
    denominator=st.integers(1, 2**55),
    shift=st.integers(-2, 2),
)
def test_durations_near_integers(iterations: int, comp: int, whole: int, denominator: int, shift: int) -> None:
    """Tests ceil(n alpha) where n alpha is an integer, or misses one by parts too small for floats."""
    comm = max(Fraction(0), Fraction(whole) + Fraction(shift, denominator * iterations))
    found = placement(comp, comm).duration(iterations)
    assert found == math.ceil(iterations * (comp + comm))
    assert found - 1 < iterations * (comp + comm) <= found


def test_a_tick_that_floats_lose() -> None:
    """Tests a job whose n alpha is 2**52 + 1/3 ticks: it takes 2**52 + 1 of them, where a float says 2**52."""
    servers = [JobsServer(kind="F", gpus=1, nic_bytes_per_tick=3 * 2**20) for _ in range(2)]
    stages = [Stage(times=2**32), Stage(times=2**32)]
    exact = JobsInstance.from_parts(servers, [Job(stages=stages, iterations=2**19)])
    first = Stage(times=2**32, activation_bytes=2)
    above = JobsInstance.from_parts(servers, [Job(stages=[first, stages[1]], iterations=2**19)])
    free = np.array([1, 1])
    for instance, ticks in ((exact, 2**52), (above, 2**52 + 1)):
        found = HeavyEdge(instance).place(0, free)
        assert found is not None
        matrix = found.matrix(2, 2)
        assert found.duration(2**19) == duration(instance, 0, matrix) == ticks
        assert math.ceil(2**19 * float(found.alpha)) == 2**52


@pytest.mark.parametrize("factor", [1, 10**6, 10**11])
@settings(deadline=None)
@given(case=jobs_with_free_gpus(max_kinds=2), seed=st.integers(0, 9))
def test_kernels_agree_with_fractions(factor: int, case: tuple[JobsInstance, np.ndarray], seed: int) -> None:
    """Tests comp and comm of random placements of jobs with huge bytes against the one function for everybody."""
    instance = scaled(case[0], factor)
    found = RandomPlacement(instance, np.random.default_rng(seed)).place(0, instance.num_gpus_of)
    assert found is not None
    matrix = found.matrix(instance.num_stages_of(0), instance.num_servers)
    assert (found.comp, found.comm) == iteration_parts(instance, 0, matrix)
    assert found.num_servers == matrix.any(axis=0).sum()


@pytest.mark.parametrize("seed", range(6))
def test_slow_uplinks_of_racks(seed: int) -> None:
    """Tests comm of random placements on five servers, two of them in each of two racks, against the formula."""
    servers = [JobsServer(kind="F", gpus=2, nic_bytes_per_tick=10) for _ in range(5)]
    stages = [
        Stage(times=1, replicas=3, activation_bytes=12, parameter_bytes=18),
        Stage(times=1, replicas=2, activation_bytes=30, parameter_bytes=40),
        Stage(times=1, replicas=4, parameter_bytes=64),
    ]
    plain = JobsInstance.from_parts(servers, [Job(stages=stages)])
    instance = replace(plain, racks=Racks.of([0, 1, NO_RACK, 0, 1], [Fraction(1, 3), Fraction(2, 7)]))
    found = RandomPlacement(instance, np.random.default_rng(seed)).place(0, instance.num_gpus_of)
    assert found is not None
    matrix = found.matrix(3, 5)
    assert (found.comp, found.comm) == iteration_parts(instance, 0, matrix)
    assert found.comm > iteration_parts(plain, 0, matrix)[1]


def test_entries_are_sorted_by_stage_and_server() -> None:
    """Tests two stages on servers that were chosen in the order 7, 2, 5, the second one on server 7 only."""
    counts, entries = np.array([[4, 3, 1], [6, 0, 0]]), np.zeros((3, 5), dtype=np.int64)
    assert write_entries(np.array([7, 2, 5]), counts, 3, 2, *entries) == 4
    assert entries.tolist() == [[0, 0, 0, 1, 0], [2, 5, 7, 7, 0], [3, 1, 4, 6, 0]]


def scaled(instance: JobsInstance, factor: int) -> JobsInstance:
    """Return the instance with all bytes, and the bandwidths, some times larger, and one byte more."""
    rows = instance.stages_of(0)
    stages = [
        Stage(
            times={kind: int(row[h]) if row[h] > 0 else None for h, kind in enumerate(instance.kinds)},
            replicas=int(count),
            activation_bytes=int(act) * factor + (stage + 1 < rows.stop),
            parameter_bytes=int(par) * factor + 1,
        )
        for stage, (row, count, act, par) in enumerate(
            zip(instance.time_of, instance.replicas, instance.activation_bytes, instance.parameter_bytes, strict=True)
        )
    ]
    servers = [
        JobsServer(
            kind=instance.kinds[kind],
            gpus=int(gpus),
            nic_bytes_per_tick=instance.nic_bytes_per_tick(server) * factor,
        )
        for server, (kind, gpus) in enumerate(zip(instance.server_kind, instance.num_gpus_of, strict=True))
    ]
    return JobsInstance.from_parts(servers, [Job(stages=stages)])


def one_job(replicas: Sequence[int], size: int, bandwidth: Fraction | int) -> JobsInstance:
    """Return an instance of one job whose stages have parameters of this size."""
    servers = [JobsServer(kind="F", gpus=sum(replicas), nic_bytes_per_tick=bandwidth)]
    stages = [Stage(times=1, replicas=count, parameter_bytes=size) for count in replicas]
    return JobsInstance.from_parts(servers, [Job(stages=stages)])


def test_bytes_are_scaled_only_where_they_fit() -> None:
    """Tests the check that no number of a kernel exceeds 2**62, on both sides of the limit for bytes and bandwidths."""
    most = LARGEST // (4 * 2 * 500)  # k = (2), nic denominator 500: 4 * 2 * par * 500
    for size, bandwidth, replicas, denominator in (
        (most, Fraction(10**15 + 1, 500), (2,), 2),
        (most + 1, Fraction(10**15 + 1, 500), (2,), 0),
        (1, 2**53, (2**9,), 2**9),
        (1, 2**53, (2**9 + 1,), 0),
        (10**12, 10**6, (7, 11, 13), 1001),
    ):
        arrays = jobs_arrays(one_job(replicas, size, bandwidth))
        assert arrays.denominator.tolist() == [denominator]
        ring = [2 * (k - 1) * size * (denominator // k) if denominator else 0 for k in replicas]
        assert arrays.ring_bytes.tolist() == ring
        assert arrays.ring_weight.tolist() == [2 * b if k == 2 else b for k, b in zip(replicas, ring, strict=True)]
