"""One place in a Dask worker where runs are made."""

from __future__ import annotations

import dataclasses
import threading
import uuid
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies.experiment.executors.cluster_host import NEEDS_CONTENT, run_on_host
from studies.experiment.executors.executor import ExecutedRun, SlotLostError
from studies.experiment.run_answer import RunAnswer

if TYPE_CHECKING:
    from studies.experiment.execute_run import RunOrder
    from studies.experiment.executors.dask_executor import DaskExecutor
    from studies.experiment.run_limit import RunLimit

LOOK_SECONDS = 0.5
"""How often a waiting slot looks whether its worker is still there."""


class DaskSlot:
    """A thread of a Dask worker, or several.

    Parameters
    ----------
    executor
        To which it belongs.
    address
        Of the worker.
    """

    def __init__(self, executor: DaskExecutor, address: str) -> None:
        self._executor = executor
        self._address = address
        self._has_sent: set[str] = set()

    def run(self, order: RunOrder, limit: RunLimit) -> ExecutedRun:
        """Make a run on this worker; raises `SlotLostError` where the worker or the scheduler is lost."""
        is_new = order.sha256 not in self._has_sent
        done = self._result(order, limit, _content(order) if is_new else None)
        if done == NEEDS_CONTENT:  # the worker began anew under the same address
            done = self._result(order, limit, _content(order))
        if isinstance(done, ExecutedRun):
            self._has_sent.add(order.sha256)
            return done
        self._executor.refuse(self._address, str(done))
        raise SlotLostError(str(done), blames_run=False)

    def _result(self, order: RunOrder, limit: RunLimit, content: bytes | None) -> Any:
        """Submit an order and wait; what the run came to, or a text that says why it was not made."""
        executor = self._executor
        if executor.is_stopped:
            return _INTERRUPTED
        try:
            future = executor.client.submit(
                run_on_host,
                executor.session,
                dataclasses.replace(order, instance_path=""),  # it is a path of this machine
                limit,
                content,
                key=f"optgap-run-{uuid.uuid4().hex}",  # equal calls are different runs: a repeated one is wanted anew
                pure=False,
                workers=[self._address],
                allow_other_workers=False,
                retries=0,
            )
        except Exception as error:  # a client that is closed or closing
            raise SlotLostError(f"the scheduler is lost: {error}", blames_run=False) from error
        is_done = threading.Event()
        future.add_done_callback(lambda _: is_done.set())
        try:
            while not is_done.wait(LOOK_SECONDS):
                if executor.is_stopped:
                    return _INTERRUPTED
                if not executor.has_worker(self._address):
                    raise SlotLostError(f"the Dask worker {self._address} was lost", blames_run=True)
            if future.status == "finished":
                return future.result()
            if future.status == "error":
                return self._failed(future)
            raise SlotLostError("the scheduler was lost", blames_run=False)
        except SlotLostError:
            raise
        except Exception as error:  # the answer went with the worker that held it, or the scheduler is gone
            raise SlotLostError(f"the answer was lost: {error}", blames_run=True) from error
        finally:
            future.cancel(force=True)  # nothing remembers it, and nobody makes it again on a worker that comes back

    def _failed(self, future: Any) -> str:
        """Say why Dask could not call the function, or that it lost its worker too often."""
        from distributed import KilledWorker

        error = future.exception()
        if isinstance(error, KilledWorker):
            raise SlotLostError(f"the Dask worker {self._address} was lost several times", blames_run=True)
        return f"expected runs to begin, got {type(error).__name__}: {error}"


_INTERRUPTED = ExecutedRun(answer=RunAnswer(is_interrupted=True), environment=None)


def _content(order: RunOrder) -> bytes:
    """Return the file of an instance, compressed."""
    return zlib.compress(Path(order.instance_path).read_bytes(), 1)
