"""Do placements that are near to each other finish at about the same time? Plan distance (SPD) against gap (FTG)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import list_schedule
from heuristics.dag.load_vector import (
    euclidean_distance,
    final_loads,
    hamming_distance,
    manhattan_distance,
    running_loads,
    sum_distance,
)
from heuristics.dag.placement_order import placement_order
from heuristics.dag.ranks import upward_ranks
from instances.dag_instance import NO_LIMIT
from instances.dag_schedule import DagSchedule
from instances.objective import Objective, objective_value
from studies.paired_seed import paired_seed
from studies.plan_distance_table import PlanDistanceRow, PlanDistanceTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance

DISTANCES = {
    "l2": "Euclidean distance of final loads r (SPD)",
    "l1": "sum of absolute differences of r",
    "sum": "absolute value of the sum of differences of r",
    "running-l2": "Euclidean distance of running loads rho",
    "hamming": "number of tasks on different GPUs",
}
"""Definitions of plan distance by name; all but the first are beside it for comparison."""

LEVEL = (2.5, 97.5)
"""Percentiles of the intervals."""


def plan_distance_study(
    instances: Iterable[DagInstance],
    *,
    seed: int = 0,
    placements: int = 300,
    pairs: int = 4000,
    resamples: int = 200,
    order: str = "rank",
    insertion: bool = True,
    on_instance: Callable[[str], None] = lambda name: None,
) -> PlanDistanceTable:
    """Correlate plan distance and finish time gap over random placements of every instance.

    Placements are uniform over the allowed GPUs, task by task; memory limits are left out, for the question is one of
    loads and times. Each placement is timed by list scheduling. Pairs are of two different placements. SPD is the
    Euclidean distance of final loads (`final_loads`), FTG the difference of makespans.

    Parameters
    ----------
    instances
        What is studied; the family is what the name says before ``-n``, as generators name their instances.
    seed
        Of all random numbers; every instance has a stream of its own.
    placements
        Per instance, at least 2.
    pairs
        Drawn per instance, and again in every resample, at least 2.
    resamples
        For the intervals, at least 1: placements drawn with replacement (pairs share placements and are no independent
        sample, so it is not pairs that are drawn), and makespans dealt out anew for the control.
    order
        "rank" takes tasks by upward rank, "index" in the lexicographically smallest topological order.
    insertion
        Whether a task may start in an idle gap; False with "index" is the published timing.
    on_instance
        Told of every instance that is begun.

    Raises
    ------
    ValueError
        If a number is out of range or the order is unknown.

    References
    ----------
    Du et al. (2025) claim a positive correlation and publish values (`PUBLISHED_CORRELATIONS`), not the definitions.
    Definitions, placements, intervals and control are ours.
    """
    for name, value, least in (("placements", placements, 2), ("pairs", pairs, 2), ("resamples", resamples, 1)):
        if value < least:
            raise ValueError(f"{name}: expected at least {least}, got {value}.")
    if order not in ("rank", "index"):
        raise ValueError(f"order: expected rank or index, got {order!r}.")
    rows: list[PlanDistanceRow] = []
    for instance in instances:
        on_instance(instance.name)
        rng = np.random.default_rng(paired_seed(seed, instance))
        tables = _measure(instance, rng, placements, order, insertion)
        rows += _correlate(instance, tables, rng, pairs, resamples)
    return PlanDistanceTable(
        rows=tuple(rows),
        seed=seed,
        placements=placements,
        pairs=pairs,
        resamples=resamples,
        order=order,
        insertion=insertion,
    )


class _Measured(NamedTuple):
    """Random placements of one instance."""

    makespan: NDArray[np.int64]  # (placements,)
    distance: NDArray[np.float64]  # (distances, placements, placements), in the order of `DISTANCES`


def _measure(instance: DagInstance, rng: np.random.Generator, count: int, order: str, insertion: bool) -> _Measured:
    """Draw and time placements, and measure all their distances."""
    n = instance.num_tasks
    choices = [np.flatnonzero(allowed) for allowed in instance.allowed]
    gpu = np.array([rng.choice(choice, size=count) for choice in choices], dtype=np.int64).reshape(n, count).T
    unlimited = replace(instance, gpu_memory=np.full(instance.num_gpus, NO_LIMIT))
    arrays = dag_arrays(unlimited)
    priority = upward_ranks(arrays) if order == "rank" else np.zeros(n)
    makespan = np.empty(count, dtype=np.int64)
    for index in range(count):
        placement = list_schedule(arrays, priority, pinned=np.ascontiguousarray(gpu[index]), insertion=insertion)
        schedule = DagSchedule(gpu=placement.gpu, start=placement.start)
        makespan[index] = objective_value(unlimited, schedule, Objective.MAKESPAN)
    final = final_loads(instance.durations, gpu)
    running = running_loads(instance.durations, gpu, placement_order(arrays, priority))
    measures: dict[str, tuple[Callable[..., NDArray[np.generic]], NDArray[np.generic]]] = {
        "l2": (euclidean_distance, final),
        "l1": (manhattan_distance, final),
        "sum": (sum_distance, final),
        "running-l2": (euclidean_distance, running),
        "hamming": (hamming_distance, gpu),
    }
    distance = np.empty((len(DISTANCES), count, count))
    for number, name in enumerate(DISTANCES):
        measure, points = measures[name]
        for index, point in enumerate(points):
            distance[number, index] = measure(points, point)
    return _Measured(makespan, distance)


def _correlate(
    instance: DagInstance, measured: _Measured, rng: np.random.Generator, pairs: int, resamples: int
) -> list[PlanDistanceRow]:
    """Return a row per distance."""
    count = len(measured.makespan)
    one, other = _pairs(rng, count, pairs)
    pearson, spearman = _correlations(measured, one, other)
    resampled, controls = [], []
    for _ in range(resamples):
        member = rng.integers(count, size=count)
        first, second = _pairs(rng, count, pairs)
        resampled.append(_correlations(measured, member[first], member[second]))
        dealt = rng.permutation(measured.makespan)
        controls.append(_pearson(np.abs(dealt[one] - dealt[other]), measured.distance[:, one, other]))
    columns = {
        "pearson": pearson,
        "spearman": spearman,
        "control": np.mean(controls, axis=0),
        **_interval("pearson", [values for values, _ in resampled]),
        **_interval("spearman", [values for _, values in resampled]),
        **_interval("control", controls),
    }
    return [
        PlanDistanceRow(
            instance=instance.name,
            sha256=instance.sha256,
            family=_family(instance.name),
            num_tasks=instance.num_tasks,
            num_gpus=instance.num_gpus,
            distance=name,
            **{column: _known(values[number]) for column, values in columns.items()},
        )
        for number, name in enumerate(DISTANCES)
    ]


def _pairs(rng: np.random.Generator, count: int, pairs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw pairs of two different numbers below `count`."""
    one, other = rng.integers(count, size=pairs), rng.integers(count - 1, size=pairs)
    return one, other + (other >= one)


def _correlations(
    measured: _Measured, one: NDArray[np.int64], other: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Pearson's and Spearman's correlation of each distance with the gap over pairs of different placements."""
    from scipy.stats import rankdata

    different = one != other  # a placement that was drawn twice is no pair
    one, other = one[different], other[different]
    gap = np.abs(measured.makespan[one] - measured.makespan[other])
    distance = measured.distance[:, one, other]
    return _pearson(gap, distance), _pearson(rankdata(gap), rankdata(distance, axis=1))


def _pearson(gap: NDArray[np.generic], distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlation of every row of distances with the gap; NaN where one of them does not vary."""
    varies = (distance != distance[:, :1]).any(axis=1) & (gap != gap[:1]).any()
    x, y = distance - distance.mean(axis=1, keepdims=True), gap - gap.mean()
    scale = np.sqrt(np.square(x).sum(axis=1) * np.square(y).sum())
    correlation: NDArray[np.float64] = np.divide(x @ y, scale, out=np.full(len(x), np.nan), where=varies)
    return correlation


def _interval(name: str, draws: list[NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Return the percentiles of every distance over draws that are known, as two columns."""
    ends = np.full((2, len(DISTANCES)), np.nan)
    for number, values in enumerate(np.transpose(draws)):
        known = values[~np.isnan(values)]
        if len(known):
            ends[:, number] = np.percentile(known, LEVEL)
    return {f"{name}_low": ends[0], f"{name}_high": ends[1]}


def _known(value: float) -> float | None:
    """Return a number, None for NaN."""
    return None if np.isnan(value) else float(value)


def _family(name: str) -> str:
    """Return the family in the name of a generated instance, any other name as it is."""
    match = re.fullmatch(r"(.+?)-n\d+\b.*", name)
    return name if match is None else match[1]
