"""A store of a large invented study: real instances and plan, invented answers with traces and schedules."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import numpy as np

from studies.experiment.instances import expand_instances
from studies.experiment.plan import study_plan
from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.store import DATABASE, StudyStore

if TYPE_CHECKING:
    from pathlib import Path


EVALUATIONS = 2000
FAMILIES, TASKS, SERVERS = ("layered", "transformer", "cholesky", "stencil"), (20, 30), ("mixed-2", "mixed-4")

_HEAD = f"""
[study]
name = "large"
seed = 1
repetitions = {{repetitions}}

[[budgets]]
evaluations = {EVALUATIONS}

[reference]
bounds = ["critical-path", "area"]

[[reference.exact]]
method = "cp-sat"
time_limit = 10
"""

_GRID = """
[[instances]]
family = "{family}"
tasks = {tasks}
cluster = "{cluster}"
ccr = 1.0
count = {count}
"""

_METHOD = """
[[methods]]
label = "woa, {population} whales"
method = "woa"
parameters = {{ population = {population} }}
"""


def large_study(folder: Path, *, count: int = 5, methods: int = 25, repetitions: int = 10) -> StudyStore:
    """Fill a store with runs that were never made: 8 x `count` instances x methods x repetitions, all finished.

    Gaps differ by method and instance, traces have 2 to 15 points, schedules as many numbers as real ones.
    """
    text = _HEAD.format(repetitions=repetitions)
    for family in FAMILIES:
        for tasks, cluster in zip(TASKS, SERVERS, strict=True):
            text += _GRID.format(family=family, tasks=tasks, cluster=cluster, count=count)
    text += "".join(_METHOD.format(population=3 + number) for number in range(methods))
    spec = study_spec_from_toml(text)
    store = StudyStore(folder, create=True)
    store.write_plan(study_plan(spec, expand_instances(spec)))
    rng = np.random.default_rng(1)
    bounds = {row["sha256"]: int(rng.integers(1_000, 100_000)) for row in store.select("SELECT sha256 FROM instances")}
    tasks_of = {row["sha256"]: row["tasks"] for row in store.select("SELECT sha256, tasks FROM instances")}
    skills = {row["label"]: rng.uniform(0.02, 0.3) for row in store.select("SELECT DISTINCT label FROM runs")}
    hardness = {sha256: rng.lognormal(0.0, 0.6) for sha256 in bounds}
    answers = []
    for row in store.select("SELECT key, sha256, label, phase, kind FROM runs"):
        bound = bounds[row["sha256"]]
        if row["phase"] == "bound":
            answers.append((None, int(bound * rng.uniform(0.5, 0.99)), 0.01, None, None, None, row["key"]))
            continue
        if row["phase"] == "exact":
            points = [[0.01, 0, round(1.2 * bound), round(0.7 * bound)], [3.0, 0, round(1.05 * bound), bound]]
            answers.append((points[-1][2], bound, 10.0, None, json.dumps(points), None, row["key"]))
            continue
        gap = max(0.0, skills[row["label"]] * hardness[row["sha256"]] * rng.lognormal(0.0, 0.3) - 0.02)
        at = np.unique(np.append(1, rng.integers(1, EVALUATIONS, rng.integers(1, 15))))
        extra = np.sort(rng.exponential(0.2, len(at)))[::-1]
        extra[-1] = 0.0
        points = [
            [round(2e-4 * int(when), 6), int(when), round(bound * (1 + gap) * (1 + more)), None]
            for when, more in zip(at, extra, strict=True)
        ]
        count_of_tasks = tasks_of[row["sha256"]]
        schedule = {
            "gpu": rng.integers(0, 4, count_of_tasks).tolist(),
            "start": rng.integers(0, bound, count_of_tasks).tolist(),
        }
        answers.append(
            (
                points[-1][2],
                None,
                2e-4 * EVALUATIONS,
                EVALUATIONS,
                json.dumps(points, separators=(",", ":")),
                json.dumps(schedule),
                row["key"],
            )
        )
    database = sqlite3.connect(folder / DATABASE)
    with database:
        database.executemany(
            "UPDATE runs SET state = 'finished', objective = ?, bound = ?, seconds = ?, evaluations = ?, trace = ?,"
            " schedule = ?, is_infeasible = 0 WHERE key = ?",
            answers,
        )
    database.close()
    return store
