"""Tests of the reader of device placement graphs."""

from __future__ import annotations

import copy
import json
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.pipeline import pipeline_of
from instances.readers.dag.dnn_partitioning import ColourClassWarning, read_dnn_partitioning
from instances.rounding import RoundingWarning
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path


def cost(size: float) -> float:
    """Return the milliseconds that a size takes over a link of 2 GiB/s."""
    return size * 1000 / 2**31


GRAPH: dict[str, Any] = {
    "maxFPGAs": 2,
    "maxCPUs": 1,
    "maxSizePerFPGA": 1000.0,
    "nodes": [
        {"id": 7, "name": "input", "supportedOnFpga": 1, "fpgaLatency": 9.0, "cpuLatency": 90.0, "size": 0.0},
        {"id": 3, "name": "weights", "fpgaLatency": 0.0, "cpuLatency": 0.0, "size": 300.0, "colorClass": 1},
        {"id": 4, "name": "matmul", "fpgaLatency": 2.0, "cpuLatency": 20.0, "size": 100.0, "colorClass": 1},
        {"id": 9, "name": "add", "fpgaLatency": 1.0, "cpuLatency": 10.0, "size": 50.5, "colorClass": None},
    ],
    "edges": [
        {"sourceId": 7, "destId": 4, "size": 2048.0, "cost": cost(2048)},
        {"sourceId": 7, "destId": 3, "size": 2048.0, "cost": cost(2048)},
        {"sourceId": 3, "destId": 4, "size": 300.0, "cost": cost(300)},
        {"sourceId": 4, "destId": 9, "size": 4096.0, "cost": cost(4096)},
    ],
}


def write(tmp_path: Path, document: object) -> Path:
    """Write a file."""
    path = tmp_path / "small.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def changed(*path: object, value: object) -> dict[str, Any]:
    """Return the graph with another value at a place; a value of ... deletes the key."""
    document = copy.deepcopy(GRAPH)
    place: Any = document
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


def test_accelerators(tmp_path: Path) -> None:
    """Tests that the devices are the file's accelerators, a colour class is one task, and the input takes no time."""
    instance = read_dnn_partitioning(write(tmp_path, GRAPH))
    assert instance.task_names == ("input", "weights", "add")
    assert instance.durations.tolist() == [[0, 0], [2000, 2000], [1000, 1000]]
    assert instance.task_memory.tolist() == [0, 400, 51]
    assert instance.gpu_memory.tolist() == [1000, 1000]
    assert instance.edges.tolist() == [[0, 1], [1, 2]]
    assert instance.edge_bytes.tolist() == [2048, 4096]
    assert instance.tick_seconds == 1e-6


def test_transfers_cross_twice_between_accelerators(tmp_path: Path) -> None:
    """Tests that a transfer costs the edge's cost to a CPU and twice that to another accelerator."""
    document = changed("edges", 3, value={"sourceId": 4, "destId": 9, "size": 2.0**21, "cost": cost(2**21)})
    document["maxCPUs"] = 2
    instance = read_dnn_partitioning(write(tmp_path, document), with_cpus=True)
    delays = instance.transfer_delays(1).tolist()
    assert delays[0] == [0, 1954, 977, 977]  # 2 MiB at 2 GiB/s are 976.56 microseconds; twice that; rounded up
    assert delays[2] == [977, 977, 0, 1]


def test_cpu_cores_are_slow_devices_without_a_limit(tmp_path: Path) -> None:
    """Tests that CPU cores are added on request, also for what an accelerator does not support."""
    document = changed("nodes", 3, "supportedOnFpga", value=False)
    instance = read_dnn_partitioning(write(tmp_path, document), with_cpus=True, num_accelerators=1)
    assert instance.durations.tolist() == [[0, 0], [2000, 20000], [-1, 10000]]
    assert instance.gpu_memory.tolist() == [1000, -1]
    assert instance.gpu_kinds == ("accelerator", "CPU core")
    with pytest.raises(ValueError, match="node 'add': expected supportedOnFpga, as there are no CPUs here, got false"):
        read_dnn_partitioning(write(tmp_path, document))


def test_classes_and_input_as_they_stand(tmp_path: Path) -> None:
    """Tests that classes can be ignored and the input's time kept."""
    instance = read_dnn_partitioning(write(tmp_path, GRAPH), contract_classes=False, zero_input_time=False)
    assert instance.task_names == ("input", "weights", "matmul", "add")
    assert instance.durations[:, 0].tolist() == [9000, 0, 2000, 1000]
    assert instance.num_edges == 4


def test_contraction(tmp_path: Path) -> None:
    """Tests that tasks without time become part of a neighbour."""
    instance = read_dnn_partitioning(write(tmp_path, GRAPH), contract=True)
    assert instance.task_names == ("weights", "add")
    assert instance.task_memory.tolist() == [400, 51]


def test_class_that_would_close_a_cycle(tmp_path: Path) -> None:
    """Tests that such a class stays apart and a warning counts it."""
    document = changed("nodes", 3, "colorClass", value=5)
    document["nodes"].append(
        {"id": 8, "name": "head", "fpgaLatency": 1.0, "cpuLatency": 1.0, "size": 1.0, "colorClass": 1}
    )
    document["edges"].append({"sourceId": 9, "destId": 8, "size": 8.0, "cost": cost(8)})
    with pytest.warns(ColourClassWarning, match="1 of 1 colour classes with several nodes close a cycle"):
        instance = read_dnn_partitioning(write(tmp_path, document))
    assert instance.num_tasks == 5


def test_on_a_cluster(tmp_path: Path) -> None:
    """Tests that a cluster takes the place of the file's devices."""
    model = CostModel(heterogeneity=0.0, tick_seconds=1e-6)
    instance = read_dnn_partitioning(write(tmp_path, GRAPH), cluster=parse_cluster("V100-16GB+P100"), cost=model)
    assert instance.gpu_kinds == ("V100-16GB", "P100")
    assert instance.durations[:, 0].tolist() == [0, 2000, 1000]
    with pytest.raises(ValueError, match="cost: expected none, as the devices are those of the file without a cluster"):
        read_dnn_partitioning(write(tmp_path, GRAPH), cost=replace(model, tick_seconds=None))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "line 1, column 1: expected JSON, got Expecting value."),
        (json.dumps(GRAPH)[:100], "line 1, column "),
        ("[1]", "document: expected an object, got [1]."),
        (changed("nodes", value=...), "nodes: expected a list, got nothing."),
        (changed("nodes", value=[]), "nodes: expected at least one node, got none."),
        (changed("edges", value=...), "edges: expected a list, got nothing."),
        (changed("nodes", 1, value=5), "nodes[1]: expected an object, got 5."),
        (changed("nodes", 1, "id", value="3"), 'nodes[1].id: expected an integer, got "3".'),
        (changed("nodes", 1, "id", value=7), "nodes[1].id: expected each id once, got 7 again."),
        (changed("nodes", 1, "size", value=...), "nodes[1].size: expected a number, got nothing."),
        (changed("nodes", 1, "size", value=-1), "nodes[1].size: expected a finite number of at least 0, got -1."),
        (changed("nodes", 1, "size", value=1e300), "nodes[1].size: expected a size, bytes in 0..2**53, got 1e+300."),
        (changed("nodes", 1, "fpgaLatency", value="x"), 'nodes[1].fpgaLatency: expected a number, got "x".'),
        (
            changed("nodes", 1, "cpuLatency", value=10**400),
            "nodes[1].cpuLatency: expected a finite number of at least 0",
        ),
        (changed("nodes", 1, "supportedOnFpga", value=[]), "nodes[1].supportedOnFpga: expected true or false, got []."),
        (
            changed("nodes", 1, "colorClass", value="r"),
            'nodes[1].colorClass: expected an integer or null, got "r".',
        ),
        (changed("maxFPGAs", value=-1), "maxFPGAs: expected 0 to 4096 devices, got -1."),
        (changed("maxFPGAs", value=10**30), "maxFPGAs: expected 0 to 4096 devices, got 1000000"),
        (changed("maxFPGAs", value=0), "num_accelerators: expected at least 1, got 0."),
        (changed("edges", 2, "destId", value=5), "edges[2].destId: expected the id of a node, got 5."),
        (changed("edges", 2, "destId", value=3), "edges[2]: expected two different tasks, got weights -> weights."),
        (changed("edges", 2, "sourceId", value=7), "edges[2]: expected each edge once, got input -> matmul again"),
        (changed("edges", 2, "destId", value=7), "edges[2]: expected no cycle, got "),
        (
            changed("edges", 2, "cost", value=1e-9),
            "edges[2].cost: expected 0.000139698 ms, which moves 300 bytes at 2 GiB/s",
        ),
        (changed("nodes", 1, "size", value=3000.0), "tasks[1].memory_bytes: expected at most 1000"),
    ],
)
def test_broken_file(tmp_path: Path, document: object, message: str) -> None:
    """Tests that a broken file gives one error that names the place."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read_dnn_partitioning(write(tmp_path, document))


@pytest.mark.parametrize(
    ("name", "num_nodes", "num_edges", "num_accelerators", "memory_mib", "total_ms"),
    [
        ("LayerGraphs/bert24", 32, 55, 5, 600, 92.4),
        ("LayerGraphs/gnmt", 96, 122, 6, 600, 182.6),
        ("LayerGraphs/resnet50", 177, 193, 14, 2048, 201.5),
        ("LayerGraphs/inceptionv3", 326, 363, 12, 2048, 311.0),
        ("OperatorGraphs/bert_l-3", 235, 250, 4, 600, 49.4),
        ("OperatorGraphs/bert_l-6", 418, 448, 6, 600, 77.5),
        ("OperatorGraphs/resnet50", 604, 619, 9, 600, 325.1),
        ("OperatorGraphs/bert_l-12", 783, 843, 8, 2048, 642.8),
    ],
)
def test_published_graphs(
    name: str, num_nodes: int, num_edges: int, num_accelerators: int, memory_mib: int, total_ms: float
) -> None:
    """Tests that the published graphs have their known sizes and times, and all their colour classes become tasks."""
    path = real_data(f"dnn-partitioning/latency-inputs/{name}_inference.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColourClassWarning)
        warnings.simplefilter("ignore", RoundingWarning)
        plain = read_dnn_partitioning(path, contract_classes=False, zero_input_time=False)
        contracted = read_dnn_partitioning(path, zero_input_time=False)
    assert (plain.num_tasks, plain.num_edges, plain.num_gpus) == (num_nodes, num_edges, num_accelerators)
    assert set(plain.gpu_memory.tolist()) == {memory_mib * 2**20}
    assert plain.durations[:, 0].sum() * 1e-3 == pytest.approx(total_ms, abs=0.3)
    assert 0.54 <= plain.task_memory.sum() / plain.gpu_memory.sum() <= 0.655
    assert contracted.task_memory.sum() == plain.task_memory.sum()
    assert (contracted.num_tasks < num_nodes) == name.startswith("OperatorGraphs")


@pytest.mark.parametrize(("name", "input_ms"), [("resnet50", 19.0), ("inceptionv3", 21.7), ("gnmt", 0.0)])
def test_input_time_of_published_graphs(name: str, input_ms: float) -> None:
    """Tests that the known time of loading data, and only that, is left out."""
    path = real_data(f"dnn-partitioning/latency-inputs/LayerGraphs/{name}_inference.json")
    kept = read_dnn_partitioning(path, zero_input_time=False)
    left_out = read_dnn_partitioning(path)
    difference = (kept.durations - left_out.durations)[:, 0]
    assert difference.sum() * 1e-3 == pytest.approx(input_ms, abs=0.05)
    assert (difference > 0).sum() == (input_ms > 0)


def test_stages() -> None:
    """Tests that a graph becomes a pipeline with backward passes twice as long, and that too much is refused."""
    instance = read_dnn_partitioning(
        real_data("dnn-partitioning/latency-inputs/LayerGraphs/bert24_inference.json"), stages=4, micro_batches=8
    )
    pipeline = pipeline_of(instance)
    ticks = instance.durations.max(axis=1)
    assert (pipeline.stages, pipeline.micro_batches) == (4, 8)
    assert np.abs(ticks[pipeline.backward] - 2 * ticks[pipeline.forward]).max() <= 1
    assert set(instance.gpu_memory.tolist()) == {600 * 2**20}
    with pytest.raises(ValueError, match="expected at most 629145600, the largest memory"):
        path = real_data("dnn-partitioning/latency-inputs/LayerGraphs/gnmt_inference.json")
        read_dnn_partitioning(path, stages=4, micro_batches=8)
