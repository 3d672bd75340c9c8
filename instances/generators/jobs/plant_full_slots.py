"""Slots of time in which jobs of equal duration hold all GPUs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.generators.jobs.planted_job import PlantedJob, planted_job
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.jobs.jobs_server import JobsServer

DURATIONS = (12, 24, 36, 48, 60, 72, 96, 120, 144, 180, 240)
"""Lengths of slots in ticks: numbers with many divisors, so that jobs differ."""

MAX_UNIT_WEIGHT = 20
"""Largest weight per GPU."""


def plant_full_slots(
    rng: np.random.Generator, servers: Sequence[JobsServer], *, jobs: int, slots: int | None, **shape: float
) -> list[PlantedJob]:
    """Fill every server in every slot with jobs; the proof stands in `planted_jobs`.

    Raises
    ------
    ValueError
        If the jobs are too few or too many for the slots.
    """
    sizes = np.array([server.gpus for server in servers], dtype=np.int64)
    fewest, most = len(sizes), int(sizes.sum())
    if jobs < fewest:
        raise ValueError(f"jobs: expected at least {fewest}, one per server, got {jobs}.")
    if slots is None:
        slots = min(max(-(-jobs // most), round(jobs / (1.5 * fewest))), jobs // fewest)
    slots = check_integer("slots", slots, low=-(-jobs // most), high=jobs // fewest)
    counts = _shares(rng, jobs, np.tile(sizes, (slots, 1)))
    plan, start = [], 0
    for row, (length, unit) in zip(counts.tolist(), _lengths_and_units(rng, slots), strict=True):
        for server, count in enumerate(row):
            for gang in (1 + rng.multinomial(int(sizes[server]) - count, np.full(count, 1.0 / count))).tolist():
                plan.append(
                    planted_job(
                        rng,
                        servers,
                        server=server,
                        gang=gang,
                        start=start,
                        duration=length,
                        weight=unit * gang,
                        **shape,  # type: ignore[arg-type]  # integers and numbers, checked by the caller
                    )
                )
        start += length
    return [plan[index] for index in rng.permutation(len(plan))]


def _lengths_and_units(rng: np.random.Generator, slots: int) -> list[tuple[int, int]]:
    """Draw a length and a weight per GPU for each slot, in the order of falling weight per GPU and tick."""
    drawn = [(int(rng.choice(DURATIONS)), int(rng.integers(1, MAX_UNIT_WEIGHT + 1))) for _ in range(slots)]
    return sorted(drawn, key=lambda slot: Fraction(slot[0], slot[1]))


def _shares(rng: np.random.Generator, jobs: int, room: NDArray[np.int64]) -> NDArray[np.int64]:
    """Spread jobs over servers and slots: at least one each, at most one per GPU."""
    counts = np.ones_like(room)
    while (left := jobs - int(counts.sum())) > 0:
        free = (room - counts).ravel()
        drawn = rng.multinomial(left, free / free.sum()).reshape(room.shape)
        counts = np.minimum(counts + drawn, room)
    return counts
