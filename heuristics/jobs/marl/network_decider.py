"""Takes decisions with the network, in NumPy, with a sparse map from servers to racks if it is large."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.network import Variant, embed, probabilities, scores
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from heuristics.jobs.marl.network import Parameters
    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.rounds import Decision, Rounds

    Watch = Callable[[Decision, Observation, int], None]
    """Receives a decision, its observation, and the chosen slot."""


LEAST_SPARSE_SIZE = 1 << 17
"""Entries of the map below which a dense product is as fast; it is then bit for bit that of training."""


class SparseRacks:
    """Replaces large maps from servers to racks, in which a row has one entry, by sparse ones, once per map.

    The network multiplies by the map and its transpose. A dense product costs servers x racks, a sparse one servers;
    sums over the servers of a rack may differ in their last bits.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}

    def of(self, agent: int, seen: Observation) -> Observation:
        """Return an agent's observation, with a sparse map if it is large."""
        if seen.in_rack.size < LEAST_SPARSE_SIZE:
            return seen
        dense, sparse = self._known.get(agent, (None, None))
        if dense is not seen.in_rack:
            from scipy.sparse import csr_array

            sparse = csr_array(seen.in_rack)
            if not seen.in_rack.flags.writeable:  # otherwise it may change
                self._known[agent] = seen.in_rack, sparse
        return seen._replace(in_rack=sparse)


class NetworkDecider:
    """The policy of all agents, with common parameters or with their own; for one simulation.

    Parameters
    ----------
    parameters
        See `initial_parameters`; a sequence has those of each agent, which are read at every decision.
    kappa
        Unit of time in ticks that the parameters were trained with.
    size
        Size of the observations, with the kinds of the parameters; the smallest possible if None.
    kinds
        Names of the kinds that the parameters distinguish, if there is no size; those of the instance if None.
    rng
        Source of the slots, drawn by their probabilities; None takes the largest score (ties: the lowest slot).
    """

    def __init__(
        self,
        parameters: Parameters | Sequence[Parameters],
        kappa: float,
        variant: Variant = Variant.INNER_OUTER,
        *,
        size: ObservationSize | None = None,
        kinds: tuple[str, ...] | None = None,
        rng: np.random.Generator | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._parameters, self._kappa, self._variant = parameters, kappa, Variant(variant)
        self._size, self._kinds, self._rng, self._watch = size, kinds, rng, watch
        self._observer: Observer | None = None
        self._racks = SparseRacks()

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Let the agents broadcast their summaries."""
        if self._observer is None:
            size = self._size
            if size is None and self._kinds is not None:
                size = dataclasses.replace(ObservationSize.of(rounds.partitions), kinds=self._kinds)
            if not isinstance(self._parameters, Mapping) and len(self._parameters) != rounds.num_agents:
                expected = f"{len(self._parameters)}, as each has parameters of its own"
                raise ValueError(f"num_agents: expected {expected}, got {rounds.num_agents}.")
            self._observer = Observer(rounds, self._kappa, size)
        self._observer.begin_round(time)

    def decide(self, rounds: Rounds, decision: Decision) -> int:
        """Return a slot."""
        seen = self.observe(decision)
        slot = self.choose(decision, seen)
        if self._watch is not None:
            self._watch(decision, seen, slot)
        return slot

    def observe(self, decision: Decision) -> Observation:
        """Return the observation of the agent; the first half of a decision."""
        if self._observer is None:
            raise RuntimeError("begin_round: expected a call before decide, got none.")
        return self._observer.observe(decision)

    def choose(self, decision: Decision, seen: Observation) -> int:
        """Return the slot that the network takes; the second half."""
        given = self._parameters
        parameters = given if isinstance(given, Mapping) else given[decision.agent]
        seen = self._racks.of(decision.agent, seen)
        masked = scores(np, parameters, seen, embed(np, parameters, seen, self._variant))
        if self._rng is None:
            return int(masked.argmax())
        chances = probabilities(np, masked.astype(np.float64))
        return int(self._rng.choice(len(chances), p=chances))
