"""The text format of PipeDream's profiler."""

from __future__ import annotations

import re
from dataclasses import dataclass

from instances.readers.check_edges import check_edges
from instances.readers.number_field import bytes_from_number, integer_field, number_field, shortened

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
    layers
        The nodes.
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

    Raises
    ------
    ValueError
        If the text has another form; the message gives the line.
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
