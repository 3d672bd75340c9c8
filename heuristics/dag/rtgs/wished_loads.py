"""Where the whales of the herd wish to go: steps B.2.1 to B.2.4 of RTGS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.rtgs.herd_draws import HerdDraws


def wished_loads(
    position: NDArray[np.float64], leader: int, a: float, draws: HerdDraws, spiral: float = 1.0
) -> NDArray[np.float64]:
    """Return the wished load of every task for all whales but the leader.

    For a whale x: A = 2 a r1 - a; the target z is the leader if abs(A) < 1, else the random whale. Per task i, with a
    random sign e: h[i] = r[i](z) + e q (r[i](z) - r[i](x)), where q = exp(b l) cos(2 pi l) if abs(A) < 1 and p > 0.5,
    else q = A.

    Parameters
    ----------
    position
        Load r[i] (or rho[i]) of every task for each whale in ticks, shape (H, n), H at least 2.
    leader
        Index of the leader.
    a
        Falls from 2 to 0 over a run.
    draws
        Random numbers of the round.
    spiral
        Constant b.

    Returns
    -------
    NDArray[np.float64]
        h in ticks, shape (H - 1, n): a row for every whale but the leader, in their order.

    References
    ----------
    Du et al. (2025), J. Supercomputing 81(8):911, as in their public class. Deviations that cure its defects: only the
    leader itself does not move, though others may tie with it; the random whale is any but leader and mover, the leader
    where there is no other.
    """
    movers = np.delete(np.arange(len(position)), leader)
    step = 2.0 * a * draws.r1 - a
    follows_leader = np.abs(step) < 1.0
    target = np.where(follows_leader, leader, _random_whales(movers, leader, draws.other))
    on_spiral = follows_leader & (draws.p > 0.5)
    way = np.where(on_spiral[:, None], np.exp(spiral * draws.l) * np.cos(2 * np.pi * draws.l), step[:, None])
    goal = position[target]
    return goal + draws.sign * way * (goal - position[movers])


def _random_whales(movers: NDArray[np.int64], leader: int, other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the whale at place `other` among the movers without the one that moves, the leader where that is none."""
    if len(movers) == 1:
        return np.array([leader])
    return movers[other + (other >= np.arange(len(movers)))]
