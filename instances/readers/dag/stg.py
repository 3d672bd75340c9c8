"""Reader of the Standard Task Graph Set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.clusters.gpu_kinds import gpu_kind
from instances.dag.instance import DagInstance
from instances.parameters import fields_as_parameters
from instances.readers.dag.measured_graph import GpuModel, MeasuredGraph, dag_instance_from_measured
from instances.readers.text_fields import check_at_least, check_edges, instance_name, integer_field
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike


@fields_as_parameters
def read_stg(
    path: str | PathLike[str],
    *,
    num_gpus: int = 2,
    keep_dummies: bool = False,
    unit_seconds: float = 1e-3,
    model: GpuModel = GpuModel(),
) -> DagInstance:
    """Read a graph of the Standard Task Graph Set.

    The first line is the number n of tasks without the two dummies; then come n + 2 tasks, each with its number, its
    time, its number of predecessors and the predecessors, and lines of information that begin with ``#``. Task 0 is the
    dummy entry and task n + 1 the dummy exit, both of time 0. In the variant with communication costs the line of a
    task ends after the number of predecessors, and each predecessor has a line of its own with its communication cost.

    The problem of the set has identical processors, and communication takes its cost between any two of them: that is
    what is read, in ticks, unless a cluster is given.

    Parameters
    ----------
    num_gpus
        Number of identical processors; without a cluster.
    keep_dummies
        Whether the dummies are tasks too. They change no optimum.
    unit_seconds
        Length of the file's unit of time in seconds; with a cluster. The format does not define it.
    model
        Without a cluster the processors stay identical. With one, a communication cost becomes the bytes that the
        reference kind moves over PCIe in that time.

    Returns
    -------
    DagInstance
        Tasks in the order of their numbers, named after them.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no such graph (the message gives the line), or an option is out of range.

    References
    ----------
    Tobita and Kasahara (2002), A Standard Task Graph Set for Fair Evaluation of Multiprocessor Scheduling Algorithms,
    Journal of Scheduling 5(5); https://www.kasahara.cs.waseda.ac.jp/schedule/format_e.html.
    """
    check_at_least("num_gpus", num_gpus, 1)
    names, times, edges = _parse(read_text(path), keep_dummies)
    if model.cluster is None:
        model.check_unused("the tasks run on identical processors without a cluster")
        return DagInstance.from_lists(
            [[time] * num_gpus for time in times],
            edges,
            name=instance_name(path),
            task_names=names,
            gpu_kinds=["processor"] * num_gpus,
            num_gpus=num_gpus,
        )
    if not unit_seconds > 0:
        raise ValueError(f"unit_seconds: expected a positive number, got {unit_seconds}.")
    unit_bytes = unit_seconds * gpu_kind(model.reference_kind).pcie_bandwidth
    graph = MeasuredGraph(
        name=instance_name(path),
        task_names=names,
        seconds=[time * unit_seconds for time in times],
        memory_bytes=[0] * len(names),
        edges=[(tail, head, round(delay * unit_bytes)) for tail, head, delay in edges],
    )
    return dag_instance_from_measured(graph, model)


def _parse(text: str, keep_dummies: bool) -> tuple[list[str], list[int], list[tuple[int, int, int]]]:
    """Return names, times and edges; the third entry of an edge is its communication cost."""
    rows = [
        (number, line.split())
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not rows or len(rows[0][1]) != 1:
        number, fields = rows[0] if rows else (1, [])
        raise ValueError(f"line {number}: expected the number of tasks alone, got {len(fields)} fields.")
    line, (field,) = rows[0]
    last_task = integer_field(field, f"line {line}", "the number of tasks") + 1
    time_of_task: dict[int, int] = {}
    edges: list[tuple[int, int, int]] = []
    places: list[str] = []
    position = 1
    while position < len(rows):
        line, fields = rows[position]
        task, predecessors, position = _parse_task(rows, position, last_task)
        if task in time_of_task:
            raise ValueError(f"line {line}: expected each task once, got {task} again.")
        time_of_task[task] = integer_field(fields[1], f"line {line}", "a time")
        if task in (0, last_task) and time_of_task[task] > 0:
            raise ValueError(f"line {line}: expected time 0 of the dummy task {task}, got {time_of_task[task]}.")
        if task == 0 and predecessors:
            raise ValueError(f"line {line}: expected no predecessors of the dummy entry, got {len(predecessors)}.")
        for place, predecessor, delay in predecessors:
            if predecessor == last_task:
                raise ValueError(f"{place}: expected no successors of the dummy exit {last_task}, got {task}.")
            if delay > 0 and (predecessor == 0 or task == last_task) and not keep_dummies:
                raise ValueError(
                    f"{place}: expected communication 0 with a dummy task, which is dropped "
                    f"(keep_dummies=True keeps it), got {delay}."
                )
            edges.append((predecessor, task, delay))
            places.append(place)
    if len(time_of_task) != last_task + 1:
        raise ValueError(
            f"line {rows[-1][0]}: expected {last_task + 1} tasks ({last_task - 1} and two dummies), "
            f"got {len(time_of_task)} at the end."
        )
    check_edges([str(task) for task in range(last_task + 1)], edges, places)
    kept = range(last_task + 1) if keep_dummies else range(1, last_task)
    return (
        [str(task) for task in kept],
        [time_of_task[task] for task in kept],
        [(tail - kept.start, head - kept.start, delay) for tail, head, delay in edges if tail in kept and head in kept],
    )


def _parse_task(
    rows: list[tuple[int, list[str]]], position: int, last_task: int
) -> tuple[int, list[tuple[str, int, int]], int]:
    """Return a task, the place, number and communication cost of each predecessor, and where the next task stands."""
    line, fields = rows[position]
    if len(fields) < 3:
        raise ValueError(
            f"line {line}: expected task, time, number of predecessors and predecessors, got {len(fields)} fields."
        )
    task = _task(fields[0], f"line {line}", last_task)
    count = integer_field(fields[2], f"line {line}", "the number of predecessors")
    if len(fields) == 3 and count > 0:
        following = rows[position + 1 : position + 1 + count]
        predecessors = []
        for number, pair in following:
            if len(pair) != 2:
                raise ValueError(f"line {number}: expected a predecessor and its cost, got {len(pair)} fields.")
            delay = integer_field(pair[1], f"line {number}", "a communication cost")
            predecessors.append((f"line {number}", _task(pair[0], f"line {number}", last_task), delay))
        if len(following) < count:
            raise ValueError(f"line {line}: expected {count} predecessors of task {task}, got {len(following)}.")
        return task, predecessors, position + 1 + count
    if len(fields) != 3 + count:
        raise ValueError(f"line {line}: expected {count} predecessors of task {task}, got {len(fields) - 3}.")
    return task, [(f"line {line}", _task(field, f"line {line}", last_task), 0) for field in fields[3:]], position + 1


def _task(field: str, place: str, last_task: int) -> int:
    """Read the number of a task."""
    task = integer_field(field, place, "a task")
    if task > last_task:
        raise ValueError(f"{place}: expected a task in 0..{last_task}, got {task}.")
    return task
