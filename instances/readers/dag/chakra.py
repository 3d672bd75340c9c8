"""Reader of MLCommons Chakra's execution traces: the ranks of a job become tasks on GPUs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.dag.instance import NOT_ALLOWED
from instances.dag.task_graph import TaskGraph, dag_instance_from_graph
from instances.parameters import fields_as_parameters
from instances.readers.dag.chakra_format import chakra_nodes
from instances.readers.dag.measured_graph import READER_COST, GpuModel, MeasuredGraph, dag_instance_from_measured
from instances.readers.text_fields import bytes_from_number, check_at_least, check_edges, instance_name
from instances.text_file import read_content

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.dag.instance import DagInstance
    from instances.readers.dag.chakra_format import ChakraNode


_RANK = re.compile(r"(.*)\.(\d+)(\.(?:et|json)(?:\.gz)?)")

_SHARES = {
    0: lambda ranks: 2.0 * (ranks - 1) / ranks,  # all-reduce
    2: lambda ranks: ranks - 1.0,  # all-gather
    6: lambda ranks: (ranks - 1.0) / ranks,  # all-to-all
    7: lambda ranks: (ranks - 1.0) / ranks,  # reduce-scatter
    8: lambda ranks: (ranks - 1.0) / ranks,
    9: lambda ranks: 0.0,  # barrier
}
"""Bytes that each rank sends in a collective of least traffic, in multiples of its tensor; all others send it once."""


@fields_as_parameters
def read_chakra(
    path: str | PathLike[str],
    *,
    all_ranks: bool = True,
    pinned: bool = False,
    control: bool = True,
    unit_bytes: float | None = None,
    model: GpuModel = GpuModel(),
) -> DagInstance:
    """Read the execution traces of a job's ranks, protobuf or JSON.

    A trace is one file per rank, named ``NAME.RANK.et``; the file of any rank stands for all of them. Compute and
    memory nodes are tasks. A send and its receive, the next ones of the same source, destination and tag, are two
    tasks of time 0 with the data on the edge between them. A collective is, on each rank, a task of time 0 that all
    ranks wait for and one of time 0 after it; between the ranks flows what a collective of least traffic sends over
    a link (an all-reduce of s bytes on p ranks: 2 s (p - 1) / p), so that it costs its time where the ranks sit
    apart, and nothing on one GPU. A collective with a measured duration takes that instead, on every rank.
    Collectives are the same where group, name and position agree. Edges within a rank carry the outputs of a node,
    where the trace has their sizes, else the size of what is then sent, else of the tensor.

    Where the trace has durations, they are those of the tasks on the reference kind (nodes without one take no time).
    Otherwise times are rooflines over ``num_ops`` and sizes. Traces of the generator that calls its schema
    ``symbolic_tensor_network`` count elements of 16 bits, and multiply-adds in matrix products (``op_type`` M), which
    are two operations here. Dependencies on nodes that are not in the trace are left out. A trace says nothing of
    memory: no task occupies any.

    Parameters
    ----------
    all_ranks
        Whether the files of the other ranks beside this one are read too.
    pinned
        Whether every task may run on the GPU of its rank only: then the trace's own placement is the only one.
    control
        Whether control dependencies count beside data dependencies.
    unit_bytes
        Bytes in one unit of ``comm_size`` and ``tensor_size``; default 1, for the generator above 2.
    model
        GPUs and times; the default cluster has a GPU of the reference kind per rank, in one server.

    Returns
    -------
    DagInstance
        Tasks by rank in the order of the files; rank r is pinned to GPU r.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If a file is no such trace (the message gives file and node), a send has no receive, dependencies close a
        cycle, or there are more ranks than GPUs to pin them to.

    References
    ----------
    MLCommons Chakra, github mlcommons/chakra, ``et_def.proto``. What collectives and transfers become is ours.
    """
    files = _files(path, all_ranks)
    traces: dict[int, list[ChakraNode]] = {}
    head: dict[str, Any] = {}
    for rank, file in files.items():
        try:
            traces[rank], head = chakra_nodes(read_content(file))
        except ValueError as error:
            raise ValueError(str(error) if len(files) == 1 else f"{file.name}, {error}") from error
    is_generated = head.get("schema") == "symbolic_tensor_network"
    unit = (2.0 if is_generated else 1.0) if unit_bytes is None else unit_bytes
    check_at_least("unit_bytes", unit, 0)
    graph = _Graph(unit=unit, has_control=control, doubles_products=is_generated)
    for rank, nodes in traces.items():
        graph.add_rank(rank, nodes)
    if not graph.names:
        raise ValueError("trace: expected at least one node, got none.")
    graph.join_ranks()
    check_edges(graph.names, graph.pairs, [f"node {graph.names[head]!r}" for _, head in graph.pairs])
    name = _RANK.sub(r"\1", Path(path).name) if len(files) > 1 else instance_name(path)
    if model.cluster is None:
        model = replace(model, cluster=parse_cluster(f"{max(len(traces), 1)}x{model.reference_kind}"))
    instance = graph.instance(name, model)
    if not pinned:
        return instance
    if instance.num_gpus < len(traces):
        raise ValueError(f"cluster: expected at least {len(traces)} GPUs, one per rank, got {instance.num_gpus}.")
    gpu_of_rank = {rank: gpu for gpu, rank in enumerate(sorted(traces))}
    own = np.array([gpu_of_rank[rank] for rank in graph.ranks])
    elsewhere = own[:, None] != np.arange(instance.num_gpus)
    return replace(instance, durations=np.where(elsewhere, NOT_ALLOWED, instance.durations))


def _files(path: str | PathLike[str], all_ranks: bool) -> dict[int, Path]:
    """Return the files of the ranks; the one file as rank 0 where its name does not say a rank."""
    given = Path(path)
    match = _RANK.fullmatch(given.name)
    if match is None:
        return {0: given}
    if not all_ranks:
        return {int(match[2]): given}
    found = {int(match[2]): given}
    for file in given.parent.iterdir():
        other = _RANK.fullmatch(file.name)
        if other is not None and (other[1], other[3]) == (match[1], match[3]):
            found[int(other[2])] = file
    return dict(sorted(found.items()))


@dataclass(slots=True, kw_only=True)
class _Graph:
    """Tasks and edges as they are collected rank by rank."""

    unit: float
    has_control: bool
    doubles_products: bool
    names: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    flops: list[float] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    edges: dict[tuple[int, int], float] = field(default_factory=dict)
    sends: dict[tuple[int, int, int], list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    receives: dict[tuple[int, int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    collectives: dict[tuple[object, str, int], list[tuple[int, int, float, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Edges without their data."""
        return list(self.edges)

    def add_task(self, rank: int, name: str, *, flops: float = 0.0, moved: float = 0.0, seconds: float = 0.0) -> int:
        """Add a task and return its number."""
        self.names.append(f"{name} #{rank}")
        self.ranks.append(rank)
        self.flops.append(flops)
        self.moved.append(moved)
        self.seconds.append(seconds)
        return len(self.names) - 1

    def size(self, node: ChakraNode, name: str) -> float:
        """Return a size of a node in bytes, 0 where it has none."""
        value = node.integer(name) or 0
        if value < 0:
            raise ValueError(f"node {node.number}: expected at least 0 as {name}, got {value}.")
        return value * self.unit

    def add_rank(self, rank: int, nodes: Sequence[ChakraNode]) -> None:
        """Add the tasks of a rank, and the edges between them."""
        ends: dict[int, tuple[int, int]] = {}
        seen: Counter[tuple[object, str]] = Counter()
        nodes = [node for node in nodes if node.kind not in ("invalid", "metadata")]
        for node in nodes:
            if node.number in ends:
                raise ValueError(f"node {node.number}: expected each node once on rank {rank}, got it again.")
            ends[node.number] = self._add_node(rank, node, seen)
        by_number = {node.number: node for node in nodes}
        for node in nodes:
            deps = [(each, True) for each in node.data_deps]
            deps += [(each, False) for each in node.ctrl_deps if self.has_control and each not in node.data_deps]
            for number, has_data in deps:
                if number in ends:
                    data = self._data(by_number[number], node) if has_data else 0.0
                    edge = (ends[number][1], ends[node.number][0])
                    self.edges[edge] = max(self.edges.get(edge, 0.0), data)

    def _add_node(self, rank: int, node: ChakraNode, seen: Counter[tuple[object, str]]) -> tuple[int, int]:
        """Add the tasks of a node; return the one that waits and the one that others wait for."""
        seconds = node.duration_micros * 1e-6
        if node.kind == "collective":
            enter = self.add_task(rank, f"{node.name} enter")
            leave = self.add_task(rank, node.name, seconds=seconds)
            key = (node.attributes.get("pg_name"), node.name)
            data = 0.0 if seconds else self.size(node, "comm_size")
            entry = (enter, leave, data, node.integer("comm_type") or 0)
            self.collectives[(*key, seen[key])].append(entry)
            seen[key] += 1
            return enter, leave
        if node.kind in ("send", "receive"):
            task = self.add_task(rank, node.name)
            source = node.integer("comm_src") if node.kind == "receive" else rank
            target = node.integer("comm_dst") if node.kind == "send" else rank
            key3 = (
                rank if source is None else source,
                rank if target is None else target,
                node.integer("comm_tag") or 0,
            )
            if node.kind == "send":
                self.sends[key3].append((task, self.size(node, "comm_size")))
            else:
                self.receives[key3].append(task)
            return task, task
        products = 2.0 if self.doubles_products and node.attributes.get("op_type") == "M" else 1.0
        moved = _listed_bytes(node, "inputs") + _listed_bytes(node, "outputs") or self.size(node, "tensor_size")
        flops = products * (node.integer("num_ops") or 0)
        task = self.add_task(rank, node.name, flops=flops, moved=moved, seconds=seconds)
        return task, task

    def _data(self, tail: ChakraNode, head: ChakraNode) -> float:
        """Return the bytes that flow from a node to one that waits for it."""
        if tail.kind == "send":
            return 0.0
        if tail.kind in ("receive", "collective"):
            return self.size(tail, "comm_size")
        return _listed_bytes(tail, "outputs") or self.size(head, "comm_size") or self.size(tail, "tensor_size")

    def join_ranks(self) -> None:
        """Add the edges between ranks: of every send to its receive, and of collectives."""
        for key, sends in self.sends.items():
            receives = self.receives.pop(key, [])
            if len(sends) != len(receives):
                expected = f"as many receives as sends from rank {key[0]} to rank {key[1]} with tag {key[2]}"
                raise ValueError(f"trace: expected {expected}, got {len(sends)} sends and {len(receives)} receives.")
            for (send, data), receive in zip(sends, receives, strict=True):
                self.edges[send, receive] = data
        for source, target, tag in self.receives:
            raise ValueError(f"trace: expected a send from rank {source} to rank {target} with tag {tag}, got none.")
        for entries in self.collectives.values():
            for enter, _, data, kind in entries:
                share = _SHARES[kind](len(entries)) if kind in _SHARES else 1.0
                for other, leave, _, _ in entries:
                    self.edges[enter, leave] = 0.0 if other == enter else data * share

    def instance(self, name: str, model: GpuModel) -> DagInstance:
        """Return the instance on the cluster of the model."""
        edges = [
            (tail, head, bytes_from_number(data, f"node {self.names[head]!r}", "the data that it waits for"))
            for (tail, head), data in self.edges.items()
        ]
        memory = [0] * len(self.names)
        if any(self.seconds):
            measured = MeasuredGraph(
                name=name, task_names=self.names, seconds=self.seconds, memory_bytes=memory, edges=edges
            )
            return dag_instance_from_measured(measured, model)
        check_at_least("seed", model.seed, 0)
        graph = TaskGraph(
            name=name,
            task_names=self.names,
            flops=self.flops,
            moved_bytes=self.moved,
            memory_bytes=memory,
            edges=edges,
        )
        cost = READER_COST if model.cost is None else model.cost
        if cost.tick_seconds is None and not any(self.flops) and not any(self.moved):
            cost = replace(cost, tick_seconds=1e-6)  # nothing but transfers, from which no tick follows
        assert model.cluster is not None  # the reader has put one there
        return dag_instance_from_graph(graph, model.cluster, cost, np.random.default_rng(model.seed))


def _listed_bytes(node: ChakraNode, name: str) -> float:
    """Return the bytes of the tensors in a list of names and sizes, 0 where there is none."""
    listed = node.attributes.get(name)
    if not isinstance(listed, list):
        return 0.0
    try:
        return sum(float(text) for text in listed[1::2])
    except ValueError as error:
        raise ValueError(f"node {node.number}: expected names and sizes as {name}, got {listed[:4]!r}.") from error
