"""How long a bound may still take: asked between its steps, and by linear programs while they are solved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import highspy


def without_limit() -> float:
    """Return that any number of seconds is left."""
    return math.inf


def solve_lp(highs: highspy.Highs, seconds_left: Callable[[], float], at_most: float = math.inf) -> None:
    """Let HiGHS solve the linear program that it holds, or stop as soon as no time is left.

    Parameters
    ----------
    seconds_left
        Seconds that are left, infinite for no limit and 0 from Ctrl-C on; asked at every iteration.
    at_most
        Seconds that the run may take in any case.
    """
    seconds = highs.getRunTime() + min(at_most, seconds_left())  # HiGHS counts from its first run on
    highs.setOptionValue("time_limit", seconds)
    if seconds_left is without_limit:
        highs.run()
        return

    def stop_in_time(event: highspy.HighsCallbackEvent) -> None:
        event.interrupt(seconds_left() <= 0)  # also where it is False: HiGHS remembers an interrupt from run to run

    callbacks = (highs.cbSimplexInterrupt, highs.cbIpmInterrupt)
    for callback in callbacks:
        callback.subscribe(stop_in_time)
    try:
        highs.run()
    finally:
        for callback in callbacks:
            callback.unsubscribe(stop_in_time)
