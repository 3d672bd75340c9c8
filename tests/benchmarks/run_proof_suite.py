"""How many of the stored 60 instances are proved: `python -m tests.benchmarks.run_proof_suite --out FILE.jsonl`.

Runs `cp-sat` beside the plain CP-SAT model, instance by instance, with the same time limit and threads, one line of
JSON per run. What stands in the file already is not run again; so an interrupted run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

from instances.dag.json import read_dag_instance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from solvers.run.versions import hardware, versions
from solvers.solve import solve
from tests.benchmarks.plain_cp_sat import plain_cp_sat

FOLDER = Path(__file__).parent / "proof_suite"
METHODS = ("plain", "cp-sat")


def run(path: Path, method: str, *, time_limit: float, threads: int, seed: int) -> dict[str, object]:
    """Solve one instance by one method and return the row."""
    instance = read_dag_instance(path)
    begin = time.perf_counter()
    if method == "plain":
        schedule, bound, _ = plain_cp_sat(instance, time_limit=time_limit, threads=threads, seed=seed)
    else:
        result = solve(instance, method, time_limit=time_limit, threads=threads, seed=seed)
        schedule, bound = result.schedule, result.lower_bound or 0
    seconds = time.perf_counter() - begin
    objective = None
    if schedule is not None:
        assert verify_dag_schedule(instance, schedule) == []
        objective = objective_value(instance, schedule, Objective.MAKESPAN)
    return {
        "instance": instance.name,
        "sha256": instance.sha256,
        "tasks": instance.num_tasks,
        "gpus": instance.num_gpus,
        "method": method,
        "objective": objective,
        "bound": bound,
        "proved": objective == bound,
        "seconds": round(seconds, 2),
        "time_limit": time_limit,
        "threads": threads,
        "seed": seed,
    }


def table(rows: list[dict[str, object]]) -> str:
    """Return proofs and mean gap of what each method left open, as Markdown."""
    lines = ["| method | instances | proved | mean gap of the rest | mean seconds |", "|---|---|---|---|---|"]
    for method in dict.fromkeys(str(row["method"]) for row in rows):
        own = [row for row in rows if row["method"] == method]
        rest = [row for row in own if not row["proved"]]
        gaps = [100.0 * (row["objective"] / row["bound"] - 1.0) for row in rest if row["objective"] and row["bound"]]  # type: ignore[operator]
        seconds = statistics.mean(float(str(row["seconds"])) for row in own)
        gap = f"{statistics.mean(gaps):.1f} %" if gaps else "-"
        lines.append(f"| {method} | {len(own)} | {len(own) - len(rest)} | {gap} | {seconds:.1f} |")
    return "\n".join(lines)


def contradictions(rows: list[dict[str, object]]) -> list[str]:
    """Return where one method's bound is above another one's verified objective."""
    found = []
    for name in dict.fromkeys(row["instance"] for row in rows):
        own = [row for row in rows if row["instance"] == name]
        least = min((int(str(row["objective"])) for row in own if row["objective"] is not None), default=None)
        if least is not None and max(int(str(row["bound"])) for row in own) > least:
            found.append(f"{name}: a bound exceeds a verified objective")
    return found


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="instances; the stored suite by default")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), help="plain, or any method of solve()")
    parser.add_argument("--only", nargs="*", default=None, help="numbers of instances, all by default")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    done = {(row["instance"], row["method"]) for row in rows}
    solve(read_dag_instance(sorted(options.folder.glob("*.json"))[0]), "heft")  # load the kernels
    with options.out.open("a", encoding="utf-8") as file:
        for path in sorted(options.folder.glob("*.json")):
            if options.only is not None and path.name.split("-")[0] not in options.only:
                continue
            for method in options.methods:
                if (path.stem, method) not in done:
                    limits = {"time_limit": options.time_limit, "threads": options.threads, "seed": options.seed}
                    row = run(path, method, **limits)
                    rows.append(row)
                    file.write(json.dumps(row) + "\n")
                    file.flush()
                    print(f"{row['instance']} {method}: {row['objective']} >= {row['bound']}, {row['seconds']} s")
    print(f"\n{table(rows)}\n\n{hardware()}; ortools {versions()['ortools']}")
    for line in contradictions(rows):
        print(line)


if __name__ == "__main__":
    main()
