"""What several episodes of one instance have in common, as a baseline for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def mean_of_others(
    times: Sequence[NDArray[np.int64]], gains: Sequence[NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Return, at the steps of every episode, the mean gain of the other episodes at the same tick.

    Most of what a return varies by is which jobs are still to come, and that all episodes of an instance share. The
    baseline of an episode does not depend on what was chosen in it, so it adds no bias: the input-dependent baseline of
    Mao, Venkatakrishnan, Schwarzkopf and Alizadeh (2019), Variance reduction for reinforcement learning in
    input-driven environments, ICLR; here with gains linear between steps (ours).

    Parameters
    ----------
    times
        Ticks of the steps of each episode, ascending, shape (steps,) each.
    gains
        Returns less values at these steps, same shapes.

    Returns
    -------
    list of numpy.ndarray
        Of the same shapes; 0 if there is no other episode.
    """
    found = []
    for number, at in enumerate(times):
        others = [
            np.interp(at, when, gain)
            for one, (when, gain) in enumerate(zip(times, gains, strict=True))
            if one != number
        ]
        found.append(np.mean(others, axis=0) if others else np.zeros(len(at)))
    return found
