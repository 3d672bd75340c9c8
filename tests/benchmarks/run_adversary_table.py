"""Worst ratios that searches find beside mean ratios: `python -m tests.benchmarks.run_adversary_table --out DIR`.

One search per heuristic as `optgap study adversary METHOD` runs it, all from one start with one seed: 8 tasks on 3
GPUs, durations of 1 to 20 ticks. The proven optimum is the denominator of all ratios. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from studies.adversary.ratio import Contestant
from studies.adversary.run import AdversarySettings, run_adversary
from studies.adversary.search import Cooling

METHODS = ("heft", "cpop", "peft", "etf", "min-min", "max-min", "ddqn", "worl-rtgs")


def main() -> None:
    """Run the searches one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for one folder per heuristic")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--random", type=int, default=100, help="random instances of the same family")
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    print("| method | largest ratio found | confirmed | other seeds there | random: mean | median | largest | s |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for method in options.methods.split(","):
        began = time.perf_counter()
        settings = AdversarySettings(
            heuristic=Contestant(method=method),
            cooling=Cooling(steps=options.steps),
            random_count=options.random,
        )
        certificate = run_adversary(settings, options.out / method).certificate
        assert certificate is not None
        worst, given = certificate.worst, certificate.random_instances or {}
        others = [value / worst.optimum for value in certificate.other_seeds if value is not None]
        cells = [
            method,
            f"{worst.ratio:.2f} ({worst.value}/{worst.optimum})",
            worst.bound.confirmed_by or "no",
            f"{np.median(others):.2f}" if others else "-",
            *(f"{given[name]:.3f}" for name in ("mean", "median", "largest")),
            f"{time.perf_counter() - began:.0f}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
