"""Reader of DOPPLER's dataflow graphs, in the cost model of their simulator."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from instances.dag.instance import DagInstance
from instances.readers.text_fields import check_at_least, check_edges, instance_name, integer_field
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

COUNTS_PER_SECOND = 10**10
"""The simulator of the paper divides its times by this number at the end."""


def read_doppler(path: str | PathLike[str], *, num_gpus: int = 4) -> DagInstance:
    """Read a graph of DOPPLER: blocks of matrix programs on equal GPUs.

    Line 1 holds the number of nodes with the inputs, line 2 the numbers of the inputs, lines 3 and 4 the sources and
    the destinations of the edges, and every further line ``compute,transfer`` of a node, in the ``gdp_`` files with its
    kind. Input nodes take no time and are left out, as in the simulator.

    A node takes `compute` on every GPU, and its data take `transfer`, whatever is sent where, to a node on another GPU.
    Transfers take no resource and memory has no limit. That is the DAG problem without any model of ours; only the
    simulator's rule that waiting nodes are served first come, first served is not part of it, so that the optimum here
    is a lower bound there. A tick is the greatest common divisor of all numbers.

    Parameters
    ----------
    num_gpus
        Number of equal GPUs, which the file does not say: 4, and 8 for the files whose name begins with ``8gpu``.

    Returns
    -------
    DagInstance
        Tasks in the order of the file, named by number and kind.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no such graph (the message gives the line), or there is no GPU.

    References
    ----------
    Yao and others (2026), DOPPLER: Dual-Policy Learning for Device Assignment in Asynchronous Dataflow Graphs, ICLR.
    """
    check_at_least("num_gpus", num_gpus, 1)
    lines = [line.strip() for line in read_text(path).splitlines()]
    if len(lines) < 4:
        raise ValueError(f"line {len(lines) + 1}: expected a count, inputs, sources and destinations, got the end.")
    num_inputs = len(_numbers(lines[1], "line 2", "an input node"))
    num_nodes = integer_field(lines[0], "line 1", "the number of nodes") - num_inputs
    rows = [(place, line) for place, line in enumerate(lines[4:], start=5) if line]
    if len(rows) != num_nodes:
        raise ValueError(f"line {len(lines)}: expected {num_nodes} nodes without the inputs, got {len(rows)}.")
    names, compute, transfer = list[str](), list[int](), list[int]()
    for node, (place, line) in enumerate(rows):
        fields = line.split(",")
        if len(fields) not in (2, 3):
            raise ValueError(f"line {place}: expected compute,transfer or compute,transfer,kind, got {line[:40]!r}.")
        compute.append(integer_field(fields[0], f"line {place}", "the time of the node"))
        transfer.append(integer_field(fields[1], f"line {place}", "the time of its transfer"))
        names.append(f"{node}-{fields[2].strip()}" if len(fields) == 3 else str(node))
    tails, heads = (_numbers(lines[place - 1], f"line {place}", "a node") for place in (3, 4))
    if len(tails) != len(heads):
        raise ValueError(f"line 4: expected {len(tails)} destinations, one per source, got {len(heads)}.")
    for place, ends in ((3, tails), (4, heads)):
        for node in ends:
            if node >= num_nodes:
                raise ValueError(f"line {place}: expected nodes in 0..{num_nodes - 1}, got {node}.")
    unit = max(gcd(*compute, *transfer), 1)
    edges = [(tail, head, transfer[tail] // unit) for tail, head in zip(tails, heads, strict=True)]
    check_edges(names, edges, [f"lines 3 and 4, entry {entry + 1}" for entry in range(len(edges))])
    return DagInstance.from_lists(
        [[ticks // unit] * num_gpus for ticks in compute],
        edges,
        name=instance_name(path),
        tick_seconds=unit / COUNTS_PER_SECOND,
        task_names=names,
        num_gpus=num_gpus,
    )


def _numbers(text: str, place: str, what: str) -> list[int]:
    """Read numbers between commas, the last of which may be followed by one."""
    return [integer_field(field, place, what) for field in text.split(",") if field.strip()]
