"""When a change is kept: simulated annealing by differences."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooling:
    """Temperatures of a search, in units of the ratio: geometric from the first step to the last.

    Parameters
    ----------
    hot, cold
        At the first and at the last step; both above 0, `cold` at most `hot`.
    steps
        At least 1.

    Raises
    ------
    ValueError
        If one is out of range.
    """

    hot: float = 0.1
    cold: float = 0.005
    steps: int = 1000

    def __post_init__(self) -> None:
        """Check the ranges."""
        if not 0 < self.hot < math.inf:
            raise ValueError(f"hot: expected a positive number, got {self.hot}.")
        if not 0 < self.cold <= self.hot:
            raise ValueError(f"cold: expected a positive number of at most {self.hot}, got {self.cold}.")
        if self.steps < 1:
            raise ValueError(f"steps: expected at least 1, got {self.steps}.")

    def at(self, step: int) -> float:
        """Return the temperature of a step, counted from 0."""
        share = step / max(self.steps - 1, 1)
        return self.hot * math.pow(self.cold / self.hot, share)


def least_ratio(current: float, temperature: float, draw: float) -> float:
    r"""Return the least ratio that a candidate needs to be kept.

    A candidate of ratio r' takes the place of one of ratio r with probability min(1, exp(-(r - r') / T)): it is kept
    where ``draw`` is at most that, so where r' >= r + T ln(draw). Better and equal ones are always kept.

    Parameters
    ----------
    current
        Ratio r of the instance that is being changed.
    temperature
        T, above 0, in units of the ratio.
    draw
        Uniform in (0, 1], made before the candidate is looked at; so a candidate whose ratio is provably below what it
        needs can be turned down without solving it, and the search is the same as if it had been solved.

    References
    ----------
    Kirkpatrick, Gelatt and Vecchi (1983): acceptance by differences. Coleman and Krishnamachari (2024), PISA: An
    Adversarial Approach To Comparing Task Graph Scheduling Algorithms: annealing on problem instances. Deviation: their
    published code accepts with exp(-(r' / r) / T) where r' <= r. That is decreasing in r': a much worse candidate is
    then kept more often than a slightly worse one, and at low temperatures an equal one hardly ever.
    """
    return current + temperature * math.log(draw)
