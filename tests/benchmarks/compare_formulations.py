"""Sizes, root bounds and reach of all formulations: `python -m tests.benchmarks.compare_formulations`.

Three generated instances for each number of tasks, on two or three GPUs; makespan, one thread, no bounds from
elsewhere. Prints the tables of docs/formulations.md. Sizes and root bounds are the same wherever the versions are;
proofs near the time limit are not.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo

from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.milp.disjunctive import DisjunctiveModel
from formulations.dag.milp.generalised_disjunctive import GeneralisedDisjunctiveModel
from formulations.dag.milp.linearised_nip import LinearisedNip
from formulations.dag.milp.nip import Nip
from formulations.dag.milp.time_indexed import TimeIndexedModel
from formulations.dag.probing.windows import windows
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from solvers.backends.highs import compile_milp, run_highs
from solvers.lower_bound import lower_bound
from solvers.methods import METHODS
from solvers.problem import DAG
from solvers.run.outcome import Status
from solvers.run.versions import hardware, version_of
from solvers.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance

TASKS = (6, 8, 10, 12, 16, 20)
SHAPES = (("layered", "mixed-3"), ("layered", "mixed-2"), ("in-tree", "mixed-3"))
COST = CostModel(mean_ticks=10.0, ccr=1.0, heterogeneity=0.5)
ROOT_SECONDS = 20.0
BEGIN, END = (f"<!-- compare_formulations: {word} -->" for word in ("begin", "end"))


@dataclass(frozen=True)
class Formulation:
    """A formulation: its model, and the method that solves it."""

    build: Callable[..., Any]
    method: str
    parameters: dict[str, str] = field(default_factory=dict)


def _gdp(transformation: str) -> Formulation:
    """Return the generalised disjunctive program in one of its transformations."""
    build = partial(GeneralisedDisjunctiveModel, transformation=transformation)
    return Formulation(build, "milp-gdp", {"transformation": transformation})


FORMULATIONS = {
    "NIP, order form (SCIP)": Formulation(partial(Nip, form="order"), "nip", {"form": "order"}),
    "NIP, product form (SCIP)": Formulation(partial(Nip, form="product"), "nip", {"form": "product"}),
    "NIP, linearised": Formulation(LinearisedNip, "nip-linearised"),
    "disjunctive": Formulation(DisjunctiveModel, "milp-disjunctive"),
    "GDP, bigm": _gdp("bigm"),
    "GDP, mbigm": _gdp("mbigm"),
    "GDP, hull": _gdp("hull"),
    "time-indexed": Formulation(TimeIndexedModel, "milp-time-indexed"),
    "CP-SAT": Formulation(CpSatModel, "cp-sat"),
}


def instances(num_tasks: int) -> dict[DagInstance, int]:
    """Return an instance of every shape and its optimum: of the first seed that the quick bounds do not prove."""
    found = {}
    for family, cluster in SHAPES:
        for seed in range(1, 10_000):
            instance = generate(family, tasks=num_tasks, seed=seed, cluster=parse_cluster(cluster), cost=COST)
            bound = _quick_bound(instance)
            if instance.num_tasks == num_tasks and _start(instance) > bound:
                optimum = solve(instance, "cp-sat", threads=1, seed=1)
                assert optimum.status is Status.OPTIMAL
                assert optimum.objective is not None
                if optimum.objective > bound:
                    found[instance] = optimum.objective
                    break
    return found


def _start(instance: DagInstance) -> int:
    """Return the makespan of the best list schedule, from which exact methods start."""
    values = [solve(instance, method).objective for method in DAG.warm_starts]
    return min(value for value in values if value is not None)


def _quick_bound(instance: DagInstance) -> int:
    """Return the best bound that needs no search."""
    return max(bound.value for bound in lower_bound(instance, methods=["join-aware-path", "window-load"]))


def size(model: Any) -> tuple[int, int]:
    """Return the numbers of variables and rows."""
    if isinstance(model, CpSatModel):
        proto = model.proto_model.proto
        return len(proto.variables), len(proto.constraints)
    rows = sum(1 for _ in model.pyomo_model.component_data_objects(pyo.Constraint, active=True))
    if isinstance(model, Nip) and not isinstance(model, LinearisedNip):
        return sum(1 for _ in model.pyomo_model.component_data_objects(pyo.Var)), rows
    return len(compile_milp(model.pyomo_model, has_start=False)[1]), rows


def root_bound(model: Any) -> float | None:
    """Return the value of the LP relaxation, or of SCIP's root node; None for CP-SAT, or where the time was over."""
    if isinstance(model, CpSatModel):
        return None
    if isinstance(model, Nip) and not isinstance(model, LinearisedNip):
        from solvers.backends.nip import Scip

        return (
            Scip()
            .solve(
                model.pyomo_model,
                has_start=False,
                absolute_gap=0.0,
                time_limit=ROOT_SECONDS,
                threads=1,
                seed=1,
                report=lambda value, bound: None,
                should_stop=lambda: False,
                max_nodes=1,
            )
            .dual_bound
        )
    milp, _ = compile_milp(model.pyomo_model, has_start=False)
    relaxed = replace(milp, is_integer=np.zeros_like(milp.is_integer))
    return run_highs(relaxed, absolute_gap=0.0, time_limit=ROOT_SECONDS, threads=1, seed=1).dual_bound


def _models(formulation: Formulation, instance: DagInstance, within: Windows) -> tuple[Any, Any]:
    """Return a model with and one without its load rows."""
    full, plain = (formulation.build(instance, Objective.MAKESPAN, within) for _ in range(2))
    if not isinstance(plain, CpSatModel):
        plain.pyomo_model.window_load.deactivate()
    return full, plain


def describe(formulation: Formulation, chosen: dict[DagInstance, int]) -> tuple[str, str]:
    """Return variables x rows, and root bounds with (without) load rows in percent of the optimum, as means."""
    sizes, shares = [], []
    for instance, optimum in chosen.items():
        within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=_start(instance))
        models = _models(formulation, instance, within)
        sizes.append(size(models[0]))
        bounds = [root_bound(model) for model in models]
        shares.append([None if bound is None else 100.0 * bound / optimum for bound in bounds])
    columns, rows = (statistics.mean(column) for column in zip(*sizes, strict=True))
    full, plain = (_mean(column) for column in zip(*shares, strict=True))
    return f"{columns:.0f} x {rows:.0f}", f"{full} ({plain})" if full != "-" else "-"


def _mean(shares: tuple[float | None, ...]) -> str:
    """Return a mean, or a dash where a value is missing."""
    known = [share for share in shares if share is not None]
    return f"{statistics.mean(known):.1f}" if len(known) == len(shares) else "-"


def reach(formulation: Formulation, suite: dict[int, dict[DagInstance, int]], *, time_limit: float) -> str:
    """Return the largest number of tasks up to which all are proved, with its median seconds, and what came next."""
    best = "none"
    for num_tasks, chosen in suite.items():
        seconds = []
        for instance in chosen:
            result = solve(
                instance,
                formulation.method,
                threads=1,
                seed=1,
                bounds=[],
                time_limit=time_limit,
                **formulation.parameters,
            )
            if result.status is not Status.OPTIMAL:
                return f"{best}; with {num_tasks} tasks one of {len(seconds) + 1} stayed open"
            assert result.objective == chosen[instance]
            seconds.append(result.runtime_seconds)
        best = f"{num_tasks} ({statistics.median(seconds):.1f} s)"
    return best


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds per proof")
    parser.add_argument("--tasks", type=int, nargs="*", default=TASKS, help="numbers of tasks")
    parser.add_argument("--into", type=Path, help="file with the marks between which the tables are written, too")
    parser.add_argument("--only", nargs="*", default=list(FORMULATIONS), help="formulations")
    options = parser.parse_args()
    suite = {num_tasks: instances(num_tasks) for num_tasks in options.tasks}
    rows = []
    for name in options.only:
        formulation = FORMULATIONS[name]
        method = METHODS.get(formulation.method)
        if method is None or (method.needs is not None and find_spec(method.needs) is None):
            continue
        print(name, file=sys.stderr, flush=True)
        cells = [describe(formulation, chosen) for chosen in suite.values()]
        rows.append((name, *zip(*cells, strict=True), reach(formulation, suite, time_limit=options.time_limit)))
    solvers = ", ".join(f"{name} {version_of(name)}" for name in ("highspy", "ortools", "pyomo", "pyscipopt"))
    heads = [f"{num_tasks} tasks" for num_tasks in suite]
    text = "\n\n".join(
        [
            f"{hardware()}; {solvers}; one thread; {options.time_limit:g} s per proof.",
            markdown(["variables x rows", *heads], [[name, *sizes] for name, sizes, _, _ in rows]),
            markdown(["root bound, % of the optimum", *heads], [[name, *shares] for name, _, shares, _ in rows]),
            markdown(["formulation", "all proved up to"], [[name, reached] for name, _, _, reached in rows]),
        ]
    )
    print(text)
    if options.into is not None:
        before, rest = options.into.read_text(encoding="utf-8").split(BEGIN)
        options.into.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


if __name__ == "__main__":
    main()
