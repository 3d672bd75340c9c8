"""Invented runs of a study, for tests of statistics and figures."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = {"heft": "construction", "cpop": "construction"}
LEVELS = {"worl-rtgs": 0.04, "woa": 0.08, "ga": 0.05, "random-search": 0.12, "heft": 0.2, "cpop": 0.25}
"""Where the mean gaps of the invented methods lie."""
BUDGETS = ("2000 evaluations", "1 s")


def synthetic_study(
    num_instances: int = 12, repetitions: int = 5, *, labels: tuple[str, ...] = tuple(LEVELS), seed: int = 1
) -> pd.DataFrame:
    """Return runs of methods whose gaps are near `LEVELS`; every third optimum is not proven."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(num_instances):
        bound = int(rng.integers(5_000, 50_000))
        hardness = rng.uniform(0.3, 2.0)
        for label in labels:
            fixed = label in KINDS
            for budget in ("-",) if fixed else BUDGETS:
                for repetition in range(1 if fixed else repetitions):
                    gap = max(0.0, hardness * LEVELS[label] * rng.lognormal(0, 0.3) - 0.02)
                    rows.append(_row(number, bound, label, budget, repetition, round(bound * (1 + gap)), rng))
    return pd.DataFrame(rows)


def _row(
    number: int, bound: int, label: str, budget: str, repetition: int, objective: int, rng: np.random.Generator
) -> dict[str, object]:
    """Return one run."""
    return {
        "study": "synthetic",
        "instance": f"instance-{number}",
        "sha256": f"{number:064x}",
        "family": ("pipeline", "stencil", "transformer")[number % 3],
        "tasks": 20 + 10 * (number % 2),
        "gpus": 4,
        "ccr": 0.5,
        "heterogeneity": 0.3,
        "label": label,
        "method": label,
        "kind": KINDS.get(label, "search"),
        "budget": budget,
        "repetition": repetition,
        "seed": 0 if label in KINDS else 100 * number + repetition + 1,
        "objective": objective,
        "bound": bound,
        "is_optimum": number % 3 != 2,
        "gap": (objective - bound) / bound,
        "seconds": float(rng.uniform(0.5, 1.0)),
        "evaluations": 1 if budget == "-" else 2000,
        "status": "feasible",
        "error": None,
    }


def synthetic_traces(frame: pd.DataFrame, seed: int = 2) -> pd.DataFrame:
    """Return traces that end at the objectives of the runs and come down to them in a few steps."""
    rng = np.random.default_rng(seed)
    rows = []
    for run in frame[(frame["budget"] != "-") & frame["objective"].notna()].to_dict("records"):
        at = np.unique(np.append(1, rng.integers(2, 1900, size=8)))
        worse = np.sort(rng.exponential(0.2, size=len(at)))[::-1]
        worse[-1] = 0.0
        for evaluations, extra in zip(at, worse, strict=True):
            rows.append(
                {
                    "instance": run["instance"],
                    "label": run["label"],
                    "budget": run["budget"],
                    "repetition": run["repetition"],
                    "evaluations": int(evaluations),
                    "seconds": float(run["seconds"]) * evaluations / 2000,
                    "objective": round(run["objective"] * (1 + extra)),
                }
            )
    return pd.DataFrame(rows)
