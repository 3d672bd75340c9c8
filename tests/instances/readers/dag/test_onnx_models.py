"""Tests of the reader of ONNX models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import optgap
from instances.clusters.cost_model import CostModel
from instances.readers.dag.onnx_costs import MEASURED_EFFICIENCY
from instances.readers.dag.onnx_models import onnx_operators, read_onnx
from tests.benchmarks.run_roofline_errors import neusight, shipped, vidur
from tests.real_data import real_data

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
"""Nine networks without weights that come with the package."""

CLUSTER = optgap.parse_cluster("v100-t4-p100-pair")


def model(*nodes: NodeProto, inputs: dict[str, Any], weights: dict[str, list[int]] | None = None) -> ModelProto:
    """Return a model with inputs and weights of single precision; its output is that of the last node."""
    graph = onnx.helper.make_graph(
        list(nodes),
        "g",
        [onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()],
        [onnx.helper.make_tensor_value_info(nodes[-1].output[0], 1, None)],
        [onnx.TensorProto(name=name, dims=dims, data_type=1) for name, dims in (weights or {}).items()],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)


def node(kind: str, inputs: str, output: str, **attributes: Any) -> NodeProto:
    """Return a node that is called after its output."""
    return onnx.helper.make_node(kind, inputs.split(), [output], name=output, **attributes)


BLOCK = (
    node("Conv", "x w", "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    node("Relu", "conv", "relu"),
    node("Conv", "relu v", "conv2", kernel_shape=[1, 1]),
    node("Add", "conv2 relu", "sum"),
    node("Shape", "sum", "shape"),
    node("Reshape", "sum shape", "view"),
    node("Relu", "view", "last"),
)
WEIGHTS = {"w": [8, 3, 3, 3], "v": [8, 8, 1, 1]}


def write(tmp_path: Path, made: ModelProto) -> Path:
    """Write a model."""
    path = tmp_path / "net.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def test_operators_of_a_block() -> None:
    """Tests FLOPs, bytes, parameters and tensors of each operator; views and computed shapes are no operators."""
    operators = onnx_operators(
        model(*BLOCK, inputs={"x": [1, 3, 4, 4]}, weights=WEIGHTS).SerializeToString(), dimensions={}
    )
    assert [(each.kind, each.name, each.flops) for each in operators] == [
        ("Conv", "conv", 2 * 128 * 27),
        ("Relu", "relu", 128),
        ("Conv", "conv2", 2 * 128 * 8),
        ("Add", "sum", 128),
        ("Relu", "last", 128),
    ]
    assert [each.parameter_bytes for each in operators] == [4 * 216, 0, 4 * 64, 0, 0]
    assert [each.moved_bytes for each in operators] == [4 * (48 + 216 + 128), 1024, 4 * (256 + 64), 1536, 1024]
    assert [each.inputs for each in operators][2:] == [{"relu": 512}, {"conv2": 512, "relu": 512}, {"sum": 512}]


def test_tasks_edges_and_memory(tmp_path: Path) -> None:
    """Tests the instance: durations by the rooflines, tensors on edges, parameters and outputs in memory."""
    path = write(tmp_path, model(*BLOCK, inputs={"x": [1, 3, 4, 4]}, weights=WEIGHTS))
    cost = CostModel(tick_seconds=1e-12, heterogeneity=0.0, precision="fp32", efficiency=1.0)
    instance = read_onnx(path, cluster=optgap.parse_cluster("V100-16GB+T4"), cost=cost)
    assert instance.task_names == ("Conv conv", "Relu relu", "Conv conv2", "Add sum", "Relu last")
    assert instance.edges.tolist() == [[0, 1], [1, 2], [2, 3], [1, 3], [3, 4]]
    assert instance.edge_bytes.tolist() == [512] * 5
    assert instance.task_memory.tolist() == [864 + 512, 512, 256 + 512, 512, 512]
    assert instance.durations[0].tolist() == [round(1568 / 900e9 * 1e12), round(1568 / 300e9 * 1e12)]


def test_fused_operators(tmp_path: Path) -> None:
    """Tests that element-wise operators join the one before them, and that what lies between is not moved."""
    path = write(tmp_path, model(*BLOCK, inputs={"x": [1, 3, 4, 4]}, weights=WEIGHTS))
    cost = CostModel(tick_seconds=1e-12, heterogeneity=0.0, precision="fp32", efficiency=1.0)
    instance = read_onnx(path, fuse=True, cluster=optgap.parse_cluster("V100-16GB"), cost=cost)
    assert instance.task_names == ("Conv+Relu conv", "Conv+Add+Relu conv2")
    assert (instance.edges.tolist(), instance.edge_bytes.tolist()) == ([[0, 1]], [512])
    moved = [4 * (48 + 216 + 128), 4 * (128 + 64 + 128 + 128)]  # the sum reads the residual again
    assert instance.durations[:, 0].tolist() == [round(size / 900e9 * 1e12) for size in moved]


def test_training_graph(tmp_path: Path) -> None:
    """Tests the backward tasks: both gradients but where nothing before learns, saved tensors, reversed edges."""
    path = write(tmp_path, model(*BLOCK, inputs={"x": [1, 3, 4, 4]}, weights=WEIGHTS))
    cost = CostModel(tick_seconds=1e-12, heterogeneity=0.0, precision="fp32", efficiency=1.0)
    instance = read_onnx(path, training=True, cluster=optgap.parse_cluster("V100-16GB"), cost=cost)
    assert instance.task_names[5:] == tuple(f"{name} backward" for name in reversed(instance.task_names[:5]))
    edges = {
        tuple(edge): size for edge, size in zip(instance.edges.tolist(), instance.edge_bytes.tolist(), strict=True)
    }
    assert edges[0, 9] == 4 * (48 + 216)  # the first convolution keeps its input and its weights
    assert edges[3, 6] == 1024
    assert {(5, 6), (6, 7), (6, 8), (7, 8), (8, 9)} <= set(edges)
    assert len(edges) == 5 + 5 + 5
    assert instance.task_memory.tolist()[5:] == [0, 0, 256, 0, 864]
    first, second = instance.durations[[9, 7], 0].tolist()
    assert first == round(4 * (48 + 216 + 128 + 216) / 900e9 * 1e12)  # no gradient for the input of the network
    assert second == round(4 * (256 + 64 + 128 + 64) / 900e9 * 1e12)


def test_calibrated_durations(tmp_path: Path) -> None:
    """Tests that measured classes reach their measured share of the roofline, fused ones by their first part."""
    nodes = (node("MatMul", "x w", "product"), node("Softmax", "product", "soft"), node("Relu", "soft", "last"))
    path = write(tmp_path, model(*nodes, inputs={"x": [64, 32]}, weights={"w": [32, 16]}))
    cost = CostModel(tick_seconds=1e-12, heterogeneity=0.0, precision="fp32", efficiency=0.5)
    cluster = optgap.parse_cluster("V100-16GB")
    plain, calibrated = (
        read_onnx(path, cluster=cluster, cost=cost, calibrated=each).durations[:, 0] for each in (False, True)
    )
    assert calibrated == pytest.approx(plain * 0.5 / np.array([0.73, 0.77, 0.77]), rel=1e-3)
    fused = read_onnx(path, cluster=cluster, cost=cost, calibrated=True, fuse=True)
    assert fused.task_names == ("MatMul product", "Softmax+Relu soft")
    convolution = write(tmp_path, model(*BLOCK[:1], inputs={"x": [1, 3, 4, 4]}, weights=WEIGHTS))
    both = [read_onnx(convolution, cost=cost, calibrated=each) for each in (False, True)]
    assert both[0].durations.tolist() == both[1].durations.tolist()
    assert both[1].name == f"{both[0].name} (calibrated fp32)"
    cost = replace(cost, precision="tf32")
    with pytest.raises(ValueError, match="calibrated: expected a precision of fp32, fp16, got tf32"):
        read_onnx(path, cost=cost, calibrated=True)


@pytest.mark.parametrize("training", [False, True])
def test_calibrated_by_kind(tmp_path: Path, training: bool) -> None:
    """Tests that a kind with an efficiency of its own takes that, also backwards and in half precision."""
    nodes = (node("MatMul", "x w", "product"), node("Add", "product b", "last"))
    path = write(tmp_path, model(*nodes, inputs={"x": [64, 32]}, weights={"w": [32, 16], "b": [16]}))
    cluster = optgap.parse_cluster("1xT4+1xK80+1xA40")
    tables = {
        "fp32": [[0.52, 0.73, 0.73], [0.79, 0.77, 0.77]],
        "fp16": [[0.65, 0.65, 0.71], [0.52, 0.52, 0.65]],
    }
    for precision, reached in tables.items():
        cost = CostModel(tick_seconds=1e-12, heterogeneity=0.0, precision=precision, efficiency=0.5)
        plain, calibrated = (
            read_onnx(path, cluster=cluster, cost=cost, calibrated=each, training=training).durations
            for each in (False, True)
        )
        expected = np.array([*reached, *reversed(reached)] if training else reached)
        assert calibrated == pytest.approx(plain * 0.5 / expected, rel=1e-3)


def test_calibration_is_that_of_the_measurements() -> None:
    """Tests the shipped efficiencies against those that the public measurements give."""
    for name in ("neusight/op_latency_ms.csv.gz", "vidur/compute/a40/phi-2_mlp.csv.gz"):
        real_data(name)
    assert {"fp32": shipped(neusight()), "fp16": shipped(vidur())} == MEASURED_EFFICIENCY


FLOPS = {
    "matrix product": (node("MatMul", "x y", "z"), {"x": [2, 5, 7], "y": [2, 7, 3]}, {}, 2 * 2 * 5 * 3 * 7),
    "gemm with a transposed matrix and bias": (
        node("Gemm", "x y c", "z", transA=1),
        {"x": [7, 5]},
        {"y": [7, 3], "c": [3]},
        15 * (2 * 7 + 1),
    ),
    "grouped convolution": (node("Conv", "x w", "z", group=2), {"x": [1, 4, 6, 6]}, {"w": [8, 2, 3, 3]}, 2 * 128 * 18),
    "transposed convolution": (
        node("ConvTranspose", "x w", "z", strides=[2, 2]),
        {"x": [1, 4, 3, 3]},
        {"w": [4, 8, 2, 2]},
        2 * 36 * 32,
    ),
    "einsum": (node("Einsum", "x y", "z", equation="bij, bjk -> bik"), {"x": [2, 5, 7], "y": [2, 7, 3]}, {}, 420),
    "lstm": (
        node("LSTM", "x w r", "z", hidden_size=6),
        {"x": [9, 2, 5]},
        {"w": [1, 24, 5], "r": [1, 24, 6]},
        2 * 9 * 2 * 4 * 6 * 11,
    ),
    "pooling": (node("MaxPool", "x", "z", kernel_shape=[2, 2], strides=[2, 2]), {"x": [1, 3, 4, 4]}, {}, 12 * 4),
    "reduction": (node("GlobalAveragePool", "x", "z"), {"x": [1, 3, 4, 4]}, {}, 48),
    "softmax": (node("Softmax", "x", "z"), {"x": [3, 4]}, {}, 60),
    "sum of three": (node("Sum", "x y w", "z"), {"x": [3, 4], "y": [3, 4], "w": [3, 4]}, {}, 24),
    "moving": (node("Transpose", "x", "z"), {"x": [3, 4]}, {}, 0),
}
"""Operators whose FLOPs are counted by hand."""


@pytest.mark.parametrize("case", FLOPS)
def test_flops_by_hand(case: str) -> None:
    """Tests the count of every kind of operator that is not counted by its output alone."""
    operator, inputs, weights, flops = FLOPS[case]
    content = model(operator, inputs=inputs, weights=weights).SerializeToString()
    assert [each.flops for each in onnx_operators(content, dimensions={})] == [flops]


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("light_resnet50", 4.09e9),  # multiply-adds, model table of torchvision (ResNet50, GFLOPS 4.09)
        ("light_vgg19", 19.63e9),  # likewise (VGG19, GFLOPS 19.63); He et al. (2016) say 19.6e9
    ],
)
def test_published_flops(name: str, published: float) -> None:
    """Tests that convolutions and matrix products of two networks are within 2 % of the published multiply-adds."""
    operators = onnx_operators((LIGHT / f"{name}.onnx").read_bytes(), dimensions={})
    counted = sum(each.flops for each in operators if each.kind in ("Conv", "Gemm")) / 2
    assert counted == pytest.approx(published, rel=0.02)
    assert sum(each.flops for each in operators) / 2 == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize("path", sorted(LIGHT.glob("*.onnx")), ids=lambda path: path.stem)
def test_networks_without_weights(path: Path) -> None:
    """Tests that every network that comes with onnx is read forward, fused and for training, and is scheduled."""
    forward = read_onnx(path, cluster=CLUSTER)
    fused = read_onnx(path, cluster=CLUSTER, fuse=True)
    training = read_onnx(path, cluster=CLUSTER, training=True)
    assert fused.num_tasks < forward.num_tasks < training.num_tasks
    assert training.num_tasks == 2 * forward.num_tasks
    for instance in (forward, fused, training):
        assert (instance.durations > 0).all()
        result = optgap.solve(instance, "heft")
        assert 0 < result.lower_bound <= result.objective


def test_open_dimensions(tmp_path: Path) -> None:
    """Tests that batch and named dimensions are given their sizes, and that a name is asked for where it is missing."""
    path = write(tmp_path, model(node("Relu", "x", "z"), inputs={"x": ["n", "length", 4]}))
    with pytest.raises(ValueError, match=r"input 'x': expected dimensions=length=SIZE, got no size\."):
        read_onnx(path)
    content = path.read_bytes()
    assert onnx_operators(content, batch=3, dimensions={"length": 5})[0].flops == 60
    assert onnx_operators(content, batch=3, dimensions={"length": 5, "n": 2})[0].flops == 40
    assert np.all(read_onnx(path, batch=3, dimensions="length=5, n=2").durations > 0)
    with pytest.raises(ValueError, match="dimensions: expected names of open dimensions of the model, got width"):
        read_onnx(path, dimensions="length=5,width=2")
    with pytest.raises(ValueError, match="dimensions: expected NAME=SIZE separated by commas, got 'length'"):
        read_onnx(path, dimensions="length")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xff", "byte 0: expected an ONNX model, got "),
        (b"", "graph: expected at least one node, got none."),
        (model(node("Relu", "y", "z"), inputs={"x": [2]}), "node 'z': expected inputs that stand before it, got 'y'."),
        (
            model(node("Relu", "x", "z"), node("Relu", "x", "z"), inputs={"x": [2]}),
            "expected each result once, got 'z' again.",
        ),
        (
            model(node("Conv", "x w", "z"), inputs={"x": [1, 3]}, weights=WEIGHTS),
            "node 'z': expected a shape that can be inferred of 'z', got none.",
        ),
        (
            model(node("NonMaxSuppression", "x x", "z"), inputs={"x": [1, 3, 4]}),
            "whose cost follows from shapes, got Non",
        ),
        (model(node("Relu", "w", "z"), inputs={}, weights=WEIGHTS), "graph: expected at least one operator, got none."),
    ],
    ids=["garbage", "empty", "unknown input", "result twice", "no shape", "no cost", "constant"],
)
def test_broken_model(tmp_path: Path, content: Any, message: str) -> None:
    """Tests that what cannot be read is one error of one line that names the node."""
    (tmp_path / "net.onnx").write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    with pytest.raises(ValueError) as raised:
        read_onnx(tmp_path / "net.onnx")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
