"""The worker process: makes one run after the other until its standard input ends."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pickle
import signal
import sys
import threading
import time
from collections import OrderedDict
from typing import IO, TYPE_CHECKING

from studies.experiment.worker import kill_tree

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance
    from studies.experiment.execute_run import RunOrder

KEPT_INSTANCES = 16
"""Instances that a worker holds in memory, with all that methods keep per instance."""

PARENT_SECONDS = 0.5
"""How often a worker looks whether its parent is still there."""


PR_SET_CHILD_SUBREAPER = 36
"""Number of the request in Linux, see prctl(2)."""


def answer_orders() -> None:
    """Answer orders, with or without warm-up: ``("began", None)`` after it, then ``("answer", RunAnswer)``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends its workers
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints shall not reach the pipe
    _adopt_orphans()
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    if len(sys.argv) > 1:
        _limit_address_space(float(sys.argv[1]))

    from instances.compilation import COMPILATION
    from solvers.run.versions import hardware, versions
    from studies.experiment.execute_run import WarmUp, execute_run
    from studies.experiment.run_answer import RunAnswer
    from studies.revision import git_revision

    COMPILATION.say = None  # lines of several workers would mix
    COMPILATION.is_timed = True
    COMPILATION.say_not_kept = lambda reason: _send(target, ("not kept", reason))
    COMPILATION.watch = lambda is_running: _send(target, ("compiling", is_running))
    environment = {"versions": versions(), "hardware": hardware(), "revision": git_revision()}
    _send(target, ("environment", json.dumps(environment, sort_keys=True)))
    warm_up, instances = WarmUp(), _Instances()
    while True:
        try:
            message: tuple[RunOrder, bool] = pickle.load(source)
        except EOFError:
            return
        order, is_to_warm_up = message
        try:
            instance = instances.read(order)
        except (OSError, ValueError) as error:
            _send(target, ("began", None))
            _send(target, ("answer", RunAnswer(error=f"{type(error).__name__}: {error}")))
            continue
        if is_to_warm_up:
            warm_up(order, instance)
        _send(target, ("began", None))
        _send(target, ("answer", execute_run(order, instance)))


class _Instances:
    """The instances that were used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, DagInstance | JobsInstance] = OrderedDict()

    def read(self, order: RunOrder) -> DagInstance | JobsInstance:
        """Return the instance of an order."""
        from studies.experiment.stored_documents import read_stored_instance

        if order.sha256 not in self._kept:
            self._kept[order.sha256] = read_stored_instance(order.instance_path, order.sha256)
            if len(self._kept) > KEPT_INSTANCES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(order.sha256)
        return self._kept[order.sha256]


def _send(target: IO[bytes], message: object) -> None:
    """Write a message to the parent."""
    pickle.dump(message, target)
    target.flush()


def _end_with_parent(parent: int) -> None:
    """End this process and all that it started when its parent is gone, also in the middle of a run."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    if os.name == "posix" and os.getpgrp() == os.getpid():
        kill_tree(os.getpid())
    os._exit(1)


def _adopt_orphans() -> None:
    """Stay the ancestor of all that runs start, even if whoever started it ends: so it is counted and killed.

    Where the system cannot do this, what a run starts in the background and leaves counts as nobody's.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _limit_address_space(gib: float) -> None:
    """Limit the address space of this process, where the system can; for systems that tell no physical memory."""
    try:
        import resource
    except ImportError:
        return
    wanted, hard = int(gib * 2**30), resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    answer_orders()
