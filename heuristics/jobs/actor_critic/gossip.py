"""Gossip: graphs of agents, rounds of weighted means over neighbours, and the traffic of both.

*Printed* is what Zhang et al. (2025) state, a *consequence* follows from it, *ours* is our reconstruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from instances.fields import one_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
    one_of(name, GOSSIP_GRAPHS, "graph")
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


Stacked = TypeVar("Stacked")
"""An array, or a nest of arrays, whose first axis is the agent."""

TOLERANCE = 1e-9
"""Tolerance of the sums of rows and columns of weights; a smaller contraction counts as 0."""

LEAST_ROUNDS, LEFT_OVER = 10, 0.1
"""Ours: fewest rounds by default, and the share of the distance to consensus that may remain."""


def metropolis_weights(edges: ArrayLike) -> NDArray[np.float64]:
    """Return 1 / (1 + max(deg_i, deg_j)) on edges and the rest on the diagonal.

    Parameters
    ----------
    edges
        As `gossip_graph` returns them, shape (N, N).

    Returns
    -------
    numpy.ndarray
        Shape (N, N), float64. Consequence: symmetric with row sums 1, hence doubly stochastic.

    Notes
    -----
    Ours: the paper asks for a doubly stochastic matrix, zero off the edges, and does not say how it is made.
    """
    linked = np.asarray(edges, dtype=np.bool_)
    degree = linked.sum(axis=1)
    weights = np.where(linked, 1.0 / (1.0 + np.maximum(degree[:, np.newaxis], degree)), 0.0)
    np.fill_diagonal(weights, 1.0 - weights.sum(axis=1))
    return weights


def random_weights(rng: np.random.Generator, edges: ArrayLike, *, least: float = 0.05) -> NDArray[np.float64]:
    """Return a random doubly stochastic matrix that is positive on edges and diagonal and zero elsewhere.

    Parameters
    ----------
    edges
        Shape (N, N), symmetric.
    least
        Smallest number before scaling, in (0, 1).

    Returns
    -------
    numpy.ndarray
        Shape (N, N), float64, in general not symmetric.

    Notes
    -----
    Printed: "random doubly stochastic". Ours: uniform numbers in ``least``..1, then rows and columns are scaled in turn
    (Sinkhorn and Knopp 1967), which converges because the diagonal is positive and the pattern symmetric.
    """
    linked = np.asarray(edges, dtype=np.bool_) | np.eye(len(np.asarray(edges)), dtype=np.bool_)
    weights = np.where(linked, rng.uniform(least, 1.0, size=linked.shape), 0.0)
    for _ in range(100_000):
        weights /= weights.sum(axis=1, keepdims=True)
        weights /= weights.sum(axis=0)
        if np.abs(weights.sum(axis=1) - 1.0).max() < 1e-13:
            break
    return weights


def check_weights(weights: ArrayLike) -> NDArray[np.float64]:
    """Return the weights as an array; raises a `ValueError` if they are not a doubly stochastic matrix."""
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"weights: expected a square matrix, got shape {matrix.shape}.")
    if matrix.min() < 0.0:
        raise ValueError(f"weights: expected no negative entries, got {matrix.min():g}.")
    sums = np.concatenate([matrix.sum(axis=0), matrix.sum(axis=1)])
    worst = sums[np.abs(sums - 1.0).argmax()]
    if not abs(worst - 1.0) <= TOLERANCE:
        raise ValueError(f"weights: expected rows and columns that sum to 1, got {worst:g}.")
    return matrix


def contraction(weights: ArrayLike) -> float:
    """Return sigma: every round shrinks the distance to consensus at least by this factor.

    It is the second largest singular value; of symmetric weights also the second largest absolute eigenvalue.
    """
    matrix = check_weights(weights)
    return float(np.linalg.norm(matrix - 1.0 / len(matrix), ord=2))


def default_rounds(weights: ArrayLike) -> int:
    """Return the fewest rounds that leave a tenth of the distance to consensus, at least 10 (ours).

    One round if it gives the exact mean, none for one agent.
    """
    matrix = check_weights(weights)
    if len(matrix) == 1:
        return 0
    sigma = contraction(matrix)
    if sigma <= TOLERANCE:
        return 1
    if sigma >= 1.0 - TOLERANCE:
        raise ValueError("weights: expected a connected graph, got agents that never exchange messages.")
    return max(LEAST_ROUNDS, int(np.ceil(np.log(LEFT_OVER) / np.log(sigma) - TOLERANCE)))


def gossip_operator(weights: ArrayLike, rounds: int) -> NDArray[np.float32]:
    """Return the matrix of a number of rounds, shape (N, N), float32.

    Raises a `ValueError` if the weights are not doubly stochastic or the number is negative.
    """
    if rounds < 0:
        raise ValueError(f"gossip_rounds: expected at least 0, got {rounds}.")
    return np.linalg.matrix_power(check_weights(weights), rounds).astype(np.float32)


def mix(operator: ArrayLike, held: Stacked) -> Stacked:
    """Apply a matrix from `gossip_operator` to arrays whose first axis is the agent."""
    import jax
    import jax.numpy as jnp

    matrix = jnp.asarray(operator)
    mixed: Stacked = jax.tree.map(lambda array: jnp.einsum("ij,j...->i...", matrix, array), held)
    return mixed


FLOAT_BYTES = 4
"""Bytes of a number in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GossipTraffic:
    """Messages of one iteration: an edge carries one in each direction per round, once for critics, once for signals.

    Parameters
    ----------
    critic_messages, critic_bytes
        Messages of critics, each with all trained weights.
    signal_messages, signal_bytes
        Messages of actor signals, each with one number per step of the actor.
    """

    critic_messages: int
    critic_bytes: int
    signal_messages: int
    signal_bytes: int

    @property
    def messages(self) -> int:
        """All messages of an iteration."""
        return self.critic_messages + self.signal_messages

    @property
    def bytes(self) -> int:
        """All bytes of an iteration, without headers."""
        return self.critic_bytes + self.signal_bytes


def gossip_traffic(weights: ArrayLike, rounds: int, *, critic_size: int, signal_size: int) -> GossipTraffic:
    """Count the messages of one iteration.

    Parameters
    ----------
    weights
        Doubly stochastic matrix; positive entries off the diagonal are sent.
    rounds
        Rounds of gossip, the same for critics and signals.
    critic_size, signal_size
        Numbers in a message: D m^2 trained weights; M signals.
    """
    matrix = check_weights(weights)
    messages = int(np.count_nonzero(matrix - np.diag(np.diag(matrix)))) * rounds
    return GossipTraffic(
        critic_messages=messages,
        critic_bytes=messages * critic_size * FLOAT_BYTES,
        signal_messages=messages,
        signal_bytes=messages * signal_size * FLOAT_BYTES,
    )
