"""How near bounds come to proved optima: `python -m tests.benchmarks.run_bound_ratios --proved FILE.jsonl`.

FILE is what `run_proof_suite` wrote. For every instance of the suite whose optimum is proved there, the ratio of each
bound to the optimum and its seconds; then the best of the bounds that ask no solver at all, and of all of them.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from instances.dag.json import read_dag_instance
from instances.dag.objective import Objective
from solvers.bound_methods import BOUND_METHODS
from solvers.lower_bound import lower_bound
from solvers.run.versions import hardware
from tests.benchmarks.run_proof_suite import FOLDER


def proved_optima(path: Path) -> dict[str, int]:
    """Return the proved optimum of every instance that has one."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["instance"]: row["objective"] for row in rows if row["proved"]}


def main() -> None:
    """Compute all bounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--proved", type=Path, required=True)
    options = parser.parse_args()
    names = [
        name
        for name, method in BOUND_METHODS.items()
        if method.rule is None and not method.needs_search and method.only in (None, Objective.MAKESPAN)
    ]
    groups = {name: [name] for name in names}
    groups["best without any solver"] = [name for name in names if BOUND_METHODS[name].distribution is None]
    groups["best of all"] = names
    optima = proved_optima(options.proved)
    lower_bound(read_dag_instance(FOLDER / f"{next(iter(optima))}.json"), methods=names)  # load the kernels
    ratios: dict[str, list[float]] = {group: [] for group in groups}
    seconds: dict[str, list[float]] = {group: [] for group in groups}
    for instance_name, optimum in optima.items():
        found = {
            bound.method: bound
            for bound in lower_bound(read_dag_instance(FOLDER / f"{instance_name}.json"), methods=names)
        }
        assert all(bound.value <= optimum for bound in found.values())
        for group, members in groups.items():
            ratios[group].append(max(found[name].value for name in members) / optimum)
            seconds[group].append(sum(found[name].seconds for name in members))
    print("| bound | mean ratio to the optimum | worst | tight | mean seconds | longest |\n|---|---|---|---|---|---|")
    for group in groups:
        tight = f"{sum(ratio == 1.0 for ratio in ratios[group])} of {len(optima)}"
        cells = [f"{statistics.mean(ratios[group]):.3f}", f"{min(ratios[group]):.3f}", tight]
        cells += [f"{statistics.mean(seconds[group]):.3f}", f"{max(seconds[group]):.2f}"]
        print(f"| {group} | {' | '.join(cells)} |")
    print(f"\n{len(optima)} instances with proved optima; {hardware()}, one core")


if __name__ == "__main__":
    main()
