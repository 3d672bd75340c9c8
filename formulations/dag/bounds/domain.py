"""Simple sets over which a linear function is minimised exactly, by looking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Domain:
    """Columns of which some are steps, one step per group, and the others lie in boxes.

    The first columns stand in chains, the chains in groups. In every group exactly one chain steps from 0 to 1, at one
    of its columns: 0 before it, 1 from there to the end of the chain; all other chains of the group are 0. The set is
    the convex hull of these choices. (With chains of one column each it is: the columns of a group sum to 1.) The
    columns after the last chain lie between finite bounds.

    Parameters
    ----------
    chain_starts
        First column of every chain, and the number of columns in chains at the end, shape (chains + 1,), increasing.
    group_starts
        First chain of every group, and the number of chains at the end, shape (groups + 1,), increasing: no group is
        empty.
    lower, upper
        Bounds of the columns after the chains, integers, shape (boxes,).
    """

    chain_starts: NDArray[np.int64]
    group_starts: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]

    @classmethod
    def of_boxes(cls, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> Domain:
        """Return the domain of a linear program that says nothing but finite bounds of its columns."""
        none = np.zeros(1, dtype=np.int64)
        return cls(chain_starts=none, group_starts=none, lower=lower, upper=upper)

    @property
    def num_steps(self) -> int:
        """Number of columns in chains."""
        return int(self.chain_starts[-1])

    @property
    def num_columns(self) -> int:
        """Number of all columns."""
        return self.num_steps + len(self.lower)

    @property
    def last_columns(self) -> NDArray[np.int64]:
        """Last column of every chain, shape (chains,): 1 if its group steps in this chain."""
        return self.chain_starts[1:] - 1

    def largest(self) -> NDArray[np.float64]:
        """Return the largest absolute value of every column, shape (columns,)."""
        boxes = np.maximum(np.abs(self.lower), np.abs(self.upper)).astype(np.float64)
        return np.concatenate([np.ones(self.num_steps), boxes])

    def least(self, costs: NDArray[Any]) -> Any:
        """Return the least of costs x over the set, as exact as the numbers are.

        Parameters
        ----------
        costs
            Per column, shape (columns,): integers of 64 bits that leave room for the sum of all their absolute values,
            Python's integers (dtype object), or floats.
        """
        total = self.step_costs(costs)
        value = costs[self.num_steps :]
        boxes = np.minimum(value * self.lower.astype(costs.dtype), value * self.upper.astype(costs.dtype)).sum()
        if not self.num_steps:
            return boxes
        return np.minimum.reduceat(total, self.chain_starts[self.group_starts[:-1]]).sum() + boxes

    def minimiser(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a point where costs x is least, shape (columns,)."""
        point = np.zeros(self.num_columns)
        boxes = costs[self.num_steps :]
        point[self.num_steps :] = np.where(boxes < 0, self.upper, self.lower)
        if not self.num_steps:
            return point
        total = self.step_costs(costs)
        group_starts = self.chain_starts[self.group_starts]
        least = np.minimum.reduceat(total, group_starts[:-1])
        candidates = np.flatnonzero(total == np.repeat(least, np.diff(group_starts)))
        step = candidates[np.searchsorted(candidates, group_starts[:-1])]  # the first one of every group
        jumps = np.zeros(self.num_steps + 1)
        jumps[step] = 1.0
        chain = np.searchsorted(self.chain_starts, step, side="right")
        np.add.at(jumps, self.chain_starts[chain], -1.0)
        point[: self.num_steps] = jumps.cumsum()[:-1]
        return point

    def step_costs(self, costs: NDArray[Any]) -> NDArray[Any]:
        """Return what a step at each column of the chains costs: the sum of the costs from there to the chain's end."""
        from_here = costs[: self.num_steps][::-1].cumsum()[::-1]
        beyond = np.append(from_here, 0)[self.chain_starts[1:]]
        total: NDArray[Any] = from_here - np.repeat(beyond, np.diff(self.chain_starts))
        return total
