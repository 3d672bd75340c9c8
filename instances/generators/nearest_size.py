"""The shape of a family whose number of tasks comes nearest to a wished one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def nearest_size(tasks: int, num_tasks_of: Callable[[int], int], *, low: int) -> int:
    """Return the shape parameter with the number of tasks nearest to a wished one; the smaller of two as near.

    Parameters
    ----------
    tasks
        Wished number of tasks.
    num_tasks_of
        Number of tasks for each value of the shape parameter; increases with it.
    low
        Smallest value of the shape parameter.
    """
    value = low
    while num_tasks_of(value + 1) <= tasks:
        value += 1
    below, above = num_tasks_of(value), num_tasks_of(value + 1)
    return value + 1 if above - tasks < tasks - below else value
