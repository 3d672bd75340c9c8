"""How far below HEFT `lns` gets, and how near to planted optima: `python -m tests.benchmarks.lns_against_heft`.

Every family of single jobs at a communication-to-computation ratio of 3, and planted optima of both kinds, with 500 and
2,000 tasks on 16 GPUs; none is chosen by its result. Runs follow each other, for nothing else may run beside them. With
`--out FILE.jsonl` finished runs are kept there and not made again.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.generators.dag.generate import generate
from instances.generators.dag.planted import planted_optimum
from solvers.problem import DAG
from solvers.run.versions import hardware, versions
from solvers.solve import solve

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

FAMILIES = (
    "layered",
    "erdos-renyi",
    "series-parallel",
    "fork-join",
    "in-tree",
    "out-tree",
    "chains",
    "fft",
    "lu",
    "cholesky",
    "gaussian-elimination",
    "stencil",
    "pipeline-training",
    "inception",
    "nasnet",
    "transformer",
    "mixture-of-experts",
)
CERTIFICATES = ("area", "path")
SIZES = (500, 2000)
CCR = 3.0


def instances(seed: int, only: list[str]) -> list[tuple[str, DagInstance, int | None]]:
    """Return group, instance and planted optimum (None where there is none) of all whose names hold one of `only`."""
    made: list[tuple[str, DagInstance, int | None]] = []
    cluster, cost = parse_cluster("mixed-16"), CostModel(ccr=CCR, memory_tightness=0.0)
    for size in SIZES:
        for family in FAMILIES:
            name = f"{family}-{size}"
            if not only or any(part in name for part in only):
                made.append(
                    ("families", generate(family, tasks=size, seed=seed, cluster=cluster, cost=cost, name=name), None)
                )
        for certificate in CERTIFICATES:
            name = f"planted-{certificate}-{size}"
            if not only or any(part in name for part in only):
                planted = planted_optimum(tasks=size, num_gpus=16, seed=seed, certificate=certificate, name=name)
                made.append(("planted", planted.instance, planted.optimum))
    return made


def run(
    group: str, instance: DagInstance, optimum: int | None, *, time_limit: float, threads: int, seed: int
) -> dict[str, object]:
    """Solve one instance by lists and by `lns`, and return the row; `solve` verifies every schedule."""
    lists = {name: solve(instance, name, bounds=[]).objective for name in DAG.warm_starts}
    result = solve(instance, "lns", time_limit=time_limit, threads=threads, seed=seed)
    return {
        "group": group,
        "instance": instance.name,
        "sha256": instance.sha256,
        "tasks": instance.num_tasks,
        "heft": lists["heft"],
        "lists": min(value for value in lists.values() if value is not None),
        "lns": result.objective,
        "bound": result.lower_bound,
        "optimum": optimum,
        "seconds": round(result.runtime_seconds, 1),
        "time_limit": time_limit,
        "threads": threads,
        "seed": seed,
    }


def table(rows: list[dict[str, object]]) -> str:
    """Return all runs and the means as Markdown."""
    lines = [
        "| instance | tasks | HEFT | best list | lns | below HEFT | below lists | bound | gap | planted | above it |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        heft, lists, found, bound, optimum = (row[key] for key in ("heft", "lists", "lns", "bound", "optimum"))
        above = "" if optimum is None else f"{_percent(found, optimum):.2f} %"
        lines.append(
            f"| {row['instance']} | {row['tasks']} | {heft} | {lists} | {found} | {-_percent(found, heft):.1f} % "
            f"| {-_percent(found, lists):.1f} % | {bound} | {_percent(found, bound):.1f} % "
            f"| {'' if optimum is None else optimum} | {above} |"
        )
    for size in SIZES:
        own = [row for row in rows if str(row["instance"]).endswith(f"-{size}")]
        below = [-_percent(row["lns"], row["heft"]) for row in own if row["group"] == "families"]
        above = [_percent(row["lns"], row["optimum"]) for row in own if row["group"] == "planted"]
        if below:
            lines.append(f"\n{size} tasks: {statistics.mean(below):.1f} % below HEFT, mean of {len(below)} families.")
        if above:
            lines.append(f"\n{size} tasks: at most {max(above):.2f} % above {len(above)} planted optima.")
    return "\n".join(lines)


def _percent(value: object, reference: object) -> float:
    """Return by how many percent a value is above a reference."""
    assert isinstance(value, int)
    assert isinstance(reference, int)
    return 100.0 * (value / reference - 1.0)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None, help="file for finished runs, one line of JSON each")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names, such as planted, lu-500 or -2000")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    if options.out is not None and options.out.exists():
        rows = [json.loads(line) for line in options.out.read_text(encoding="utf-8").splitlines()]
    done = {(row["instance"], row["time_limit"], row["threads"], row["seed"]) for row in rows}
    limits = {"time_limit": options.time_limit, "threads": options.threads, "seed": options.seed}
    solve(generate("layered", tasks=60, seed=0), "lns", iterations=2, threads=1)  # load the kernels
    for group, instance, optimum in instances(options.seed, options.only):
        if (instance.name, *limits.values()) in done:
            continue
        row = run(group, instance, optimum, **limits)
        rows.append(row)
        print(f"{row['instance']}: HEFT {row['heft']}, lns {row['lns']}, bound {row['bound']}", flush=True)
        if options.out is not None:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    print(f"\n{table(rows)}\n\n{hardware()}; ortools {versions()['ortools']}")


if __name__ == "__main__":
    main()
