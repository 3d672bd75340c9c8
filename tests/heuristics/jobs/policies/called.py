"""A call of a method with what its signature names, as `solve` makes it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.jobs.instance import JobsInstance
    from instances.jobs.objective import JobsObjective
    from instances.jobs.schedule import JobsSchedule


def called(
    method: Callable[..., JobsSchedule | None],
    instance: JobsInstance,
    objective: JobsObjective,
    seed: int = 0,
    **parameters: Any,
) -> JobsSchedule:
    """Return the schedule of a policy."""
    offered = {"objective": objective, "rng": np.random.default_rng(seed)}
    wanted = inspect.signature(method).parameters
    schedule = method(instance, **{key: value for key, value in offered.items() if key in wanted}, **parameters)
    assert schedule is not None
    return schedule
