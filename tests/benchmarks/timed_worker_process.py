"""A worker process that writes down how long it was inside its runs."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies.experiment import execute_run, worker_process

if TYPE_CHECKING:
    from studies.experiment.run_answer import RunAnswer

FOLDER = "TIMED_WORKERS"
"""Variable of the environment: where every process keeps a file of its seconds."""

SECONDS = struct.Struct("d")


def main() -> None:
    """Do what a worker process does."""
    file = os.open(Path(os.environ[FOLDER]) / str(os.getpid()), os.O_WRONLY | os.O_CREAT)
    inner, total = execute_run.execute_run, 0.0

    def timed(*arguments: Any) -> RunAnswer:
        nonlocal total
        begin = time.perf_counter()
        answer = inner(*arguments)
        total += time.perf_counter() - begin
        os.pwrite(file, SECONDS.pack(total), 0)  # two microseconds
        return answer

    execute_run.execute_run = timed
    worker_process.main()


def seconds_inside(folder: Path) -> float:
    """Return how long all processes together were inside runs so far."""
    contents = [path.read_bytes() for path in folder.iterdir()]
    return sum(SECONDS.unpack(content)[0] for content in contents if content)


if __name__ == "__main__":
    main()
