"""Operators of a neural network with what they read, write and compute, and the task graph that they become."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from instances.dag.task_graph import TaskGraph
from instances.readers.text_fields import check_at_least

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One operator of a forward pass.

    Parameters
    ----------
    kind
        What it computes, such as ``Conv``.
    flops
        Floating-point operations; a multiplication and an addition are two.
    weight_gradient_flops, data_gradient_flops
        Those of its backward pass for its parameters and, where something before it learns, for its inputs.
    parameter_bytes
        Size of its weights.
    inputs, outputs
        Bytes of each tensor that it reads, but for weights, and of each that it writes.
    moved_bytes
        Traffic with the memory of the GPU.
    is_element_wise
        Whether every element of the output follows from the elements at the same place.
    """

    kind: str
    name: str
    flops: float
    weight_gradient_flops: float
    data_gradient_flops: float
    parameter_bytes: int
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    moved_bytes: float
    is_element_wise: bool = False


MAX_KINDS = 3
"""So many kinds name a fused operator; of more only the first two and their number are shown."""


def fused(operators: Sequence[Operator]) -> list[Operator]:
    """Join every element-wise operator with the operator whose result nobody else reads.

    What lies between them is neither written nor read again. Of several such operators the last one is taken. The
    operators are in an order in which results are there before they are read, and so is what is returned.
    """
    kept: dict[int, Operator] = dict(enumerate(operators))
    kinds_of = {number: [operator.kind] for number, operator in kept.items()}
    maker = {tensor: number for number, operator in kept.items() for tensor in operator.outputs}
    readers: dict[int, set[int]] = {number: set() for number in kept}
    for number, operator in kept.items():
        for tensor in operator.inputs:
            if tensor in maker:
                readers[maker[tensor]].add(number)
    for number, operator in list(kept.items()):
        makers = {maker[tensor] for tensor in operator.inputs if tensor in maker}
        own = [each for each in makers if readers[each] == {number}]
        if not operator.is_element_wise or not own:
            continue
        first = kept.pop(max(own))
        between = sum(first.outputs[tensor] for tensor in first.outputs if tensor in operator.inputs)
        kinds_of[number] = kinds = [*kinds_of[max(own)], operator.kind]
        kept[number] = Operator(
            kind="+".join(kinds if len(kinds) <= MAX_KINDS else [*kinds[:2], f"{len(kinds) - 2} more"]),
            name=first.name,
            flops=first.flops + operator.flops,
            weight_gradient_flops=first.weight_gradient_flops + operator.weight_gradient_flops,
            data_gradient_flops=first.data_gradient_flops + operator.data_gradient_flops,
            parameter_bytes=first.parameter_bytes + operator.parameter_bytes,
            inputs={
                **first.inputs,
                **{name: size for name, size in operator.inputs.items() if name not in first.outputs},
            },
            outputs=operator.outputs,
            moved_bytes=max(first.moved_bytes + operator.moved_bytes - 2 * between, 0.0),
            is_element_wise=first.is_element_wise,
        )
        for tensor in first.inputs:
            if tensor in maker:
                readers[maker[tensor]] = readers[maker[tensor]] - {max(own)} | {number}
    return [kept[number] for number in sorted(kept)]


def operator_task_graph(
    operators: Sequence[Operator],
    *,
    name: str,
    training: bool = False,
    parameter_copies: float | None = None,
    efficiency: Mapping[str, Sequence[float]] = MappingProxyType({}),
) -> TaskGraph:
    """Return the tasks of a forward pass, or of a forward and a backward pass.

    A task occupies, for the whole schedule, the memory of its parameters and its outputs. The backward task of an
    operator exists where it, or something before it, has parameters. It computes both gradients, reads what the forward
    task read and the parameters, which flow along an edge from the forward to the backward task, and the gradients of
    the outputs, which have the sizes of the outputs.

    Parameters
    ----------
    operators
        In an order in which results are there before they are read.
    parameter_copies
        Memory for parameters in multiples of them; default 1, with `training` 2 (weights and gradients).
    efficiency
        By kind of GPU the share of the roofline that each operator and its backward pass reach (`TaskGraph`).

    Raises
    ------
    ValueError
        If there are fewer than one copy of the parameters.
    """
    copies = (2.0 if training else 1.0) if parameter_copies is None else parameter_copies
    check_at_least("parameter_copies", copies, 1)
    maker = {tensor: task for task, operator in enumerate(operators) for tensor in operator.outputs}
    edges: dict[tuple[int, int], int] = {}
    for head, operator in enumerate(operators):
        for tensor, size in operator.inputs.items():
            if tensor in maker:
                edges[maker[tensor], head] = edges.get((maker[tensor], head), 0) + size
    learns: list[bool] = []
    for task, operator in enumerate(operators):
        before = any(learns[maker[tensor]] for tensor in operator.inputs if tensor in maker)
        learns.append(operator.parameter_bytes > 0 or before)
    first_copies = 1.0 if training else copies
    graph = TaskGraph(
        name=name,
        task_names=[f"{operator.kind} {operator.name}" for operator in operators],
        flops=[operator.flops for operator in operators],
        moved_bytes=[operator.moved_bytes for operator in operators],
        memory_bytes=[
            math.ceil(first_copies * operator.parameter_bytes) + sum(operator.outputs.values())
            for operator in operators
        ],
        edges=[(tail, head, size) for (tail, head), size in edges.items()],
        efficiency=efficiency,
    )
    return _with_backward(graph, operators, learns, copies) if training else graph


def _with_backward(graph: TaskGraph, operators: Sequence[Operator], learns: list[bool], copies: float) -> TaskGraph:
    """Add the backward tasks, in the reverse order."""
    order = [task for task in reversed(range(len(operators))) if learns[task]]
    backward = {task: len(operators) + position for position, task in enumerate(order)}
    tails_that_learn = {head for tail, head, _ in graph.edges if learns[tail]}
    names, flops, moved, memory, edges = [], [], [], [], []
    for task in order:
        operator = operators[task]
        reads = sum(operator.inputs.values())
        needs_data = task in tails_that_learn
        names.append(f"{graph.task_names[task]} backward")
        flops.append(operator.weight_gradient_flops + needs_data * operator.data_gradient_flops)
        moved.append(operator.moved_bytes + needs_data * reads + operator.parameter_bytes)
        memory.append(math.ceil((copies - 1.0) * operator.parameter_bytes))
        edges.append((task, backward[task], reads + operator.parameter_bytes))
    edges += [(backward[head], backward[tail], size) for tail, head, size in graph.edges if learns[tail]]
    return replace(
        graph,
        task_names=[*graph.task_names, *names],
        flops=[*graph.flops, *flops],
        moved_bytes=[*graph.moved_bytes, *moved],
        memory_bytes=[*graph.memory_bytes, *memory],
        edges=[*graph.edges, *edges],
        efficiency={kind: [*own, *(own[task] for task in order)] for kind, own in graph.efficiency.items()},
    )
