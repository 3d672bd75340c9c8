"""Reader of scientific workflows in WfFormat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.fields import REQUIRED, Fields, brief
from instances.json_document import parse_json
from instances.parameters import fields_as_parameters
from instances.readers.dag.contraction import contract_zero_time
from instances.readers.dag.measured_graph import GpuModel, MeasuredGraph, dag_instance_from_measured
from instances.readers.text_fields import check_edges, instance_name, json_bytes, json_number
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag.instance import DagInstance


VERSION = "1.5"


@fields_as_parameters
def read_wfformat(path: str | PathLike[str], *, contract: bool = False, model: GpuModel = GpuModel()) -> DagInstance:
    """Read a workflow in WfFormat 1.5 (WfCommons).

    A task's time is its ``runtimeInSeconds``, measured on a CPU and taken as the time on the reference kind of GPU: all
    heterogeneity is a model. The data on an edge is the size of the files that the parent writes and the child reads;
    inputs of the workflow, which no task writes, are on no edge. A task's memory is its ``memoryInBytes`` (0 where the
    file has none), although the real tasks did not hold it all the time.

    Parameters
    ----------
    contract
        Whether tasks of time 0 become part of a neighbour where that is safe (`zero_time_roots`).

    Returns
    -------
    DagInstance
        Tasks in the order of the file, named after their ids.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no such workflow; the message gives the place.

    References
    ----------
    Coleman et al. (2022), WfCommons: A Framework for Enabling Scientific Workflow Research and Development, Future
    Generation Computer Systems 128; github wfcommons/WfFormat.
    """
    document = Fields(parse_json(read_text(path)))
    version = document.text("schemaVersion")
    if version != VERSION:
        raise ValueError(f'schemaVersion: expected "{VERSION}", got {brief(version)}.')
    workflow = document.inner("workflow")
    specification = workflow.inner("specification")
    execution = workflow.inner("execution")
    size_of_file = _sizes(specification)
    tasks = _by_id(specification, "tasks")
    if not tasks:
        raise ValueError("workflow.specification.tasks: expected at least one task, got none.")
    runs = _by_id(execution, "tasks")
    for identity in runs:
        if identity not in tasks:
            raise ValueError(f"{runs[identity].place('id')}: expected the id of a task, got {brief(identity)}.")
    for identity in tasks:
        if identity not in runs:
            raise ValueError(f"workflow.execution.tasks: expected task {brief(identity)}, got nothing.")
    graph = MeasuredGraph(
        name=instance_name(path),
        task_names=list(tasks),
        seconds=[json_number(runs[identity], "runtimeInSeconds") for identity in tasks],
        memory_bytes=[json_bytes(runs[identity], "memoryInBytes", 0) for identity in tasks],
        edges=_edges(tasks, size_of_file),
    )
    if contract:
        graph = contract_zero_time(graph)
    return dag_instance_from_measured(graph, model)


def _by_id(section: Fields, key: str) -> dict[str, Fields]:
    """Take a list of objects, each with an id of its own."""
    objects: dict[str, Fields] = {}
    for item in section.each(key):
        identity = item.text("id")
        if identity in objects:
            raise ValueError(f"{item.place('id')}: expected each id once, got {brief(identity)} again.")
        objects[identity] = item
    return objects


def _sizes(specification: Fields) -> dict[str, int]:
    """Take the size of every file."""
    sizes: dict[str, int] = {}
    for file in specification.each("files", []):
        identity = file.text("id")
        if identity in sizes:
            raise ValueError(f"{file.place('id')}: expected each id once, got {brief(identity)} again.")
        sizes[identity] = json_bytes(file, "sizeInBytes")
    return sizes


def _edges(tasks: dict[str, Fields], size_of_file: dict[str, int]) -> list[tuple[int, int, int]]:
    """Return the edges that the parents state; the children must agree."""
    number_of_task = {identity: number for number, identity in enumerate(tasks)}
    parents, children, inputs, outputs = (
        [_references(task, key, known, what) for task in tasks.values()]
        for key, known, what in (
            ("parents", number_of_task, "a task"),
            ("children", number_of_task, "a task"),
            ("inputFiles", size_of_file, "a file"),
            ("outputFiles", size_of_file, "a file"),
        )
    )
    edges, places = [], []
    for head, task in enumerate(tasks.values()):
        for index, parent in enumerate(parents[head]):
            tail = number_of_task[parent]
            shared = set(outputs[tail]) & set(inputs[head])
            edges.append((tail, head, sum(size_of_file[file] for file in shared)))
            places.append(f"{task.place('parents')}[{index}]")
    check_edges(list(tasks), edges, places)
    identities = list(tasks)
    heads: list[set[str]] = [set() for _ in identities]
    for tail, head, _ in edges:
        heads[tail].add(identities[head])
    for tail, task in enumerate(tasks.values()):
        difference = heads[tail] ^ set(children[tail])
        if difference:
            raise ValueError(
                f"{task.place('children')}: expected the tasks that name this one as parent, "
                f"got a difference in {brief(min(difference))}."
            )
    return edges


def _references(task: Fields, key: str, known: dict[str, int], what: str) -> list[str]:
    """Take a list of ids; the lists of files are optional."""
    values: list[str] = task.entries(key, [] if what == "a file" else REQUIRED)
    for index, value in enumerate(values):
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{task.place(key)}[{index}]: expected the id of {what}, got {brief(value)}.")
    return values
