"""Tests of all readers on files that are damaged at random."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances.dag.instance import DagInstance
from instances.readers.dag.read import READERS, read_instance

TEXTS = {
    "stg": "2\n0 0 0\n1 3 1\n 0 0\n2 4 2 0 1\n3 0 1 2\n# end\n",
    "dot": 'digraph {\n node [seconds=2]\n a [seconds="3"]\n subgraph x { b }\n a:p -> {b c} [bytes=4]\n}\n',
    "pipedream": (
        "node1 -- LSTM(1) -- forward_compute_time=1.0, backward_compute_time=2.0, activation_size=[4.0; 5], "
        "parameter_size=3\n"
        "node2 -- __getitem__(1) -- forward_compute_time=0.0, backward_compute_time=0.0, activation_size=4.0, "
        "parameter_size=0\n"
        "\tnode1 -- node2\n"
    ),
    "dnn-partitioning": (
        '{"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 99.0, "nodes": [\n'
        '{"id": 1, "fpgaLatency": 1.5, "cpuLatency": 2, "size": 3.0, "colorClass": 1, "supportedOnFpga": 1},\n'
        '{"id": 4, "fpgaLatency": 1.5, "cpuLatency": 2, "size": 3.0, "colorClass": 1, "supportedOnFpga": true}],\n'
        '"edges": [{"sourceId": 1, "destId": 4, "size": 0, "cost": 0.0}]}\n'
    ),
    "zero-bubble": (
        '{"name": "a", "units": {"time": "microseconds"}, "stages": 2, "micro_batches": 2, "cost_f": [3, 4],\n'
        '"cost_b": 5, "cost_w": [2, 2], "cost_comm": 1, "mem_f": 4, "mem_b": -3, "mem_w": -1, "limit": [8, 12]}\n'
    ),
    "torch-csv": "0F0,0F1,,0B0,0SEND_F1,0F2,0B1,,0B2\n,1F0,1B0,(1F1;1B1)OVERLAP_F_B,1F2,1B2\n",
    "wfformat": (
        '{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [\n'
        '{"id": "a", "parents": [], "children": ["b"], "outputFiles": ["f"]},\n'
        '{"id": "b", "parents": ["a"], "children": [], "inputFiles": ["f"]}],\n'
        '"files": [{"id": "f", "sizeInBytes": 7}]},\n'
        '"execution": {"tasks": [{"id": "a", "runtimeInSeconds": 1}, {"id": "b", "runtimeInSeconds": 2.5}]}}}\n'
    ),
    "alibaba-v2018": (
        "M1,4,j_a,1,Terminated,100,110,100,0.5\nR2_1,1,j_a,1,Terminated,101,125,50,1.5\n"
        "M1,1,j_b,1,Terminated,90,95,100,0.2\n"
    ),
    "heterogeneous-text": "#critical\n0.0\n#tasks\n0: 4, 6\n1: 3, 8\n#edges\n0: 0, 1, 7\n#end\n",
    "csv": 'task,memory_bytes,V100,T4\n"load, all",64,1e-3,0.002\nconv,,3.5e-3,-\n',
    "doppler": "5\n0, 1, \n0, 0, 1, \n1, 2,2\n600,2400\n200, 800, squeezer\n400,1600,einsummable\n",
    "operators": (
        '{"format": "optgap/operators", "version": 1, "operators": [\n'
        '{"kind": "Gemm", "name": "a", "flops": 9, "parameter_bytes": 24, "inputs": {"x": 12}, "outputs": {"y": 8}},\n'
        '{"kind": "Relu", "name": "act", "flops": 2, "parameter_bytes": 0, "inputs": {"y": 8}, "outputs": {"z": 8}}]}\n'
    ),
    "chakra": (
        '{"workload_graph": [{"Id": 7, "Name": "relu", "NodeType": 4, "ctrlDeps": [3], "runtime": 5},\n'
        '{"Id": 9, "Name": "sum", "NodeType": 7, "data_deps": [7], "runtime": 2, "comm_size": 64, "comm_type": 0}]}\n'
    ),
    "onnx": (  # y = x @ w for x of shape (1, 3) and a weight w of shape (3, 2)
        '\x08\x08:K\n\x11\n\x01x\n\x01w\x12\x01y"\x06MatMul\x12\x01g*\t\x08\x03\x08\x02\x10\x01B\x01wZ\x13\n\x01x\x12\x0e\n\x0c\x08\x01'
        "\x12\x08\n\x02\x08\x01\n\x02\x08\x03b\x13\n\x01y\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x08\x01\n\x02\x08\x02B\x04\n\x00\x10\r"
    ),
}


def read(format_name: str, text: str) -> DagInstance:
    """Read a text."""
    if format_name == "onnx":
        pytest.importorskip("onnx", reason="the extra onnx is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged"
        path.write_bytes(text.encode("utf-8", errors="surrogateescape"))
        return read_instance(format_name, path)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """Draw a text in which a few stretches are replaced, doubled or left out."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(start + draw(st.sampled_from([0, 1, 2, 5, 40])), len(text))
        middle = draw(
            st.sampled_from(
                ["", "9", "-", "x", " ", "\n", "\t", ",", '"', "{", "[", "null", "1e999", "\x00", "é", "-1"]
            )
            | st.just(text[start:end] * 2)
        )
        text = text[:start] + middle + text[end:]
    return text


@pytest.mark.parametrize("format_name", READERS)
def test_undamaged_text_is_read(format_name: str) -> None:
    """Tests that the texts of this file are right before they are damaged."""
    assert read(format_name, TEXTS[format_name]).num_tasks >= 1


@pytest.mark.parametrize("format_name", READERS)
@given(data=st.data())
def test_damage_is_one_error_of_one_line(format_name: str, data: st.DataObject) -> None:
    """Tests that a damaged file is either still an instance or one ValueError of one line that names a place."""
    text = data.draw(damaged(TEXTS[format_name]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            instance = read(format_name, text)
    except ValueError as error:
        message = str(error)
        assert "\n" not in message
        assert ": expected " in message
        assert message.endswith(".")
    else:
        assert isinstance(instance, DagInstance)
