"""Whether communication weighs so much in a job that it is worth waiting for servers close together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

    from heuristics.jobs.job_placement import JobPlacement


def is_heavy(least: JobPlacement, spread: JobPlacement | None, theta: Fraction | int) -> bool:
    """Say whether a job is heavy in communication: a reconstruction of ours, section 3.3 of the reference.

    comp(x_min) + max(comm(x_spread), comm(x_min)) >= theta (comp(x_min) + comm(x_min)).

    Parameters
    ----------
    least
        x_min: its Heavy-Edge placement on the empty servers.
    spread
        Its `Spread` placement; None, where it got stuck, stands for x_min.
    theta
        At least 1, exact; at 1 every job is heavy. The policies use 3/2.

    Raises
    ------
    ValueError
        If `theta` is below 1.
    """
    if theta < 1:
        raise ValueError(f"theta: expected at least 1, got {theta}.")
    comm = least.comm if spread is None else max(spread.comm, least.comm)
    return least.comp + comm >= theta * least.alpha
