"""Pipeline-parallel training as an instance: made from costs per stage, and recognised in any instance of that shape.

Stage s has a forward pass F(s,j), a gradient of the input B(s,j) and a gradient of the weights W(s,j) for every
micro-batch j; with fused backward passes there is no W. F(s,j) holds bytes until B(s,j) and until W(s,j) end.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.buffers import connected_parts, least_memory, place_of_task
from instances.dag.graph import successor_lists
from instances.dag.instance import DagInstance
from instances.fields import one_of
from instances.parameters import check_integer, fields_as_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


LAYOUTS = ("loop", "v")
"""Where chunks are: stage s on GPU s modulo the number of GPUs, or up and down again, the turning GPU twice."""


def gpu_of_stage(stages: int, gpus: int, layout: str) -> list[int]:
    """Return the GPU of every stage; raises a `ValueError` for an unknown layout."""
    one_of(layout, LAYOUTS, "layout")
    rounds = [divmod(stage, gpus) for stage in range(stages)]
    return [place if layout == "loop" or number % 2 == 0 else gpus - 1 - place for number, place in rounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineMemory:
    """What passes hold and how much there is, in bytes.

    Parameters
    ----------
    until_backward, until_weight
        Bytes that F holds until B ends and until W ends, per stage; default 1 each.
    limits
        Memory of every GPU, or of each; None for no limit.
    stage_bytes
        Weights and optimiser state of each stage, held for the whole schedule; default none.
    """

    until_backward: Sequence[int] | None = None
    until_weight: Sequence[int] | None = None
    limits: Sequence[int | None] | int | None = None
    stage_bytes: Sequence[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinePlacement:
    """The GPUs of a pipeline, and where its stages are.

    Parameters
    ----------
    gpus
        Number of GPUs; default one per stage.
    layout
        Where stages are if there are more of them than GPUs; one of `LAYOUTS`.
    places
        GPU of every stage, in the place of a layout.
    slowdown
        Factor on the durations on each GPU, which are rounded up; default 1 everywhere.
    gpu_kinds, gpu_servers
        As in `DagInstance.from_lists`.
    is_free
        Whether a stage may be on any GPU. The passes of a stage stay together in any case.
    """

    gpus: int | None = None
    layout: str = "loop"
    places: Sequence[int] | None = None
    slowdown: Sequence[float] | None = None
    gpu_kinds: Sequence[str] | None = None
    gpu_servers: Sequence[str] | None = None
    is_free: bool = False


@fields_as_parameters
def pipeline_instance(
    *,
    micro_batches: int,
    forward: Sequence[int],
    backward: Sequence[int],
    weight: Sequence[int],
    transfer: int = 0,
    fused: bool = False,
    memory: PipelineMemory = PipelineMemory(),
    placement: PipelinePlacement = PipelinePlacement(),
    tick_seconds: float = 1.0,
    name: str = "pipeline",
) -> DagInstance:
    """Make one iteration of pipeline-parallel training; all times in ticks, all sizes in bytes.

    Parameters
    ----------
    forward, backward, weight
        Duration of F, B and W on a GPU without slowdown, one entry per stage; with chunks a stage is a chunk.
    transfer
        Delay of an activation or a gradient between neighbouring stages on different GPUs.
    fused
        Whether B and W are one task of both durations, which frees everything.
    memory, placement
        Their fields may be given one by one.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or as `DagInstance`.
    """
    stages = len(forward)
    check_integer("stages", stages, low=1)
    gpus = check_integer("gpus", stages if placement.gpus is None else placement.gpus, low=1)
    micro_batches = check_integer("micro_batches", micro_batches, low=1)
    check_integer("transfer", transfer, low=0)
    until_backward = [1] * stages if memory.until_backward is None else memory.until_backward
    until_weight = [1] * stages if memory.until_weight is None else memory.until_weight
    stage_bytes = [0] * stages if memory.stage_bytes is None else memory.stage_bytes
    limits, is_free = memory.limits, placement.is_free
    for place, values in (("backward", backward), ("weight", weight), ("until_backward", until_backward)):
        if len(values) != stages:
            raise ValueError(f"{place}: expected {stages} entries, one per stage, got {len(values)}.")
    places = gpu_of_stage(stages, gpus, placement.layout) if placement.places is None else list(placement.places)
    factors = [1.0] * gpus if placement.slowdown is None else list(placement.slowdown)
    durations: list[list[int | None]] = []
    names, groups, held = list[str](), list[int](), list[int]()
    edges, buffers = list[tuple[int, int, int]](), list[tuple[int, int, list[int]]]()

    def add(letter: str, stage: int, batch: int, ticks: int) -> int:
        row = [int(np.ceil(ticks * factor - 1e-9)) for factor in factors]
        durations.append([row[k] if is_free or k == places[stage] else None for k in range(gpus)])
        names.append(f"{letter}{stage}.{batch}")
        groups.append(stage)
        held.append(int(stage_bytes[stage]) if letter == "F" and batch == 0 else 0)
        return len(names) - 1

    for batch in range(micro_batches):
        passed = [add("F", stage, batch, int(forward[stage])) for stage in range(stages)]
        edges += [(one, other, transfer) for one, other in pairwise(passed)]
        before: int | None = None
        for stage in reversed(range(stages)):
            ticks = int(backward[stage]) + (int(weight[stage]) if fused else 0)
            back = add("B", stage, batch, ticks)
            edges += [(passed[stage], back, 0)] + ([] if before is None else [(before, back, transfer)])
            before = back
            if fused:
                buffers.append((passed[stage], int(until_backward[stage]) + int(until_weight[stage]), [back]))
                continue
            last = add("W", stage, batch, int(weight[stage]))
            edges.append((back, last, 0))
            buffers += [(passed[stage], int(until_backward[stage]), [back])]
            buffers += [(passed[stage], int(until_weight[stage]), [last])]
    return DagInstance.from_lists(
        durations,
        edges,
        name=name,
        tick_seconds=tick_seconds,
        task_memory=held,
        gpu_memory=[limits] * gpus if limits is None or isinstance(limits, int) else list(limits),
        task_names=names,
        gpu_kinds=placement.gpu_kinds,
        gpu_servers=placement.gpu_servers,
        buffers=buffers,
        groups=groups,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pipeline:
    """The passes of a pipeline: tasks by stage and micro-batch.

    Parameters
    ----------
    forward, backward
        Task F(s,j) and B(s,j), shape (stages, micro-batches).
    weight
        Task W(s,j), the same shape; None where backward passes are fused.
    gpus_of_stage
        Where the passes of each stage may be.
    """

    forward: NDArray[np.int64]
    backward: NDArray[np.int64]
    weight: NDArray[np.int64] | None
    gpus_of_stage: tuple[tuple[int, ...], ...]

    @property
    def stages(self) -> int:
        """Number of stages; with chunks a stage is a chunk."""
        return int(self.forward.shape[0])

    @property
    def micro_batches(self) -> int:
        """Number of micro-batches."""
        return int(self.forward.shape[1])

    def tasks_of_stage(self, stage: int) -> list[int]:
        """Return all passes of a stage."""
        passes = [self.forward, self.backward] + ([] if self.weight is None else [self.weight])
        return [int(task) for part in passes for task in part[stage]]


def pipeline_of(instance: DagInstance) -> Pipeline:
    """Recognise a pipeline: every connected part is a micro-batch, F down the stages, B back up, a W behind each B.

    Raises a `ValueError` that says what is no pipeline about the instance.
    """
    parts = connected_parts(instance)
    if not parts:
        raise ValueError("tasks: expected a pipeline, got no tasks.")
    after = successor_lists(instance.num_tasks, instance.edges)
    before = successor_lists(instance.num_tasks, instance.edges[:, ::-1])
    batches = [_passes(part, after, before) for part in parts]
    stages, is_split = len(batches[0][0]), bool(batches[0][2])
    for part, (forward, _, weight) in zip(parts, batches, strict=True):
        if len(forward) != stages or bool(weight) != is_split:
            raise ValueError(f"tasks[{part[0]}]: expected a micro-batch with the passes of the first one.")
    forwards, backwards, weights = (np.array(tasks, dtype=np.int64).T for tasks in zip(*batches, strict=True))
    place = place_of_task(instance)
    pipeline = Pipeline(
        forward=forwards,
        backward=backwards,
        weight=weights if is_split else None,
        gpus_of_stage=tuple(tuple(np.flatnonzero(place[tasks[0]]).tolist()) for tasks in forwards),
    )
    _check_stages(instance, pipeline)
    return pipeline


def is_pipeline(instance: DagInstance) -> bool:
    """Say whether an instance is a pipeline that `pipeline_of` recognises."""
    try:
        pipeline_of(instance)
    except ValueError:
        return False
    return True


def _passes(part: list[int], after: list[list[int]], before: list[list[int]]) -> tuple[list[int], list[int], list[int]]:
    """Return F, B and W of the stages of one connected part; no W where backward passes are fused."""
    refusal = ValueError(f"tasks[{part[0]}]: expected a micro-batch of a pipeline, got tasks of another shape.")
    roots = [task for task in part if not before[task]]
    leaves = {task for task in part if not after[task] and len(before[task]) == 1}
    if len(roots) != 1 or len(part) < 2:
        raise refusal
    order, task = [roots[0]], roots[0]  # the path F(0) .. F(S-1) B(S-1) .. B(0): its tasks have the most tasks behind
    depth = _depths(part, after)
    while depth[task]:
        nearer = [head for head in after[task] if depth[head] == depth[task] - 1]
        inner = [head for head in nearer if head not in leaves] or nearer
        if len(inner) != 1:
            raise refusal
        task = inner[0]
        order.append(task)
    rest = [task for task in part if task not in set(order)]
    if len(order) % 2 == 1 and before[order[-1]] == [order[-2]]:
        rest.append(order.pop())  # W(0) is as deep as a fused B(0) would be
    stages, odd = divmod(len(order), 2)
    if odd or len(rest) not in (0, stages):
        raise refusal
    forward, backward = order[:stages], order[stages:][::-1]
    weight_of = {before[task][0]: task for task in rest if not after[task] and len(before[task]) == 1}
    weight = [weight_of.get(task, -1) for task in backward] if rest else []
    edges = {
        *pairwise(order),
        *zip(forward, backward, strict=True),
        *zip(backward, weight, strict=False),
    }
    found = {(task, head) for task in part for head in after[task]}
    if -1 in weight or not found <= edges or not edges - set(zip(forward[:-1], backward[:-1], strict=True)) <= found:
        raise refusal
    return forward, backward, weight


def _depths(part: list[int], after: list[list[int]]) -> dict[int, int]:
    """Return for every task of a part the number of edges of the longest path behind it."""
    depth: dict[int, int] = {}
    stack = list(part)
    while stack:
        waiting = [head for head in after[stack[-1]] if head not in depth]
        if waiting:
            stack += waiting
            continue
        task = stack.pop()
        depth[task] = max((depth[head] + 1 for head in after[task]), default=0)
    return depth


def _check_stages(instance: DagInstance, pipeline: Pipeline) -> None:
    """Check that the passes of a stage stay together and that buffers run from an F to its B or W, or from B to W."""
    together = [pipeline.tasks_of_stage(stage) for stage in range(pipeline.stages)]
    for stage, tasks in enumerate(together):
        groups = set(instance.group_of_task[tasks].tolist())
        if len(pipeline.gpus_of_stage[stage]) > 1 and (len(groups) > 1 or min(groups) < 0):
            raise ValueError(f"tasks[{tasks[0]}].group: expected one group for the passes of stage {stage}.")
    weight = np.full_like(pipeline.forward, -1) if pipeline.weight is None else pipeline.weight
    known = {
        pair
        for ends in ((pipeline.forward, pipeline.backward), (pipeline.forward, weight), (pipeline.backward, weight))
        for pair in zip(ends[0].ravel().tolist(), ends[1].ravel().tolist(), strict=True)
    }
    for number, buffer in enumerate(instance.buffers):
        if len(buffer.released_by) != 1 or (buffer.task, buffer.released_by[0]) not in known:
            raise ValueError(f"buffers[{number}]: expected one from F to B or W, or from B to W, of one stage.")


def least_limit(instance: DagInstance) -> int:
    """Return the smallest memory, one for all GPUs, with which a pipeline has a schedule.

    It is the most that a task and what is surely live with it need: one micro-batch after the other, W right after its
    B, needs no more.
    """
    return int(least_memory(instance).max(initial=0))
