"""Every method and every bound on the small instances, with budgets that repeat bit for bit."""

from __future__ import annotations

import inspect
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.record.digest import digest
from tests.record.product import (
    BOUND_METHODS,
    JOBS_BOUND_METHODS,
    JOBS_METHODS,
    METHODS,
    Callback,
    DagInstance,
    MaxEvaluations,
    Progress,
    lower_bound,
    lower_bound_jobs,
    solve,
)
from tests.record.small_instances import dag_instances, exact_dags, exact_jobs, jobs_instances

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DAG_OBJECTIVES = ("makespan", "weighted_completion")
JOBS_OBJECTIVES = ("total_completion", "weighted_completion")

EVALUATIONS = 250
"""Budget of searches."""

SEED = 20

DAG_VARIANTS: dict[str, list[dict[str, Any]]] = {
    "heft": [{"insertion": False}],
    "random-search": [{"decoding": d} for d in ("eft", "direct", "load")] + [{"heft_seed": False}],
    "woa": [
        {"variant": "reference"},
        {"variant": "mealpy"},
        {"variant": "mealpy", "distance": "shifted", "acceptance": "greedy"},
        {"distance": "shifted"},
        {"acceptance": "greedy"},
        {"decoding": "eft"},
        {"decoding": "direct"},
        {"decoding": "load"},
        {"heft_seed": False, "spiral": 0.5, "population": 7},
    ],
    "ga": [
        {"decoding": "eft"},
        {"decoding": "load"},
        {"tournament": 2, "crossover": 0.5, "mutation": 0.3, "population": 9, "heft_seed": False},
    ],
    "pso": [
        {"topology": "ring"},
        {"topology": "ring", "decoding": "direct", "heft_seed": False},
        {"constriction": 0.6, "cognitive": 1.5, "social": 2.5, "population": 8},
    ],
    "sa": [
        {"decoding": "eft"},
        {"decoding": "load", "heft_seed": False},
        {"samples": 20, "first_acceptance": 0.6, "last_acceptance": 0.01, "keys_per_move": 1},
    ],
    "rtgs": [
        {"order": "index"},
        {"wish": "final_load"},
        {"insertion": False, "heft_seed": True, "population": 8, "spiral": 0.5},
    ],
    "worl-rtgs": [
        {"generator": "greedy"},
        {"wish": "final_load"},
        {"order": "rank", "wish_weight": 0.9, "temperature": 0.1},
        {"heft_seed": False, "ddqn_seed": False, "population": 6},
        {"weights": "ddqn_v1_seed1.npz"},
    ],
    "ddqn-sampling": [{"temperature": 0.2, "heft_seed": False}, {"weights": "ddqn_v1_seed2.npz"}],
    "ddqn": [{"weights": "ddqn_v1_seed1.npz"}],
    "lns": [{"iterations": 4}],
    "milp-gdp": [{"transformation": "mbigm"}, {"transformation": "hull"}],
    "nip": [{"form": "product"}],
}
"""Parameters beside the defaults; weights are names of shipped files."""

VARIANT_DAGS = ("uneven links", "layered", "stencil")
WIDE_VARIANT_DAGS = ("tiny in-tree", "erdos-renyi", "nasnet", "multi-tenant", "hyperparameter-sweep")
"""Where heuristics run with parameters of their own, in the default part and in the slow one."""

SEARCH_DAGS = (
    "tiny layered", "tiny fork-join", "tiny out-tree", "tiny chains", "stuck", "infeasible", "uneven links", "layered",
    "fft", "cholesky", "stencil", "transformer", "hyperparameter-sweep", "multi-tenant",
)  # fmt: skip
"""Where searches run in the default part; elsewhere in the slow one."""

PREDICTORS = (
    "none", "last-run", "running-median", "global-median", "random-forest", "median-forest", "noisy-oracle",
)  # fmt: skip
PLACEMENTS = (
    "heavy-edge", "consolidated", "stage-order", "random", "load-balance", "free-descending", "best-fit", "least-load",
)  # fmt: skip

JOBS_VARIANTS: dict[str, list[dict[str, Any]]] = {
    "a-srpt": [
        *({"predictor": name} for name in PREDICTORS),
        *({"placement": name} for name in PLACEMENTS[1:]),
        {"mode": "work_conserving"},
        {"mode": "work_conserving", "predictor": "running-median"},
        {"mode": "work_conserving", "predictor": "noisy-oracle", "predictor_parameters": {"mu": 4.0}},
        {"theta": "2", "tau": "1/2", "eps": "1/10", "phi": "1/3"},
        {"theta": "6/5", "tau": "0", "mode": "work_conserving"},
    ],
    "fifo": [{"placement": name} for name in PLACEMENTS[1:]],
    "spjf": [{"predictor": name} for name in PREDICTORS] + [{"placement": "consolidated"}],
    "spwf": [{"predictor": "running-median"}, {"placement": "random"}],
    "wcs-duration": [{"predictor": name} for name in PREDICTORS] + [{"placement": name} for name in PLACEMENTS[1:]],
    "wcs-workload": [{"predictor": "global-median"}, {"placement": "stage-order"}],
    "wcs-subtime": [{"placement": name} for name in PLACEMENTS[1:]],
    "qssf": [{"predictor": "random-forest"}, {"predictor": "last-run", "placement": "least-load"}],
    "srtf": [{"head": "blocks"}, {"placement": "best-fit"}, {"head": "blocks", "placement": "random"}],
    "drf": [{"placement": "heavy-edge"}],
    "tetris": [{"placement": "consolidated"}],
    "marl": [
        *({"training": number} for number in (1, 2, 3, 4, 5)),
        *({"training": number, "stage": stage} for number in (1, 3) for stage in ("imitated", "untrained")),
        {"agents": 1},
        {"agents": 2, "forwards": 0},
        {"forwards": 3},
        {"predictor": "running-median"},
        {"predictor": "noisy-oracle", "predictor_parameters": {"mu": 2.0}},
    ],
    "cp-sat": [{"max_patterns": 3}],
}
"""Parameters beside the defaults."""

IMPROVEMENT_DAGS = ("tiny erdos-renyi", "stuck", "infeasible", "uneven links", "layered", "stencil")
"""Where `lns` runs in the default part; elsewhere in the slow one."""

VARIANT_JOBS = ("recurrent", "shared racks")
WIDE_VARIANT_JOBS = ("tiny shared", "small", "bursty", "poisson weighted", "co-located", "shared")
"""Where policies run with parameters of their own, in the default part and in the slow one."""

FEW_DAGS = ("milp-time-indexed", "milp-gdp", "nip")
"""Exact methods that run on the smallest instances only in the default part."""

LINEAR_PROGRAMS = ("interval-indexed", "time-indexed")
"""Bounds that take long on the larger instances; there they belong to the slow part."""

QUICK_JOBS_BOUNDS = ("virtual-srpt", "release-plus-duration", "mean-busy-time", "rank-wise", "sets-of-kinds")
"""Bounds that policies are held against."""


class Watched(Callback):
    """Keeps every better objective with the number of evaluations it took, and every round but its time."""

    def __init__(self) -> None:
        self.rounds: list[dict[str, float | None]] = []
        self.seen: list[tuple[int, int | None, int | None]] = []
        self.evaluations = 0

    def on_incumbent(self, progress: Progress) -> None:
        """Keep an improvement."""
        self.seen.append((progress.evaluations, progress.objective, progress.lower_bound))

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Keep what a population looks like: means show what the best objective hides."""
        self.rounds.append({key: value for key, value in row.items() if key != "seconds"})

    def on_end(self, progress: Progress) -> None:
        """Keep the number of evaluations."""
        self.evaluations = progress.evaluations


def shipped_file(name: str) -> Path:
    """Return where a shipped file of this name is, wherever in the packages that may be."""
    return next(path for path in shipped_files() if path.name == name)


@cache
def shipped_files() -> tuple[Path, ...]:
    """Return all weights and instance sets in the packages, with the documents beside them."""
    found = [*package_files("*.npz"), *package_files("*.jsonl.gz")]
    folders = {path.parent for path in found}
    return tuple(sorted({*found, *(path for folder in folders for path in folder.glob("*.json"))}))


def package_files(pattern: str) -> list[Path]:
    """Return the files of a pattern in the packages, wherever those are below the root of the repository."""
    root = Path(__file__).resolve().parents[2]
    left_out = {"tests", "notebooks", "build", "dist", "docs", "shared", "site-packages"}
    return [
        path
        for path in sorted(root.rglob(pattern))
        if not any(part in left_out or part.startswith(".") for part in path.relative_to(root).parts)
    ]


def methods_record(
    problem: str, names: Sequence[str], *, wide: bool = False, every: int = 1
) -> dict[str, dict[str, str]]:
    """Return what methods of a problem with default parameters find: a line per method and instance.

    With `wide` it is what the default part leaves out. With `every` above 1 it is a sample, see `_sample`.
    """
    methods = METHODS if problem == "dag" else JOBS_METHODS
    found: dict[str, dict[str, str]] = {}
    for number, method in enumerate(names):
        instances = _sample(_instances_of(problem, method, methods[method].kind, wide=wide), number, every)
        if instances:
            found[method] = {name: method_line(instance, method) for name, instance in instances.items()}
    return found


def variants_record(
    problem: str, names: Iterable[str], *, wide: bool = False, every: int = 1
) -> dict[str, dict[str, str]]:
    """Return what methods with parameters of their own find, on other instances with `wide`, a sample with `every`."""
    variants, methods = (DAG_VARIANTS, METHODS) if problem == "dag" else (JOBS_VARIANTS, JOBS_METHODS)
    found: dict[str, dict[str, str]] = {}
    for method in names:
        instances = _variant_instances(problem, methods[method].kind, wide=wide)
        for number, parameters in enumerate(variants.get(method, [])):
            shown = ", ".join(f"{key}={value}" for key, value in parameters.items())
            found[f"{method} ({shown})"] = {
                name: method_line(instance, method, **parameters)
                for name, instance in _sample(instances, number, every).items()
            }
    return found


def _sample(instances: dict[str, Any], first: int, every: int) -> dict[str, Any]:
    """Return every so many-th instance, beginning elsewhere for each `first`, so that all are met by some method."""
    names = list(instances)[first % every :: every]
    return {name: instances[name] for name in names}


def _instances_of(problem: str, method: str, kind: str, *, wide: bool) -> dict[str, Any]:
    """Return the instances on which a method is run."""
    every: dict[str, Any]
    if problem == "jobs":
        every = exact_jobs() if kind == "exact" else jobs_instances()
        quick: Iterable[str] = every
    elif kind == "exact":
        every = exact_dags()
        quick = _smallest(4) if method in FEW_DAGS else every
    else:
        every = dag_instances()
        quick = every if kind == "construction" else IMPROVEMENT_DAGS if kind == "improvement" else SEARCH_DAGS
    return {name: instance for name, instance in every.items() if (name in quick) is not wide}


def _variant_instances(problem: str, kind: str, *, wide: bool) -> dict[str, Any]:
    """Return the instances on which a method is run with parameters of its own."""
    if problem == "jobs":
        if kind == "exact":
            return {name: item for name, item in exact_jobs().items() if (item.interference is None) is not wide}
        return {name: jobs_instances()[name] for name in (WIDE_VARIANT_JOBS if wide else VARIANT_JOBS)}
    if kind == "exact":
        few = _smallest(6)
        return {name: exact_dags()[name] for name in (few[3:] if wide else few[:3])}
    return {name: dag_instances()[name] for name in (WIDE_VARIANT_DAGS if wide else VARIANT_DAGS)}


def _smallest(count: int) -> list[str]:
    """Return the names of the smallest DAG instances for exact methods."""
    made = exact_dags()
    return sorted(made, key=lambda name: (made[name].num_tasks * made[name].num_gpus, name))[:count]


def available_methods() -> list[str]:
    """Return the DAG methods whose extra is installed."""
    return [name for name, method in METHODS.items() if method.needs is None or find_spec(method.needs)]


def method_line(instance: Any, method: str, **parameters: Any) -> str:
    """Return what a method finds under both objectives, and with contention where it knows that: values and digest."""
    if "weights" in parameters:
        parameters["weights"] = str(shipped_file(parameters["weights"]))
    is_dag = isinstance(instance, DagInstance)
    found, shown = [], []
    for objective in DAG_OBJECTIVES if is_dag else JOBS_OBJECTIVES:
        for contention in ("none", "nic") if is_dag and _knows_contention(method) else ("none",):
            try:
                document = run_document(instance, method, objective, contention, **parameters)
            except ValueError as error:  # such as: the method refuses interference, or some job has no home
                document = {"raises": type(error).__name__, "objective": None, "bound": None}
            found.append(document)
            values = (document["objective"], document["bound"])
            shown.append("/".join("-" if value is None else str(value) for value in values))
    return f"{' '.join(shown)} {digest(found)}"


def _knows_contention(method: str) -> bool:
    """Say whether a DAG method has a parameter for contention."""
    return "contention" in inspect.signature(METHODS[method].resolve()).parameters


def run_document(
    instance: Any, method: str, objective: str, contention: str = "none", **parameters: Any
) -> dict[str, Any]:
    """Run a method and return everything of the result that repeats."""
    is_dag = isinstance(instance, DagInstance)
    kind = (METHODS if is_dag else JOBS_METHODS)[method].kind
    watched = Watched()
    more: dict[str, Any] = {"callback": watched}
    if kind == "exact" or kind == "improvement":
        more["threads"] = 1
    else:
        more["bounds"] = _known_bounds(instance, objective, contention)
    if kind == "search":
        more["stop"] = MaxEvaluations(EVALUATIONS)
    if method == "lns":
        parameters = {"iterations": 2, **parameters}
    if contention != "none":
        more["contention"] = contention
    result = solve(instance, method, objective=objective, seed=SEED, **more, **parameters)
    schedule = result.schedule
    document: dict[str, Any] = {
        "objective": result.objective,
        "bound": result.lower_bound,
        "bound method": None if result.bound is None else result.bound.method,
        "status": str(result.status),
        "termination": str(result.termination),
        "is optimum": None if result.bound is None else result.bound.is_optimum,
        "is confirmed": None if result.bound is None else result.bound.confirmed_by is not None,
    }
    if kind != "exact" and kind != "improvement":
        document |= {"seen": watched.seen, "evaluations": watched.evaluations}
    if kind == "search":
        document["rounds"] = watched.rounds
    if schedule is not None and is_dag:
        document |= {"gpu": schedule.gpu, "start": schedule.start, "transfers": schedule.transfer_start}
    elif schedule is not None:
        names = ("start", "entry_offsets", "entry_server", "entry_count", "gpu")
        document |= {name: getattr(schedule, name) for name in names}
        document |= {"completion": result.completion, "statistics": result.statistics.to_dict()}
    return document


@cache
def _known_bounds(instance: Any, objective: str, contention: str) -> list[Any]:
    """Return the bounds without search, computed once for all heuristics."""
    if isinstance(instance, DagInstance):
        return list(lower_bound(instance, objective=objective, contention=contention))
    return list(lower_bound_jobs(instance, objective=objective, methods=QUICK_JOBS_BOUNDS))


def bounds_record(problem: str, *, wide: bool = False, every: int = 1) -> dict[str, dict[str, str]]:
    """Return every bound without search, under both objectives and both rules of contention, and the defaults.

    With `wide` it is what the default part leaves out: linear programs on the larger instances. With `every` above 1
    it is a sample, see `_sample`.
    """
    bounds = BOUND_METHODS if problem == "dag" else JOBS_BOUND_METHODS
    names: list[str | None] = [
        *(name for name, method in bounds.items() if not method.needs_search and not method.knows_buffers),
        None,
    ]
    found: dict[str, dict[str, str]] = {}
    for number, name in enumerate(names):
        is_costly = name in LINEAR_PROGRAMS or (name is None and problem == "jobs")
        if wide and not is_costly:
            continue
        instances = {
            key: instance
            for key, instance in (dag_instances() if problem == "dag" else jobs_instances()).items()
            if wide is not (not is_costly or key.startswith("tiny") or key in ("uneven links", "small", "recurrent"))
        }
        found["by default" if name is None else name] = {
            key: _values(_bound_tables(instance, name)) for key, instance in _sample(instances, number, every).items()
        }
    return found


def _bound_tables(instance: Any, name: str | None) -> Iterator[Any]:
    """Compute a bound, or the default ones, under all objectives and the rules of contention that matter."""
    methods = None if name is None else [name]
    if not isinstance(instance, DagInstance):
        for objective in JOBS_OBJECTIVES:
            yield lower_bound_jobs(instance, objective=objective, methods=methods)
        return
    knows = name is None or "contention" in inspect.signature(BOUND_METHODS[name].resolve()).parameters
    for objective in DAG_OBJECTIVES:
        for rule in ("none", "nic") if knows else ("none",):
            yield lower_bound(instance, objective=objective, methods=methods, contention=rule)


def _values(tables: Iterable[Any]) -> str:
    """Return the values of bounds as text; with names where there are several."""
    shown = []
    for table in tables:
        if len(table) == 1:
            shown.append(str(table[0].value))
        else:
            best = table.best
            names = [(bound.method, bound.value) for bound in table]
            shown.append(f"{None if best is None else best.value} {digest([names, list(table.left_out)])}")
    return ", ".join(shown)
