"""How many tasks MILPs reach on 2 GPUs: `python -m tests.benchmarks.run_milp_reach --out FILE.jsonl`.

The plain big-M model beside MILPs of this project, by number of tasks, the same limit and threads; one line of JSON per
run, and what stands in the file is not run again. A method that proves less than half at two sizes on end is not tried
beyond.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.generators.dag.generate import generate
from solvers.run.outcome import Status
from solvers.run.versions import hardware, versions
from solvers.solve import solve
from tests.benchmarks.plain_big_m import plain_big_m

SIZES = (8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80)
FAMILIES = ("layered", "fork-join", "series-parallel", "in-tree", "erdos-renyi")


def run(tasks: int, family: str, method: str, *, time_limit: float, threads: int) -> dict[str, object]:
    """Solve one instance by one method and return the row."""
    cost = CostModel(ccr=1.0)
    instance = generate(family, tasks=tasks, seed=tasks, cluster=parse_cluster("mixed-2"), cost=cost)
    begin = time.perf_counter()
    if method == "plain":
        _, proved = plain_big_m(instance, time_limit=time_limit, threads=threads, seed=1)
    else:  # no bounds from elsewhere: the model has to prove by itself
        result = solve(instance, method, time_limit=time_limit, threads=threads, seed=1, bounds=[])
        proved = result.status is Status.OPTIMAL
    seconds = round(time.perf_counter() - begin, 2)
    return {"tasks": tasks, "family": family, "method": method, "proved": proved, "seconds": seconds}


def table(rows: list[dict[str, object]]) -> str:
    """Return proofs by number of tasks and method, as Markdown."""
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    lines = [f"| tasks | {' | '.join(methods)} |", f"|---|{'---|' * len(methods)}"]
    for tasks in sorted({int(str(row["tasks"])) for row in rows}):
        cells = []
        for method in methods:
            own = [row for row in rows if row["method"] == method and row["tasks"] == tasks]
            seconds = sum(float(str(row["seconds"])) for row in own)
            proved = sum(bool(row["proved"]) for row in own)
            cells.append(f"{proved} of {len(own)}, {seconds / len(own):.1f} s" if own else "not tried")
        lines.append(f"| {tasks} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--methods", nargs="*", default=["plain", "milp-disjunctive"])
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    done = {(row["tasks"], row["family"], row["method"]) for row in rows}
    with options.out.open("a", encoding="utf-8") as file:
        for method in options.methods:
            poor = 0
            for tasks in SIZES:
                for family in FAMILIES:
                    if poor < 2 and (tasks, family, method) not in done:
                        row = run(tasks, family, method, time_limit=options.time_limit, threads=options.threads)
                        rows.append(row)
                        file.write(json.dumps(row) + "\n")
                        file.flush()
                        print(row)
                own = [row for row in rows if row["method"] == method and row["tasks"] == tasks]
                poor = 0 if sum(bool(row["proved"]) for row in own) > len(own) / 2 else poor + 1
    print(f"\n{table(rows)}\n\n{hardware()}; highspy {versions()['highspy']}, pyomo {versions()['pyomo']}")


if __name__ == "__main__":
    main()
