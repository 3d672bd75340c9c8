"""Cutting a network into stages of about equal work."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instances.generators.jobs.network_model import NetworkModel


@functools.lru_cache(maxsize=1024)
def cut_into_stages(model: NetworkModel, num_stages: int) -> tuple[tuple[int, int], ...]:
    """Cut the chain of blocks so that the heaviest stage computes as little as possible.

    Parameters
    ----------
    model
        At least as many blocks as stages.
    num_stages
        At least 1.

    Returns
    -------
    tuple[tuple[int, int], ...]
        First block of each stage, and the one after its last.

    Raises
    ------
    ValueError
        If there are more stages than blocks.
    """
    num_blocks = len(model.blocks)
    if not 1 <= num_stages <= num_blocks:
        raise ValueError(f"num_stages: expected 1 to {num_blocks}, the blocks of {model.name}, got {num_stages}.")
    work = [0, *itertools.accumulate(block.flops for block in model.blocks)]
    best: list[float] = [0.0, *[float("inf")] * num_blocks]  # smallest heaviest stage of the first blocks
    cuts = []
    for stage in range(num_stages):
        following, cut_before = [float("inf")] * (num_blocks + 1), [0] * (num_blocks + 1)
        for end in range(stage + 1, num_blocks + 1):
            for begin in range(stage, end):
                heaviest = max(best[begin], work[end] - work[begin])
                if heaviest < following[end]:
                    following[end], cut_before[end] = heaviest, begin
        best = following
        cuts.append(cut_before)
    ends = [num_blocks]
    for cut_before in reversed(cuts):
        ends.append(cut_before[ends[-1]])
    ends.reverse()
    return tuple(itertools.pairwise(ends))
