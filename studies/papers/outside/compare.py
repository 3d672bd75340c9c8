"""Other people's implementations on the same instances: `python -m studies.papers.outside.compare --out FILE.json`.

mealpy's WOA, GA and PSO search through our decoder, evaluation by evaluation; SAGA's HEFT, CPOP and two more schedule
graphs on related machines, and our verifier checks their schedules; PyJobShop solves instances without transfers. Each
pair runs in both orders, and times are those of the process. ``requirements.txt`` says how to make the environment.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list
from heuristics.dag.random_keys import RandomKeys
from heuristics.search.stop_criteria import MaxEvaluations
from instances.clusters.cluster import parse_cluster
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from instances.text_file import write_text
from solvers.solve import solve
from solvers.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


PACKAGES = ("mealpy", "anrg-saga", "pyjobshop")
MODULES = ("mealpy", "saga", "pyjobshop")
"""Of the packages, in the same order."""

SEARCHES = {"woa": ("WOA", "OriginalWOA"), "ga": ("GA", "BaseGA"), "pso": ("PSO", "OriginalPSO")}
"""Our searches, and module and class of mealpy; both with their defaults but for the population."""

KEEPING = {"variant": "mealpy", "acceptance": "greedy"}
"""Our WOA per coordinate, each whale keeping the better of both places: mealpy's keeps it too, the paper does not."""

PAIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "woa": ("woa", {}),
    "woa, keeping the better": ("woa", KEEPING),
    "ga": ("ga", {}),
    "pso": ("pso", {}),
}
"""Rows of the comparison with mealpy: our search, and its parameters that are not the defaults."""

POPULATION = 20

SAGA_RANKS = "cpop, ranks of SAGA"
"""Placement by earliest finish in the order of `ranks_of_saga`."""

BATCHES = "min-min, batch by batch"
"""Min-min as SAGA has it: tasks that become ready wait until all that were ready before have a place."""

SAGA_SCHEDULERS = (
    ("HeftScheduler", "heft"),
    ("CpopScheduler", "cpop"),
    ("CpopScheduler", SAGA_RANKS),
    ("ETFScheduler", "etf"),
    ("MinMinScheduler", "min-min"),
    ("MinMinScheduler", BATCHES),
    ("SufferageScheduler", "heft"),
)
"""Schedulers of SAGA, and our method beside each: the same one, or HEFT where we have none."""

SAGA_GRAPHS = 4
"""Graphs for SAGA for each one for the searches: list schedulers are quick."""

FAMILIES = ("layered", "cholesky", "transformer", "pipeline-training", "series-parallel")


def missing_packages() -> list[str]:
    """Return the packages that are not installed."""
    missing = []
    for package, module in zip(PACKAGES, MODULES, strict=True):
        try:
            import_module(module)
        except ImportError:
            missing.append(package)
    return missing


class CountedObjective:
    """The objective of our decoder as a function of a point, with the count and the best of what was asked.

    A schedule beyond a memory limit counts as a large number: other people's code knows one number per point.
    """

    def __init__(self, instance: DagInstance, decoding: str) -> None:
        self.keys = RandomKeys(instance, Objective.MAKESPAN, decoding)
        self.count = 0
        self.best = math.inf

    def __call__(self, point: Any) -> float:
        """Return the makespan of a point in ticks."""
        overflow, objective = self.keys.evaluate(np.ascontiguousarray(point, dtype=np.float64))
        self.count += 1
        value = float(objective) if overflow == 0 else 1e15 + overflow
        self.best = min(self.best, value)
        return value


def run_mealpy(instance: DagInstance, name: str, decoding: str, evaluations: int, seed: int) -> tuple[float, int]:
    """Run a search of mealpy until it has asked for so many evaluations; return the best objective and the count.

    mealpy looks at the count at the end of a generation only; what it asks for beyond the budget does not count.
    """
    mealpy = import_module("mealpy")
    module, kind = SEARCHES[PAIRS[name][0]]
    objective = CountedObjective(instance, decoding)
    best_in_budget = math.inf

    def within_budget(point: Any) -> float:
        nonlocal best_in_budget
        value = objective(point)
        if objective.count <= evaluations:
            best_in_budget = min(best_in_budget, value)
        return value

    size = objective.keys.num_keys
    problem = {
        "obj_func": within_budget,
        "bounds": mealpy.FloatVar(lb=(0.0,) * size, ub=(1.0,) * size),
        "minmax": "min",
        "log_to": None,
    }
    search = getattr(getattr(mealpy, module), kind)(epoch=math.ceil(evaluations / POPULATION), pop_size=POPULATION)
    search.solve(problem, termination={"max_fe": evaluations}, seed=seed)
    return best_in_budget, min(objective.count, evaluations)


def run_ours(instance: DagInstance, name: str, decoding: str, evaluations: int, seed: int) -> tuple[float, int]:
    """Run our search on the same keys, without HEFT's schedule."""
    method, parameters = PAIRS[name]
    result = solve(
        instance,
        method,
        stop=MaxEvaluations(evaluations),
        seed=seed,
        bounds=[],
        decoding=decoding,
        heft_seed=False,
        population=POPULATION,
        **parameters,
    )
    return math.inf if result.objective is None else float(result.objective), evaluations


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return what a function returns, and the seconds of the processor that it took."""
    begin = time.process_time()
    answer = function(*arguments)
    return answer, time.process_time() - begin


def both_orders(ours: Callable[[int], Any], theirs: Callable[[int], Any], seed: int) -> dict[str, Any]:
    """Run ours then theirs with a seed, and theirs then ours with the next; return both answers and seconds of each."""
    first, first_seconds = timed(ours, seed)
    other, other_seconds = timed(theirs, seed)
    again_other, again_other_seconds = timed(theirs, seed + 1)
    again, again_seconds = timed(ours, seed + 1)
    return {
        "ours": [first, again],
        "theirs": [other, again_other],
        "our_seconds": [first_seconds, again_seconds],
        "their_seconds": [other_seconds, again_other_seconds],
    }


def related_instance(rng: np.random.Generator, tasks: int, gpus: int) -> tuple[DagInstance, dict[str, Any]]:
    """Draw a graph on related machines with whole numbers only, and the same in SAGA's terms.

    Work is a multiple of 12 and speeds are 1, 2, 3 or 4, so that every duration is a whole number of ticks; all links
    have one speed, and transfers on one GPU cost nothing.
    """
    speeds = rng.choice([1, 2, 3, 4], size=gpus)
    work = 12 * rng.integers(1, 21, size=tasks)
    edges = [
        (tail, head, int(rng.integers(0, 61)))
        for head in range(1, tasks)
        for tail in sorted(rng.choice(head, size=min(head, int(rng.integers(1, 4))), replace=False).tolist())
    ]
    instance = DagInstance.from_lists(
        [[int(cost // speed) for speed in speeds] for cost in work],
        edges,
        latency=0,
        bytes_per_tick=1.0,
        name="related",
    )
    return instance, {"speeds": speeds.tolist(), "work": work.tolist(), "edges": edges}


def saga_schedule(scheduler: str, terms: dict[str, Any]) -> DagSchedule:
    """Let SAGA schedule and return its answer as a schedule of ours, not yet verified."""
    saga, schedulers = import_module("saga"), import_module("saga.schedulers")
    gpus, tasks = len(terms["speeds"]), len(terms["work"])
    network = saga.Network.create(
        nodes=[(f"g{gpu}", float(speed)) for gpu, speed in enumerate(terms["speeds"])],
        edges=[
            (f"g{one}", f"g{other}", math.inf if one == other else 1.0)
            for one in range(gpus)
            for other in range(one, gpus)
        ],
    )
    graph = saga.TaskGraph.create(
        tasks=[(f"t{task}", float(cost)) for task, cost in enumerate(terms["work"])],
        dependencies=[(f"t{tail}", f"t{head}", float(size)) for tail, head, size in terms["edges"]],
    )
    made = getattr(schedulers, scheduler)().schedule(network, graph)
    gpu, start = np.zeros(tasks, dtype=np.int64), np.zeros(tasks, dtype=np.int64)
    for node, placed in made.items():
        for each in placed:
            if each.name.startswith("t"):  # SAGA adds a source and a sink of its own
                gpu[int(each.name[1:])], start[int(each.name[1:])] = int(node[1:]), round(each.start)
    return DagSchedule(gpu=gpu, start=start)


def verified_makespan(instance: DagInstance, schedule: DagSchedule) -> int:
    """Return the makespan of a schedule; raises a `ValueError` with the first violation if it is wrong."""
    violations = verify_dag_schedule(instance, schedule)
    if violations:
        raise ValueError(f"schedule: expected one without violations, got {violations[0]}.")
    tasks = np.arange(instance.num_tasks)
    return int((schedule.start + instance.durations[tasks, schedule.gpu]).max(initial=0))


def solve_by_pyjobshop(instance: DagInstance, time_limit: float) -> int | None:
    """Return the makespan that PyJobShop proves optimal for an instance without transfers; None without a proof."""
    pyjobshop = import_module("pyjobshop")
    model = pyjobshop.Model()
    machines = [model.add_machine() for _ in range(instance.num_gpus)]
    tasks = [model.add_task() for _ in range(instance.num_tasks)]
    for task, row in zip(tasks, instance.durations.tolist(), strict=True):
        for machine, ticks in zip(machines, row, strict=True):
            if ticks >= 0:
                model.add_mode(task, [machine], ticks)
    for tail, head in instance.edges.tolist():
        model.add_end_before_start(tasks[tail], tasks[head])
    result = model.solve(time_limit=time_limit, display=False, num_workers=1)
    return int(result.objective) if result.status.value == "Optimal" else None


def without_transfers(rng: np.random.Generator, tasks: int, gpus: int) -> DagInstance:
    """Draw a graph on unrelated machines whose edges carry nothing."""
    edges = [
        (tail, head, 0)
        for head in range(1, tasks)
        for tail in sorted(rng.choice(head, size=min(head, int(rng.integers(1, 3))), replace=False).tolist())
    ]
    durations = rng.integers(1, 31, size=(tasks, gpus)).tolist()
    return DagInstance.from_lists(durations, edges, latency=0, bytes_per_tick=1.0, name="no-transfers")


def first_of(run: Callable[..., tuple[float, int]], *arguments: Any) -> float:
    """Return the objective of a search."""
    return run(*arguments)[0]


def ranks_of_saga(terms: dict[str, Any]) -> NDArray[np.float64]:
    """Return the priorities of SAGA's CPOP, shape (n,).

    They differ from the paper's in two ways. The downward rank adds the task's own work over the mean speed, where the
    paper (eq. 10) adds the mean duration of the predecessor; the sum of both ranks is then the same for no two tasks of
    a path, so that only its first task is held on the path's machine. Means of transfers include the link of each
    machine to itself, which takes no time.
    """
    speeds, work = np.array(terms["speeds"], dtype=np.float64), np.array(terms["work"], dtype=np.float64)
    duration, own = (work[:, None] / speeds).mean(axis=1), work / speeds.mean()
    share = (len(speeds) - 1) / (len(speeds) + 1)
    upward: NDArray[np.float64] = duration.copy()
    downward = np.zeros(len(work))
    for tail, head, size in sorted(terms["edges"], key=lambda edge: -edge[0]):
        upward[tail] = max(upward[tail], duration[tail] + share * size + upward[head])
    for tail, head, size in sorted(terms["edges"], key=lambda edge: edge[1]):
        downward[head] = max(downward[head], downward[tail] + share * size + own[head])
    total: NDArray[np.float64] = upward + downward
    return total


def min_min_by_batches(instance: DagInstance) -> DagSchedule:
    """Place the pair of task and machine that finishes first among the tasks of a batch until the batch is empty."""
    n, m = instance.num_tasks, instance.num_gpus
    incoming: list[list[tuple[int, NDArray[np.int64]]]] = [[] for _ in range(n)]
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        incoming[head].append((tail, instance.transfer_delays(edge)))
    gpu, start, finish = (np.full(n, -1, dtype=np.int64) for _ in range(3))
    free = np.zeros(m, dtype=np.int64)
    while (gpu < 0).any():
        batch = [task for task in range(n) if gpu[task] < 0 and all(gpu[tail] >= 0 for tail, _ in incoming[task])]
        while batch:
            options = []
            for task in batch:
                begin = free.copy()
                for tail, delays in incoming[task]:
                    begin = np.maximum(begin, finish[tail] + delays[gpu[tail]])
                ends = begin + instance.durations[task]
                options.append((int(ends.min()), task, int(ends.argmin()), int(begin[ends.argmin()])))
            end, task, chosen, begins = min(options)
            gpu[task], start[task], finish[task], free[chosen] = chosen, begins, end, end
            batch.remove(task)
    return DagSchedule(gpu=gpu, start=start)


def our_makespan(instance: DagInstance, terms: dict[str, Any], method: str, seed: int) -> int:
    """Return the makespan of a list scheduler of ours; 0 where it finds no schedule."""
    if method == BATCHES:
        return verified_makespan(instance, min_min_by_batches(instance))
    if method == SAGA_RANKS:
        placed = place_by_list(dag_arrays(instance), ranks_of_saga(terms))
        return verified_makespan(instance, DagSchedule(gpu=placed.gpu, start=placed.start))
    return int(solve(instance, method, seed=seed, bounds=[]).objective or 0)


def saga_makespan(instance: DagInstance, terms: dict[str, Any], scheduler: str, seed: int) -> int:
    """Return the makespan of a scheduler of SAGA, which draws nothing."""
    return verified_makespan(instance, saga_schedule(scheduler, terms))


def our_optimum(instance: DagInstance, time_limit: float, seed: int) -> int | None:
    """Return the makespan that CP-SAT proves optimal with our model; None without a proof."""
    result = solve(instance, "cp-sat", seed=seed, time_limit=time_limit, threads=1)
    return result.objective if result.objective == result.lower_bound else None


def their_optimum(instance: DagInstance, time_limit: float, seed: int) -> int | None:
    """Return that of PyJobShop's model."""
    return solve_by_pyjobshop(instance, time_limit)


def _warm_up() -> None:
    """Compile and import what is timed later."""
    instance, terms = related_instance(np.random.default_rng(0), 8, 2)
    for name in PAIRS:
        for decoding in ("ranked", "eft"):
            for run in (run_ours, run_mealpy):
                run(instance, name, decoding, 60, 0)
    for scheduler, ours in SAGA_SCHEDULERS:
        our_makespan(instance, terms, ours, 0)
        saga_schedule(scheduler, terms)
    free = without_transfers(np.random.default_rng(0), 4, 2)
    solve(free, "cp-sat", time_limit=5, threads=1)
    solve_by_pyjobshop(free, 5.0)


def compare_with_others(entropy: int, count: int, evaluations: int, time_limit: float) -> dict[str, Any]:
    """Run everything on instances from an entropy; return versions and rows."""
    rows: list[dict[str, Any]] = []
    _warm_up()
    seeds = np.random.SeedSequence(entropy).generate_state(3 * count).tolist()
    for number in range(count):
        for tasks, cluster in ((30, "mixed-4"), (100, "mixed-8")):
            family = FAMILIES[number % len(FAMILIES)]
            seed = int(seeds[number])
            instance = generate(family, tasks=tasks, seed=seed, cluster=parse_cluster(cluster))
            for name in PAIRS:
                for decoding in ("ranked", "eft"):
                    given = (instance, name, decoding, evaluations)
                    found = both_orders(
                        partial(first_of, run_ours, *given), partial(first_of, run_mealpy, *given), seed % 1000
                    )
                    rows.append({"with": "mealpy", "what": f"{name}, {decoding}", "tasks": tasks, **found})
        for tasks in (30, 100):
            for graph in range(number, SAGA_GRAPHS * count, count):
                made, terms = related_instance(np.random.default_rng([entropy, graph, tasks]), tasks, 4)
                for scheduler, ours in SAGA_SCHEDULERS:
                    found = both_orders(
                        partial(our_makespan, made, terms, ours), partial(saga_makespan, made, terms, scheduler), 0
                    )
                    rows.append({"with": "saga", "what": f"{scheduler} against {ours}", "tasks": tasks, **found})
        free = without_transfers(np.random.default_rng([entropy, number, 7]), 15, 3)
        found = both_orders(partial(our_optimum, free, time_limit), partial(their_optimum, free, time_limit), 0)
        rows.append({"with": "pyjobshop", "what": "cp-sat, proven optimum", "tasks": 15, **found})
    versions = {name: version(name) for name in (*PACKAGES, "numpy", "ortools")}
    return {"entropy": entropy, "evaluations": evaluations, "versions": versions, "rows": rows}


def summary(rows: list[dict[str, Any]]) -> Table:
    """Return a row per comparison and size: geometric means of theirs over ours; no times where rows have none."""
    records: list[dict[str, Any]] = []
    for key in dict.fromkeys((row["with"], row["what"], row["tasks"]) for row in rows):
        own = [row for row in rows if (row["with"], row["what"], row["tasks"]) == key]
        pairs = [(mean(row["ours"]), mean(row["theirs"])) for row in own if None not in (*row["ours"], *row["theirs"])]
        if not pairs:
            continue
        signs = [np.sign(round(theirs - ours, 9)) for ours, theirs in pairs]
        record = dict(zip(("with", "what", "tasks"), key, strict=True))
        record["instances"] = len(pairs)
        record["ratio"] = math.exp(mean(math.log(theirs / ours) for ours, theirs in pairs))
        record["signs"] = f"{signs.count(1)}, {signs.count(0)}, {signs.count(-1)}"
        if "our_seconds" in own[0]:
            times = [sum(row["their_seconds"]) / sum(row["our_seconds"]) for row in own]
            record["time"] = math.exp(mean(map(math.log, times)))
        records.append(record)
    columns = [
        Column("with", "with"),
        Column("what", "what"),
        Column("tasks", "tasks", str, True),
        Column("instances", "instances", str, True),
        Column("objective, theirs / ours", "ratio", "{:.3f}".format, True),
        Column("ours better, equal, worse", "signs"),
        Column("processor time, theirs / ours", "time", "{:.1f}".format, True),
    ]
    return Table.of([each for each in columns if all(each.field in record for record in records)], records)


def _main() -> None:
    """Run the comparison and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--entropy", type=int, default=20_261_123)
    parser.add_argument("--count", type=int, default=10, help="graphs per size")
    parser.add_argument("--evaluations", type=int, default=2000)
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds of each proof")
    options = parser.parse_args()
    if missing := missing_packages():
        parser.error(
            f"expected the packages of studies/papers/outside/requirements.txt, got none of {', '.join(missing)}."
        )
    found = compare_with_others(options.entropy, options.count, options.evaluations, options.time_limit)
    write_text(options.out, json.dumps(found, indent=1) + "\n")
    print(f"{summary(found['rows']).to_markdown()}\n{found['versions']}")


if __name__ == "__main__":
    _main()
