"""Tests of the reader of Chakra's execution traces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import optgap
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.clusters.gpu_kinds import gpu_kind
from instances.readers.dag.chakra import read_chakra
from instances.readers.dag.chakra_format import chakra_nodes
from tests.instances.readers.dag.chakra_messages import node, trace, write_ranks
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance

COST = CostModel(tick_seconds=1e-6, heterogeneity=0.0, precision="fp32", efficiency=1.0)
PAIR = parse_cluster("2xV100-16GB")
"""Two V100 with NVLink: 150 GB/s in one direction, latency 10 us."""

STAGES = (
    trace(
        node(1, "forward", "compute", (), 30), node(2, "out", "send", (1,), comm_size=1_500_000, comm_dst=1, comm_tag=4)
    ),
    trace(
        node(5, "in", "receive", (), comm_size=1_500_000, comm_src=0, comm_tag=4),
        node(6, "backward", "compute", (5, 99), 40),
    ),
)
"""Two pipeline stages with durations; node 99 was cut away."""


def longest_path(instance: DagInstance) -> int:
    """Return the end of a pinned instance if GPUs ran any number of tasks at once."""
    gpu = (instance.durations >= 0).argmax(axis=1)
    end = [0] * instance.num_tasks
    incoming: dict[int, list[int]] = {}
    for edge, (_, head) in enumerate(instance.edges.tolist()):
        incoming.setdefault(head, []).append(edge)
    for task in instance.topological_order.tolist():
        ready = [
            end[instance.edges[edge, 0]] + int(instance.transfer_delays(edge)[gpu[instance.edges[edge, 0]], gpu[task]])
            for edge in incoming.get(task, ())
        ]
        end[task] = max(ready, default=0) + int(instance.durations[task, gpu[task]])
    return max(end)


def test_stages_with_durations(tmp_path: Path) -> None:
    """Tests that pinned ranks replay the trace: compute, transfer, compute, and that one GPU needs no transfer."""
    path = write_ranks(tmp_path, *STAGES)
    pinned = read_chakra(path, pinned=True, cluster=PAIR, cost=COST)
    assert pinned.task_names == ("forward #0", "out #0", "in #1", "backward #1")
    assert pinned.durations.tolist() == [[30, -1], [0, -1], [-1, 0], [-1, 40]]
    transfer = 10 + 1_500_000 // 150_000
    assert optgap.solve(pinned, "heft").objective == longest_path(pinned) == 30 + transfer + 40
    free = read_chakra(path, cluster=PAIR, cost=COST)
    assert optgap.solve(free, "heft").objective == 70
    with pytest.raises(ValueError, match="expected as many receives as sends"):
        read_chakra(path, all_ranks=False)


def test_a_collective_waits_for_all_ranks(tmp_path: Path) -> None:
    """Tests that an all-reduce starts when the last rank is there and sends 2 s (p - 1) / p, or takes its time."""
    for measured, takes in ((0, 10 + 20), (9, 9)):
        ranks = [
            trace(
                node(1, "grad", "compute", (), micros),
                node(2, "reduce", "collective", (1,), measured, comm_type=0, comm_size=3_000_000),
                node(3, "update", "compute", (2,), 5),
            )
            for micros in (10, 50)
        ]
        instance = read_chakra(write_ranks(tmp_path, *ranks), pinned=True, cluster=PAIR, cost=COST)
        assert optgap.solve(instance, "heft").objective == 50 + takes + 5


def test_generated_traces_count_elements_and_multiply_adds(tmp_path: Path) -> None:
    """Tests that matrix products count twice, sizes in lists are bytes, and others elements of two bytes."""
    product = node(1, "x", "compute", (), num_ops=10**12, op_type="M", inputs=["a", "64"], outputs=["b", "32.0"])
    other = node(2, "y", "compute", (1,), num_ops=10**12, op_type="E", tensor_size=10**6)
    path = write_ranks(tmp_path, trace(product, other, schema="symbolic_tensor_network"))
    instance = read_chakra(path, cluster=parse_cluster("V100-16GB"), cost=COST)
    peak = gpu_kind("V100-16GB").flops("fp32")
    assert instance.durations[:, 0].tolist() == [round(2e12 / peak * 1e6), round(1e12 / peak * 1e6)]
    assert instance.edge_bytes.tolist() == [32]


@pytest.mark.parametrize(
    ("ranks", "options", "message"),
    [
        (
            STAGES[:1],
            {},
            "trace: expected as many receives as sends from rank 0 to rank 1 with tag 4, got 1 sends and 0",
        ),
        ((trace(), STAGES[1]), {}, "trace: expected a send from rank 0 to rank 1 with tag 4, got none."),
        (STAGES, {"pinned": True, "cluster": parse_cluster("T4")}, "cluster: expected at least 2 GPUs, one per rank"),
        ((trace(),), {}, "trace: expected at least one node, got none."),
        ((trace(node(1, "a", "compute", (1,))),), {}, "expected two different tasks, got a #0 -> a #0."),
        (
            (trace(node(1, "a", "compute", (2,)), node(2, "b", "compute", (1,))),),
            {},
            "expected no cycle, got a #0 -> b #0 -> a #0.",
        ),
        ((trace(node(1, "a", "compute"), node(1, "b", "compute")),), {}, "node 1: expected each node once on rank 0"),
        ((trace(node(1, "a", "compute", num_ops="x")),), {}, "node 1: expected an integer as num_ops, got 'x'."),
        ((STAGES[0], b"\x05x"), {}, "job.1.et, byte 1: expected a message of 5 bytes, got 1."),
    ],
)
def test_broken_traces(tmp_path: Path, ranks: tuple[bytes, ...], options: dict[str, Any], message: str) -> None:
    """Tests that what cannot be an instance is one error that names the file or the node."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_chakra(write_ranks(tmp_path, *ranks), **options)


@pytest.mark.filterwarnings("ignore::instances.rounding.RoundingWarning")  # both sides round to microseconds
@pytest.mark.parametrize("name", ["llama-l2-tp2-pp2-mb4", "moe-l2-ep2-pp2-mb2"])
def test_generated_llm_training_replays_its_critical_path(name: str) -> None:
    """Tests that the longest path of a pinned instance is that of the trace, computed from its nodes alone."""
    path = real_data(f"stg/{name}/{name}.0.et.gz")
    instance = read_chakra(path, pinned=True, cost=COST)
    kind, cluster = gpu_kind("V100-16GB"), parse_cluster("4xV100-16GB")
    bandwidth, latency = cluster.bytes_per_second()[0, 1] * 1e-6, 10
    ends: dict[tuple[int, int], int] = {}
    nodes = {
        (rank, each.number): each
        for rank in range(4)
        for each in chakra_nodes(path.with_name(f"{name}.{rank}.et.gz").read_bytes())[0]
    }
    meets: dict[Any, list[tuple[int, int]]] = {}
    for (rank, number), each in nodes.items():
        if each.kind == "collective":
            meets.setdefault((each.attributes["pg_name"], each.name), []).append((rank, number))
        elif each.kind != "compute":
            ends_of = (rank, each.integer("comm_dst")) if each.kind == "send" else (each.integer("comm_src"), rank)
            meets.setdefault((*ends_of, each.integer("comm_tag")), []).append((rank, number))

    def delay(data: float) -> int:
        return latency + -int(-data // bandwidth) if data else 0

    def ready(key: tuple[int, int]) -> int:
        return max((end((key[0], each)) for each in nodes[key].data_deps if (key[0], each) in nodes), default=0)

    def end(key: tuple[int, int]) -> int:
        if key not in ends:
            ends[key] = finish(key)
        return ends[key]

    def finish(key: tuple[int, int]) -> int:
        each = nodes[key]
        if each.kind == "compute":
            operations = each.attributes["num_ops"] * (2 if each.attributes["op_type"] == "M" else 1)
            moved = sum(float(text) for side in ("inputs", "outputs") for text in each.attributes[side][1::2])
            seconds = max(operations / kind.flops("fp32"), moved / kind.memory_bandwidth)
            return ready(key) + (max(round(seconds * 1e6), 1) if seconds else 0)
        size = 2.0 * each.attributes["comm_size"]
        if each.kind == "send":
            return ready(key)
        if each.kind == "receive":
            source = (each.integer("comm_src"), key[0], each.integer("comm_tag"))
            (sender,) = [other for other in meets[source] if nodes[other].kind == "send"]
            return max(ready(key), end(sender) + delay(size))
        group = meets[each.attributes["pg_name"], each.name]
        share = {0: 2 * (len(group) - 1) / len(group), 2: len(group) - 1, 6: 1 - 1 / len(group), 7: 1 - 1 / len(group)}
        data = size * share[each.attributes["comm_type"]]
        return max(ready(other) + (delay(data) if other != key else 0) for other in group)

    assert longest_path(instance) == max(end(key) for key in nodes)
    assert optgap.solve(instance, "heft").objective >= longest_path(instance)


def test_measured_ring_all_reduce() -> None:
    """Tests that a ring of 8 ranks, bound by data alone, takes 14 steps of transfer and 7 of 7 us of computation."""
    path = real_data("chakra/custom_ring_allreduce_8npus_1MB/custom_allreduce.0.et.gz")
    instance = read_chakra(path, pinned=True, cost=COST)
    assert (instance.num_tasks, instance.num_gpus) == (8 * 35, 8)
    step = 10 + -(-131072 // 150_000)
    assert optgap.solve(instance, "heft").objective == longest_path(instance) == 14 * step + 7 * 7
