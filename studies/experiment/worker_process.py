"""The worker process: makes one run after the other until its standard input ends."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
import time
from collections import OrderedDict
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from studies.experiment.execute_run import RunOrder

KEPT_INSTANCES = 16
"""Instances that a worker holds in memory, with all that methods keep per instance."""

PARENT_SECONDS = 0.5
"""How often a worker looks whether its parent is still there."""


def main() -> None:
    """Answer orders: ``("began", None)`` after the warm-up, then ``("answer", RunAnswer)``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends its workers
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints shall not reach the pipe
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    if len(sys.argv) > 1:
        _limit_memory(float(sys.argv[1]))

    from solvers.versions import hardware, versions
    from studies.experiment.execute_run import execute_run
    from studies.experiment.git_revision import git_revision
    from studies.experiment.run_answer import RunAnswer
    from studies.experiment.warm_up import WarmUp

    environment = {"versions": versions(), "hardware": hardware(), "revision": git_revision()}
    _send(target, ("environment", json.dumps(environment, sort_keys=True)))
    warm_up, instances = WarmUp(), _Instances()
    while True:
        try:
            order: RunOrder = pickle.load(source)
        except EOFError:
            return
        try:
            instance = instances.read(order)
        except (OSError, ValueError) as error:
            _send(target, ("began", None))
            _send(target, ("answer", RunAnswer(error=f"{type(error).__name__}: {error}")))
            continue
        warm_up(order, instance)
        _send(target, ("began", None))
        _send(target, ("answer", execute_run(order, instance)))


class _Instances:
    """The instances that were used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, DagInstance] = OrderedDict()

    def read(self, order: RunOrder) -> DagInstance:
        """Return the instance of an order."""
        from instances.dag_json import read_dag_instance

        if order.sha256 not in self._kept:
            instance = read_dag_instance(order.instance_path)
            if instance.sha256 != order.sha256:
                found = f"the content {order.sha256[:16]}..., got {instance.sha256[:16]}..."
                raise ValueError(f"{order.instance_path}: expected {found}")
            self._kept[order.sha256] = instance
            if len(self._kept) > KEPT_INSTANCES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(order.sha256)
        return self._kept[order.sha256]


def _send(target: IO[bytes], message: object) -> None:
    """Write a message to the parent."""
    pickle.dump(message, target)
    target.flush()


def _end_with_parent(parent: int) -> None:
    """End this process when its parent is gone, also in the middle of a run."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


def _limit_memory(gib: float) -> None:
    """Limit the address space of this process, where the system can."""
    try:
        import resource
    except ImportError:
        return
    wanted, hard = int(gib * 2**30), resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    main()
