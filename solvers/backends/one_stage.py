"""A bound from one GPU at a time: its tasks exactly, all others as delays, solved by CP-SAT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.bounds.live_memory import PlacedBounds
from formulations.dag.cp_sat.buffers import BufferModel
from formulations.dag.fixed_placement import placements
from formulations.time_left import without_limit
from instances.dag.objective import Objective
from solvers.run.exact_run import cp_sat_solver

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance


EFFORT = 20.0
"""CP-SAT's deterministic time for one GPU where there is no time limit: of the order of as many seconds."""

SEED = 1
"""Seed of CP-SAT, its own default."""


def one_stage(instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit) -> int:
    """Bound by the optimum of each GPU alone, on which tasks wait for the longest paths through all other GPUs.

    What is left is one machine with delays and memory; removing the other machines removes constraints only. It needs
    one placement, and buffers that are released on their own GPU; else, and for the weighted completion, it is 0.
    GPUs come in the order of their bounds without search. Ours; docs/bounds.md, section 3.16.
    """
    from ortools.sat.python import cp_model

    ways = placements(instance, 1)
    if Objective(objective) is Objective.WEIGHTED_COMPLETION or not ways:
        return 0
    placed = PlacedBounds(instance, ways[0])
    best, spans = placed.best(objective), placed.ramps()
    if any(ways[0][buffer.task] != ways[0][other] for buffer in instance.buffers for other in buffer.released_by):
        return best
    for k in sorted(range(instance.num_gpus), key=lambda k: -spans[k]):
        if seconds_left() <= 0:
            break
        model = BufferModel(instance, objective, at_least=best, gpu=ways[0], kept=[k])
        solver = cp_sat_solver(1, SEED, max(seconds_left() / 2, 1e-3))
        solver.parameters.max_deterministic_time = EFFORT
        status = solver.solve(model.proto_model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
            best = max(best, solver.response_proto.inner_objective_lower_bound)
    return best
