"""A study that is run in a process of its own to be killed, and a method that takes its time in it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from heuristics.dag.list_scheduling import heft
from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.run_study import run_study

if TYPE_CHECKING:
    import numpy as np

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule

NAP = "NAP_SECONDS"
"""Variable of the environment: how long `naps` sleeps; the answer is the same."""

SPEC = """
[study]
name = "killed"
seed = 11
repetitions = 60

[[instances]]
family = "layered"
tasks = 8
cluster = "mixed-2"

[[methods]]
label = "naps"
method = "tests.studies.experiment.killed_study:naps"

[[methods]]
method = "random-search"

[[budgets]]
evaluations = 20

[reference]
bounds = ["critical-path", "area"]
"""


def naps(instance: DagInstance, rng: np.random.Generator) -> DagSchedule | None:
    """Return a schedule after a while; draws a random number, so that it runs once per repetition."""
    time.sleep(float(os.environ.get(NAP, "0")))
    rng.random()
    return heft(instance)


def run_in_process(folder: str, environment: dict[str, str]) -> None:
    """Run the study, with variables of the environment."""
    os.environ.update(environment)
    run_study(study_spec_from_toml(SPEC), Path(folder), workers=1)
