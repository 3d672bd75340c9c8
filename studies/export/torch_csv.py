"""Schedules of pipelines as files of torch.distributed.pipelining, written and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.pipeline_orders import OrderedTasks
from instances.dag.objective import Objective
from instances.dag.pipeline import pipeline_of
from instances.readers.dag.torch_csv import parse_torch_csv
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


def torch_csv(instance: DagInstance, schedule: DagSchedule) -> str:
    """Return a line per GPU with its passes in the order of their starts, in the form ``compute_only``.

    Cells are ``<stage><letter><micro-batch>``: F, I and W, or F and B where backward passes are fused. The runtime of
    torch adds sends and receives, and reads off the file which stage is on which rank. Ranks are the GPUs
    in their order; a GPU without a stage is left out, because torch runs no rank without one.

    Raises a `ValueError` if the instance is no pipeline.
    """
    pipeline = pipeline_of(instance)
    names: dict[int, str] = {}
    passes = [("F", pipeline.forward), ("B" if pipeline.weight is None else "I", pipeline.backward)]
    passes += [] if pipeline.weight is None else [("W", pipeline.weight)]
    for letter, tasks in passes:
        for (stage, batch), task in np.ndenumerate(tasks):
            names[int(task)] = f"{stage}{letter}{batch}"
    position = {task: number for number, task in enumerate(instance.topological_order.tolist())}
    lines = []
    for k in range(instance.num_gpus):
        mine = np.flatnonzero(schedule.gpu == k).tolist()
        mine.sort(key=lambda task: (int(schedule.start[task]), position[task]))
        lines += [",".join(names[task] for task in mine)] if mine else []
    return "\n".join(lines) + "\n"


def schedule_of_torch_csv(
    instance: DagInstance, path: str | PathLike[str], objective: Objective | str = Objective.MAKESPAN
) -> DagSchedule:
    """Return the best schedule of the orders in a file on an instance with these stages, ranks and micro-batches.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has another form or other passes than the instance, its orders wait for each other in a circle, or they
        need more memory than there is.
    """
    pipeline, found = pipeline_of(instance), parse_torch_csv(read_text(path))
    expected = (pipeline.stages, pipeline.micro_batches, pipeline.weight is not None, instance.num_gpus)
    got = (len(found.rank_of_stage), found.micro_batches, found.is_split, len(found.orders))
    if got != expected:
        texts = [f"{s} stages, {m} micro-batches, split {w}, {r} ranks" for s, m, w, r in (expected, got)]
        raise ValueError(f"document: expected {texts[0]}, got {texts[1]}.")
    tasks = {"F": pipeline.forward, "B": pipeline.backward, "W": pipeline.weight}
    orders = [[int(tasks[letter][stage, batch]) for stage, letter, batch in row] for row in found.orders]  # type: ignore[index]  # W only where split
    for k, row in enumerate(orders):
        for task in row:
            if instance.durations[task, k] < 0:
                raise ValueError(f"line {k + 1}: expected passes of stages that may be on rank {k}, got another one.")
    ordered = OrderedTasks(instance, orders)
    if ordered.is_deadlocked:
        raise ValueError("document: expected orders that can run, got passes that wait for each other in a circle.")
    schedule = ordered.schedule(Objective(objective))
    if schedule is None:
        raise ValueError("document: expected orders that fit into the memory of every rank, got more.")
    return schedule
