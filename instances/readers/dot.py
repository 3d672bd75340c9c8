"""Reader of Graphviz DOT files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.dag_instance import DagInstance
from instances.readers.check_edges import check_edges
from instances.readers.dot_graph import DotGraph, parse_dot
from instances.readers.measured_graph import (
    DEFAULT_REFERENCE_KIND,
    MeasuredGraph,
    check_no_cluster,
    dag_instance_from_measured,
    instance_name,
)
from instances.readers.number_field import bytes_from_number, integer_field, number_field
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

    from instances.cluster import Cluster
    from instances.dag_from_graph import CostModel

_TIMES = ("durations", "seconds", "weight")
_BYTES = ("bytes", "size")


def read_dot(
    path: str | PathLike[str],
    *,
    latency: int = 0,
    bytes_per_tick: float = 1.0,
    gpu_memory_bytes: int | None = None,
    cluster: Cluster | None = None,
    cost: CostModel | None = None,
    seed: int = 0,
    reference_kind: str = DEFAULT_REFERENCE_KIND,
) -> DagInstance:
    """Read a directed graph whose nodes say how long they take.

    Node attributes:

    * one of ``durations="14,16,-"`` (ticks on each GPU, a minus sign where it may not run), ``seconds=0.014`` (time on
      the reference kind) and ``weight`` (another word for seconds), the same one in the whole file;
    * ``memory_bytes`` (default 0).

    Edge attributes: ``bytes``, or ``size``, another word for it (default 0). All other attributes are ignored, also the
    ``weight`` of an edge, which belongs to the layout. Defaults (``node [seconds=1]``), subgraphs and quoting mean what
    they mean in Graphviz; of a repeated attribute of a node the last value counts.

    With durations the GPUs are those of the file, and `latency`, `bytes_per_tick` and `gpu_memory_bytes` count. With
    seconds the graph is put on the cluster: times on all but the reference kind are a model, not a measurement.

    Parameters
    ----------
    path
        The file.
    latency, bytes_per_tick
        Of all links; with durations.
    gpu_memory_bytes
        Memory of each GPU, None for no limit; with durations.
    cluster, cost, seed, reference_kind
        As in `dag_instance_from_measured`; with seconds.

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
    kind_of_time = _kind_of_time(graph)
    memory = [
        integer_field(attributes.get("memory_bytes", "0"), f"node {name!r}", "memory_bytes")
        for name, attributes in graph.nodes.items()
    ]
    edges = _edges(graph)
    if kind_of_time == "durations":
        check_no_cluster(cluster, cost, "the nodes give their durations on each GPU")
        durations = _durations(graph)
        return DagInstance.from_lists(
            durations,
            edges,
            name=instance_name(path),
            task_memory=memory,
            gpu_memory=[gpu_memory_bytes] * len(durations[0]),
            latency=latency,
            bytes_per_tick=bytes_per_tick,
            task_names=list(graph.nodes),
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
    return dag_instance_from_measured(measured, cluster, cost, seed, reference_kind)


def _kind_of_time(graph: DotGraph) -> str:
    """Return the attribute that gives the time of every node."""
    first: tuple[str, str] | None = None
    for name, attributes in graph.nodes.items():
        given = [attribute for attribute in _TIMES if attribute in attributes]
        if len(given) != 1:
            raise ValueError(
                f"node {name!r}: expected one of {', '.join(_TIMES)}, got {' and '.join(given) or 'none of them'}."
            )
        first = first or (name, given[0])
        if given[0] != first[1]:
            raise ValueError(f"node {name!r}: expected {first[1]} as on node {first[0]!r}, got {given[0]}.")
    assert first is not None  # there is a node
    return first[1]


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


def _edges(graph: DotGraph) -> list[tuple[int, int, int]]:
    """Return edges between the numbers of the nodes."""
    task_of_node = {name: task for task, name in enumerate(graph.nodes)}
    edges, places = [], []
    for tail, head, attributes in graph.edges:
        place = f"edge {tail!r} -> {head!r}"
        given = [attribute for attribute in _BYTES if attribute in attributes]
        if len(given) > 1:
            raise ValueError(f"{place}: expected one of {' and '.join(_BYTES)}, got both.")
        text = attributes[given[0]] if given else "0"
        data = bytes_from_number(number_field(text, place, "bytes"), place, "bytes")
        edges.append((task_of_node[tail], task_of_node[head], data))
        places.append(place)
    check_edges(list(graph.nodes), edges, places)
    return edges
