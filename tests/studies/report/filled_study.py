"""Stores with answers given by hand, for tests of reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from studies.experiment.instances import expand_instances
from studies.experiment.plan import study_plan
from studies.experiment.run_answer import RunAnswer
from studies.experiment.store import StudyStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studies.experiment.specification import StudySpec

ENVIRONMENT = json.dumps({"hardware": "an abacus", "revision": "abc123", "versions": {"python": "3.11", "numpy": "2"}})
OPTIMUM = 100
"""Of every instance in `usual_answer`."""

OBJECTIVES = {"heft": 125, "random-search": 110, "cp-sat": OPTIMUM}
"""Of the first repetition; every further one is one tick worse. All other methods have 104."""


def usual_answer(row: dict[str, Any]) -> RunAnswer:
    """Answer a run: bounds of 80 to 90, an exact method that proves 100, methods above it, traces of two points."""
    if row["kind"] == "bound":
        value = {"critical-path": 80, "area": 90}[row["label"]]
        return RunAnswer(bound=value, bound_method=row["label"], bound_proof="by hand", seconds=0.001)
    objective = OBJECTIVES.get(row["method"], 104) + row["repetition"]
    if row["kind"] == "exact":
        return RunAnswer(
            objective=objective,
            bound=OPTIMUM,
            bound_method="cp-sat",
            bound_proof="complete search",
            termination="finished",
            seconds=0.5,
            trace=json.dumps([[0.1, None, objective + 20, 90], [0.4, None, objective, OPTIMUM]]),
        )
    if row["kind"] == "construction":
        trace = [[0.0001, 1, objective, None]]
        return RunAnswer(
            objective=objective, termination="finished", seconds=0.0002, evaluations=1, trace=str_of(trace)
        )
    spent = row["budget_evaluations"] or 50
    trace = [[0.001, 1, objective + 30, None], [0.01, spent // 2, objective, None]]
    return RunAnswer(
        objective=objective, termination="evaluations", seconds=0.02, evaluations=spent, trace=str_of(trace)
    )


def str_of(trace: list[list[object]]) -> str:
    """Return a trace as it is stored."""
    return json.dumps(trace, separators=(",", ":"))


def filled_store(
    folder: Path, spec: StudySpec, answer: Callable[[dict[str, Any]], RunAnswer | None] = usual_answer
) -> StudyStore:
    """Plan a study and answer its runs; those answered with None are left to be made."""
    store = StudyStore(folder, create=True)
    store.write_plan(study_plan(spec, expand_instances(spec)))
    left = []
    for phase in ("bound", "exact", "method"):
        while (row := store.claim("hand", phase, 1)) is not None:
            given = answer(row)
            if given is None:
                left.append(row["key"])
            else:
                assert store.finish(row["key"], "hand", given, ENVIRONMENT)
    for key in left:
        store.release("hand", key)
    return store
