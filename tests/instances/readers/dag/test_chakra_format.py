"""Tests of the format of Chakra's traces."""

from __future__ import annotations

import gzip
import json
import math

import pytest

from instances.readers.dag.chakra_format import ChakraNode, chakra_nodes
from tests.instances.readers.dag.chakra_messages import attribute, node, part, trace, varint
from tests.real_data import real_data

CONTENT = trace(
    node(300, "relu", "compute", (0, 70000), 7, num_ops=5, inputs=["x", "64"], op_type="E"),
    node(0, "send", "send", comm_size=128, comm_dst=1),
)


def test_nodes_of_a_trace() -> None:
    """Tests numbers, names, kinds, packed dependencies, durations and attributes, plain and compressed."""
    nodes, head = chakra_nodes(CONTENT)
    assert nodes[0] == ChakraNode(
        number=300,
        name="relu",
        kind="compute",
        data_deps=(0, 70000),
        ctrl_deps=(),
        duration_micros=7,
        attributes={"num_ops": 5, "inputs": ["x", "64"], "op_type": "E"},
    )
    assert (nodes[1].number, nodes[1].kind, nodes[1].integer("comm_dst")) == (0, "send", 1)
    assert head == {"schema": "1.0.2-chakra.0.0.4"}
    assert chakra_nodes(gzip.compress(CONTENT)) == (nodes, head)


def test_values_of_every_type() -> None:
    """Tests fixed, signed and floating-point values, and dependencies that are not packed."""
    values = part(1, "a") + varint(3 << 3 | 1) + b"\0\0\0\0\0\0\xf8\x3f"
    signed, short = part(1, "b") + part(17, 3), part(1, "c") + varint(19 << 3 | 5) + b"\x05\0\0\0"
    message = part(1, 4) + part(3, 4) + part(5, 8) + part(5, 9) + part(4, 1)
    message += b"".join(part(10, each) for each in (values, signed, short, attribute("d", "text")))
    ((found,), _) = chakra_nodes(trace(message))
    assert (found.data_deps, found.ctrl_deps) == ((8, 9), (1,))
    assert found.attributes == {"a": 1.5, "b": -2, "c": 5, "d": "text"}
    with pytest.raises(ValueError, match=r"node 4: expected an integer as a, got 1.5\."):
        found.integer("a")


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_no_integer_is_beyond_all_numbers(value: float) -> None:
    """Tests values that JSON can give, `1e999` among them."""
    read = ChakraNode(
        number=4, name="", kind="compute", data_deps=(), ctrl_deps=(), duration_micros=0.0, attributes={"a": value}
    )
    with pytest.raises(ValueError, match=rf"node 4: expected an integer as a, got {value}\."):
        read.integer("a")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "byte 0: expected a Chakra trace, got nothing."),
        (CONTENT[:-3], "expected a message of"),
        (b"\x05\x0d\x01", "byte 1: expected a message of 5 bytes, got 2."),
        (trace(b"\x0f\x01"), "byte 0: expected messages of a Chakra trace, got something else."),
        (trace(part(1, 4) + part(3, 9)), "node 4: expected a type in 0..7, got 9."),
        (b"\x1f\x8bxx", "byte 0: expected gzip data, got "),
        (b'{"nodes": []}', "nodes: expected an execution trace (workload_graph), got a host trace"),
        (b'{"a": []}', "workload_graph: expected a list of nodes, got nothing."),
        (json.dumps({"workload_graph": [{"Id": "x"}]}).encode(), "workload_graph[0]: expected a node with Id, Name"),
    ],
)
def test_what_is_no_trace(content: bytes, message: str) -> None:
    """Tests that anything else is one error that names the byte, the node or the key."""
    with pytest.raises(ValueError) as raised:
        chakra_nodes(content)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("chakra/small_chakra.0.json", 7),
        ("chakra/custom_ring_allreduce_8npus_1MB/custom_allreduce.0.et.gz", 35),
        ("chakra/all_reduce_4npus_1MB/all_reduce.3.et", 1),
        ("stg/llama-l2-tp2-pp2-mb4/llama-l2-tp2-pp2-mb4.0.et.gz", 217),
    ],
)
def test_samples(name: str, count: int) -> None:
    """Tests that the samples have their published numbers of nodes."""
    assert len(chakra_nodes(real_data(name).read_bytes())[0]) == count


def test_host_trace_is_refused_with_its_reason() -> None:
    """Tests that the sample of a host trace is refused, and why."""
    with pytest.raises(ValueError, match="got a host trace, which has no durations"):
        chakra_nodes(real_data("chakra/pytorch_host_trace.json.gz").read_bytes())
