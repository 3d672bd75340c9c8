"""The one clock of all methods."""

from __future__ import annotations

import time

from instances.compilation import COMPILATION


class Stopwatch:
    """Measures the seconds since it was created, without those in which kernels were compiled; never runs backwards."""

    def __init__(self) -> None:
        self._begin = _now()

    @property
    def seconds(self) -> float:
        """Seconds since the stopwatch was created, compilation left out."""
        return _now() - self._begin


def _now() -> float:
    """Return a time that stands still while kernels are compiled."""
    compiling = COMPILATION.seconds
    return time.perf_counter() - compiling
