"""What the network learns from: the latest placements of tasks, drawn uniformly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Batch(NamedTuple):
    """Transitions for several updates, one batch each; padded to m GPUs, the last axis of rows holds the features."""

    rows: NDArray[np.float32]  # (updates, batch, m, features), of the state
    fits: NDArray[np.bool_]  # (updates, batch, m), GPUs that fit in it
    action: NDArray[np.int32]  # (updates, batch), chosen GPU
    reward: NDArray[np.float32]  # (updates, batch), until the next state
    next_rows: NDArray[np.float32]  # (updates, batch, m, features)
    next_fits: NDArray[np.bool_]  # (updates, batch, m)
    discount: NDArray[np.float32]  # (updates, batch), of the next state's value; 0 at the end of an episode


class Replay:
    """A ring of states in the order in which episodes visited them, so that each state is stored once.

    Parameters
    ----------
    capacity
        States that are kept; the oldest are overwritten.
    max_gpus
        GPUs that rows are padded to.
    num_features
        Features per GPU.
    discount
        Gamma, in (0, 1].
    horizon
        Placements from a state to the next state of its transition, rewards between them summed; 1 is the textbook's.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    def __init__(
        self, capacity: int, max_gpus: int, num_features: int, *, discount: float = 1.0, horizon: int = 1
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity: expected at least 1, got {capacity}.")
        if not 0.0 < discount <= 1.0:
            raise ValueError(f"discount: expected a number in (0, 1], got {discount}.")
        if horizon < 1:
            raise ValueError(f"horizon: expected at least 1, got {horizon}.")
        self.size = 0
        self._capacity, self._discount, self._horizon = capacity, discount, horizon
        self._head = 0  # slot of the next state
        self._rows = np.zeros((capacity, max_gpus, num_features), dtype=np.float32)
        self._fits = np.zeros((capacity, max_gpus), dtype=np.bool_)
        self._action = np.zeros(capacity, dtype=np.int32)
        self._reward = np.zeros(capacity, dtype=np.float32)
        self._onward = np.zeros(capacity, dtype=np.float32)

    def add(
        self,
        rows: NDArray[np.float32],
        fits: NDArray[np.bool_],
        action: NDArray[np.int64],
        reward: NDArray[np.float64],
    ) -> None:
        """Add one episode.

        Parameters
        ----------
        rows
            Features in every state, shape (n, m, features), m at most `max_gpus`.
        fits
            GPUs that fit, shape (n, m).
        action
            Chosen GPU, shape (n,).
        reward
            Reward of each placement, shape (n,).

        Raises
        ------
        ValueError
            If the episode is longer than the ring, or has more GPUs than rows are padded to.
        """
        m = rows.shape[1]
        if m > self._rows.shape[1]:
            raise ValueError(f"rows: expected at most {self._rows.shape[1]} GPUs, got {m}.")
        n = len(action)
        if n > self._capacity:
            raise ValueError(f"rows: expected at most {self._capacity} states, got {n}.")
        slots = (self._head + np.arange(n)) % self._capacity
        self._rows[slots], self._fits[slots] = 0.0, False
        self._rows[slots, :m], self._fits[slots, :m] = rows, fits
        self._action[slots] = action
        to_end = np.zeros(n + 1)  # discounted rewards from a state to the end
        for step in range(n - 1, -1, -1):
            to_end[step] = reward[step] + self._discount * to_end[step + 1]
        after = np.minimum(np.arange(n) + self._horizon, n)
        onward = np.where(after < n, self._discount**self._horizon, 0.0)
        self._reward[slots] = to_end[:n] - onward * to_end[after]
        self._onward[slots] = onward
        self._head = (self._head + n) % self._capacity
        self.size = min(self.size + n, self._capacity)

    def sample(self, rng: np.random.Generator, *, updates: int, batch: int) -> Batch:
        """Draw transitions uniformly, with replacement.

        Raises
        ------
        ValueError
            If there is none.
        """
        if self.size == 0:
            raise ValueError("replay: expected an episode before a sample, got none.")
        slots = rng.integers(self.size, size=(updates, batch))
        discount = self._onward[slots]
        # what follows in the episode follows in the ring; at the end any state does, for its value counts nothing
        after = np.where(discount > 0, (slots + self._horizon) % self._capacity, slots)
        return Batch(
            self._rows[slots],
            self._fits[slots],
            self._action[slots],
            self._reward[slots],
            self._rows[after],
            self._fits[after],
            discount,
        )
