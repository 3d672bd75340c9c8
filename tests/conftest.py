"""Fixtures named after instances."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from instances.dag.instance import DagInstance
from instances.readers.dag.heterogeneous_text import read_heterogeneous_text
from tests.real_data import real_data

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def example_e() -> DagInstance:
    """Return five tasks on two GPUs, one pair not allowed; HEFT 18, optimum 15."""
    return _example_e()


@pytest.fixture(scope="session")
def example_e_with_memory() -> DagInstance:
    """Return the same with 4 bytes per task, 12 on GPU 0 and no limit on GPU 1; the optimum is still 15."""
    return _example_e(task_memory=[4] * 5, gpu_memory=[12, None])


def _example_e(**memory: object) -> DagInstance:
    """Return the five tasks, with or without memory."""
    return DagInstance.from_lists(
        [[4, 5], [3, 3], [3, 8], [8, 3], [6, None]],
        [(0, 1, 6), (0, 2, 2), (1, 3, 8), (2, 3, 8), (2, 4, 2)],
        latency=1,
        bytes_per_tick=2.0,
        name="E",
        **memory,
    )


@pytest.fixture(scope="session")
def heft_example() -> DagInstance:
    """Return the example of the HEFT paper, ten tasks on three machines; HEFT 80, CPOP 86, optimum 73."""
    return read_heterogeneous_text(real_data("santiago-hetero/Ilavarasan-3-10.txt"))


@pytest.fixture(scope="session")
def join_example() -> DagInstance:
    """Return tasks A, B, C before J on two GPUs with links of different speed; optimum 10."""
    return DagInstance.from_lists(
        [[3, 4], [4, 3], [4, 6], [2, 2]],
        [(0, 3, 2), (1, 3, 4), (2, 3, 6)],
        latency=[[0, 1], [2, 0]],
        bytes_per_tick=[[1.0, 2.0], [1.0, 1.0]],
        name="join",
    )


@pytest.fixture(scope="session")
def window_example() -> DagInstance:
    """Return task A before three equal tasks before Z; A and Z on GPU 0 only, GPU 2 far away; optimum 12."""
    return DagInstance.from_lists(
        [[2, None, None], [4, 4, 4], [4, 4, 4], [4, 4, 4], [2, None, None]],
        [(0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 4, 1), (2, 4, 1), (3, 4, 1)],
        latency=[[0, 0, 8], [0, 0, 8], [8, 8, 0]],
        name="window",
    )


@pytest.fixture(autouse=True)
def _sigint_is_heard() -> Iterator[None]:
    """Let Ctrl-C be heard, also where the suite was started as a background job; hold tests to leave it like that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
