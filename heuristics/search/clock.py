"""The one clock of all methods."""

from __future__ import annotations

import time


class Stopwatch:
    """Seconds since it was made; never runs backwards."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self._begin
