"""Reader of layer graphs that PipeDream's profiler has measured."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.clusters.gpu_kinds import gpu_kind
from instances.parameters import fields_as_parameters
from instances.readers.dag.contraction import contract_zero_time
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
    integer_field,
    number_field,
    shortened,
)
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag.instance import DagInstance


MAX_MICRO_BATCHES = 1024
"""More than any training step is cut into; every one multiplies the tasks."""


@fields_as_parameters
def read_pipedream(
    path: str | PathLike[str],
    *,
    training: bool = False,
    micro_batches: int = 1,
    parameter_copies: float | None = None,
    contract: bool = False,
    stages: int | None = None,
    model: GpuModel = GpuModel(),
) -> DagInstance:
    """Read a layer graph as one pass, or one training step, over a minibatch.

    * The forward pass has a task per layer and the edges of the file, which carry the output of their tail.
    * A training step adds a backward task per layer, except for the inputs, and the edges turned round, with the same
      bytes: a gradient is as large as what it belongs to. The edge from the forward to the backward task of a layer
      carries the layer's output and its parameters: what another GPU would have to fetch.
    * With b micro-batches every layer runs b times, on a share of 1/b of the data: times and outputs are divided by b.
      No order among the micro-batches is imposed.
    * A forward task occupies its output, as if nothing were freed or computed in place, and its parameters; a backward
      task occupies the remaining ``parameter_copies - 1`` (gradients, state of the optimiser). Tasks of the DAG
      problem share no memory: the parameters count with the first micro-batch only. A schedule that runs a layer on
      several GPUs therefore uses more than the instance states, and one that runs it on one GPU exactly that.
    * `Input` nodes take no time: the profile holds the time of loading data there.

    The files name no kind of GPU. See `dag_instance_from_measured` for how times follow on each kind: they are a model,
    not a measurement, on all but the reference kind. The balance of a layer is the same in all micro-batches.

    Parameters
    ----------
    training
        Whether to add the backward pass.
    micro_batches
        Number b of micro-batches.
    parameter_copies
        Memory for a layer's parameters in multiples of them, at least 1; default 1 (weights), with `training` 2 (and
        gradients). With momentum it is 3, with Adam 4.
    contract
        Whether tasks of time 0 become part of a neighbour where that is safe (`zero_time_roots`).
    stages
        Number of stages into which the layers are cut, in the place of one task per layer: a training pipeline with
        memory that is released, on as many GPUs of the reference kind (`pipeline_from_measured`).

    Returns
    -------
    DagInstance
        Tasks by micro-batch, forward tasks in the order of the file before backward tasks in the reverse order.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no profile (the message gives the line), an option is out of range, or the tasks do not fit into the
        memory of the cluster.

    References
    ----------
    Narayanan et al. (2019), PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP; github
    msr-fiddle/pipedream, profiler. What a training step and a micro-batch are here is ours.
    """
    check_at_least("micro_batches", micro_batches, 1)
    if micro_batches > MAX_MICRO_BATCHES:
        raise ValueError(f"micro_batches: expected at most {MAX_MICRO_BATCHES}, got {micro_batches}.")
    copies = (2.0 if training or stages is not None else 1.0) if parameter_copies is None else parameter_copies
    check_at_least("parameter_copies", copies, 1)
    profile = parse_pipedream(read_text(path))
    if stages is not None:
        layers = profile.layers
        return pipeline_from_measured(
            _measured(profile, instance_name(path), False, 1, 1.0),
            [0.0 if layer.is_input else layer.backward_seconds for layer in layers],
            [math.ceil(copies * layer.parameter_bytes) for layer in layers],
            model,
            stages=stages,
            micro_batches=micro_batches,
            memory=gpu_kind(model.reference_kind).memory_bytes,
        )
    graph = _measured(profile, instance_name(path), training, micro_batches, copies)
    if contract:
        graph = contract_zero_time(graph)
    return dag_instance_from_measured(graph, model)


def _measured(profile: PipedreamGraph, name: str, training: bool, micro_batches: int, copies: float) -> MeasuredGraph:
    """Lay out tasks and edges of all micro-batches."""
    layers = profile.layers
    forward = list(range(len(layers)))
    backward = [layer for layer in reversed(forward) if training and not layers[layer].is_input]
    backward_of_layer = {layer: len(forward) + position for position, layer in enumerate(backward)}
    tasks_per_batch = len(forward) + len(backward)
    names: list[str] = []
    seconds: list[float] = []
    memory: list[int] = []
    edges: list[tuple[int, int, int]] = []
    for batch in range(micro_batches):
        first = batch * tasks_per_batch
        suffix = f" #{batch}" if micro_batches > 1 else ""
        copies_forward, copies_backward = (1.0, copies - 1.0) if training else (copies, 0.0)
        if batch > 0:
            copies_forward = copies_backward = 0.0
        for layer in (layers[index] for index in forward):
            names.append(_short(layer) + suffix)
            seconds.append(0.0 if layer.is_input else layer.forward_seconds / micro_batches)
            memory.append(math.ceil(copies_forward * layer.parameter_bytes + sum(layer.output_bytes) / micro_batches))
        for layer in (layers[index] for index in backward):
            names.append(f"{_short(layer)} backward{suffix}")
            seconds.append(layer.backward_seconds / micro_batches)
            memory.append(math.ceil(copies_backward * layer.parameter_bytes))
        for tail, head, data in profile.edges:
            share = math.ceil(data / micro_batches)
            edges.append((first + tail, first + head, share))
            if tail in backward_of_layer and head in backward_of_layer:
                edges.append((first + backward_of_layer[head], first + backward_of_layer[tail], share))
        for index, task in backward_of_layer.items():
            layer = layers[index]
            data = math.ceil(sum(layer.output_bytes) / micro_batches) + layer.parameter_bytes
            edges.append((first + index, first + task, data))
    return MeasuredGraph(
        name=name,
        task_names=names,
        seconds=seconds,
        memory_bytes=memory,
        edges=edges,
        balance_of_task=list(range(tasks_per_batch)) * micro_batches,
    )


def _short(layer: PipedreamLayer) -> str:
    """Return node and kind of layer, without its arguments."""
    return f"{layer.node} {layer.label.partition('(')[0]}"


_TIMES = ("forward_compute_time", "backward_compute_time")
_FIELDS = (*_TIMES, "activation_size", "parameter_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class PipedreamLayer:
    """A node of the graph: a layer with its measured times for one minibatch.

    Parameters
    ----------
    node
        Its identity in the file.
    label
        What it computes, such as ``Conv2d(3, 64, ...)``.
    forward_seconds, backward_seconds
        Measured times.
    output_bytes
        Size of each output; most layers have one.
    parameter_bytes
        Size of its weights.
    """

    node: str
    label: str
    forward_seconds: float
    backward_seconds: float
    output_bytes: tuple[float, ...]
    parameter_bytes: int

    @property
    def is_input(self) -> bool:
        """Whether it stands for the input, whose time is that of loading data, not of a GPU."""
        return re.fullmatch(r"Input[0-9]*", self.label) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PipedreamGraph:
    """Layers in the order of the file, and edges of the forward pass.

    Parameters
    ----------
    edges
        ``(from, to, bytes)`` per edge.
    """

    layers: tuple[PipedreamLayer, ...]
    edges: tuple[tuple[int, int, float], ...]


def parse_pipedream(text: str) -> PipedreamGraph:
    """Read a profile.

    A node is ``node77 -- label -- forward_compute_time=1.370, backward_compute_time=2.930, activation_size=602112.000,
    parameter_size=221184.000`` (milliseconds and bytes; an optional fourth part ``stage_id=0`` is ignored), an edge is
    ``node76 -- node77`` after white space. An ``activation_size`` may be a list ``[a; b]``; a consumer
    ``__getitem__(i)`` then receives entry i, any other the sum.

    Raises a `ValueError` if the text has another form; the message gives the line.
    """
    layers: dict[str, PipedreamLayer] = {}
    line_of_node: dict[str, int] = {}
    arrows: list[tuple[int, str, str]] = []
    for line, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        parts = [part.strip() for part in raw.split(" -- ")]
        if raw[0].isspace():
            if len(parts) != 2:
                raise ValueError(f"line {line}: expected an edge 'node1 -- node2', got {shortened(raw.strip())}.")
            arrows.append((line, parts[0], parts[1]))
            continue
        layer = _layer(line, parts)
        if layer.node in layers:
            raise ValueError(
                f"line {line}: expected each node once, got {layer.node} again after line {line_of_node[layer.node]}."
            )
        layers[layer.node] = layer
        line_of_node[layer.node] = line
    if not layers:
        raise ValueError("line 1: expected at least one node, got none.")
    index_of_node = {node: index for index, node in enumerate(layers)}
    edges = []
    for line, tail, head in arrows:
        for node in (tail, head):
            if node not in layers:
                raise ValueError(f"line {line}: expected nodes of the file, got {shortened(node)}.")
        data = _edge_bytes(layers[tail], layers[head], line_of_node[head])
        edges.append((index_of_node[tail], index_of_node[head], data))
    check_edges(list(layers), edges, [f"line {line}" for line, _, _ in arrows])
    return PipedreamGraph(layers=tuple(layers.values()), edges=tuple(edges))


def _layer(line: int, parts: list[str]) -> PipedreamLayer:
    """Read a node from the parts of its line."""
    if len(parts) == 4 and parts[3].startswith("stage_id="):
        integer_field(parts[3].removeprefix("stage_id="), f"line {line}", "stage_id")
    elif len(parts) != 3:
        raise ValueError(f"line {line}: expected 'node -- label -- fields', got {len(parts)} part(s).")
    text_of_field: dict[str, str] = {}
    for entry in parts[2].split(", "):
        name, _, value = entry.partition("=")
        if name not in _FIELDS or name in text_of_field:
            raise ValueError(f"line {line}: expected each of {', '.join(_FIELDS)} once, got {shortened(entry)}.")
        text_of_field[name] = value
    for name in _FIELDS:
        if name not in text_of_field:
            raise ValueError(f"line {line}: expected {name}, got nothing.")
    forward, backward = (number_field(text_of_field[name], f"line {line}", name) * 1e-3 for name in _TIMES)
    size = text_of_field["activation_size"]
    is_list = size.startswith("[") and size.endswith("]")
    outputs = size[1:-1].split(";") if is_list else [size]
    sizes = [number_field(output, f"line {line}", "activation_size") for output in outputs]
    bytes_from_number(sum(sizes), f"line {line}", "activation_size")
    parameters = number_field(text_of_field["parameter_size"], f"line {line}", "parameter_size")
    return PipedreamLayer(
        node=parts[0],
        label=parts[1],
        forward_seconds=forward,
        backward_seconds=backward,
        output_bytes=tuple(sizes),
        parameter_bytes=bytes_from_number(parameters, f"line {line}", "parameter_size"),
    )


def _edge_bytes(tail: PipedreamLayer, head: PipedreamLayer, line: int) -> float:
    """Return what the tail hands to the head."""
    match = re.fullmatch(r"__getitem__\(([0-9]{1,9})\)", head.label)
    if match is None or len(tail.output_bytes) == 1:
        return sum(tail.output_bytes)
    entry = int(match[1])
    if entry >= len(tail.output_bytes):
        raise ValueError(
            f"line {line}: expected an entry in 0..{len(tail.output_bytes) - 1} of {tail.node}, got {head.label}."
        )
    return tail.output_bytes[entry]
