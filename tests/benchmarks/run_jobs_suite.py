"""How far policies are from the offline optimum: `python -m tests.benchmarks.run_jobs_suite --out FILE.jsonl`.

Runs CP-SAT on 30 generated instances of 8 to 12 jobs on 3 to 4 servers, and every policy beside it, one line of JSON
per run. What stands in the file already is not run again; so an interrupted run goes on where it was. Policies have the
oracle as predictor where they predict.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import generate_jobs
from solvers.methods import JOBS_METHODS
from solvers.run.versions import hardware, versions
from solvers.solve import solve
from studies.experiment.specification import drawn_seed

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance

CLUSTERS = ("2xV100-16GB,2xT4,1xP100", "2xV100-16GB,2xV100-16GB,2xT4,2xT4")
LOADS = (0.7, 0.9, 1.1)
NUM_INSTANCES = 30


def instance_number(number: int, entropy: str | None = None) -> JobsInstance:
    """Return one of the 30 instances: 8 to 12 jobs, 3 or 4 servers, three loads; a text gives other ones."""
    return generate_jobs(
        "jobs-small",
        jobs=8 + number % 5,
        seed=1_000 + number if entropy is None else drawn_seed(entropy, 1_000 + number),
        load=LOADS[number % 3],
        cluster=parse_cluster(CLUSTERS[number % 2]),
        name=f"jobs-suite-{number:02d}",
    )


def run(
    number: int, method: str, *, entropy: str | None, time_limit: float, threads: int, seed: int
) -> dict[str, object]:
    """Run one method on one instance and return the row; the schedule is verified by `solve`."""
    instance = instance_number(number, entropy)
    limits = {"time_limit": time_limit, "threads": threads} if JOBS_METHODS[method].kind == "exact" else {}
    result = solve(instance, method, objective="total_completion", seed=seed, **limits)  # type: ignore[arg-type]
    return {
        "number": number,
        "instance": instance.name,
        "sha256": instance.sha256,
        "jobs": instance.num_jobs,
        "servers": instance.num_servers,
        "load": LOADS[number % 3],
        "method": method,
        "objective": result.objective,
        "bound": result.lower_bound,
        "proved_by": None if result.bound is None else result.bound.method,
        "seconds": round(result.runtime_seconds, 2),
        **limits,
        "seed": seed,
    }


def proofs(rows: list[dict[str, object]]) -> str:
    """Return optimum or bounds of every instance, as Markdown."""
    lines = [
        "| instance | jobs | servers | load | objective | bound | gap | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    own = [row for row in rows if row["method"] == "cp-sat"]
    for row in sorted(own, key=lambda row: int(str(row["number"]))):
        upper, lower = int(str(row["objective"])), int(str(row["bound"]))
        gap = "proved" if upper == lower else f"{100.0 * (upper / lower - 1.0):.1f} %"
        cells = (row["instance"], row["jobs"], row["servers"], row["load"], upper, lower, gap, row["seconds"])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def gaps(rows: list[dict[str, object]]) -> str:
    """Return each method's gap to the optimum (where proved) and to the best bound (elsewhere), as Markdown."""
    upper: dict[object, int] = {}
    lower: dict[object, int] = {}
    for row in rows:
        name, value, bound = row["instance"], int(str(row["objective"])), int(str(row["bound"]))
        upper[name] = min(value, upper.get(name, value))
        lower[name] = max(bound, lower.get(name, bound))
    for name in upper:
        assert lower[name] <= upper[name], f"{name}: a bound of {lower[name]} exceeds a schedule of {upper[name]}"
    lines = ["| method | to the optimum: mean | max | instances | to the bound: mean | max | instances |"]
    lines.append("|---|---|---|---|---|---|---|")
    for method in dict.fromkeys(str(row["method"]) for row in rows):
        cells: list[str] = []
        for is_proved in (True, False):
            own = [
                100.0 * (int(str(row["objective"])) / lower[row["instance"]] - 1.0)
                for row in rows
                if row["method"] == method and (upper[row["instance"]] == lower[row["instance"]]) == is_proved
            ]
            cells += [f"{statistics.mean(own):.1f} %", f"{max(own):.1f} %"] if own else ["-", "-"]
            cells.append(str(len(own)))
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    policies = [name for name, method in JOBS_METHODS.items() if method.kind != "exact"]
    parser.add_argument("--entropy", help="text from which the seeds of other instances are drawn")
    parser.add_argument("--methods", nargs="*", default=["cp-sat", *policies], help="any method of solve()")
    parser.add_argument("--only", nargs="*", type=int, default=None, help="numbers of instances, all by default")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    done = {(row["number"], row["method"]) for row in rows}
    with options.out.open("a", encoding="utf-8") as file:
        for number in range(NUM_INSTANCES) if options.only is None else options.only:
            for method in options.methods:
                if (number, method) not in done:
                    limits = {"time_limit": options.time_limit, "threads": options.threads, "seed": options.seed}
                    row = run(number, method, entropy=options.entropy, **limits)
                    rows.append(row)
                    file.write(json.dumps(row) + "\n")
                    file.flush()
                    print(f"{row['instance']} {method}: {row['objective']} >= {row['bound']}, {row['seconds']} s")
    print(f"\n{proofs(rows)}\n\n{gaps(rows)}\n\n{hardware()}; ortools {versions()['ortools']}")


if __name__ == "__main__":
    main()
