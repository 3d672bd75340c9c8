"""Reader of the device placement graphs of Tarnawski et al."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.instance import DagInstance
from instances.fields import Fields, brief
from instances.json_document import parse_json
from instances.parameters import fields_as_parameters
from instances.readers.dag.contraction import class_roots, contracted_edges, contracted_sums, remaining, zero_time_roots
from instances.readers.dag.measured_graph import (
    GpuModel,
    MeasuredGraph,
    dag_instance_from_measured,
    pipeline_from_measured,
)
from instances.readers.text_fields import (
    bytes_from_number,
    check_at_least,
    check_edges,
    instance_name,
    json_bytes,
    json_number,
)
from instances.rounding import ticks_from_seconds
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike


MAX_DEVICES = 4096
"""More of one sort is taken as a mistake: every pair of devices has a link."""

BACKWARD_FACTOR = 2.0
"""Assumed time of a backward pass over that of its forward pass: two gradients of about its cost."""

COST_TOLERANCE = 1e-6
"""Relative difference up to which an edge's cost agrees with its size."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlacementGraph:
    """Nodes in the order of the file.

    Parameters
    ----------
    num_accelerators, num_cpus
        Devices of the file.
    accelerator_ms, cpu_ms
        Time of each node in milliseconds; NaN on an accelerator that does not support it.
    classes
        Colour class of each node, one of its own where the file gives none.
    edges
        ``(from, to, bytes)`` per edge.
    """

    num_accelerators: int
    num_cpus: int
    accelerator_memory_bytes: int
    names: Sequence[str]
    accelerator_ms: Sequence[float]
    cpu_ms: Sequence[float]
    memory_bytes: Sequence[int]
    classes: Sequence[Hashable]
    edges: Sequence[tuple[int, int, int]]


def parse_placement_graph(text: str, link_gib_per_second: float) -> PlacementGraph:
    """Read a graph; its edge costs are checked against the bandwidth.

    Raises a `ValueError` if the text has another form; the message gives the place.
    """
    if not link_gib_per_second > 0:
        raise ValueError(f"link_gib_per_second: expected a positive number, got {link_gib_per_second}.")
    document = Fields(parse_json(text))
    num_accelerators, num_cpus = _count(document, "maxFPGAs"), _count(document, "maxCPUs")
    accelerator_memory = json_bytes(document, "maxSizePerFPGA")
    nodes = document.each("nodes")
    if not nodes:
        raise ValueError("nodes: expected at least one node, got none.")
    task_of_id: dict[int, int] = {}
    names, accelerator_ms, cpu_ms, memory, classes = [], [], [], [], list[Hashable]()
    for task, node in enumerate(nodes):
        identity = node.integer("id")
        if identity in task_of_id:
            raise ValueError(f"{node.place('id')}: expected each id once, got {identity} again.")
        task_of_id[identity] = task
        names.append(node.text("name", str(identity)))
        milliseconds = json_number(node, "fpgaLatency")
        accelerator_ms.append(milliseconds if _is_supported(node) else math.nan)
        cpu_ms.append(json_number(node, "cpuLatency"))
        memory.append(json_bytes(node, "size"))
        colour = node.optional_integer("colorClass", None)
        classes.append(("node", identity) if colour is None else colour)
    edges, places = [], []
    for index, edge in enumerate(document.each("edges")):
        ends = []
        for key in ("sourceId", "destId"):
            identity = edge.integer(key)
            if identity not in task_of_id:
                raise ValueError(f"{edge.place(key)}: expected the id of a node, got {identity}.")
            ends.append(task_of_id[identity])
        edges.append((ends[0], ends[1], _edge_bytes(edge, link_gib_per_second)))
        places.append(f"edges[{index}]")
    check_edges(names, edges, places)
    return PlacementGraph(
        num_accelerators=num_accelerators,
        num_cpus=num_cpus,
        accelerator_memory_bytes=accelerator_memory,
        names=names,
        accelerator_ms=accelerator_ms,
        cpu_ms=cpu_ms,
        memory_bytes=memory,
        classes=classes,
        edges=edges,
    )


def _count(document: Fields, key: str) -> int:
    """Take a number of devices."""
    count: int = document.integer(key)
    if not 0 <= count <= MAX_DEVICES:
        raise ValueError(f"{document.place(key)}: expected 0 to {MAX_DEVICES} devices, got {brief(count)}.")
    return count


def _is_supported(node: Fields) -> bool:
    """Say whether a node may run on an accelerator; the files write 1 or true."""
    return bool(node.take("supportedOnFpga", True, "true or false", lambda value: value in (True, False)))


def _edge_bytes(edge: Fields, link_gib_per_second: float) -> int:
    """Take the size of an edge, which its cost must agree with."""
    size, cost_ms = json_number(edge, "size"), json_number(edge, "cost")
    expected_ms = size / (link_gib_per_second * 2**30) * 1e3
    if abs(cost_ms - expected_ms) > COST_TOLERANCE * expected_ms:
        raise ValueError(
            f"{edge.place('cost')}: expected {expected_ms:.6g} ms, which moves {size:g} bytes at "
            f"{link_gib_per_second:g} GiB/s (option link_gib_per_second), got {cost_ms:g}."
        )
    return bytes_from_number(size, edge.place("size"), "a size")


SHARED_MEMORY_BYTES_PER_SECOND = 1e15
"""Between CPU cores nothing is copied; the transfer delay of data then is one tick, the smallest there is."""


class ColourClassWarning(UserWarning):
    """Nodes that must share a device are separate tasks, which may be placed apart."""


@fields_as_parameters
def read_dnn_partitioning(
    path: str | PathLike[str],
    *,
    num_accelerators: int | None = None,
    with_cpus: bool = False,
    tick_seconds: float = 1e-6,
    link_gib_per_second: float = 2.0,
    zero_input_time: bool = True,
    contract_classes: bool = True,
    contract: bool = False,
    stages: int | None = None,
    micro_batches: int = 1,
    model: GpuModel = GpuModel(),
) -> DagInstance:
    """Read a graph of operators or layers with its accelerators, CPUs and memory limit.

    * The devices are the file's accelerators, each with its memory limit, and, optionally, its CPU cores without one.
      A cluster takes their place where it is given; times on an accelerator then are those of the reference kind, and
      times on other kinds are a model, not a measurement.
    * Data goes over links between each accelerator and the memory of the CPU, of 2 GiB/s in the public files: once
      between an accelerator and a CPU core, twice between two accelerators (as if at half the bandwidth), and not at
      all between CPU cores. There is no latency.
    * A colour class is a set of nodes that must share a device. The DAG problem has no such constraint; a class
      therefore becomes one task, with the sum of the times and of the memory, which starts when the data of all its
      nodes is there. Where that would close a cycle the class stays apart, its nodes may be placed on different
      devices, and a `ColourClassWarning` counts such classes.

    Parameters
    ----------
    num_accelerators
        How many accelerators; default those of the file. Without a cluster.
    with_cpus
        Whether the CPU cores are devices too. Without a cluster.
    tick_seconds
        Length of a tick. Without a cluster.
    link_gib_per_second
        Bandwidth of one crossing. The file's edge costs must agree with it: in other collections of the same authors
        they are in another unit.
    zero_input_time
        Whether the source of a graph that has only one takes no time: in the layer graphs it is the input, whose time
        is that of loading data.
    contract_classes
        Whether colour classes become tasks; if not they are ignored.
    contract
        Whether tasks of time 0 become part of a neighbour where that is safe (`zero_time_roots`).
    stages
        Number of stages into which the nodes are cut, in the place of one task per node: a training pipeline with
        memory that is released, on as many of the file's accelerators (`pipeline_from_measured`). The files hold
        inference only; a backward pass is assumed to take twice its forward pass. What a node takes beyond its output
        counts as weights.
    micro_batches
        Number of micro-batches of that pipeline, each a share of the data.
    model
        Without a cluster the devices are those of the file.

    Returns
    -------
    DagInstance
        Tasks in the order of the nodes (of their first nodes), named after them.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no such graph (the message gives the place), an option is out of range, or the memory is too small.

    Warns
    -----
    ColourClassWarning
        If colour classes stay apart.
    RoundingWarning
        If rounding to ticks changes a time by more than 0.1 %.

    References
    ----------
    Tarnawski et al. (2020), Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS; github
    msr-fiddle/dnn-partitioning. Deviation: contracting colour classes, see above.
    """
    graph = parse_placement_graph(read_text(path), link_gib_per_second)
    if zero_input_time:
        graph = _without_input_time(graph)
    if contract_classes:
        graph = _with_classes_contracted(graph)
    if contract:
        is_zero = [
            not (accelerator or cpu) for accelerator, cpu in zip(graph.accelerator_ms, graph.cpu_ms, strict=True)
        ]
        graph = _contracted(graph, zero_time_roots(is_zero, graph.edges))
    if not with_cpus or model.cluster is not None or stages is not None:
        for name, ms in zip(graph.names, graph.accelerator_ms, strict=True):
            if math.isnan(ms):
                raise ValueError(f"node {name!r}: expected supportedOnFpga, as there are no CPUs here, got false.")
    measured = MeasuredGraph(
        name=instance_name(path),
        task_names=graph.names,
        seconds=[ms * 1e-3 for ms in graph.accelerator_ms],
        memory_bytes=graph.memory_bytes,
        edges=graph.edges,
    )
    if stages is not None:
        check_at_least("micro_batches", micro_batches, 1)
        output = {tail: data for tail, _, data in graph.edges}
        return pipeline_from_measured(
            measured,
            [BACKWARD_FACTOR * seconds for seconds in measured.seconds],
            [max(size - output.get(node, 0), 0) for node, size in enumerate(graph.memory_bytes)],
            model,
            stages=stages,
            micro_batches=micro_batches,
            memory=graph.accelerator_memory_bytes,
        )
    if model.cluster is not None:
        return dag_instance_from_measured(measured, model)
    model.check_unused("the devices are those of the file without a cluster")
    accelerators = graph.num_accelerators if num_accelerators is None else num_accelerators
    check_at_least("num_accelerators", accelerators, 0 if with_cpus else 1)
    return _on_devices_of_file(
        graph, instance_name(path), accelerators, graph.num_cpus if with_cpus else 0, tick_seconds, link_gib_per_second
    )


def _on_devices_of_file(
    graph: PlacementGraph, name: str, accelerators: int, cpus: int, tick_seconds: float, link_gib_per_second: float
) -> DagInstance:
    """Put the graph on its own accelerators and CPU cores."""
    milliseconds = [
        [accelerator_ms] * accelerators + [cpu_ms] * cpus
        for accelerator_ms, cpu_ms in zip(graph.accelerator_ms, graph.cpu_ms, strict=True)
    ]
    num_devices = accelerators + cpus
    ticks = ticks_from_seconds(
        np.array(milliseconds, dtype=np.float64).reshape(len(graph.names), num_devices) * 1e-3,
        tick_seconds,
        place=lambda index: f"node {graph.names[index[0]]!r}",
    )
    crossing = link_gib_per_second * 2**30 * tick_seconds
    bandwidth = np.full((num_devices, num_devices), crossing)
    bandwidth[:accelerators, :accelerators] = crossing / 2
    bandwidth[accelerators:, accelerators:] = SHARED_MEMORY_BYTES_PER_SECOND * tick_seconds
    return DagInstance.from_lists(
        [[None if value < 0 else value for value in row] for row in ticks.tolist()],
        graph.edges,
        name=name,
        tick_seconds=tick_seconds,
        task_memory=graph.memory_bytes,
        gpu_memory=[graph.accelerator_memory_bytes] * accelerators + [None] * cpus,
        bytes_per_tick=bandwidth.tolist(),
        task_names=graph.names,
        gpu_names=[f"a{index}" for index in range(accelerators)] + [f"c{index}" for index in range(cpus)],
        gpu_kinds=["accelerator"] * accelerators + ["CPU core"] * cpus,
        num_gpus=num_devices,
    )


def _without_input_time(graph: PlacementGraph) -> PlacementGraph:
    """Set the time of the source to 0 where there is one source and something follows it."""
    heads = {head for _, head, _ in graph.edges}
    sources = [task for task in range(len(graph.names)) if task not in heads]
    if len(sources) != 1 or not graph.edges:
        return graph
    accelerator_ms, cpu_ms = list(graph.accelerator_ms), list(graph.cpu_ms)
    accelerator_ms[sources[0]] = 0.0 * accelerator_ms[sources[0]]  # NaN stays
    cpu_ms[sources[0]] = 0.0
    return replace(graph, accelerator_ms=accelerator_ms, cpu_ms=cpu_ms)


def _with_classes_contracted(graph: PlacementGraph) -> PlacementGraph:
    """Make a task of each colour class that allows it."""
    roots, apart = class_roots(graph.classes, graph.edges)
    if apart:
        shared = sum(1 for count in Counter(graph.classes).values() if count > 1)
        warnings.warn(
            f"{len(apart)} of {shared} colour classes with several nodes close a cycle as one task and stay apart: "
            f"their nodes may be placed on different devices.",
            ColourClassWarning,
            stacklevel=3,
        )
    return _contracted(graph, roots)


def _contracted(graph: PlacementGraph, roots: list[int]) -> PlacementGraph:
    """Return the graph with tasks made part of others; a class named after its first node."""
    kept = remaining(roots)
    return replace(
        graph,
        names=[graph.names[task] for task in kept],
        accelerator_ms=contracted_sums(graph.accelerator_ms, roots),
        cpu_ms=contracted_sums(graph.cpu_ms, roots),
        memory_bytes=[int(total) for total in contracted_sums(graph.memory_bytes, roots)],
        classes=[graph.classes[task] for task in kept],
        edges=contracted_edges(graph.edges, roots),
    )
