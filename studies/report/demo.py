"""The main job in a minute: solve small instances exactly, run every heuristic, report the gaps."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heuristics.search.stop_criteria import MaxEvaluations
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance, write_dag_schedule
from instances.generators.dag.generate import generate
from instances.readers.dag.bundled import bundled_instance
from solvers.methods import METHODS
from solvers.run.outcome import Termination
from solvers.solve import solve
from studies.analysis.gap_table import gap_table
from studies.experiment.plan import paired_seed
from studies.report.gap_report import write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from solvers.result import Result


EXACT_METHOD = "cp-sat"

HEURISTIC_KINDS = ("construction", "search")
"""What is held against the optimum; methods that improve schedules are for instances without one."""


def demo(
    instances: Sequence[DagInstance],
    folder: Path,
    *,
    seed: int = 0,
    threads: int | None = None,
    time_limit: float = 20.0,
    on_run: Callable[[str, int, int], None] = lambda doing, done, total: None,
) -> list[Result]:
    """Solve instances exactly, run every heuristic against the optima, and write everything down.

    Parameters
    ----------
    instances
        What to run on; with names of their own.
    folder
        Where instances, schedules, ``results.json`` and ``report.html`` go; made where it does not exist.
    seed
        Of the study; every method gets the same seed on an instance.
    threads
        Of the exact method.
    time_limit
        Seconds for each exact run; where it strikes, gaps are to the bound proven by then, and the table says so.
    on_run
        Told before every run what is done, how many runs are over and how many there will be.

    Returns
    -------
    list[Result]
        One result per instance and method.

    Raises
    ------
    OSError
        If the folder cannot be written.
    KeyboardInterrupt
        If a run was interrupted; what was finished before is in the folder.
    """
    (folder / "instances").mkdir(parents=True, exist_ok=True)
    (folder / "schedules").mkdir(exist_ok=True)
    heuristics = [name for name, method in METHODS.items() if method.kind in HEURISTIC_KINDS]
    total = len(instances) * (1 + len(heuristics))
    on_run("loading kernels (compiled on first use, about 20 s)", 0, total)
    load_kernels()
    results: list[Result] = []
    for instance in instances:
        write_dag_instance(instance, folder / "instances" / f"{instance.name}.json")
        run_seed = paired_seed(seed, instance)
        on_run(f"{instance.name}: {EXACT_METHOD}", len(results), total)
        exact = solve(instance, EXACT_METHOD, time_limit=time_limit, threads=threads, seed=run_seed)
        _keep(exact, folder, results)
        bounds = None if exact.bound is None else [exact.bound]
        for name in heuristics:
            on_run(f"{instance.name}: {name}", len(results), total)
            _keep(solve(instance, name, seed=run_seed, bounds=bounds), folder, results)
    on_run("writing the report", total, total)
    document = {"results": [result.to_dict() for result in results], "gap_table": gap_table(results).to_dict()}
    (folder / "results.json").write_text(json.dumps(document, indent=1, allow_nan=False), encoding="utf-8")
    write_report(results, folder / "report.html", title="optgap demo: gaps on small heterogeneous instances")
    return results


def load_kernels() -> None:
    """Call every method of the demo once on a tiny instance, so that no run time contains compilation."""
    tiny = DagInstance.from_lists(
        [[2, 3], [3, 2], [2, None]], [(0, 1, 1), (0, 2, 1)], task_memory=[1, 1, 1], gpu_memory=[2, 2]
    )
    for name, method in METHODS.items():
        if name == EXACT_METHOD or method.kind in HEURISTIC_KINDS:
            solve(tiny, name, stop=MaxEvaluations(2) if method.kind == "search" else None, threads=None)


def _keep(result: Result, folder: Path, results: list[Result]) -> None:
    """Add a result and store its schedule."""
    if result.termination is Termination.INTERRUPTED:
        raise KeyboardInterrupt
    results.append(result)
    if result.schedule is not None:
        name = f"{result.instance.name}.{result.method}.json"
        write_dag_schedule(result.instance, result.schedule, folder / "schedules" / name)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoInstance:
    """What to generate: family, wished number of tasks, preset, costs and parameters of the family."""

    family: str
    tasks: int
    cluster: str
    cost: CostModel = field(default_factory=CostModel)
    parameters: Mapping[str, Any] = field(default_factory=dict)


DEMO_INSTANCES = (
    DemoInstance(family="layered", tasks=14, cluster="mixed-3"),
    DemoInstance(family="erdos-renyi", tasks=12, cluster="mixed-4", cost=CostModel(ccr=0.5)),
    DemoInstance(family="fft", tasks=15, cluster="mixed-4-slow", cost=CostModel(ccr=1.0)),
    DemoInstance(family="cholesky", tasks=20, cluster="mixed-3", cost=CostModel(ccr=0.2)),
    DemoInstance(family="gaussian-elimination", tasks=14, cluster="mixed-4", cost=CostModel(ccr=0.2)),
    DemoInstance(
        family="pipeline-training",
        tasks=16,
        cluster="mixed-3",
        cost=CostModel(memory_tightness=0.9),
        parameters={"stages": 2},
    ),
    DemoInstance(family="nasnet", tasks=18, cluster="mixed-3", cost=CostModel(ccr=0.3)),
    DemoInstance(family="transformer", tasks=11, cluster="mixed-4", cost=CostModel(forbidden=0.2)),
    DemoInstance(family="stencil", tasks=16, cluster="mixed-3", cost=CostModel(ccr=0.5)),
    DemoInstance(
        family="multi-tenant",
        tasks=16,
        cluster="mixed-3",
        cost=CostModel(memory_tightness=0.8),
        parameters={"jobs": 3},
    ),
)
"""8 to 20 tasks on 3 or 4 unlike GPUs; two with tight memory, one with several jobs, one with barred GPUs."""

DEMO_BUNDLED = "inception-block"
"""Name of the bundled instance, a modelled profile in PipeDream's format."""


def demo_instances(seed: int) -> list[DagInstance]:
    """Make the instances.

    Parameters
    ----------
    seed
        Of all generated instances; the bundled one is always the same.
    """
    generated = [
        generate(
            item.family,
            tasks=item.tasks,
            seed=seed,
            cluster=parse_cluster(item.cluster),
            cost=item.cost,
            **item.parameters,
        )
        for item in DEMO_INSTANCES
    ]
    return [*generated, bundled_instance(DEMO_BUNDLED)]
