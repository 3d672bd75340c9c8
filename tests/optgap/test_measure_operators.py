"""Tests of the script that measures operators; what needs torch is skipped where it is absent."""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING

import pytest

import optgap
from instances.clusters.cost_model import CostModel
from instances.readers.dag.csv_tables import read_durations, read_efficiencies, with_measured_durations
from instances.readers.dag.operators_json import read_operators
from optgap import measure_operators
from tests.torch_python import run_with_torch

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    "MatMul a,T4,0.002,matrix product,8.1e9,0,fp32,Tesla T4,torch 2.13.0,2026-11-23",  # half of 8.1 TFLOPS
    "MatMul b,T4,0.004,matrix product,8.1e9,0,fp32,Tesla T4,torch 2.13.0,2026-11-23",
    "MatMul c,P100,0.002,matrix product,9.3e9,0,fp32,P100,torch 2.13.0,2026-11-23",
    "Conv d,T4,0.004,convolution,0,3e8,fp32,Tesla T4,torch 2.13.0,2026-11-23",  # a quarter of 300 GB/s
    "Conv d half,T4,0.5,convolution,0,3e8,fp16,Tesla T4,torch 2.13.0,2026-11-23",
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Write a table as the script does."""
    path = tmp_path / "mine.csv"
    path.write_text("\n".join([",".join(measure_operators.COLUMNS), *ROWS]) + "\n")
    return path


def test_efficiencies_by_hand(table: Path) -> None:
    """Tests medians by class and kind, the median over kinds, and that other precisions are left out."""
    assert read_efficiencies(table, "fp32") == {
        "matrix product": {"": 0.4375, "T4": 0.375, "P100": 0.5},
        "convolution": {"": 0.25, "T4": 0.25},
    }
    with pytest.raises(
        ValueError, match="document: expected rows of precision tf32 that take longer than 2e-05 s, got"
    ):
        read_efficiencies(table, "tf32")


def test_short_and_cached_rows(table: Path) -> None:
    """Tests that a row of the length of a launch is skipped, and that one that beats the roofline counts as 1."""
    more = "Relu s,T4,2e-5,element-wise,0,3e9,fp32,-,-,-\nRelu c,T4,3e-5,element-wise,0,3e8,fp32,-,-,-\n"
    table.write_text(table.read_text() + more)
    assert read_efficiencies(table, "fp32")["element-wise"] == {"": 1.0, "T4": 1.0}
    table.write_text(",".join(measure_operators.COLUMNS) + "\n" + more.partition("\n")[0])
    with pytest.raises(ValueError, match="longer than 2e-05 s, got 1 rows of shorter times"):
        read_efficiencies(table, "fp32")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Relu,x86_64,1,norm,1,1", "line 7: kind: expected one of .*T4, .*, got"),
        ("Relu,T4,1,norms,1,1", r"line 7: class: expected one of .*did you mean norm\?"),
        ("Relu,T4,0,norm,1,1", "line 7: expected work and a time above 0, got '1,1,0'"),
        ("Relu,T4,1e9,norm,3e11,0", "line 7: expected seconds near the roofline of 0.037 s, got 1e[+]09"),
        ("MatMul a,T4,1,norm,3e11,0", "line 7: expected each operator and kind once per precision, got MatMul a on T4"),
    ],
)
def test_broken_measurements(row: str, message: str, table: Path) -> None:
    """Tests that a row that cannot be is refused with its place."""
    table.write_text(f"{table.read_text()}{row},fp32,-,-,-\n")
    with pytest.raises(ValueError, match=message):
        read_efficiencies(table, "fp32")


def test_a_table_calibrates_a_network(table: Path, tmp_path: Path) -> None:
    """Tests that a convolution takes four times its roofline, and that the name of the instance says by what."""
    operator = {
        "kind": "Conv",
        "name": "c",
        "flops": 1,
        "parameter_bytes": 0,
        "inputs": {"x": 0},
        "outputs": {"c": 3e8},
    }
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"format": "optgap/operators", "version": 1, "operators": [operator]}))
    cost = CostModel(tick_seconds=1e-6, heterogeneity=0.0, precision="fp32", efficiency=1.0)
    cluster = optgap.parse_cluster("1xT4")
    made = [read_operators(path, calibration=each, cluster=cluster, cost=cost) for each in (None, str(table))]
    assert [instance.durations.tolist() for instance in made] == [[[1000]], [[4000]]]
    assert made[1].name == "net (calibrated mine)"
    with pytest.raises(ValueError) as caught:
        read_operators(path, calibration="nowhere.csv")
    expected = "calibration: expected a file that can be read, got 'nowhere.csv': no such file or directory."
    assert str(caught.value) == expected
    with pytest.raises(ValueError, match="calibration: expected a table or calibrated=true, got both"):
        read_operators(path, calibration=str(table), calibrated=True)


def test_durations_are_read(table: Path) -> None:
    """Tests that `--durations` reads the same table, and that its operators take the place of modelled durations."""
    seconds = read_durations(table)
    assert seconds["Conv d", "T4"] == 0.004
    instance = optgap.from_lists([[7], [9]], task_names=["Conv d", "Relu"], gpu_kinds=["T4"], tick_seconds=1e-3)
    measured, count = with_measured_durations(instance, seconds)
    assert (measured.durations.tolist(), count) == ([[4], [9]], 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--repeats", "0"], "--repeats: expected at least 1, got 0"),
        (["--threads", "0"], "--threads: expected at least 1, got 0"),
        (["--largest", "63"], "--largest: expected at least 64, got 63"),
        (["--device", "nothing"], "--device: expected torch and a device of it, got nothing: "),
    ],
)
def test_arguments_are_checked_first(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tests that a wrong argument, or a torch that is not there, ends in one line before a file is opened."""
    monkeypatch.setattr(sys, "argv", ["measure_operators.py", str(tmp_path / "out.csv"), *arguments])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit):
        measure_operators._main()
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_measured_on_the_processor(tmp_path: Path) -> None:
    """Tests a small grid on the processor: every class is there, times are above 0, and larger products take longer."""
    path = tmp_path / "cpu.csv"
    options = ("--device", "cpu", "--largest", "256", "--repeats", "3", "--threads", "1", "--kind", "T4")
    run_with_torch(measure_operators.__file__, path, *options)
    rows = list(csv.DictReader(path.open()))
    assert list(rows[0]) == measure_operators.COLUMNS
    seconds = read_durations(path)
    assert len(seconds) == len(rows) and min(seconds.values()) > 0
    assert seconds["MatMul 256x256x256", "T4"] > seconds["MatMul 64x64x64", "T4"]
    found = read_efficiencies(path, "fp32")
    assert set(found) == {
        "matrix product",
        "linear layer",
        "convolution",
        "attention",
        "element-wise",
        "softmax",
        "norm",
    }
    by_name = {row["operator"]: row for row in rows}
    assert float(by_name["Conv 1x16x14x14 3x3"]["flops"]) == 2 * 14 * 14 * 16 * 16 * 9
    assert float(by_name["Attention 1x8x128x64"]["flops"]) == 2 * 2 * 8 * 128 * 128 * 64
    assert float(by_name["MatMul 64x64x256"]["moved_bytes"]) == 4 * (64 * 64 + 2 * 64 * 256)
