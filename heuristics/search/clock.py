"""The one clock of all methods."""

from __future__ import annotations

import time


class Stopwatch:
    """Measures the seconds since it was created; never runs backwards."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the stopwatch was created."""
        return time.perf_counter() - self._begin
