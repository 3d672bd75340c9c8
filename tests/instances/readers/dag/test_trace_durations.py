"""Tests of durations from traces."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import optgap
from instances.readers.dag.csv_tables import read_durations, with_measured_durations
from instances.readers.dag.trace_durations import catalogue_kind, trace_durations

if TYPE_CHECKING:
    from pathlib import Path


def event(name: Any, category: str, micros: float, **more: Any) -> dict[str, Any]:
    """Return an event that lasts."""
    return {"ph": "X", "name": name, "cat": category, "ts": 1.0, "dur": micros, "pid": 0, "tid": 7, **more}


KINETO = {
    "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}, {"id": 1, "name": "Tesla T4"}],
    "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
        event("conv1", "gpu_user_annotation", 12.0),
        event("conv1", "gpu_user_annotation", 10.0),
        event("conv1", "gpu_user_annotation", 50.0),
        event("conv1", "user_annotation", 900.0),
        event("aten::conv2d", "cpu_op", 700.0),
        event("gemm", "kernel", 5.5, pid=99, args={"device": 1, "stream": 7}),
    ],
}
"""What PyTorch's profiler writes, cut to what matters."""


def test_medians_of_what_ran_on_a_gpu() -> None:
    """Tests that ranges and kernels on GPUs count by name and kind, and that what the host did is left out."""
    found = trace_durations(json.dumps(KINETO))
    assert found == {("conv1", "A100-40GB"): pytest.approx(12e-6), ("gemm", "T4"): pytest.approx(5.5e-6)}


def test_our_own_export_gives_the_durations_back(tmp_path: Path) -> None:
    """Tests that the tasks of an exported schedule have their own durations on the kinds on which they ran."""
    instance = optgap.generate("layered", tasks=15, seed=2, cluster=optgap.parse_cluster("mixed-3"))
    optgap.export(instance, optgap.solve(instance, "heft").schedule, "chrome-trace", tmp_path / "trace.json")
    measured, count = with_measured_durations(instance, read_durations(tmp_path / "trace.json"))
    assert count == instance.num_tasks
    assert measured.durations.tolist() == instance.durations.tolist()


@pytest.mark.parametrize(
    ("device", "kind"),
    [
        ("NVIDIA A100-SXM4-40GB", "A100-40GB"),
        ("NVIDIA A100 80GB PCIe", "A100-80GB"),
        ("Tesla V100-PCIE-32GB", "V100-32GB"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA A10", "A10"),
        ("NVIDIA GeForce RTX 2080 Ti", "RTX-2080-Ti"),
        ("AMD Instinct MI210", None),
    ],
)
def test_kinds_by_the_names_of_drivers(device: str, kind: str | None) -> None:
    """Tests that whole words decide, and that a device that the catalogue lacks has no kind."""
    assert catalogue_kind(device) == kind


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"a": 1}, "traceEvents: expected a list of events, got something else."),
        ([1], "traceEvents: expected a list of events, got something else."),
        ({**KINETO, "deviceProperties": []}, "expected events (gpu_user_annotation, kernel, task) on a GPU whose kind"),
        (
            {**KINETO, "traceEvents": [event("a", "kernel", -1)]},
            "traceEvents[0].dur: expected microseconds of at least",
        ),
        ({**KINETO, "traceEvents": [event(3, "kernel", 1)]}, "traceEvents[0].name: expected a text, got 3."),
    ],
)
def test_what_is_no_trace(document: Any, message: str) -> None:
    """Tests that anything else is one error that names the place."""
    with pytest.raises(ValueError, match=re.escape(message)):
        trace_durations(json.dumps(document))
