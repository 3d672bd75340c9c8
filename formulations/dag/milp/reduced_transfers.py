"""Transfers in a MILP by reduced linearisation: z[k,l] = x[h,k] x[i,l] from its row and column sums."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pyomo.environ as pyo

if TYPE_CHECKING:
    from formulations.dag.milp.core_model import CoreModel
    from instances.dag_schedule import DagSchedule


def add_reduced_transfers(core: CoreModel) -> None:
    """Let data arrive before a task starts.

    Per edge (h, i), with z[k,l] >= 0 continuous, k = l included:

        sum over l of z[k,l] = x[h,k],   sum over k of z[k,l] = x[i,l],
        s[i] >= f[h] + sum over k, l of c[h,i](k,l) z[k,l].

    Then z[k,l] = x[h,k] x[i,l] for integer x, and z <= x[h,k], z <= x[i,l], z >= x[h,k] + x[i,l] - 1 follow: 2m + 1
    rows instead of 3m^2 (textbook). Pairs of GPUs that the windows leave no time for have no z at all, so none of
    their delays becomes a huge coefficient (ours).

    Parameters
    ----------
    core
        Gets the variables ``both[edge, k, l]`` and the rows ``leaves``, ``arrives`` and ``after``.
    """
    model, instance, gpus = core.pyomo_model, core.instance, core.gpus
    delays = {edge: possible_delays(core, edge) for edge in range(instance.num_edges)}
    delayed = [edge for edge in delays if instance.transfer_delays(edge).any()]
    model.both = pyo.Var([(edge, k, l) for edge in delayed for k, l in delays[edge]], bounds=(0, 1))
    ends = instance.edges.tolist()

    def leaves(m: pyo.ConcreteModel, edge: int, k: int) -> object:
        h, i = ends[edge]
        return sum(m.both[edge, k, l] for l in gpus[i] if (k, l) in delays[edge]) == core.on[h, k]

    def arrives(m: pyo.ConcreteModel, edge: int, l: int) -> object:
        h, i = ends[edge]
        return sum(m.both[edge, k, l] for k in gpus[h] if (k, l) in delays[edge]) == core.on[i, l]

    def after(m: pyo.ConcreteModel, edge: int) -> object:
        h, i = ends[edge]
        transfer = sum(ticks * m.both[edge, k, l] for (k, l), ticks in delays[edge].items() if ticks)
        return m.start[i] >= core.finish(h) + transfer

    model.leaves = pyo.Constraint([(edge, k) for edge in delayed for k in gpus[ends[edge][0]]], rule=leaves)
    model.arrives = pyo.Constraint([(edge, l) for edge in delayed for l in gpus[ends[edge][1]]], rule=arrives)
    model.after = pyo.Constraint(list(delays), rule=after)


def set_reduced_transfers(core: CoreModel, schedule: DagSchedule) -> None:
    """Give the variables of the transfers their values in a schedule within the windows."""
    gpu = schedule.gpu.tolist()
    for edge, k, l in core.pyomo_model.both:
        h, i = core.instance.edges[edge].tolist()
        core.pyomo_model.both[edge, k, l].set_value(float(gpu[h] == k and gpu[i] == l))


def possible_delays(core: CoreModel, edge: int) -> dict[tuple[int, int], int]:
    """Return the delays of an edge in ticks for the pairs of GPUs (from, to) that the windows leave time for."""
    h, i = core.instance.edges[edge].tolist()
    delays, durations = core.instance.transfer_delays(edge), core.instance.durations
    leaves = core.within.around.heads[h] + durations[h]
    due = core.within.latest_finish[i] - durations[i]
    pairs = product(core.gpus[h], core.gpus[i])
    return {(k, l): int(delays[k, l]) for k, l in pairs if leaves[k] + delays[k, l] <= due[l]}
