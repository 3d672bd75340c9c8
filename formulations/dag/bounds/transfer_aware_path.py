"""B2, communication-aware path: the longest path where every transfer takes its cheapest link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.bounds.path_bound import path_bound
from formulations.dag.heads_and_tails import heads_and_tails

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.objective import Objective


def transfer_aware_path(instance: DagInstance, objective: Objective) -> int:
    """Return max over i of min over k of (H + p + T) with transfer-aware heads and tails.

    Valid for transfer delays of at least 0, that is always here (textbook); never below the critical path.
    """
    return path_bound(instance, objective, heads_and_tails(instance, join_aware=False))
