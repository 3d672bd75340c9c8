"""Instances of any named family, of either problem."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance


def generate_any(family: str, **arguments: Any) -> DagInstance | JobsInstance:
    """Make an instance of a named family, of the problem that the family belongs to.

    Parameters
    ----------
    family
        A name that `optgap generate --list` shows.
    **arguments
        For a family of DAGs those of `instances.generators.dag.generate.generate` (``tasks`` and ``seed`` are
        required), for a family of jobs those of `instances.generators.jobs.generate.generate_jobs` (``jobs`` and
        ``seed`` are required).

    Raises
    ------
    TypeError
        If an argument is missing or of the wrong type.
    ValueError
        If the family or a parameter is unknown, or a value is out of range.

    Examples
    --------
    >>> generate_any("transformer", tasks=40, seed=1).num_tasks
    38
    """
    from instances.generators.dag.generate import FAMILIES, generate
    from instances.generators.jobs.generate import ALL_JOBS_FAMILIES, generate_jobs

    if family in FAMILIES:
        return generate(family, **arguments)
    if family in ALL_JOBS_FAMILIES:
        return generate_jobs(family, **arguments)
    known = [*FAMILIES, *ALL_JOBS_FAMILIES]
    near = difflib.get_close_matches(family, known) or known
    raise ValueError(f"family: expected one of {', '.join(near)}, got {family!r}.")
