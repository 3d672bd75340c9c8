"""Do similar placements finish at similar times? Plan distance (SPD) against finish time gap (FTG).

See docs/methods/worl_rtgs.md, section 8.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list
from heuristics.dag.load_vector import (
    euclidean_distance,
    final_loads,
    hamming_distance,
    manhattan_distance,
    running_loads,
    sum_distance,
)
from heuristics.dag.priorities import placement_order, upward_ranks
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import NO_LIMIT
from instances.dag.json import read_dag_instance
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.fields import one_of
from instances.generators.dag.generate import generate
from solvers.table import Table
from studies.experiment.plan import paired_seed
from studies.input import reading
from studies.options import Names, option
from studies.papers.study import PaperStudy, StudyCsv, StudyFigure, seed_option
from studies.report.figure_style import BOX, EDGE, MEDIAN, POINT, QUIET, new_axes, rows_of_methods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance
    from studies.papers.study import Monitor


DISTANCES = {
    "l2": "Euclidean distance of final loads r (SPD)",
    "l1": "sum of absolute differences of r",
    "sum": "absolute value of the sum of differences of r",
    "running-l2": "Euclidean distance of running loads rho",
    "hamming": "number of tasks on different GPUs",
}
"""Definitions of plan distance by name; all but the first are for comparison."""

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

    Placements are uniform over the allowed GPUs, task by task; memory limits are left out, because the question is
    about loads and times. Each placement is timed by list scheduling. A pair has two different placements. SPD is the
    Euclidean distance of final loads (`final_loads`), FTG the difference of makespans.

    Parameters
    ----------
    instances
        The family of an instance is its name before ``-n``, as generators name their instances.
    seed
        Seed from which every instance has a stream of its own.
    placements
        Placements per instance, at least 2.
    pairs
        Pairs drawn per instance, and again in every resample, at least 2.
    resamples
        Resamples for the intervals, at least 1. Placements are drawn with replacement, not pairs, because pairs share
        placements and are not independent; for the control, makespans are permuted.
    order
        "rank" takes tasks by upward rank, "index" in the lexicographically smallest topological order.
    insertion
        Whether a task may start in an idle gap; False with "index" is the published timing.
    on_instance
        Receives the name of every instance that begins.

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
    one_of(order, ("rank", "index"), "order")
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
        placement = place_by_list(arrays, priority, pinned=np.ascontiguousarray(gpu[index]), insertion=insertion)
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
    """Return the correlation of every row of distances with the gap; NaN if one of them is constant."""
    varies = (distance != distance[:, :1]).any(axis=1) & (gap != gap[:1]).any()
    x, y = distance - distance.mean(axis=1, keepdims=True), gap - gap.mean()
    scale = np.sqrt(np.square(x).sum(axis=1) * np.square(y).sum())
    correlation: NDArray[np.float64] = np.divide(x @ y, scale, out=np.full(len(x), np.nan), where=varies)
    return correlation


def _interval(name: str, draws: list[NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Return the percentiles of every distance over the draws that are not NaN, as two columns."""
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


PLAN_DISTANCE_FAMILIES = (
    "layered",
    "erdos-renyi",
    "series-parallel",
    "fork-join",
    "fft",
    "cholesky",
    "stencil",
    "pipeline-training",
    "transformer",
    "nasnet",
)
"""Families of random, regular and machine-learning graphs."""

PLAN_DISTANCE_SIZES = ((20, "mixed-4", 0.1), (40, "mixed-8", 1.0), (70, "mixed-4", 1.0), (100, "mixed-8", 0.1))
"""Wished number of tasks, cluster of 4 or 8 GPUs, ratio of transfers to computing."""

SPREADS = (0.1, 0.3, 0.6)
"""Standard deviations of the logarithm of a duration over GPUs, in turn."""

GPUS = ("clusters", "unrelated")
"""Durations by the cost model on clusters of four kinds of GPUs, or drawn for each pair of task and GPU."""


def plan_distance_instances(gpus: str = "clusters", seed: int = 0) -> Iterator[DagInstance]:
    """Make 40 instances one by one: every family in four sizes, about 15 to 100 tasks on 4 or 8 GPUs.

    Parameters
    ----------
    gpus
        "clusters": GPUs of four kinds, the slowest several times as slow as the fastest on nearly all tasks.
        "unrelated": the same graphs and transfers, but every duration is the task's mean times a log-normal number of
        its own, whose spread is one of `SPREADS` in turn; no GPU is faster than another in general.

    Raises
    ------
    ValueError
        If `gpus` is neither.
    """
    one_of(gpus, GPUS, "gpus")
    number = 0
    for family in PLAN_DISTANCE_FAMILIES:
        for tasks, cluster, ccr in PLAN_DISTANCE_SIZES:
            instance = generate(family, tasks=tasks, seed=seed, cluster=parse_cluster(cluster), cost=CostModel(ccr=ccr))
            if gpus == "unrelated":
                instance = _unrelated(instance, np.random.default_rng([seed, number]), SPREADS[number % len(SPREADS)])
            number += 1
            yield instance


def _unrelated(instance: DagInstance, rng: np.random.Generator, spread: float) -> DagInstance:
    """Draw the durations of every task around their mean."""
    mean = instance.durations.mean(axis=1, keepdims=True)
    durations = np.rint(mean * rng.lognormal(0.0, spread, size=instance.durations.shape))
    name = f"{instance.name}-unrelated-{spread:g}"
    return replace(instance, name=name, durations=np.maximum(durations, 1).astype(np.int64))


ALL = "all"
"""Family of the summary over all instances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDistanceRow:
    """Correlation of one definition of distance with the finish time gap on one instance.

    Parameters
    ----------
    distance
        Name in `DISTANCES`.
    pearson, spearman
        Correlation over the pairs; None if distance or gap is the same for all pairs.
    pearson_low, pearson_high, spearman_low, spearman_high
        95 % interval by bootstrap over placements.
    control, control_low, control_high
        Mean and 95 % interval of Pearson's correlation after permuting the makespans of the placements.
    """

    instance: str
    sha256: str
    family: str
    num_tasks: int
    num_gpus: int
    distance: str
    pearson: float | None
    pearson_low: float | None
    pearson_high: float | None
    spearman: float | None
    spearman_low: float | None
    spearman_high: float | None
    control: float | None
    control_low: float | None
    control_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDistanceSummary:
    """Correlations of one definition of distance over the instances of a family that have one.

    Parameters
    ----------
    family
        Family of the instances, or `ALL`.
    distance
        Name in `DISTANCES`.
    instances
        Number of instances with a correlation.
    smallest, mean, largest
        Pearson's correlation; None without instances.
    mean_spearman, mean_control
        Means of Spearman's correlation and of the control.
    outside_control
        Number of instances whose Pearson correlation lies outside the interval of the control.
    """

    family: str
    distance: str
    instances: int
    smallest: float | None
    mean: float | None
    largest: float | None
    mean_spearman: float | None
    mean_control: float | None
    outside_control: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDistanceTable:
    """Result of the study, one row per instance and distance, and its parameters (`plan_distance_study`)."""

    rows: tuple[PlanDistanceRow, ...]
    seed: int
    placements: int
    pairs: int
    resamples: int
    order: str
    insertion: bool

    @property
    def families(self) -> list[str]:
        """Families in the order of their first instance."""
        return list(dict.fromkeys(row.family for row in self.rows))

    @property
    def distances(self) -> list[str]:
        """Distances in the order of the rows."""
        return list(dict.fromkeys(row.distance for row in self.rows))

    def pearson_of(self, distance: str, family: str = ALL) -> list[float]:
        """Return Pearson's correlations of a distance over the instances of a family that have one."""
        return [
            row.pearson
            for row in self.rows
            if row.distance == distance and family in (ALL, row.family) and row.pearson is not None
        ]

    def summary(self, family: str, distance: str) -> PlanDistanceSummary:
        """Summarise a distance over the instances of a family, or over `ALL`."""
        rows = [
            row
            for row in self.rows
            if row.distance == distance and family in (ALL, row.family) and row.pearson is not None
        ]
        pearson = [row.pearson for row in rows if row.pearson is not None]
        outside = [
            row
            for row in rows
            if row.control_low is not None
            and row.control_high is not None
            and row.pearson is not None
            and not row.control_low <= row.pearson <= row.control_high
        ]
        return PlanDistanceSummary(
            family=family,
            distance=distance,
            instances=len(rows),
            smallest=min(pearson, default=None),
            mean=_mean(pearson),
            largest=max(pearson, default=None),
            mean_spearman=_mean([row.spearman for row in rows]),
            mean_control=_mean([row.control for row in rows]),
            outside_control=len(outside),
        )

    def summaries(self) -> list[PlanDistanceSummary]:
        """Summarise every distance over all instances, then over those of each family."""
        return [self.summary(family, distance) for family in (ALL, *self.families) for distance in self.distances]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per instance and distance."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {**asdict(self), "summaries": [asdict(summary) for summary in self.summaries()]}


def _mean(values: list[float | None] | list[float]) -> float | None:
    """Return the mean of the values that are not None."""
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None


class PublishedCorrelation(NamedTuple):
    """Pearson correlations over 27 numbers of tasks from 100 to 10,000, of one setting."""

    workload: str
    gpus: int
    setting: str
    smallest: float
    mean: float
    largest: float

    @property
    def name(self) -> str:
        """The setting in a few words."""
        return f"{self.workload}, {self.gpus} GPUs, {self.setting}"


PUBLISHED_CORRELATIONS = (
    PublishedCorrelation("Alibaba", 50, "busy", 0.321, 0.434, 0.533),
    PublishedCorrelation("Alibaba", 50, "idle", 0.163, 0.419, 0.537),
    PublishedCorrelation("Alibaba", 500, "busy", 0.367, 0.448, 0.518),
    PublishedCorrelation("Alibaba", 500, "idle", 0.392, 0.467, 0.538),
    PublishedCorrelation("synthetic", 50, "busy, degree 1", 0.390, 0.472, 0.550),
    PublishedCorrelation("synthetic", 50, "busy, degree 3", 0.389, 0.484, 0.552),
    PublishedCorrelation("synthetic", 50, "idle, degree 1", 0.235, 0.464, 0.532),
    PublishedCorrelation("synthetic", 50, "idle, degree 3", 0.404, 0.465, 0.584),
    PublishedCorrelation("synthetic", 500, "busy, degree 1", 0.363, 0.414, 0.467),
    PublishedCorrelation("synthetic", 500, "busy, degree 3", 0.361, 0.415, 0.476),
    PublishedCorrelation("synthetic", 500, "idle, degree 1", 0.377, 0.417, 0.460),
    PublishedCorrelation("synthetic", 500, "idle, degree 3", 0.357, 0.449, 0.543),
)
"""Du et al. (2025): plotted points of the authors' public code, of which we took smallest, mean and largest.

Not stated: the definitions of the two quantities, and which placements they were taken of. The published Alibaba inputs
contain no edges.
"""


HEADINGS = ("family", "distance", "min", "mean", "max", "Spearman", "control", "outside")
"""Columns: Pearson's correlation, mean of Spearman's, mean of the control, instances outside its interval of all."""


def summary_table(table: PlanDistanceTable) -> Table:
    """Return the summaries: all distances over all instances, then the first distance (SPD) for each family."""
    wanted = [(ALL, distance) for distance in table.distances]
    if len(table.families) > 1:
        wanted += [(family, distance) for family in table.families for distance in table.distances[:1]]
    rows = []
    for family, distance in wanted:
        summary = table.summary(family, distance)
        numbers = (summary.smallest, summary.mean, summary.largest, summary.mean_spearman, summary.mean_control)
        texts = ["-" if number is None else f"{number:.3f}" for number in numbers]
        rows.append([family, distance, *texts, f"{summary.outside_control}/{summary.instances}"])
    return Table(
        headings=HEADINGS,
        rows=rows,
        numbers=HEADINGS[2:],
        title="Correlation of plan distance and finish time gap",
        notes=_text_caption(table),
    )


def _text_caption(table: PlanDistanceTable) -> list[str]:
    """Explain what was measured, how, and what is published."""
    lines = [f"{name}: {DISTANCES[name]}." for name in table.distances]
    timing = f"{table.order} order, {'in idle gaps' if table.insertion else 'appended'}"
    lines += [
        f"Pearson's correlation over {table.pairs} pairs of {table.placements} placements uniform over allowed GPUs, "
        f"timed in {timing}, without memory limits.",
        f"control: makespans permuted {table.resamples} times; outside: instances beyond its 95 % interval.",
        _published_line(),
    ]
    return lines


def _published_line() -> str:
    """Return the range and mean of the published values."""
    smallest = min(entry.smallest for entry in PUBLISHED_CORRELATIONS)
    largest = max(entry.largest for entry in PUBLISHED_CORRELATIONS)
    mean = np.mean([entry.mean for entry in PUBLISHED_CORRELATIONS])
    return (
        f"Published (50 and 500 GPUs, no definition given): {smallest:.3f} to {largest:.3f}, mean {mean:.3f}, "
        f"which explains {mean**2:.0%} of the variance."
    )


SPREAD = 0.27
"""Height over which the points of a row are spread."""

ROW_HEIGHT = 0.27
"""Inches per row."""


def plan_distance_figure(table: PlanDistanceTable, ax: Axes | None = None, *, distance: str = "l2") -> Axes:
    """Draw Pearson's correlation of plan distance and finish time gap.

    Upper rows: a family each, with a point per instance and its 95 % interval, by one definition of distance. Middle:
    all definitions over all instances, as boxes. Lower rows: smallest, mean and largest of the published values.
    `distance` is the name of the definition for the upper rows. Raises a `ValueError` if the study has no such
    distance.
    """
    one_of(distance, table.distances, "distance")
    others = [name for name in table.distances if table.pearson_of(name)]
    labels = [
        *table.families,
        *(f"all families, {name}" for name in others),
        *(f"published: {entry.name}" for entry in PUBLISHED_CORRELATIONS),
    ]
    ax = ax or new_axes(8.5, 1.9 + ROW_HEIGHT * len(labels))
    ax.axvline(0.0, color=QUIET, linewidth=1.0, zorder=1)
    for row, family in enumerate(table.families, 1):
        _draw_instances(ax, row, table, family, distance)
    first = len(table.families) + 1
    if others:
        ax.boxplot(
            [np.array(table.pearson_of(name)) for name in others],
            positions=range(first, first + len(others)),
            orientation="horizontal",
            widths=0.6,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": BOX, "edgecolor": EDGE},
            medianprops={"color": MEDIAN, "linewidth": 2.0},
            whiskerprops={"color": EDGE},
            capprops={"color": EDGE},
            flierprops={"marker": "o", "markersize": 3, "markerfacecolor": EDGE, "markeredgewidth": 0},
        )
    for row, entry in enumerate(PUBLISHED_CORRELATIONS, first + len(others)):
        ax.plot([entry.smallest, entry.largest], [row, row], color=QUIET, linewidth=2.0, solid_capstyle="butt")
        ax.plot([entry.mean], [row], color=QUIET, marker="D", markersize=5, linestyle="none")
    rows_of_methods(ax, labels)
    for border in (first, first + len(others)):
        ax.axhline(border - 0.5, color=EDGE, linewidth=0.6)
    ax.set_xlabel(_caption(table, distance), fontsize=9, loc="right", multialignment="left")
    return ax


def _draw_instances(ax: Axes, row: int, table: PlanDistanceTable, family: str, distance: str) -> None:
    """Draw the instances of a family side by side, each with its interval."""
    mine = [entry for entry in table.rows if entry.family == family and entry.distance == distance]
    known = [entry for entry in mine if entry.pearson is not None]  # then the interval is known too
    offsets = np.linspace(-SPREAD, SPREAD, len(known)) if len(known) > 1 else np.zeros(len(known))
    for entry, offset in zip(known, offsets, strict=True):
        ends = np.array([entry.pearson_low, entry.pearson_high], dtype=np.float64)
        ax.plot(ends, np.full(2, row + offset), color=POINT, linewidth=1.0, alpha=0.6)
        ax.plot(np.array([entry.pearson]), [row + offset], color=POINT, marker="o", markersize=3.5, linestyle="none")


def _caption(table: PlanDistanceTable, distance: str) -> str:
    """Explain what is drawn, with the definition that was used."""
    return (
        "Pearson's correlation of plan distance and finish time gap (difference of makespans)\n"
        f"upper rows: {distance} = {DISTANCES[distance]}; {table.placements} uniform placements and {table.pairs}\n"
        "pairs per instance, 95 % intervals by bootstrap over placements; middle: all definitions;\n"
        "lower rows: smallest, mean and largest over 27 numbers of tasks as published, definition not stated"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDistanceOptions:
    """What `optgap study plan-distance` asks for."""

    files: list[Path] | None = option(
        None, "Instances; default 40 generated ones, see --gpus.", metavar="FILE", is_argument=True, file="read"
    )
    gpus: str = option(
        "clusters",
        "GPUs of generated instances: clusters (of four kinds) or unrelated.",
        metavar="KIND",
        names=Names(*GPUS),
    )
    seed: int = seed_option()
    placements: int = option(300, "Placements per instance.", low=2, high=5_000)
    pairs: int = option(4000, "Pairs of placements per instance.", low=2, high=10_000_000)
    resamples: int = option(200, "Resamples for the intervals and the control.", low=1, high=100_000)
    order: str = option(
        "rank", "Order in which tasks are placed: rank or index.", metavar="ORDER", names=Names("rank", "index")
    )
    no_insertion: bool = option(False, "Append tasks; with --order index this is the published timing.")


def _run(chosen: PlanDistanceOptions, monitor: Monitor) -> PlanDistanceTable:
    """Read or generate the instances, and correlate."""
    if chosen.files:
        instances = []
        for file in chosen.files:
            with reading(file):
                instances.append(read_dag_instance(file))
    else:
        instances = list(plan_distance_instances(chosen.gpus, chosen.seed))
    begun = count()
    return plan_distance_study(
        instances,
        seed=chosen.seed,
        placements=chosen.placements,
        pairs=chosen.pairs,
        resamples=chosen.resamples,
        order=chosen.order,
        insertion=not chosen.no_insertion,
        on_instance=lambda name: monitor.update(name, next(begun), len(instances)),
    )


PLAN_DISTANCE = PaperStudy(
    options=PlanDistanceOptions,
    run=_run,
    tables=lambda table: [summary_table(table)],
    document=lambda table, chosen: table.to_dict(),
    csv=StudyCsv(rows="a row per instance and distance", make=lambda table: table.to_frame().to_csv(index=False)),
    figure=StudyFigure(help="Figure to write", draw=plan_distance_figure, save={"dpi": 200}),
)
