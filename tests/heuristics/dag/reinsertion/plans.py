"""Plain recomputations of what the kernels of the reinsertion search keep up to date."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.list_scheduling import random_placement
from heuristics.dag.reinsertion.move import Journal, forget, new_journal, propagate_everything
from heuristics.dag.reinsertion.plan import OUT, Graph, Plan, graph_of, new_plan

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


def random_plan(instance: DagInstance, seed: int) -> tuple[Graph, Plan, Journal]:
    """Return a plan of a random schedule; the instance has no memory limits."""
    schedule = random_placement(instance, np.random.default_rng(seed))
    assert schedule is not None
    return plan_of(instance, schedule)


def plan_of(instance: DagInstance, schedule: DagSchedule) -> tuple[Graph, Plan, Journal]:
    """Return the plan of a schedule, with ways."""
    graph, journal = graph_of(instance), new_journal(instance.num_tasks)
    plan = new_plan(instance, graph, schedule)
    propagate_everything(graph, plan, journal)
    forget(journal)
    return graph, plan, journal


def plain_ways(instance: DagInstance, plan: Plan) -> tuple[list[int], list[int]]:
    """Return heads and tails of a complete plan by relaxing all arcs until nothing changes."""
    n = instance.num_tasks
    gpu, duration = plan.task["gpu"].tolist(), plan.task["duration"].tolist()
    arcs = [
        (tail, head, int(instance.transfer_delays(edge)[gpu[tail], gpu[head]]))
        for edge, (tail, head) in enumerate(instance.edges.tolist())
    ]
    for k in range(instance.num_gpus):
        row = plan.sequence[k, : plan.gpu[k]["count"]].tolist()
        arcs += [(before, after, 0) for before, after in pairwise(row)]
    heads = instance.release[instance.job_of_task].tolist()
    tails = plan.sink.tolist()
    for _ in range(n):
        for before, after, wait in arcs:
            heads[after] = max(heads[after], heads[before] + duration[before] + wait)
            tails[before] = max(tails[before], wait + duration[after] + tails[after])
    return heads, tails


def assert_consistent(instance: DagInstance, plan: Plan) -> None:
    """Check every field of a complete plan against plain recomputations."""
    task, n = plan.task, instance.num_tasks
    assert sorted(plan.order.tolist()) == list(range(n))
    assert plan.order[task["position"]].tolist() == list(range(n))
    assert (task["gpu"] != OUT).all()
    assert task["duration"].tolist() == instance.durations[np.arange(n), task["gpu"]].tolist()
    heads, tails = plain_ways(instance, plan)
    assert task["head"].tolist() == heads
    assert task["tail"].tolist() == tails
    seen = []
    for k in range(instance.num_gpus):
        row = plan.sequence[k, : plan.gpu[k]["count"]].tolist()
        seen += row
        assert (task["gpu"][row] == k).all()
        assert task["place"][row].tolist() == list(range(len(row)))
        assert task["previous"][row].tolist() == [-1, *row[:-1]][: len(row)]
        assert task["following"][row].tolist() == [*row[1:], -1][: len(row)]
        assert (np.diff(task["position"][row]) > 0).all()
        used = int(instance.task_memory[task["gpu"] == k].sum())
        if instance.gpu_memory[k] >= 0:
            assert plan.gpu[k]["free_memory"] == instance.gpu_memory[k] - used
    assert sorted(seen) == np.flatnonzero(task["duration"] > 0).tolist()
    for tail, head in instance.edges.tolist():
        assert task["position"][tail] < task["position"][head]
