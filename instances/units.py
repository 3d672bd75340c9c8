"""Durations and sizes for people: seconds, milliseconds or hours next to ticks, GiB next to bytes."""

from __future__ import annotations

TIME_UNITS = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
"""Units of time with their lengths in seconds, the longest first."""

SIZE_UNITS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("bytes", 1))
"""Units of memory and data with their sizes in bytes, the largest first."""


def time_unit(seconds: float) -> tuple[str, float]:
    """Return the unit in which people state a duration, and the length of the unit in seconds.

    Days and hours begin at two of them, minutes at three: 90 minutes and 150 seconds are read more easily than 1.5 h
    and 2.5 min. Durations below a nanosecond stay in nanoseconds, and 0 is in seconds.
    """
    least = {"d": 2.0, "h": 2.0, "min": 3.0}
    for name, length in TIME_UNITS:
        if abs(seconds) >= least.get(name, 1.0) * length:
            return name, length
    return ("s", 1.0) if seconds == 0 else TIME_UNITS[-1]


def duration_text(seconds: float, digits: int = 3) -> str:
    """Return a duration with so many significant digits in the unit that suits it, such as ``1.25 ms``."""
    name, length = time_unit(seconds)
    return f"{rounded_text(seconds / length, digits)} {name}"


def ticks_text(ticks: float, tick_seconds: float) -> str:
    """Return ticks and what they are in human units, such as ``1250 ticks (1.25 ms)``."""
    return f"{ticks} ticks ({duration_text(ticks * tick_seconds)})"


def size_text(size: float) -> str:
    """Return a number of bytes with three significant digits in the unit that suits it, such as ``1.5 GiB``."""
    for name, length in SIZE_UNITS:
        if abs(size) >= length:
            return f"{rounded_text(size / length)} {name}"
    return "0 bytes"


def rounded_text(value: float, digits: int = 3) -> str:
    """Return a number of at least 0.001 with so many significant digits, more before the point, without an exponent."""
    return f"{value:.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"
