"""Reader of layer graphs that PipeDream's profiler has measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from instances.readers.contract_zero_time import contract_zero_time
from instances.readers.measured_graph import (
    DEFAULT_REFERENCE_KIND,
    MeasuredGraph,
    check_at_least,
    dag_instance_from_measured,
    instance_name,
)
from instances.readers.pipedream_graph import PipedreamGraph, PipedreamLayer, parse_pipedream
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

    from instances.cluster import Cluster
    from instances.dag_from_graph import CostModel
    from instances.dag_instance import DagInstance


MAX_MICRO_BATCHES = 1024
"""More than any training step is cut into; every one multiplies the tasks."""


def read_pipedream(
    path: str | PathLike[str],
    *,
    training: bool = False,
    micro_batches: int = 1,
    parameter_copies: float | None = None,
    contract: bool = False,
    cluster: Cluster | None = None,
    cost: CostModel | None = None,
    seed: int = 0,
    reference_kind: str = DEFAULT_REFERENCE_KIND,
) -> DagInstance:
    """Read a layer graph as one pass, or one training step, over a minibatch.

    * The forward pass has a task per layer and the edges of the file, which carry the output of their tail.
    * A training step adds a backward task per layer, except for the inputs, and the edges turned round, with the same
      bytes: a gradient is as large as what it belongs to. The edge from the forward to the backward task of a layer
      carries the layer's output and its parameters: what another GPU would have to fetch.
    * With b micro-batches every layer runs b times, on a share of 1/b of the data: times and outputs are divided by b.
      No order among the micro-batches is imposed.
    * A forward task occupies its output, as if nothing were freed or computed in place, and its parameters; a backward
      task occupies the remaining ``parameter_copies - 1`` (gradients, state of the optimiser). The DAG problem knows no
      memory that tasks share: the parameters count with the first micro-batch only. So a schedule that runs a layer on
      several GPUs uses more than the instance says, one that runs it on one GPU exactly that.
    * `Input` nodes take no time: the profile holds the time of loading data there.

    The files name no kind of GPU. See `dag_instance_from_measured` for how times follow on each kind: they are a model,
    not a measurement, on all but the reference kind. The balance of a layer is the same in all micro-batches.

    Parameters
    ----------
    path
        The file.
    training
        Whether to add the backward pass.
    micro_batches
        Number b of micro-batches.
    parameter_copies
        Memory for a layer's parameters in multiples of them, at least 1; default 1 (weights), with `training` 2 (and
        gradients). With momentum it is 3, with Adam 4.
    contract
        Whether tasks of time 0 become part of a neighbour where that is safe (`zero_time_roots`).
    cluster, cost, seed, reference_kind
        As in `dag_instance_from_measured`.

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
    copies = (2.0 if training else 1.0) if parameter_copies is None else parameter_copies
    check_at_least("parameter_copies", copies, 1)
    profile = parse_pipedream(read_text(path))
    graph = _measured(profile, instance_name(path), training, micro_batches, copies)
    if contract:
        graph = contract_zero_time(graph)
    return dag_instance_from_measured(graph, cluster, cost, seed, reference_kind)


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
