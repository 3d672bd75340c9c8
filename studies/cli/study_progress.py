"""The plan, the state and the outcome of a study on the terminal and as JSON values."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from instances.units import duration_text
from solvers.table import Table, printable
from studies.cli.progress import RunProgress
from studies.experiment.plan import plan_seconds
from studies.experiment.specification import JOBS
from studies.text import aligned

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from studies.experiment.plan import StudyPlan
    from studies.experiment.run_study import StudyState


class StudyProgress(RunProgress):
    """A bar on stderr with runs done, running and failed and the time left, while it is entered."""

    def show(self, state: StudyState) -> None:
        """Show how things stand."""
        self.update(progress_text(state), state.finished + state.failed, state.planned)


def progress_text(state: StudyState) -> str:
    """Return what stands beside the bar."""
    parts = [f"{state.running} running"]
    if state.failed:
        parts.append(f"{state.failed} failed")
    if state.seconds_left is not None:
        parts.append(f"{duration_text(state.seconds_left, 2)} left")
    return ", ".join([*parts, printable(state.doing)] if state.doing else parts)


def plan_dict(plan: StudyPlan, *, workers: int, done: AbstractSet[str]) -> dict[str, Any]:
    """Return the plan as JSON values."""
    return {
        "study": plan.spec.name,
        "problem": plan.spec.problem,
        "objective": str(plan.spec.objective),
        "seed": plan.spec.seed,
        "repetitions": plan.spec.repetitions,
        "instances": [
            {
                "name": item.instance.name,
                "sha256": item.instance.sha256,
                "family": item.family,
                "tasks": item.num_tasks,
                "jobs": item.instance.num_jobs,
                "gpus": item.instance.num_gpus,
                "edges": item.num_edges,
                "ccr": item.ccr,
                "load": item.load,
                "heterogeneity": item.heterogeneity,
            }
            for item in plan.instances
        ],
        "methods": _methods(plan, done),
        "runs": len(plan.runs),
        "runs_done": sum(run.key in done for run in plan.runs),
        "workers": workers,
        "estimated_seconds": plan_seconds(plan, workers, frozenset(done)),
    }


def plan_text(plan: StudyPlan, *, workers: int, done: AbstractSet[str]) -> str:
    """Return the plan for the terminal."""
    document = plan_dict(plan, workers=workers, done=done)
    unit = "jobs" if plan.spec.problem == JOBS else "tasks"
    sizes = [(item[unit], item["gpus"]) for item in document["instances"]]
    numbers, gpus = sorted({number for number, _ in sizes}), sorted({gpus for _, gpus in sizes})
    families = list(dict.fromkeys(item["family"] for item in document["instances"]))
    heading = aligned(
        {
            "study": plan.spec.name,
            "minimised": document["objective"],
            "instances": f"{len(sizes)} ({', '.join(families)}; {_range(numbers)} {unit}, {_range(gpus)} GPUs)",
            "repetitions": str(plan.spec.repetitions),
            "runs": f"{document['runs']}, of which {document['runs_done']} are done",
            "estimate": f"{duration_text(document['estimated_seconds'], 2)} on {workers} workers (rough)",
        }
    )
    rows = [
        [entry["label"], entry["method"], entry["kind"], entry["budget"], str(entry["runs"]), str(entry["done"])]
        for entry in document["methods"]
    ]
    columns = ["label", "method", "kind", "budget", "runs", "done"]
    return f"{heading}\n\n{Table(headings=columns, rows=rows, numbers=('runs', 'done'))}"


def state_dict(state: StudyState) -> dict[str, Any]:
    """Return the outcome of a session as JSON values."""
    document = dataclasses.asdict(state)
    return {key: value for key, value in document.items() if key not in ("seconds_left", "doing")}


def _methods(plan: StudyPlan, done: AbstractSet[str]) -> list[dict[str, Any]]:
    """Return one entry per label, kind and budget, in the order of the plan."""
    counts: dict[tuple[str, str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for run in plan.runs:
        entry = counts[(run.label, run.method, run.kind, str(run.budget))]
        entry[0] += 1
        entry[1] += run.key in done
    return [
        {"label": label, "method": method, "kind": kind, "budget": budget, "runs": runs, "done": finished}
        for (label, method, kind, budget), (runs, finished) in counts.items()
    ]


def _range(numbers: list[int]) -> str:
    """Return the smallest and the largest number."""
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
