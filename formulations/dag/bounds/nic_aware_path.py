"""Join-aware path under contention: what enters or leaves a server through its interface goes one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.bounds.path_bound import path_bound
from formulations.dag.heads_and_tails import heads_and_tails
from instances.contention import Contention

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.objective import Objective


def nic_aware_path(instance: DagInstance, objective: Objective, contention: Contention = Contention.NIC) -> int:
    """Return max over i of min over k of (H + p + T) with heads and tails that know contention.

    Valid under the rule of `Contention.NIC` only; our own derivation (see `nic_join`); never below the join-aware path.
    Without contention it is the join-aware path.
    """
    return path_bound(instance, objective, heads_and_tails(instance, contention=contention))
