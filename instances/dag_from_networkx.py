"""DAG instances from NetworkX graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.dag_instance import DagInstance

if TYPE_CHECKING:
    import networkx as nx


def dag_instance_from_networkx(graph: nx.DiGraph, **fields: Any) -> DagInstance:
    """Make an instance from a directed graph.

    Parameters
    ----------
    graph
        Node attributes: ``durations`` (ticks per GPU, None where not allowed; required), ``memory_bytes`` (default 0)
        and ``job`` (default 0). Edge attribute: ``bytes`` (default 0). Tasks are numbered in the order of the nodes and
        named after them.
    fields
        The remaining arguments of `DagInstance.from_lists`: GPUs, links, jobs, name, tick.

    Returns
    -------
    DagInstance
        The checked instance.

    Raises
    ------
    TypeError
        If the graph is not directed or has parallel edges.
    ValueError
        If a node has no durations, or as `DagInstance`.
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise TypeError(f"graph: expected a networkx.DiGraph, got {type(graph).__name__}.")
    task_of_node = {node: task for task, node in enumerate(graph.nodes)}
    for node, attributes in graph.nodes(data=True):
        if "durations" not in attributes:
            raise ValueError(f"node {node!r}: expected an attribute 'durations', got {sorted(attributes)}.")
    return DagInstance.from_lists(
        [attributes["durations"] for _, attributes in graph.nodes(data=True)],
        [
            (task_of_node[tail], task_of_node[head], attributes.get("bytes", 0))
            for tail, head, attributes in graph.edges(data=True)
        ],
        task_memory=[attributes.get("memory_bytes", 0) for _, attributes in graph.nodes(data=True)],
        job_of_task=[attributes.get("job", 0) for _, attributes in graph.nodes(data=True)],
        task_names=[str(node) for node in graph.nodes],
        **fields,
    )
