"""Nodes and edges of a Graphviz DOT file, with their attributes."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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

    Raises
    ------
    ValueError
        If the text is not DOT (the message gives line and column), or holds no or several graphs or an undirected one.
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
        attributes = {_plain(name): _plain(value) for name, value in item["attributes"].items()}
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
