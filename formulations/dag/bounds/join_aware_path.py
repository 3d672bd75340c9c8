"""B3, join-aware path: as B2, and predecessors on one GPU cannot overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.bounds.path_bound import path_bound
from formulations.dag.heads_and_tails import heads_and_tails

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.objective import Objective


def join_aware_path(instance: DagInstance, objective: Objective) -> int:
    """Return max over i of min over k of (H + p + T) with join-aware heads and tails.

    Valid where a GPU runs one task at a time and no task is duplicated, that is always here; our own derivation (see
    `heads_and_tails`); never below the transfer-aware path.
    """
    return path_bound(instance, objective, heads_and_tails(instance, join_aware=True))
