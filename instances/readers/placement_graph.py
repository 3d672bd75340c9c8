"""The JSON format of the device placement graphs of Tarnawski et al."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from instances.json_fields import JsonObject, brief, parse_json
from instances.readers.check_edges import check_edges
from instances.readers.json_numbers import json_bytes, json_number
from instances.readers.number_field import bytes_from_number

MAX_DEVICES = 4096
"""More of one sort is taken as a mistake: every pair of devices has a link."""

COST_TOLERANCE = 1e-6
"""Relative difference up to which an edge's cost agrees with its size."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlacementGraph:
    """Nodes in the order of the file.

    Parameters
    ----------
    num_accelerators, num_cpus
        Devices of the file.
    accelerator_memory_bytes
        Memory of one accelerator.
    names
        Name of each node.
    accelerator_ms, cpu_ms
        Time of each node in milliseconds; NaN on an accelerator that does not support it.
    memory_bytes
        Memory of each node.
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

    Raises
    ------
    ValueError
        If the text has another form; the message gives the place.
    """
    if not link_gib_per_second > 0:
        raise ValueError(f"link_gib_per_second: expected a positive number, got {link_gib_per_second}.")
    document = JsonObject(parse_json(text))
    num_accelerators, num_cpus = _count(document, "maxFPGAs"), _count(document, "maxCPUs")
    accelerator_memory = json_bytes(document, "maxSizePerFPGA")
    values = document.list("nodes")
    if not values:
        raise ValueError("nodes: expected at least one node, got none.")
    task_of_id: dict[int, int] = {}
    names, accelerator_ms, cpu_ms, memory, classes = [], [], [], [], list[Hashable]()
    for task, value in enumerate(values):
        node = JsonObject(value, f"nodes[{task}]")
        identity = node.integer("id")
        if identity in task_of_id:
            raise ValueError(f"{node.place('id')}: expected each id once, got {identity} again.")
        task_of_id[identity] = task
        names.append(node.text("name", str(identity)))
        milliseconds = json_number(node, "fpgaLatency")
        accelerator_ms.append(milliseconds if _is_supported(value, f"nodes[{task}]") else math.nan)
        cpu_ms.append(json_number(node, "cpuLatency"))
        memory.append(json_bytes(node, "size"))
        colour = node.optional_integer("colorClass", None)
        classes.append(("node", identity) if colour is None else colour)
    edges, places = [], []
    for index, value in enumerate(document.list("edges")):
        edge = JsonObject(value, f"edges[{index}]")
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


def _count(document: JsonObject, key: str) -> int:
    """Take a number of devices."""
    count: int = document.integer(key)
    if not 0 <= count <= MAX_DEVICES:
        raise ValueError(f"{document.place(key)}: expected 0 to {MAX_DEVICES} devices, got {brief(count)}.")
    return count


def _is_supported(value: dict[str, object], place: str) -> bool:
    """Say whether a node may run on an accelerator; the files write 1 or true."""
    supported = value.get("supportedOnFpga", True)
    if supported not in (True, False):  # also 1 and 0
        raise ValueError(f"{place}.supportedOnFpga: expected true or false, got {brief(supported)}.")
    return bool(supported)


def _edge_bytes(edge: JsonObject, link_gib_per_second: float) -> int:
    """Take the size of an edge, which its cost must agree with."""
    size, cost_ms = json_number(edge, "size"), json_number(edge, "cost")
    expected_ms = size / (link_gib_per_second * 2**30) * 1e3
    if abs(cost_ms - expected_ms) > COST_TOLERANCE * expected_ms:
        raise ValueError(
            f"{edge.place('cost')}: expected {expected_ms:.6g} ms, which moves {size:g} bytes at "
            f"{link_gib_per_second:g} GiB/s (option link_gib_per_second), got {cost_ms:g}."
        )
    return bytes_from_number(size, edge.place("size"), "a size")
