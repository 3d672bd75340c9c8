from __future__ import annotations

import numpy as np
import pytest

from instances.gpu_catalogue import gpu_kind


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
