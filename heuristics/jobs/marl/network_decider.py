"""Takes decisions with the network, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.network import embed, probabilities, scores
from heuristics.jobs.marl.observer import Observer
from heuristics.jobs.marl.parameters import Variant

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.jobs.marl.decider import Decision
    from heuristics.jobs.marl.observation import Observation, ObservationSize
    from heuristics.jobs.marl.parameters import Parameters
    from heuristics.jobs.marl.rounds import Rounds

    Watch = Callable[[Decision, Observation, int], None]
    """Hears of a decision, what was seen, and the slot that was chosen."""


class NetworkDecider:
    """The policy of all agents, with common parameters; for one simulation.

    Parameters
    ----------
    parameters
        See `initial_parameters`.
    kappa
        Unit of time in ticks that the parameters were trained with.
    variant
        Of the parameters.
    size
        Of the observations; as small as may be if None. Its kinds are those of the parameters.
    rng
        Source of the slots, drawn by their probabilities; None takes the largest score (ties: the lowest slot).
    watch
        Hears of every decision.
    """

    def __init__(
        self,
        parameters: Parameters,
        kappa: float,
        variant: Variant = Variant.INNER_OUTER,
        *,
        size: ObservationSize | None = None,
        rng: np.random.Generator | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Keep what is given."""
        self._parameters, self._kappa, self._variant = parameters, kappa, Variant(variant)
        self._size, self._rng, self._watch = size, rng, watch
        self._observer: Observer | None = None

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Let the agents broadcast their summaries."""
        if self._observer is None:
            self._observer = Observer(rounds, self._kappa, self._size)
        self._observer.begin_round(time)

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Return a slot."""
        if self._observer is None:
            raise RuntimeError("begin_round: expected a call before decide, got none.")
        seen = self._observer.observe(decision)
        masked = scores(np, self._parameters, seen, embed(np, self._parameters, seen, self._variant))
        if self._rng is None:
            slot = int(masked.argmax())
        else:
            chances = probabilities(np, masked.astype(np.float64))
            slot = int(self._rng.choice(len(chances), p=chances))
        if self._watch is not None:
            self._watch(decision, seen, slot)
        return slot
