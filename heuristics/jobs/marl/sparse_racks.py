"""Observations of many servers with a sparse map from servers to racks, for the forward pass in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from heuristics.jobs.marl.observation import Observation

WORTH_IT = 1 << 17
"""Entries of the map: below, a dense product is as fast, and gives the very bits of training."""


class SparseRacks:
    """Replaces large maps from servers to racks, in which a row has one entry; made once per map.

    The network multiplies by the map and its transpose. A dense product costs servers x racks, a sparse one servers;
    sums over the servers of a rack may differ in their last bits.
    """

    def __init__(self) -> None:
        """Know no map."""
        self._known: dict[int, tuple[Any, Any]] = {}

    def of(self, agent: int, seen: Observation) -> Observation:
        """Return an agent's observation with a sparse map where that is worth it."""
        if seen.in_rack.size < WORTH_IT:
            return seen
        dense, sparse = self._known.get(agent, (None, None))
        if dense is not seen.in_rack:
            from scipy.sparse import csr_array

            sparse = csr_array(seen.in_rack)
            if not seen.in_rack.flags.writeable:  # otherwise it may change
                self._known[agent] = seen.in_rack, sparse
        return seen._replace(in_rack=sparse)
