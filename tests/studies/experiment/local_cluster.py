"""A real Dask cluster on the loopback of this machine, in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.studies.experiment.study_specs import MY_METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def local_cluster(folder: Path) -> Iterator[str]:
    """Start a scheduler and two workers with one thread each, on free ports; yield its address.

    Parameters
    ----------
    folder
        Where they run; a module `my_methods` is put there for them to import.
    """
    (folder / "my_methods.py").write_text(MY_METHODS)
    address_file = folder / "scheduler.json"
    common: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    common["start_new_session"] = True  # a group that is ended as one
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    where = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = subprocess.Popen([*dask, *where, "--port", "0", "--scheduler-file", str(address_file)], **common)
    processes = [scheduler]
    try:
        address = _address(address_file)
        dask = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--nworkers", "2"]
        scratch = ["--local-directory", str(folder / "scratch")]
        processes.append(subprocess.Popen([*dask, *where, *scratch], **common, env=environment))
        yield address
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, signal.SIGKILL)  # a farewell would take seconds
            process.wait(timeout=60)


def _address(path: Path) -> str:
    """Wait for the file of the scheduler and return its address."""
    for _ in range(600):
        try:
            return str(json.loads(path.read_text())["address"])
        except (FileNotFoundError, ValueError):
            time.sleep(0.05)
    raise TimeoutError("The scheduler does not begin.")
