"""Reader of Graphviz DOT files."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from instances.dag.instance import DagInstance
from instances.parameters import fields_as_parameters
from instances.readers.dag.measured_graph import GpuModel, MeasuredGraph, dag_instance_from_measured
from instances.readers.text_fields import (
    bytes_from_number,
    check_at_least,
    check_edges,
    instance_name,
    integer_field,
    number_field,
    tick_of_scale,
    ticks_from_texts,
)
from instances.text_file import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike


_TIMES: tuple[str, ...] = ("durations", "seconds", "weight")
_TIMES_ON_PROCESSORS = ("weight", "time", "duration", "cost", "seconds")
_BYTES: tuple[str, ...] = ("bytes", "size")
_BYTES_ON_PROCESSORS = (*_BYTES, "weight", "time", "delay", "cost")


@fields_as_parameters
def read_dot(
    path: str | PathLike[str],
    *,
    processors: int | None = None,
    scale: int | None = None,
    time_attribute: str | None = None,
    data_attribute: str | None = None,
    latency: int = 0,
    bytes_per_tick: float = 1.0,
    gpu_memory_bytes: int | None = None,
    model: GpuModel = GpuModel(),
) -> DagInstance:
    """Read a directed graph whose nodes say how long they take; names of attributes may have capitals.

    Node attributes:

    * one of ``durations="14,16,-"`` (ticks on each GPU, a minus sign where it may not run), ``seconds=0.014`` (time on
      the reference kind) and ``weight`` (another word for seconds), the same one in the whole file;
    * ``memory_bytes`` (default 0).

    Edge attributes: ``bytes``, or ``size``, another word for it (default 0). All other attributes are ignored, also the
    ``weight`` of an edge next to bytes or on nodes that do not use the word. Where the nodes have a ``weight`` and the
    edges nothing else, it is refused, as it means a transfer time in most collections: see `processors`. Defaults
    (``node [seconds=1]``), subgraphs and quoting mean what they mean in Graphviz; of a repeated attribute of a node the
    last value counts.

    With durations the GPUs are those of the file, and `latency`, `bytes_per_tick` and `gpu_memory_bytes` count. With
    processors they count too. With seconds the graph is put on the cluster: times on all but the reference kind are a
    model, not a measurement.

    Parameters
    ----------
    processors
        Number of identical processors, for collections of the scheduling literature: a node's ``weight`` (or ``time``,
        ``duration``, ``cost``, ``seconds``) is its duration everywhere, an edge's ``weight`` (or ``time``, ``delay``,
        ``cost``, ``bytes``, ``size``) its transfer time between two processors. None for the meanings above.
    scale
        Ticks in one unit of these times: values times scale are rounded to ticks. Without one they must be integers.
    time_attribute, data_attribute
        The attribute of nodes, and of edges, that is read, where it has none of these names.
    latency, bytes_per_tick
        Latency and bandwidth of all links; with durations or processors.
    gpu_memory_bytes
        Memory of each GPU, None for no limit; with durations or processors.
    model
        GPUs and times on them; with seconds.

    Returns
    -------
    DagInstance
        Tasks in the order in which the nodes appear first.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no such graph; the message gives line and column, or the node or edge.
    """
    graph = parse_dot(read_text(path))
    if not graph.nodes:
        raise ValueError("graph: expected at least one node, got none.")
    words: Sequence[str] = _TIMES if processors is None else _TIMES_ON_PROCESSORS
    kind_of_time = _kind_of_time(graph, words if time_attribute is None else (time_attribute.lower(),))
    memory = [
        integer_field(attributes.get("memory_bytes", "0"), f"node {name!r}", "memory_bytes")
        for name, attributes in graph.nodes.items()
    ]
    has_weights = processors is None and kind_of_time == "weight"
    words = _BYTES if processors is None else _BYTES_ON_PROCESSORS
    words = words if data_attribute is None else (data_attribute.lower(),)
    if processors is None and scale is not None:
        raise ValueError(f"scale: expected none without processors, got {scale}.")
    edges = _edges(graph, words, scale, are_times=processors is not None, refuses_weights=has_weights)
    if processors is not None or kind_of_time == "durations":
        model.check_unused("the nodes give their durations on each GPU")
        durations = _durations(graph) if processors is None else _weights(graph, kind_of_time, processors, scale)
        return DagInstance.from_lists(
            durations,
            edges,
            name=instance_name(path),
            tick_seconds=tick_of_scale(scale),
            task_memory=memory,
            gpu_memory=[gpu_memory_bytes] * len(durations[0]),
            latency=latency,
            bytes_per_tick=bytes_per_tick,
            task_names=list(graph.nodes),
            gpu_kinds=None if processors is None else ["processor"] * processors,
        )
    measured = MeasuredGraph(
        name=instance_name(path),
        task_names=list(graph.nodes),
        seconds=[
            number_field(attributes[kind_of_time], f"node {name!r}", kind_of_time)
            for name, attributes in graph.nodes.items()
        ],
        memory_bytes=memory,
        edges=edges,
    )
    return dag_instance_from_measured(measured, model)


def _kind_of_time(graph: DotGraph, words: Sequence[str]) -> str:
    """Return the attribute that gives the time of every node."""
    first: tuple[str, str] | None = None
    for name, attributes in graph.nodes.items():
        given = [attribute for attribute in words if attribute in attributes]
        if len(given) != 1:
            found = " and ".join(given) or ", ".join(attributes) or "no attribute"
            hint = "" if given else ", or time_attribute to name another"
            one_of = "one of " if len(words) > 1 else ""
            raise ValueError(f"node {name!r}: expected {one_of}{', '.join(words)}{hint}, got {found}.")
        first = first or (name, given[0])
        if given[0] != first[1]:
            raise ValueError(f"node {name!r}: expected {first[1]} as on node {first[0]!r}, got {given[0]}.")
    assert first is not None  # there is a node
    return first[1]


def _weights(graph: DotGraph, attribute: str, processors: int, scale: int | None) -> list[list[int | None]]:
    """Return the ticks of every node, the same on all processors."""
    check_at_least("processors", processors, 1)
    texts = [attributes[attribute] for attributes in graph.nodes.values()]
    ticks = ticks_from_texts(texts, [f"node {name!r}" for name in graph.nodes], attribute, scale)
    return [[time] * processors for time in ticks]


def _durations(graph: DotGraph) -> list[list[int | None]]:
    """Return the ticks of every node on every GPU."""
    rows: list[list[int | None]] = []
    for name, attributes in graph.nodes.items():
        place = f"node {name!r}"
        fields = [text.strip() for text in attributes["durations"].split(",")]
        if rows and len(fields) != len(rows[0]):
            raise ValueError(f"{place}: expected {len(rows[0])} durations, one per GPU, got {len(fields)}.")
        rows.append([None if text == "-" else integer_field(text, place, "a duration") for text in fields])
        if all(ticks is None for ticks in rows[-1]):
            raise ValueError(f"{place}: expected a duration on at least one GPU, got none.")
    return rows


def _edges(
    graph: DotGraph, words: Sequence[str], scale: int | None, *, are_times: bool, refuses_weights: bool
) -> list[tuple[int, int, int]]:
    """Return edges between the numbers of the nodes."""
    task_of_node = {name: task for task, name in enumerate(graph.nodes)}
    texts, places = [], []
    for tail, head, attributes in graph.edges:
        place = f"edge {tail!r} -> {head!r}"
        given = [attribute for attribute in words if attribute in attributes]
        if len(given) > 1:
            raise ValueError(f"{place}: expected one of {' and '.join(words)}, got {' and '.join(given)}.")
        if refuses_weights and not given and "weight" in attributes:
            raise ValueError(
                f"{place}: expected bytes or size, or processors, with which a weight is a transfer time, got weight."
            )
        texts.append(attributes[given[0]] if given else "0")
        places.append(place)
    if are_times:
        data = ticks_from_texts(texts, places, "a transfer time", scale)
    else:
        data = [
            bytes_from_number(number_field(text, place, "bytes"), place, "bytes")
            for text, place in zip(texts, places, strict=True)
        ]
    edges = [
        (task_of_node[tail], task_of_node[head], size) for (tail, head, _), size in zip(graph.edges, data, strict=True)
    ]
    check_edges(list(graph.nodes), edges, places)
    return edges


_EXPECTED = {"Expected rbrace": "a statement or '}'", "Expected end of text": "the end of the file"}
_BRACES = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|#[^\n]*|[{}]', re.DOTALL)
_RESERVED = re.compile(r"[\[,;\s](name|src|dst|obj_dict)\"?\s*=")

MAX_DEPTH = 8
"""Deepest nesting of subgraphs; the time that the grammar takes doubles with each level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DotGraph:
    """A directed graph as DOT means it: defaults are applied, subgraphs resolved, ports and quotes dropped.

    Parameters
    ----------
    nodes
        Attributes of each node, in the order in which they appear first.
    edges
        ``(from, to, attributes)`` in the order of the file.
    """

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


def parse_dot(text: str) -> DotGraph:
    """Read one directed graph.

    Raises a `ValueError` if the text is not DOT (the message gives line and column), or holds no or several graphs or
    an undirected one.
    """
    with warnings.catch_warnings():  # pydot 4.0 uses names that pyparsing 3.3 has deprecated
        warnings.simplefilter("ignore", DeprecationWarning)
        from pydot.dot_parser import GraphParser  # pydot's own function prints errors and returns None
    from pyparsing import ParseBaseException

    _check_depth(text)
    try:
        graphs = list(GraphParser.parser.parse_string(text, parse_all=True))
    except ParseBaseException as error:
        expected = _EXPECTED.get(error.msg, "'digraph {'" if "GRAPH" in error.msg else error.msg)
        found = repr(text[error.loc]) if error.loc < len(text) else "the end of the file"
        raise ValueError(f"line {error.lineno}, column {error.column}: expected {expected}, got {found}.") from error
    except TypeError as error:  # pydot hands attributes on as keyword arguments
        match = _RESERVED.search(text)
        line = text.count("\n", 0, match.start()) + 1 if match else 1
        name = match[1] if match else str(error)
        raise ValueError(f"line {line}: expected no attribute called name, src or dst, got {name}.") from error
    if len(graphs) != 1:
        raise ValueError(f"graph: expected one graph, got {len(graphs)}.")
    description = graphs[0].obj_dict
    if description["type"] != "digraph":
        raise ValueError(f"graph: expected a digraph, got a {description['type']}.")
    found_graph = DotGraph()
    _walk(description, {}, {}, found_graph)
    return _without_repeated_edges(found_graph) if description["strict"] else found_graph


def _check_depth(text: str) -> None:
    """Check how deep subgraphs are nested."""
    depth = 0
    for token in _BRACES.finditer(text):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth > MAX_DEPTH + 1:  # one for the graph
            line = text.count("\n", 0, token.start()) + 1
            raise ValueError(f"line {line}: expected at most {MAX_DEPTH} subgraphs inside each other, got more.")


def _walk(
    graph: Mapping[str, Any], node_defaults: dict[str, str], edge_defaults: dict[str, str], found: DotGraph
) -> list[str]:
    """Add what a graph or subgraph states, in the order of its statements; return its nodes."""
    statements = [
        (item["sequence"], kind, item)
        for kind in ("nodes", "edges", "subgraphs")
        for items in graph[kind].values()
        for item in items
    ]
    node_defaults, edge_defaults = dict(node_defaults), dict(edge_defaults)
    members: dict[str, None] = {}
    for _, kind, item in sorted(statements, key=lambda statement: statement[0]):
        attributes = {_plain(name).lower(): _plain(value) for name, value in item["attributes"].items()}
        if kind == "subgraphs":
            members.update(dict.fromkeys(_walk(item, node_defaults, edge_defaults, found)))
        elif kind == "edges":
            tails, heads = (
                [_node_name(point)] if isinstance(point, str) else _walk(point, node_defaults, edge_defaults, found)
                for point in item["points"]
            )
            for name in (*tails, *heads):
                found.nodes.setdefault(name, dict(node_defaults))
                members[name] = None
            found.edges.extend((tail, head, edge_defaults | attributes) for tail in tails for head in heads)
        elif item["name"] == "node":
            node_defaults |= attributes
        elif item["name"] == "edge":
            edge_defaults |= attributes
        elif item["name"] != "graph":
            name = _node_name(item["name"])
            members[name] = None
            found.nodes.setdefault(name, dict(node_defaults)).update(attributes)
    return list(members)


def _without_repeated_edges(graph: DotGraph) -> DotGraph:
    """Merge edges between the same nodes, as a strict graph asks for; later attributes count."""
    merged: dict[tuple[str, str], dict[str, str]] = {}
    for tail, head, attributes in graph.edges:
        merged.setdefault((tail, head), {}).update(attributes)
    return DotGraph(nodes=graph.nodes, edges=[(tail, head, given) for (tail, head), given in merged.items()])


def _node_name(text: str) -> str:
    """Return the identity of a node without its port."""
    match = re.match(r'"(?:[^"\\]|\\.)*"|[^:]*', text, re.DOTALL)
    return _plain(match[0] if match else text)


def _plain(text: str | None) -> str:
    """Return what a quoted text says; an attribute without a value says true."""
    if text is None:
        return "true"
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"')
    return text
