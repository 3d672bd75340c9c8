"""Who gossips with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GOSSIP_GRAPHS = ("ring", "complete", "star", "path")
"""Names of the graphs."""


def gossip_graph(name: str, num_agents: int) -> NDArray[np.bool_]:
    """Return the edges of a connected graph of agents.

    Parameters
    ----------
    name
        One of `GOSSIP_GRAPHS`; agent 0 is the centre of a star, an end of a path.
    num_agents
        N, at least 1; up to three agents a ring is complete.

    Returns
    -------
    numpy.ndarray
        Shape (N, N), bool, symmetric, False on the diagonal.

    Raises
    ------
    ValueError
        If the name is unknown or there is no agent.
    """
    if num_agents < 1:
        raise ValueError(f"num_agents: expected at least 1, got {num_agents}.")
    if name not in GOSSIP_GRAPHS:
        raise ValueError(f"graph: expected one of {', '.join(GOSSIP_GRAPHS)}, got {name!r}.")
    agent = np.arange(num_agents)
    distance: NDArray[np.int64] = np.abs(agent[:, np.newaxis] - agent)
    edges: NDArray[np.bool_] = distance == 1
    if name == "complete":
        edges = distance > 0
    elif name == "star":
        edges = (distance > 0) & ((agent[:, np.newaxis] == 0) | (agent == 0))
    elif name == "ring":
        edges |= (distance == num_agents - 1) & (num_agents > 1)
    return edges
