"""Worst ratios that searches find beside mean ratios: `python -m tests.benchmarks.run_adversary_table --out DIR`.

One search per heuristic as `optgap study adversary METHOD` runs it, all from one start with one seed: 8 tasks on 3
GPUs, durations of 1 to 20 ticks. The proven optimum is the denominator of all ratios. Keeps a folder per heuristic, and
a line of JSON for each in ``rows.jsonl``; heuristics that have one are not searched again. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd

from studies.adversary.ratio import Contestant
from studies.adversary.run import AdversarySettings, run_adversary
from studies.adversary.search import Cooling
from studies.papers.published import worst_ratios

METHODS = ("heft", "cpop", "peft", "etf", "min-min", "max-min", "ddqn", "worl-rtgs")


def search(method: str, steps: int, random: int, folder: Path) -> dict[str, object]:
    """Return what the search against a heuristic has found, with the seconds that it took."""
    began = time.perf_counter()
    contestant = Contestant(method=method)
    settings = AdversarySettings(heuristic=contestant, cooling=Cooling(steps=steps), random_count=random)
    certificate = run_adversary(settings, folder).certificate
    assert certificate is not None
    worst, given = certificate.worst, certificate.random_instances or {}
    others = [value / worst.optimum for value in certificate.other_seeds if value is not None]
    return {
        "method": f"{method}, {contestant.evaluations} evaluations" if contestant.is_search else method,
        "ratio": worst.ratio,
        "value": worst.value,
        "optimum": worst.optimum,
        "confirmed_by": worst.bound.confirmed_by,
        "other_seeds": float(np.median(others)) if others else None,
        **{name: given.get(name) for name in ("mean", "median", "largest")},
        "seconds": round(time.perf_counter() - began, 1),
    }


def main() -> None:
    """Run the searches one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for one folder per heuristic")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--random", type=int, default=100, help="random instances of the same family")
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "rows.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {str(row["method"]).partition(",")[0] for row in rows}
    with path.open("a", encoding="utf-8") as file:
        for method in options.methods.split(","):
            if method not in done:
                rows.append(search(method, options.steps, options.random, options.out / method))
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
    print("\n".join(table.to_markdown() for table in worst_ratios(pd.DataFrame(rows))))


if __name__ == "__main__":
    main()
