"""Exact methods that do not know interference say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance

KNOW_INTERFERENCE = ("co-location-search",)
"""Exact methods for jobs that slow each other down."""


def refuse_interference(instance: JobsInstance, name: str) -> None:
    """Refuse an exact method to which a job runs as long as it would alone; policies need not know.

    Raises
    ------
    ValueError
        If the instance has interference and the method does not know it.
    """
    if instance.interference is not None and name not in KNOW_INTERFERENCE:
        known = ", ".join(KNOW_INTERFERENCE)
        raise ValueError(
            f"method: expected one that knows interference ({known}, or a policy), got {name!r}, to which jobs run as "
            "long as they would alone."
        )
