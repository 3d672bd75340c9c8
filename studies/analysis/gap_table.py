"""How far each method is from the best proven bounds, over many instances."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from solvers.run.bound import best_bound
from solvers.table import Column, Table, Tabular
from studies.analysis.gaps import denominators_text, gap_to_bound
from studies.text import percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from solvers.result import Result
    from solvers.run.bound import Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class GapInstance:
    """What gaps on an instance are measured against.

    Parameters
    ----------
    bound
        Best proven lower bound over all results, None where nothing is proven.
    is_optimum
        Whether the bound is the optimum: a verified schedule reaches it.
    """

    name: str
    sha256: str
    bound: Bound | None
    is_optimum: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRun:
    """One run: which method, on which instance (an index), and what came out.

    `gap` is None without a schedule or without a bound above 0.
    """

    method: str
    instance: int
    seed: int
    objective: int | None
    gap: float | None
    is_optimal: bool
    runtime_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodGaps:
    """Gaps of one method over its runs; the three statistics are None where no run has a gap.

    Runs without a schedule have no gap: read mean, median and worst together with `num_without_schedule`.
    """

    method: str
    num_runs: int
    num_without_schedule: int
    num_optimal: int
    mean_gap: float | None
    median_gap: float | None
    worst_gap: float | None
    mean_seconds: float


COLUMNS = (
    Column("method", "method"),
    Column("runs", "num_runs", is_number=True),
    Column("none", "num_without_schedule", is_number=True),
    Column("optimal", "num_optimal", is_number=True),
    Column("mean %", "mean_gap", percent, is_number=True),
    Column("median %", "median_gap", percent, is_number=True),
    Column("worst %", "worst_gap", percent, is_number=True),
    Column("seconds", "mean_seconds", "{:.4f}".format, is_number=True),
)
"""Columns of a gap table, from the fields of `MethodGaps`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapTable(Tabular):
    """Methods ordered by median gap (then mean, then name), instances and runs in the order of the results."""

    objective_name: str
    methods: tuple[MethodGaps, ...]
    instances: tuple[GapInstance, ...]
    runs: tuple[GapRun, ...]

    @property
    def num_proven(self) -> int:
        """Number of instances whose optimum is proven."""
        return sum(instance.is_optimum for instance in self.instances)

    @property
    def is_proven(self) -> bool:
        """Whether all gaps are optimality gaps proper."""
        return self.num_proven == len(self.instances)

    def denominators(self) -> str:
        """Say in one sentence what the gaps are measured against."""
        return denominators_text(self.num_proven, self.instances)

    def gaps_of(self, method: str) -> list[float]:
        """Return the gaps of a method's runs, in the order of the results."""
        return [run.gap for run in self.runs if run.method == method and run.gap is not None]

    def table(self) -> Table:
        """Return the table with one row per method, and what the gaps are measured against."""
        records = [asdict(method) for method in self.methods]
        return Table.of(
            COLUMNS,
            records,
            title=f"Gaps of the {self.objective_name.replace('_', ' ')} over {len(self.instances)} instances",
            notes=[f"{self.denominators()} none: runs without a schedule, which have no gap; seconds: mean run time."],
            records=records,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "objective_name": self.objective_name,
            "denominators": self.denominators(),
            "num_proven": self.num_proven,
            "methods": [asdict(method) for method in self.methods],
            "instances": [asdict(instance) for instance in self.instances],
            "runs": [asdict(run) for run in self.runs],
        }


def gap_table(results: Sequence[Result]) -> GapTable:
    """Compare methods by their gaps to the best bound that any of the results proves.

    Parameters
    ----------
    results
        Any number of methods, instances and repetitions, one objective and one rule of contention.

    Returns
    -------
    GapTable
        The denominator of every gap is the largest lower bound over all results of that instance.

    Raises
    ------
    ValueError
        If the results minimise different things or keep different rules of contention, or a proven bound of one result
        exceeds the objective of another: a negative gap is an error in this software, never a result.
    """
    objectives = sorted({str(result.objective_name) for result in results})
    if len(objectives) > 1:
        raise ValueError(f"results: expected one objective, got {' and '.join(objectives)}.")
    rules = sorted({str(result.contention) for result in results})
    if len(rules) > 1:
        raise ValueError(f"results: expected one rule of contention, got {' and '.join(rules)}.")
    index_of: dict[str, int] = {}
    for result in results:
        index_of.setdefault(result.instance.sha256, len(index_of))
    of_instance: list[list[Result]] = [[] for _ in index_of]
    for result in results:
        of_instance[index_of[result.instance.sha256]].append(result)
    instances = tuple(_gap_instance(group) for group in of_instance)
    runs = tuple(
        _gap_run(result, index_of[result.instance.sha256], instances[index_of[result.instance.sha256]])
        for result in results
    )
    methods = [_method_gaps(method, runs) for method in dict.fromkeys(run.method for run in runs)]
    return GapTable(
        objective_name=objectives[0] if objectives else "",
        methods=tuple(sorted(methods, key=_order)),
        instances=instances,
        runs=runs,
    )


def _gap_instance(results: Sequence[Result]) -> GapInstance:
    """Return the best bound of the results of one instance, and whether a schedule reaches it."""
    instance, bounds = results[0].instance, [result.bound for result in results if result.bound is not None]
    best = best_bound(bounds)
    for bound in bounds:
        if best is not None and bound.is_optimum and bound.value < best.value:
            raise ValueError(
                f"gap: expected bounds up to the optimum {bound.value} of {bound.method} on {instance.name!r}, got "
                f"{best.value} of {best.method}."
            )
    is_reached = best is not None and any(result.objective == best.value for result in results)
    return GapInstance(
        name=instance.name,
        sha256=instance.sha256,
        bound=best,
        is_optimum=is_reached or (best is not None and best.is_optimum),
    )


def _gap_run(result: Result, index: int, instance: GapInstance) -> GapRun:
    """Hold one result against the bound of its instance."""
    objective, bound = result.objective, None if instance.bound is None else instance.bound.value
    return GapRun(
        method=result.method,
        instance=index,
        seed=result.seed,
        objective=objective,
        gap=None if objective is None else gap_to_bound(objective, bound, method=result.method, instance=instance.name),
        is_optimal=objective is not None and objective == bound,
        runtime_seconds=result.runtime_seconds,
    )


def _method_gaps(method: str, all_runs: Iterable[GapRun]) -> MethodGaps:
    """Summarise the runs of a method."""
    runs = [run for run in all_runs if run.method == method]
    gaps = [run.gap for run in runs if run.gap is not None]
    return MethodGaps(
        method=method,
        num_runs=len(runs),
        num_without_schedule=sum(run.objective is None for run in runs),
        num_optimal=sum(run.is_optimal for run in runs),
        mean_gap=statistics.fmean(gaps) if gaps else None,
        median_gap=statistics.median(gaps) if gaps else None,
        worst_gap=max(gaps, default=None),
        mean_seconds=statistics.fmean(run.runtime_seconds for run in runs),
    )


def _order(row: MethodGaps) -> tuple[bool, float, float, str]:
    """Sort by median, then mean, then name; methods without any gap stand last."""
    return (row.median_gap is None, row.median_gap or 0.0, row.mean_gap or 0.0, row.method)
