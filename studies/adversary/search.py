"""Simulated annealing towards instances on which a heuristic does worst."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from studies.adversary.random_family import CHANGED
from studies.adversary.ratio import BelowError, InterruptedRunError, NoRatioError, NotProvenError
from studies.adversary.search_space import perturb

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance
    from studies.adversary.ratio import RatioOracle, WorstCase
    from studies.adversary.search_space import InstanceSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooling:
    """Temperatures of a search, in units of the ratio: geometric from the first step to the last.

    `hot` and `cold` are the first and the last one, both above 0, `cold` at most `hot`. Raises a `ValueError` if a
    temperature or the number of steps is out of range.
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

    A candidate of ratio r' replaces one of ratio r with probability min(1, exp(-(r - r') / T)). It is kept if ``draw``
    is at most that probability, that is if r' >= r + T ln(draw). Better and equal candidates are always kept.

    Parameters
    ----------
    current
        Ratio r of the instance that is being changed.
    temperature
        T, above 0, in units of the ratio.
    draw
        Uniform in (0, 1], drawn before the candidate is measured. A candidate whose ratio is provably too small can
        therefore be rejected without solving it, and the search is the same as if it had been solved.

    References
    ----------
    Kirkpatrick, Gelatt and Vecchi (1983): acceptance by differences. Coleman and Krishnamachari (2024), PISA: An
    Adversarial Approach To Comparing Task Graph Scheduling Algorithms: annealing on problem instances. Deviation: their
    published code accepts with exp(-(r' / r) / T) if r' <= r. That decreases in r': it keeps a much worse candidate
    more often than a slightly worse one, and at low temperatures hardly ever an equal one.
    """
    return current + temperature * math.log(draw)


class CandidateOutcome(StrEnum):
    """Outcome of a candidate."""

    STARTED = "started"
    """A search begins with it."""
    ACCEPTED = "accepted"
    """The next change is made to it."""
    REJECTED = "rejected"
    """Its ratio is below what it needed."""
    BELOW = "rejected by a bound"
    """A lower bound without search shows that its ratio is below what it needed."""
    NO_SCHEDULE = "no schedule"
    """It has no ratio: a heuristic found no schedule within the memory limits, or a schedule may cost nothing."""
    NOT_PROVEN = "not proven"
    """Its optimum is not proven within the deterministic limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a search.

    Parameters
    ----------
    start
        Number of the search, from 0.
    step
        Number of the step in its search; step 0 is the start.
    change
        What was changed; empty at step 0.
    temperature, needed
        Temperature in units of the ratio, and least ratio to be accepted; None at step 0.
    ratio
        Ratio of the candidate; None if it was not computed.
    current
        Ratio of the instance that is changed next.
    best
        Largest ratio of all searches so far.
    """

    start: int
    step: int
    change: str
    temperature: float | None
    needed: float | None
    ratio: float | None
    decision: CandidateOutcome
    current: float | None
    best: float | None


def adversary_search(
    starts: list[DagInstance],
    space: InstanceSpace,
    oracle: RatioOracle,
    cooling: Cooling,
    seed: int,
    *,
    on_step: Callable[[Step], None] = lambda step: None,
    on_worst: Callable[[WorstCase], None] = lambda worst: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[WorstCase | None, bool]:
    """Search the instances of a space for a large ratio.

    With the same arguments the searches are the same, bit for bit: they are counted in steps, and no clock decides
    anything.

    Parameters
    ----------
    starts
        Starts of the searches, which are first brought inside the space.
    on_worst
        Receives every instance whose ratio is the largest so far, with its proven optimum.
    should_stop
        Checked between steps; what was found is kept.

    Returns
    -------
    tuple
        The largest ratio found, which is a lower bound on the worst case in this space, or None if no start has a
        ratio; and whether all searches came to their end.
    """
    annealing = _Annealing(space, oracle, cooling, on_step, on_worst, should_stop)
    try:
        for number, start in enumerate(starts):
            annealing.search(number, space.bring_inside(start), np.random.default_rng([seed, CHANGED, number]))
    except InterruptedRunError:
        return annealing.worst, False
    return annealing.worst, True


class _Annealing:
    """Searches that share the worst case found so far."""

    def __init__(
        self,
        space: InstanceSpace,
        oracle: RatioOracle,
        cooling: Cooling,
        on_step: Callable[[Step], None],
        on_worst: Callable[[WorstCase], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.worst: WorstCase | None = None
        self._space = space
        self._oracle = oracle
        self._cooling = cooling
        self._on_step = on_step
        self._on_worst = on_worst
        self._should_stop = should_stop

    def search(self, number: int, current: DagInstance, rng: np.random.Generator) -> None:
        """Run one search; every step draws the same numbers, whatever its outcome."""
        current_ratio, decision = self._measured(current, 0.0)
        step = Step(
            start=number,
            step=0,
            change="",
            temperature=None,
            needed=None,
            ratio=current_ratio,
            decision=CandidateOutcome.STARTED if current_ratio is not None else decision,
            current=current_ratio,
            best=self._best,
        )
        self._on_step(step)
        if current_ratio is None:
            return
        for index in range(self._cooling.steps):
            if self._should_stop():
                raise InterruptedRunError("search")
            candidate, change = perturb(current, self._space, rng)
            temperature = self._cooling.at(index)
            needed = least_ratio(current_ratio, temperature, 1.0 - rng.random())
            ratio, decision = self._measured(candidate, needed)
            if ratio is not None and decision is CandidateOutcome.ACCEPTED:
                current, current_ratio = candidate, ratio
            step = Step(
                start=number,
                step=index + 1,
                change=change,
                temperature=temperature,
                needed=needed,
                ratio=ratio,
                decision=decision,
                current=current_ratio,
                best=self._best,
            )
            self._on_step(step)

    @property
    def _best(self) -> float | None:
        """Largest ratio so far."""
        return None if self.worst is None else self.worst.ratio

    def _measured(self, candidate: DagInstance, needed: float) -> tuple[float | None, CandidateOutcome]:
        """Return ratio and outcome of a candidate; keep it if it is the worst case so far."""
        try:
            ratio = self._oracle.ratio(candidate, at_least=needed)
            if ratio < needed:
                return ratio, CandidateOutcome.REJECTED
            if self.worst is None or ratio > self.worst.ratio:
                self.worst = self._oracle.worst_case(candidate)
                self._on_worst(self.worst)
        except BelowError:
            return None, CandidateOutcome.BELOW
        except NotProvenError:
            return None, CandidateOutcome.NOT_PROVEN
        except NoRatioError:
            return None, CandidateOutcome.NO_SCHEDULE
        return ratio, CandidateOutcome.ACCEPTED
