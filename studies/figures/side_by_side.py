"""Figures drawn by several processes at a time: Matplotlib uses one core."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import warnings
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Made = TypeVar("Made")

_TASKS: list[Callable[[], object]] = []
"""What the processes of a call take by number; they are copies of this one, so that nothing needs to be sent."""


def side_by_side(tasks: Sequence[Callable[[], Made]], processes: int) -> list[Made]:
    """Call functions and return what they return, in their order.

    Parameters
    ----------
    tasks
        Functions without parameters; what they return is sent back to this process.
    processes
        At most so many at a time; 1 calls them here, one after the other, as does a process that cannot be copied
        safely: on systems without `fork`, with threads of Python, or with JAX, whose threads do not survive it.
    """
    processes = min(processes, len(tasks))
    can_fork = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    if processes < 2 or not can_fork or threading.active_count() > 1 or "jax" in sys.modules:
        return [task() for task in tasks]
    _TASKS[:] = tasks
    try:
        with warnings.catch_warnings():
            # Python 3.12 counts the idle threads of linear algebra too, which know how to be copied.
            warnings.simplefilter("ignore", DeprecationWarning)
            with multiprocessing.get_context("fork").Pool(processes) as pool:
                return pool.map(_call, range(len(tasks)), chunksize=1)  # type: ignore[arg-type]
    finally:
        _TASKS.clear()


def _call(number: int) -> object:
    """Call a function in a process of its own."""
    return _TASKS[number]()
