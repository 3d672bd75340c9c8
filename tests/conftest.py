"""Fixtures named after instances, and what keeps the default run short."""

from __future__ import annotations

import atexit
import gc
import math
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.assertion import rewrite
from hypothesis import settings

from heuristics.jax_options import COMPILER_OPTIONS
from instances.compilation import COMPILATION
from instances.dag.instance import DagInstance
from instances.readers.dag.heterogeneous_text import read_heterogeneous_text
from tests.real_data import real_data

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = float(os.environ.get("OPTGAP_EXAMPLES", "0.1"))
"""Share of the examples that a property names which are drawn; 1 draws all of them."""

FEWEST = 6
"""Examples of a property that are drawn whatever the share is, if it names as many."""


settings.register_profile("optgap", deadline=None)  # a time says nothing on a machine that does other work too
settings.load_profile("optgap")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the line about compilation out of what tests read; compile the short trainings of the default run fast.

    What JAX compiles is kept in the cache of pytest, so that two tests with the same training compile it once.
    """
    gc.set_threshold(50_000, 20, 20)  # the usual one spends an eighth of the time on going through all tests again
    COMPILATION.say = None
    if "not slow" in config.getoption("markexpr"):
        COMPILER_OPTIONS["xla_backend_optimization_level"] = 0
    if hasattr(config, "cache"):  # the environment reaches the worker processes and what they start
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.cache.mkdir("jax")))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    if config.args == config.getini("testpaths"):
        COMPILATION.is_timed = True  # all tests together need all kernels: no second is spent on them as plain Python
        if hasattr(config, "workerinput"):
            _rewrite_a_share(config, config.workerinput)
        else:
            atexit.register(_say_cpu, os.times())


def _say_cpu(start: os.times_result) -> None:
    """Say what all tests took of the processor, in this process and those that it started: at most ten minutes.

    A shell may turn itself into this process after it has run others, such as an installation: what they took is in
    `start`.
    """
    end = os.times()
    system = end.system + end.children_system - start.children_system
    total = end.user + end.children_user - start.children_user + system
    print(f"{total:.0f} s of CPU, {system:.0f} s of them in the system")


def _rewrite_a_share(config: pytest.Config, worker: dict[str, str]) -> None:
    """Rewrite the assertions of a share of the files, each process of a parallel run another one.

    All processes collect all files, and rewriting one takes longer than importing it; each finds on disk what the
    others rewrote.
    """
    number, count = int(worker["workerid"].removeprefix("gw")), int(worker["workercount"])
    for path in sorted(Path(__file__).parent.rglob("test_*.py"))[number::count]:
        kept = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if rewrite._read_pyc(path, kept) is None and rewrite.try_makedirs(kept.parent):
            source, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, kept)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Draw a share of the examples that a property names; the longer checks draw all of them."""
    for item in items:
        test = getattr(item, "obj", None)
        if EXAMPLES < 1 and hasattr(test, "hypothesis") and not item.get_closest_marker("slow"):
            named = test._hypothesis_internal_use_settings
            drawn = max(min(named.max_examples, FEWEST), math.ceil(EXAMPLES * named.max_examples))
            test._hypothesis_internal_use_settings = settings(named, max_examples=drawn)


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of every later garbage collection."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Leave out of the five collections at the very end what one collection has left."""
    gc.collect()
    gc.freeze()


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
