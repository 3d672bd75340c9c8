"""Runs on a cluster that exists, through Dask."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import uuid
import warnings
from typing import TYPE_CHECKING, Any

from studies.experiment.executors.cluster_host import beat, end_session, installed_version
from studies.experiment.executors.dask_slot import DaskSlot
from studies.experiment.executors.executor import ExecutorError

if TYPE_CHECKING:
    from collections.abc import Sequence

CONNECT_SECONDS = 10.0
"""How long the scheduler may take to answer, at the beginning and after it was lost."""

BEAT_SECONDS = 3.0
"""How often the study tells the cluster that it is there, and asks which workers are."""

EMPTY_SECONDS, EMPTY_LOOK_SECONDS = 120.0, 0.5
"""How long a study waits for workers where there are none, and how often it looks then."""

GOODBYE_SECONDS = 10.0
"""How long a study waits until the cluster has stopped its runs."""


class DaskExecutor:
    """The workers of a Dask cluster, with a slot for every thread of each; a run with several threads takes so many.

    This process decides which worker makes which run, because only so it can count threads; Dask carries orders and
    answers. Runs are made in subprocesses of the Dask workers, with the limits that they have anywhere. Instances are
    sent with the first run of each on a worker; nothing else of this machine need be visible there, but optgap must be
    installed in the same version, and so must the modules of one's own methods. Workers may come and go. A run whose
    worker is lost is made again; what is stored is stored by this process alone, so nothing is there twice.

    Parameters
    ----------
    address
        Of the scheduler, such as ``tcp://host:8786``.

    Raises
    ------
    ExecutorError
        If nothing answers there, or no worker has this software.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ExecutorError(f"expected the extra cluster (pip install 'optgap[cluster]'), got: {error}.") from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters comes as one line of ours
        self.address = address
        try:
            self.client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="optgap-study")
        except (OSError, ValueError, TypeError, ImportError) as error:
            said = " ".join(str(error).split()).rstrip(".")
            raise ExecutorError(f"expected a Dask scheduler that answers at {address}, got: {said}.") from error
        self.session = uuid.uuid4().hex
        self.is_stopped = False
        self._threads_of: dict[str, int] = {}
        self._refused: dict[str, str] = {}
        self._checked: set[str] = set()
        self._slots: dict[tuple[str, int], DaskSlot] = {}
        self._empty_since: float | None = None
        self._closing = threading.Event()
        try:
            self._look()
            self._refuse_hopeless()
        except BaseException:
            self.client.close(timeout=GOODBYE_SECONDS)
            raise
        threading.Thread(target=self._keep_in_touch, daemon=True).start()

    @property
    def num_threads(self) -> int:
        """Threads of all workers that are there now."""
        return max(1, sum(self._usable().values()))

    def slots(self, threads: int) -> Sequence[DaskSlot]:
        """Return the slots for runs of so many threads; where no worker has so many, the largest makes one at a time.

        Raises
        ------
        ExecutorError
            If the scheduler is gone for good, no worker has this software, or none came for two minutes.
        """
        if self.client.status == "closed":
            raise ExecutorError(f"expected the Dask scheduler at {self.address} to answer again, got nothing.")
        usable = {} if self.client.status != "running" else self._usable()
        if not usable:
            self._wait_for_workers()
            return []
        self._empty_since = None
        places = [(address, number) for address, count in usable.items() for number in range(count // threads)]
        if not places:
            places = [(max(usable, key=lambda address: usable[address]), 0)]
        for place in places:
            if place not in self._slots:
                self._slots[place] = DaskSlot(self, place[0])
        return [self._slots[place] for place in places]

    def has_worker(self, address: str) -> bool:
        """Say whether a worker was there when the scheduler was last asked, and can be used."""
        return address in self._usable()

    def refuse(self, address: str, why: str) -> None:
        """Use a worker no more."""
        self._refused[address] = why
        warnings.warn(f"The Dask worker {address} is not used: {why}", stacklevel=2)

    def stop(self) -> None:
        """Stop all runs on the cluster; takes ten seconds at most, also where the cluster does not answer."""
        if self.is_stopped:
            return
        self.is_stopped = True
        self._closing.set()
        farewell = threading.Thread(target=self._tell, args=(end_session,), daemon=True)
        farewell.start()
        farewell.join(GOODBYE_SECONDS)

    def close(self) -> None:
        """Stop all runs and leave the cluster as it was."""
        self.stop()
        with contextlib.suppress(Exception):  # whatever a lost scheduler may do
            self.client.close(timeout=GOODBYE_SECONDS)

    def _usable(self) -> dict[str, int]:
        """Return the threads of workers that are there and have this software."""
        return {address: count for address, count in self._threads_of.items() if address not in self._refused}

    def _keep_in_touch(self) -> None:
        """Say again and again that this study is there; a thread of its own for every beat, as one may get stuck."""
        while not self._closing.wait(BEAT_SECONDS if self._threads_of else EMPTY_LOOK_SECONDS):
            threading.Thread(target=self._tell, args=(beat,), daemon=True).start()
            with contextlib.suppress(Exception):  # the scheduler may be away; what was known last is kept
                self._look()

    def _look(self) -> None:
        """Ask which workers there are, and new ones for their version."""
        found = dict(self.client.nthreads())
        new = [address for address in found if address not in self._checked]
        if new:
            from solvers.versions import version_of

            said: dict[str, Any] = self.client.run(installed_version, workers=new, on_error="return")
            wanted = str(version_of("optgap"))
            for address in new:
                self._checked.add(address)
                if address in said and said[address] != wanted:
                    self.refuse(address, f"expected optgap {wanted}, got {said[address]!r}.")
        self._threads_of = found

    def _tell(self, what: Any) -> None:
        """Call a function of `cluster_host` with this session on all workers."""
        with contextlib.suppress(Exception):
            self.client.run(what, self.session, on_error="ignore")

    def _refuse_hopeless(self) -> None:
        """Raise where there are workers and none can be used."""
        if self._threads_of and not self._usable():
            address, why = next(iter(self._refused.items()))
            raise ExecutorError(f"expected a Dask worker that can make runs, got none: {address}: {why}")

    def _wait_for_workers(self) -> None:
        """Raise where waiting is of no use, or was long enough."""
        self._refuse_hopeless()
        now = time.monotonic()
        self._empty_since = now if self._empty_since is None else self._empty_since
        if now - self._empty_since > EMPTY_SECONDS:
            raise ExecutorError(f"expected workers at {self.address}, got none for {EMPTY_SECONDS:g} s.")
