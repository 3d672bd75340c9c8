"""Tests of kinds of GPU and of the roofline."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from instances.clusters.gpu_kinds import GPU_KINDS, gpu_kind


def test_names_are_the_documented_ones() -> None:
    """Tests that the catalogue holds the documented kinds, each under its own name and with its datasheet."""
    documented = "K80 P100 V100-16GB V100-32GB T4 RTX-2080-Ti A10 A40 A100-40GB A100-80GB L4 L40S H100 H200"
    assert " ".join(GPU_KINDS) == documented
    assert " ".join(kind.name for kind in GPU_KINDS.values()) == documented
    assert all("datasheet" in kind.source or "whitepaper" in kind.source for kind in GPU_KINDS.values())


def test_every_figure_has_a_source_and_says_whether_it_was_looked_up() -> None:
    """Tests that the manual's table says of every kind what was compared, and what was not verified."""
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    for kind in GPU_KINDS.values():
        assert re.search(r" agrees? with \w+| say |^not verified$", kind.looked_up), kind.name
        assert f"| {kind.name} | {kind.looked_up} |\n" in page, kind.name


@pytest.mark.parametrize(
    ("name", "memory_gib", "bandwidth", "fp16", "nvlink", "pcie"),
    [
        ("K80", 12, 240e9, 4.365e12, None, 15.75e9),  # no fp16 of its own: fp32
        ("P100", 16, 732e9, 18.7e12, None, 15.75e9),
        ("V100-16GB", 16, 900e9, 125e12, 150e9, 15.75e9),
        ("T4", 16, 300e9, 65e12, None, 15.75e9),
        ("A40", 48, 696e9, 149.7e12, 56.25e9, 31.5e9),
        ("A100-40GB", 40, 1555e9, 312e12, 300e9, 31.5e9),
        ("A100-80GB", 80, 2039e9, 312e12, 300e9, 31.5e9),
        ("L4", 24, 300e9, 121e12, None, 31.5e9),
        ("L40S", 48, 864e9, 362.05e12, None, 31.5e9),
        ("H100", 80, 3350e9, 989.5e12, 450e9, 63e9),
        ("H200", 141, 4800e9, 989.5e12, 450e9, 63e9),
    ],
)
def test_datasheet_figures(
    name: str, memory_gib: int, bandwidth: float, fp16: float, nvlink: float | None, pcie: float
) -> None:
    """Tests that memory, bandwidth, dense half-precision peak and links are those of the datasheets."""
    kind = gpu_kind(name)
    assert kind.memory_bytes == memory_gib * 2**30
    assert (kind.memory_bandwidth, kind.flops("fp16")) == (bandwidth, fp16)
    assert (kind.nvlink_bandwidth, kind.pcie_bandwidth) == (nvlink, pcie)


def test_narrower_precisions_are_never_slower() -> None:
    """Tests that fp8 is at least as fast as fp16, that as tf32, and that as fp32, on every kind."""
    for kind in GPU_KINDS.values():
        peaks = [kind.flops(precision) for precision in ("fp32", "tf32", "fp16", "fp8")]
        assert peaks == sorted(peaks), kind.name


@pytest.mark.parametrize(
    ("name", "near"),
    [("V100", "V100-16GB or V100-32GB"), ("a100-80gb", "A100-80GB"), ("RTX2080Ti", "RTX-2080-Ti")],
)
def test_an_unknown_name_is_answered_with_near_ones(name: str, near: str) -> None:
    """Tests that the message for an unknown kind lists the nearest names."""
    with pytest.raises(ValueError, match=re.escape(f"got {name!r} (did you mean {near}?).")):
        gpu_kind(name)


def test_a_name_that_is_near_nothing_is_answered_with_all() -> None:
    """Tests that the message lists the catalogue where no name is near."""
    with pytest.raises(ValueError, match=r"GPU kind: expected one of K80, P100, .*, H200, got 'foo'\."):
        gpu_kind("foo")


def test_roofline_by_hand() -> None:
    """Tests the roofline of an A100 at half efficiency for tasks bound by arithmetic, by memory, and without work."""
    seconds = gpu_kind("A100-40GB").roofline_seconds(
        np.array([312e12, 312e9, 0.0]), np.array([1555e6, 1555e9, 0.0]), precision="fp16", efficiency=0.5
    )
    assert seconds.tolist() == [2.0, 2.0, 0.0]


def test_work_from_seconds_is_the_reverse() -> None:
    """Tests that the roofline of the work that is made from a time gives that time, on both sides of the ridge."""
    kind, seconds = gpu_kind("T4"), np.array([0.25, 3.0])
    flops, moved_bytes = kind.work_from_seconds(seconds, precision="fp16", balance=np.array([2.0, 0.5]))
    assert kind.roofline_seconds(flops, moved_bytes, precision="fp16").tolist() == [0.25, 3.0]
    assert (flops / kind.flops("fp16")).tolist() == [0.25, 1.5]
    assert (moved_bytes / kind.memory_bandwidth).tolist() == [0.125, 3.0]


def test_kinds_rank_differently() -> None:
    """Tests that T4 beats P100 where arithmetic counts and loses where memory does."""
    flops, moved = np.array([1e12, 1e9]), np.array([1e6, 1e9])
    t4, p100 = (gpu_kind(name).roofline_seconds(flops, moved, precision="fp16") for name in ("T4", "P100"))
    assert (t4 < p100).tolist() == [True, False]


def test_a_missing_precision_is_an_error() -> None:
    """Tests that a precision that the datasheet does not give, with no wider one, is refused."""
    with pytest.raises(ValueError, match=r"precision: expected one that T4 has \(fp32, fp16\), got 'fp64'\."):
        gpu_kind("T4").flops("fp64")
