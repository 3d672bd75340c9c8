"""Small specifications for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.read_study_spec import study_spec_from_toml

if TYPE_CHECKING:
    from studies.experiment.study_spec import StudySpec

SMALL = """
[study]
name = "small"
seed = 3
repetitions = 2

[[instances]]
family = "layered"
tasks = [6, 8]
cluster = "mixed-2"
ccr = 0.5

[[methods]]
method = "heft"

[[methods]]
method = "random-search"

[[methods]]
label = "woa, no HEFT seed"
method = "woa"
parameters = { population = 5, heft_seed = false }

[[budgets]]
evaluations = 40

[[budgets]]
evaluations = 80

[reference]
bounds = ["critical-path", "area"]

[[reference.exact]]
method = "cp-sat"
time_limit = 20
"""

MY_METHODS = '''
"""Methods of a user, good and bad; the warm-up has three tasks."""

import os
import time

import numpy as np

from heuristics.dag.heft import heft
from instances import DagSchedule


def good(instance):
    return heft(instance)


def raises(instance):
    raise RuntimeError("no luck\\ntoday")


def dies(instance):
    if instance.num_tasks > 3:
        os._exit(7)
    return heft(instance)


def hangs(instance):
    if instance.num_tasks > 3:
        time.sleep(600)
    return heft(instance)


def hoards(instance):
    if instance.num_tasks > 3:
        return np.ones(2**35)
    return heft(instance)


def overlaps(instance):
    return DagSchedule(gpu=[0] * instance.num_tasks, start=[0] * instance.num_tasks)


def prints(instance):
    print("chatter")
    os.system("echo more chatter")
    return heft(instance)


_calls = []


def is_cold(instance):
    _calls.append(instance)
    if len(_calls) == 1:
        raise RuntimeError("cold")
    return heft(instance)


def is_slow(instance):
    time.sleep(0.05)
    return heft(instance)
'''


def small_spec(*changes: tuple[str, str], more: str = "") -> StudySpec:
    """Return the small specification with texts replaced, and something behind it."""
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return study_spec_from_toml(text + more)
