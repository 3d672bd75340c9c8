"""Tests of the reader of PipeDream profiles."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.dag.pipeline import pipeline_of
from instances.readers.dag.measured_graph import READER_COST, _balanced_cuts
from instances.readers.dag.pipedream import read_pipedream
from solvers.solve import solve
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance


MICROSECONDS = replace(READER_COST, tick_seconds=1e-6)


def node(
    name: str, label: str, forward: str = "1.0", backward: str = "2.0", size: str = "100", weights: str = "0"
) -> str:
    """Write the line of a node."""
    return (
        f"{name} -- {label} -- forward_compute_time={forward}, backward_compute_time={backward}, "
        f"activation_size={size}, parameter_size={weights}\n"
    )


GRAPH = (
    node("node3", "LSTM(8, 8)", "4.000", "6.000", "[400.0; 30.0]", "1000.000")
    + node("node1", "Input0", "50.000", "0.000", "60.000")
    + node("node4", "__getitem__(1)", "0.000", "0.000", "30.0")
    + node("node5", "Linear(8, 2)", "2.000", "3.000", "21.000", "500.000")
    + "\tnode1 -- node3\n\tnode3 -- node4\n\tnode4 -- node5\n\tnode3 -- node5\n"
)


def read(tmp_path: Path, text: str, **options: object) -> DagInstance:
    """Read a text on a V100 and a T4 in microseconds."""
    path = tmp_path / "small.txt"
    path.write_text(text)
    return read_pipedream(path, cluster=parse_cluster("V100-16GB+T4"), cost=MICROSECONDS, **options)  # type: ignore[arg-type]


def edges_by_name(instance: DagInstance) -> dict[tuple[str, str], int]:
    """Return the bytes of every edge by the names of its tasks."""
    names = instance.task_names
    return {
        (names[tail], names[head]): data
        for (tail, head), data in zip(instance.edges.tolist(), instance.edge_bytes.tolist(), strict=True)
    }


def test_forward_pass(tmp_path: Path) -> None:
    """Tests that names, times, memory and bytes on edges are those of the file, and the input takes no time."""
    instance = read(tmp_path, GRAPH)
    assert instance.task_names == ("node3 LSTM", "node1 Input0", "node4 __getitem__", "node5 Linear")
    assert instance.durations[:, 0].tolist() == [4000, 0, 0, 2000]
    assert instance.task_memory.tolist() == [1430, 60, 30, 521]
    assert edges_by_name(instance) == {
        ("node1 Input0", "node3 LSTM"): 60,
        ("node3 LSTM", "node4 __getitem__"): 30,
        ("node4 __getitem__", "node5 Linear"): 30,
        ("node3 LSTM", "node5 Linear"): 430,
    }
    assert instance.gpu_memory.tolist() == [16 * 2**30] * 2


def test_training_step(tmp_path: Path) -> None:
    """Tests that a training step adds backward tasks, reversed edges and the edges from forward to backward."""
    instance = read(tmp_path, GRAPH, training=True, parameter_copies=4)
    assert instance.task_names[4:] == ("node5 Linear backward", "node4 __getitem__ backward", "node3 LSTM backward")
    assert instance.durations[4:, 0].tolist() == [3000, 0, 6000]
    assert instance.task_memory.tolist() == [1430, 60, 30, 521, 1500, 0, 3000]
    added = {ends: data for ends, data in edges_by_name(instance).items() if ends[1].endswith("backward")}
    assert added == {
        ("node5 Linear backward", "node4 __getitem__ backward"): 30,
        ("node4 __getitem__ backward", "node3 LSTM backward"): 30,
        ("node5 Linear backward", "node3 LSTM backward"): 430,
        ("node5 Linear", "node5 Linear backward"): 521,
        ("node4 __getitem__", "node4 __getitem__ backward"): 30,
        ("node3 LSTM", "node3 LSTM backward"): 1430,
    }


def test_parameter_copies_of_a_forward_pass(tmp_path: Path) -> None:
    """Tests that a forward pass keeps as many copies of the parameters as asked for."""
    assert read(tmp_path, GRAPH, parameter_copies=3).task_memory.tolist() == [3430, 60, 30, 1521]


def test_micro_batches(tmp_path: Path) -> None:
    """Tests that micro-batches divide times and outputs, count parameters once and share their balance."""
    instance = read(tmp_path, GRAPH, micro_batches=2)
    assert instance.num_tasks == 8
    assert instance.task_names[4] == "node3 LSTM #1"
    assert instance.durations[:, 0].tolist() == [2000, 0, 0, 1000] * 2
    assert (instance.durations[:4] == instance.durations[4:]).all()
    assert instance.task_memory.tolist() == [1215, 30, 15, 511, 215, 30, 15, 11]
    assert edges_by_name(instance)["node3 LSTM #1", "node5 Linear #1"] == 215
    assert instance.edges.tolist()[4:] == [[tail + 4, head + 4] for tail, head in instance.edges.tolist()[:4]]


def test_contraction(tmp_path: Path) -> None:
    """Tests that tasks of time 0 become part of a neighbour with their memory, and larger edges win."""
    instance = read(tmp_path, GRAPH, contract=True)
    assert instance.task_names == ("node3 LSTM", "node5 Linear")
    assert instance.durations[:, 0].tolist() == [4000, 2000]
    assert instance.task_memory.tolist() == [1520, 521]
    assert edges_by_name(instance) == {("node3 LSTM", "node5 Linear"): 430}


def test_machines_are_unrelated_and_seeded(tmp_path: Path) -> None:
    """Tests that layers differ in how much slower another kind is, that the seed decides, and the same one repeats."""
    text = "".join(node(f"node{number}", "ReLU") for number in range(20))
    instance = read(tmp_path, text, seed=1)
    assert instance.durations[:, 0].tolist() == [1000] * 20
    assert len(set(instance.durations[:, 1].tolist())) > 10
    assert read(tmp_path, text, seed=1).sha256 == instance.sha256
    assert read(tmp_path, text, seed=2).sha256 != instance.sha256


def test_reference_kind(tmp_path: Path) -> None:
    """Tests that measured times stand on the reference kind, whichever it is."""
    instance = read(tmp_path, GRAPH, reference_kind="T4")
    assert instance.durations[:, 1].tolist() == [4000, 0, 0, 2000]
    assert (instance.durations[[0, 3], 0] < [4000, 2000]).all()


def test_stage_and_line_ends(tmp_path: Path) -> None:
    """Tests that a stage after the fields is ignored, and line ends of other systems are understood."""
    text = GRAPH.replace("parameter_size=500.000\n", "parameter_size=500.000 -- stage_id=1\n").replace("\n", "\r\n")
    assert read(tmp_path, text).sha256 == read(tmp_path, GRAPH).sha256


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected at least one node, got none."),
        ("\x00\x01\x02", "line 1: expected 'node -- label -- fields', got 1 part(s)."),
        (GRAPH + "\tnode1 node5\n", "line 9: expected an edge 'node1 -- node2', got 'node1 node5'."),
        (GRAPH + "\tnode1 -- node9\n", "line 9: expected nodes of the file, got 'node9'."),
        (GRAPH + "\tnode1 -- node3\n", "line 9: expected each edge once, got node1 -> node3 again after line 5."),
        (GRAPH + "\tnode5 -- node3\n", "line 9: expected no cycle, got "),
        (GRAPH + "\tnode5 -- node5\n", "line 9: expected two different tasks, got node5 -> node5."),
        (GRAPH + node("node1", "ReLU"), "line 9: expected each node once, got node1 again after line 2."),
        (GRAPH + "node7 -- ReLU\n", "line 9: expected 'node -- label -- fields', got 2 part(s)."),
        (GRAPH + "node7 -- ReLU -- forward_compute_time=1\n", "line 9: expected backward_compute_time, got nothing."),
        (GRAPH + "node7 -- ReLU -- time=1\n", "line 9: expected each of forward_compute_time, backward_compute_time"),
        (GRAPH + node("node7", "ReLU", forward="x"), "line 9: expected forward_compute_time, a number of at least 0"),
        (
            GRAPH + node("node7", "ReLU", backward="-1"),
            "line 9: expected backward_compute_time, a number of at least 0",
        ),
        (GRAPH + node("node7", "ReLU", forward="nan"), "line 9: expected forward_compute_time, a number of at least 0"),
        (
            GRAPH + node("node7", "ReLU", forward="1e999"),
            "line 9: expected forward_compute_time, a number of at least 0",
        ),
        (
            GRAPH + node("node7", "ReLU", size="[1; ]"),
            "line 9: expected activation_size, a number of at least 0, got ''.",
        ),
        (GRAPH + node("node7", "ReLU", size="1e30"), "line 9: expected activation_size, bytes in 0..2**53, got 1e+30."),
        (GRAPH + node("node7", "ReLU", weights=""), "line 9: expected parameter_size, a number of at least 0, got ''."),
        (
            GRAPH.replace("__getitem__(1)", "__getitem__(2)"),
            "line 3: expected an entry in 0..1 of node3, got __getitem__(2)",
        ),
        (GRAPH[:-3], "line 8: expected nodes of the file, got 'nod"),
    ],
)
def test_broken_file(tmp_path: Path, text: str, message: str) -> None:
    """Tests that a broken file gives one error that names the line."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read(tmp_path, text)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """Tests that a binary file gives one error that names the byte."""
    path = tmp_path / "small.txt"
    path.write_bytes(b"node\xff\xfe")
    with pytest.raises(ValueError, match=r"byte 4: expected UTF-8 text, got 0xff\."):
        read_pipedream(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"micro_batches": 0}, "micro_batches: expected at least 1, got 0."),
        ({"micro_batches": 10**11}, "micro_batches: expected at most 1024, got 100000000000."),
        ({"parameter_copies": 0.5}, "parameter_copies: expected at least 1, got 0.5."),
        ({"parameter_copies": float("nan")}, "parameter_copies: expected at least 1, got nan."),
        ({"seed": -1}, "seed: expected at least 0, got -1."),
        ({"reference_kind": "V1000"}, "GPU kind: expected "),
    ],
)
def test_options_out_of_range(tmp_path: Path, options: dict[str, object], message: str) -> None:
    """Tests that options are checked."""
    with pytest.raises(ValueError, match=re.escape(message)):
        read(tmp_path, GRAPH, **options)


@pytest.mark.parametrize(
    ("model", "num_nodes", "num_edges", "forward_ms", "backward_ms", "parameters_mb"),
    [
        ("alexnet", 23, 23, 44.8, 40.5, 244.4),
        ("vgg16", 41, 41, 233.9, 438.6, 553.4),
        ("gnmt", 48, 58, 33.5, 55.9, 775.1),
        ("squeezenet1_0", 68, 76, 113.2, 172.1, 5.0),
        ("resnet18", 71, 79, 107.4, 152.3, 46.8),
        ("gnmt_large", 96, 122, 182.6, 337.9, 1110.9),
        ("resnet50", 177, 193, 182.5, 260.9, 102.2),
        ("resnext50", 177, 193, 221.8, 369.0, 100.1),
        ("inception_v3", 326, 362, 289.3, 399.8, 108.6),
        ("resnet101", 347, 380, 197.3, 213.8, 178.2),
        ("resnext101", 347, 380, 239.1, 318.3, 176.7),
        ("densenet121", 429, 487, 177.4, 148.8, 31.9),
        ("nasnetamobile", 921, 1078, 322.9, 261.4, 34.3),
        ("nasnetalarge", 1251, 1468, 409.1, 249.2, 369.0),
    ],
)
def test_published_profiles(
    model: str, num_nodes: int, num_edges: int, forward_ms: float, backward_ms: float, parameters_mb: float
) -> None:
    """Tests that the published profiles have their known numbers of nodes and edges, times and parameters."""
    path = real_data(f"pipedream/{model}.txt")
    cluster = parse_cluster("2xV100-16GB")
    forward = read_pipedream(path, cluster=cluster, cost=MICROSECONDS)
    assert (forward.num_tasks, forward.num_edges) == (num_nodes, num_edges)
    assert forward.durations[:, 0].sum() * 1e-3 == pytest.approx(forward_ms, abs=0.06)
    step = read_pipedream(path, training=True, cluster=cluster, cost=MICROSECONDS)
    assert (step.durations[:, 0].sum() - forward.durations[:, 0].sum()) * 1e-3 == pytest.approx(backward_ms, abs=0.06)
    assert (step.task_memory.sum() - forward.task_memory.sum()) * 1e-6 == pytest.approx(parameters_mb, abs=0.06)


def test_stages(tmp_path: Path) -> None:
    """Tests two stages by hand: sums of times, the bytes across the cut, what F holds, and weights with gradients."""
    path = tmp_path / "small.txt"
    path.write_text(GRAPH)
    instance = read_pipedream(path, stages=2, micro_batches=2, cost=MICROSECONDS)
    pipeline = pipeline_of(instance)
    assert (pipeline.stages, pipeline.micro_batches, pipeline.weight) == (2, 2, None)
    ticks = instance.durations.max(axis=1)
    assert ticks[pipeline.forward].tolist() == [[2000, 2000], [1000, 1000]]
    assert ticks[pipeline.backward].tolist() == [[3000, 3000], [1500, 1500]]
    edge = [tuple(each) for each in instance.edges.tolist()].index((pipeline.forward[0, 0], pipeline.forward[1, 0]))
    assert int(instance.transfer_delays(edge)[0, 1]) == 11  # 10 us and 215 bytes over PCIe
    assert {(each.task, each.size) for each in instance.buffers if each.size} == {
        *((task, 245) for task in pipeline.forward[0].tolist()),
        *((task, 15) for task in pipeline.forward[1].tolist()),
    }
    assert instance.task_memory[pipeline.forward[:, 0]].tolist() == [2000, 1000]
    with pytest.raises(ValueError, match=r"stages: expected a number in 1\.\.4, the number of layers, got 5"):
        read_pipedream(path, stages=5)
    with pytest.raises(ValueError, match="cluster: expected none with stages"):
        read(tmp_path, GRAPH, stages=2)


@pytest.mark.parametrize("seed", range(5))
def test_cuts_are_balanced(seed: int) -> None:
    """Tests the largest stage against all ways to cut."""
    rng = np.random.default_rng(seed)
    for stages in range(1, 6):
        work = rng.integers(0, 9, size=7).astype(float)
        ends = [0, *_balanced_cuts(work, stages)]
        assert len(ends) == stages + 1 and ends[-1] == 7 and ends == sorted(set(ends))
        least = min(
            max(work[a:b].sum() for a, b in itertools.pairwise([0, *cuts, 7]))
            for cuts in itertools.combinations(range(1, 7), stages - 1)
        )
        assert max(work[a:b].sum() for a, b in itertools.pairwise(ends)) == least


@pytest.mark.parametrize("name", ["vgg16", "gnmt"])
def test_measured_profiles_in_stages(name: str) -> None:
    """Tests that measured networks become pipelines with a schedule that verifies and a gap."""
    instance = read_pipedream(real_data(f"pipedream/{name}.txt"), stages=4, micro_batches=8)
    assert pipeline_of(instance).stages == 4
    result = solve(instance, "pipeline-greedy")
    assert result.gap is not None and 0 <= result.gap < 0.05
