"""Small specifications for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.read_specification import study_spec_from_toml

if TYPE_CHECKING:
    from studies.experiment.specification import StudySpec

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
import signal
import subprocess
import sys
import time

import numpy as np

from heuristics.dag.list_scheduling import heft
from instances.dag.schedule import DagSchedule


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


def ignores_signals(instance):
    if instance.num_tasks > 3:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)
    return heft(instance)


def hoards_slowly(instance):
    kept = []
    while instance.num_tasks > 3:
        kept.append(np.ones(2**20))
    return heft(instance)


def hoards_in_a_child(instance):
    if instance.num_tasks > 3:
        hoard = "import time; kept = b'x' * 2**28; time.sleep(600)"
        subprocess.run(["sh", "-c", f'"{sys.executable}" -c "{hoard}" & echo $! > hoarder.pid; wait'], check=True)
    return heft(instance)


def hoards_in_an_orphan(instance):
    if instance.num_tasks > 3:
        hoard = "import time; kept = b'x' * 2**28; time.sleep(600)"
        command = f'setsid "{sys.executable}" -c "{hoard}" & echo $! > orphan.pid'
        subprocess.run(["sh", "-c", command], check=True)
        time.sleep(600)
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


def kills_its_machine_once(instance):
    if instance.num_tasks > 3 and not os.path.exists("killed"):
        open("killed", "w").close()
        os.kill(os.getppid(), signal.SIGKILL)  # the Dask worker
        time.sleep(600)
    return heft(instance)


def tells_and_hangs(instance):
    if instance.num_tasks > 3:
        with open("hanging.part", "w") as file:
            file.write(str(os.getpid()))
        os.rename("hanging.part", "hanging.pid")
        time.sleep(600)
    return heft(instance)
'''


def small_spec(*changes: tuple[str, str], more: str = "") -> StudySpec:
    """Return the small specification with texts replaced, and something behind it."""
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return study_spec_from_toml(text + more)


def limited_spec(*names: str, run_seconds: float, memory_gib: float) -> str:
    """Return a specification of one bound, and of functions of `my_methods` between two good methods, under limits."""
    head = "[study]\nname = 'limited'\n[[instances]]\nfamily = 'layered'\ntasks = 8\ncluster = 'mixed-2'\n"
    limits = f"[limits]\nrun_seconds = {run_seconds}\nmemory_gib = {memory_gib}\n[reference]\nbounds = ['area']\n"
    methods = [f"[[methods]]\nlabel = '{name}'\nmethod = 'my_methods:{name}'\n" for name in names]
    good = ["[[methods]]\nlabel = 'good'\nmethod = 'heft'\n", "[[methods]]\nlabel = 'last'\nmethod = 'cpop'\n"]
    return head + limits + good[0] + "".join(methods) + good[1]


SMALL_JOBS = """
[study]
name = "small jobs"
problem = "jobs"
seed = 5
repetitions = 2

[[instances]]
family = "jobs-small"
jobs = 5
load = [0.7, 1.1]
count = 2
seed = 3

[[methods]]
method = "fifo"

[[methods]]
method = "a-srpt"

[[methods]]
label = "spjf, wrong by up to 4"
method = "spjf"
parameters = { predictor = "noisy-oracle", predictor_parameters = { mu = 4.0 } }

[reference]
bounds = ["default", "virtual-srpt"]

[[reference.exact]]
method = "cp-sat"
time_limit = 30
"""

MY_POLICIES = '''
"""Policies of a user; the warm-up has more jobs than five, or fewer than four."""

from heuristics.jobs.policies.key_policies import fifo

_calls = []


def is_cold(instance, objective, rng):
    _calls.append(instance)
    if len(_calls) == 1:
        raise RuntimeError("cold")
    return fifo(instance, rng)


def draws(instance, objective, rng):
    return fifo(instance, rng, placement="random")


def says_nothing(instance):
    raise RuntimeError("no luck")
'''


def jobs_spec(*changes: tuple[str, str], more: str = "") -> StudySpec:
    """Return the small specification for jobs with texts replaced, and something behind it."""
    text = SMALL_JOBS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return study_spec_from_toml(text + more)
