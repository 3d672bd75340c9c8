"""Proven lower bounds of an instance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from heuristics.stopwatch import Stopwatch
from instances.objective import Objective
from solvers.bound import Bound
from solvers.methods import METHODS
from solvers.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag_instance import DagInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundMethod:
    """A way to a bound.

    Parameters
    ----------
    path
        ``module:function`` of instance and objective.
    proof
        What proves it.
    distribution
        The solver that it asks for help, None for none.
    is_costly
        Whether it is left out, unless named, above `MAX_PAIRS_FOR_COSTLY` pairs of task and GPU.
    is_default
        Whether it is computed at all unless named; not where another bound is never below it.
    only
        The one objective that it says something about, None for both; for the other one its value is 0.
    """

    path: str
    proof: str
    distribution: str | None = None
    is_costly: bool = False
    is_default: bool = True
    only: Objective | None = None


BOUND_METHODS = {
    "critical-path": BoundMethod(
        path="formulations.dag.bounds.critical_path:critical_path",
        proof="longest path, smallest durations, free transfers",
    ),
    "transfer-aware-path": BoundMethod(
        path="formulations.dag.bounds.transfer_aware_path:transfer_aware_path",
        proof="longest path, cheapest transfers",
    ),
    "join-aware-path": BoundMethod(
        path="formulations.dag.bounds.join_aware_path:join_aware_path",
        proof="longest path, one task at a time at joins",
    ),
    "area": BoundMethod(
        path="formulations.dag.bounds.area:area",
        proof="area LP, multipliers checked in integers",
        distribution="highspy",
    ),
    "mean-busy-time": BoundMethod(
        path="formulations.dag.bounds.mean_busy_time:mean_busy_time",
        proof="all GPUs as one, interrupted at will",
        only=Objective.WEIGHTED_COMPLETION,
    ),
    "window-load": BoundMethod(
        path="formulations.dag.bounds.window_load:window_load",
        proof="window-load LP, multipliers checked in integers",
        distribution="highspy",
        is_default=False,  # destructive begins with it
        only=Objective.MAKESPAN,
    ),
    "destructive": BoundMethod(
        path="formulations.dag.bounds.destructive:destructive",
        proof="all makespans below are refuted by window loads",
        distribution="highspy",
        is_costly=True,
        only=Objective.MAKESPAN,
    ),
}
"""Bounds without search, by name."""

MAX_PAIRS_FOR_COSTLY = 1_000
"""Up to here the costly bounds take a fraction of a second."""


def lower_bound(
    instance: DagInstance,
    *,
    objective: Objective | str = Objective.MAKESPAN,
    methods: Sequence[str] | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
) -> list[Bound]:
    """Return proven lower bounds.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    methods
        Names of bounds (`BOUND_METHODS`) or exact methods; by default the bounds that are worth their time: the paths
        and the area, and up to `MAX_PAIRS_FOR_COSTLY` pairs of task and GPU those that are not below another.
    time_limit
        Seconds for each exact method among them.
    threads, seed
        Of the exact methods, as in `solve`.

    Returns
    -------
    list[Bound]
        One per method, in the given order. An exact method that proved nothing is left out.

    Raises
    ------
    ValueError
        If a method is neither a bound nor exact.
    """
    from solvers.solve import solve

    objective, bounds = Objective(objective), list[Bound]()
    for name in _default_methods(instance, objective) if methods is None else methods:
        if name in BOUND_METHODS:
            bounds.append(_bound(name, instance, objective))
            continue
        if name not in METHODS or METHODS[name].kind != "exact":
            exact = [name for name, method in METHODS.items() if method.kind == "exact"]
            raise ValueError(f"methods: expected some of {', '.join([*BOUND_METHODS, *exact])}, got {name!r}.")
        result = solve(instance, method=name, objective=objective, time_limit=time_limit, threads=threads, seed=seed)
        if result.bound is not None:
            bounds.append(_of_exact_method(name, result.bound, result.runtime_seconds))
    return bounds


def _default_methods(instance: DagInstance, objective: Objective) -> list[str]:
    """Return the bounds that are worth their time on an instance of this size."""
    small = instance.num_tasks * instance.num_gpus <= MAX_PAIRS_FOR_COSTLY
    return [
        name
        for name, method in BOUND_METHODS.items()
        if method.is_default and method.only in (None, objective) and (small or not method.is_costly)
    ]


def best_bound(bounds: Sequence[Bound]) -> Bound | None:
    """Return the largest bound; ties to one that is an optimum, then to the first."""
    return max(bounds, key=lambda bound: (bound.value, bound.is_optimum), default=None)


def _of_exact_method(name: str, bound: Bound, seconds: float) -> Bound:
    """Return what an exact method can stand for: its own bound, or one that it began with and did not have to raise."""
    if bound.method == name:
        return bound
    proof = f"{bound.method} meets a schedule" if bound.is_optimum else f"no more than {bound.method}"
    return replace(bound, method=name, proof=proof, seconds=seconds)


def _bound(name: str, instance: DagInstance, objective: Objective) -> Bound:
    """Compute one bound."""
    method, watch = BOUND_METHODS[name], Stopwatch()
    module, function = method.path.split(":")
    value: int = getattr(import_module(module), function)(instance, objective)
    solver = None if method.distribution is None else f"{method.distribution} {version_of(method.distribution)}"
    return Bound(value=value, method=name, proof=method.proof, seconds=watch.seconds, solver=solver)
