"""How late jobs complete in some optimal schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formulations.jobs.pattern_table import PatternTable


def latest_completions(
    table: PatternTable, release: Sequence[int], weights: Sequence[int], *, at_most: int
) -> list[int]:
    """Return for each job the latest completion in schedules that shift nothing to the left and cost at most something.

    Two reasons. (a) Every schedule can be shifted to the left until no job can start earlier in its pattern, without a
    later completion; then, from the last release on, some job runs at every tick until the last completion, for the
    first job to start after an idle tick could start at that tick. So all is over by the last release plus the sum of
    the longest durations. (b) If the objective is at most U, then w[j] C[j] <= U - sum over i <> j of w[i] (r[i] + the
    least duration of i).

    Parameters
    ----------
    table
        Patterns of all jobs.
    release, weights
        One per job.
    at_most
        U; no optimum is lost where it is at least the optimum.
    """
    everything = max(release, default=0) + sum(max(pattern.duration for pattern in own) for own in table.patterns)
    least = table.least_durations.tolist()
    heads = [weight * (begin + ticks) for weight, begin, ticks in zip(weights, release, least, strict=True)]
    slack = at_most - sum(heads)
    return [min(everything, (slack + head) // weight) for head, weight in zip(heads, weights, strict=True)]
