"""Tests that kernels are kept on disk where that is possible, and found again only if nothing that they use changed."""

from __future__ import annotations

import copy
import gc
import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys

from formulations.dag.probing.load_refutation import proven_slack, reduce_by_prices
from formulations.dag.probing.load_rows import least_work
from instances.compilation import COMPILATION
from instances.kernels import _BriefDispatcher, _Dispatcher, _KernelCache, brief_kernel, inner_kernel, kernel, sort_by
from optgap import CostModel, MaxEvaluations, generate, lower_bound, solve

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

INNER = """
from instances.kernels import inner_kernel
from deeper.inner_module import nothing

SHARE = {share}

@inner_kernel
def part(x):
    return x * SHARE + {more} + nothing()
"""

DEEPER = """
from instances.kernels import inner_kernel

@inner_kernel
def nothing():
    return 0
"""
"""A module that has the same file name as another one, which is the one that changes."""

OUTER = """
import json, sys, warnings
from instances.compilation import COMPILATION
from instances.kernels import kernel
from inner_module import part

COMPILATION.say = None

@kernel
def whole(x):
    return part(x) + part(x + 1)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    value, other = whole(3), whole(3.5)
texts = [str(warning.message) for warning in caught if issubclass(warning.category, RuntimeWarning)]
print(json.dumps({"value": value, "other": other, "functions": COMPILATION.functions, "warnings": texts}))
"""


class Program:
    """A program with one kernel, which is started again and again in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "outer_program.py").write_text(OUTER)
        (folder / "deeper").mkdir()
        (folder / "deeper" / "inner_module.py").write_text(DEEPER)
        self.write()

    def write(self, share: int = 2, more: int = 1) -> None:
        """Write the module that the kernel calls."""
        (self.folder / "inner_module.py").write_text(textwrap.dedent(INNER.format(share=share, more=more)))

    def start(self, **environment: str) -> subprocess.Popen[str]:
        """Start the program."""
        path = os.pathsep.join([str(self.folder), *sys.path])
        everything = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment}
        return subprocess.Popen(
            [sys.executable, str(self.folder / "outer_program.py")], env=everything, stdout=subprocess.PIPE, text=True
        )

    def run(self, **environment: str) -> dict[str, Any]:
        """Run the program and return what it says."""
        return said_by(self.start(**environment))


def said_by(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a program says that ends well."""
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    said: dict[str, Any] = json.loads(out)
    return said


@pytest.mark.slow
def test_a_changed_inner_kernel_is_compiled_anew(tmp_path: Path) -> None:
    """Tests a first run, a later one that compiles nothing, and one after a kernel changed that the kernel calls."""
    program = Program(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert program.run(**cache)["value"] == 16
    assert program.run(**cache)["functions"] == 0
    program.write(more=10)
    assert program.run(**cache)["value"] == 34


@pytest.mark.slow
def test_kernels_are_compiled_once(tmp_path: Path) -> None:
    """Tests two first runs at once, a later one, a changed inner kernel, a changed constant and a damaged file."""
    program = Program(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    together = [said_by(process) for process in [program.start(**cache), program.start(**cache)]]
    assert [(said["value"], said["other"]) for said in together] == [(16, 18.0)] * 2
    assert program.run(**cache)["functions"] == 0
    program.write(more=10)
    said = program.run(**cache)
    assert (said["value"], said["functions"] > 0) == (34, True)
    program.write(share=3, more=10)
    assert program.run(**cache)["value"] == 41
    for file in (tmp_path / "cache").rglob("*.nb[ic]"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    said = program.run(**cache)
    assert (said["value"], said["functions"] > 0, said["warnings"]) == (41, True, [])
    assert program.run(**cache)["functions"] == 0


@pytest.mark.whole
def test_without_a_folder_kernels_are_compiled_with_one_warning(tmp_path: Path) -> None:
    """Tests files in place of all folders for a cache: the program works, and says once that it compiles every time."""
    program = Program(tmp_path)
    blocked = tmp_path / "__pycache__"
    blocked.write_text("")
    said = program.run(HOME=str(blocked), XDG_CACHE_HOME=str(blocked), NUMBA_CACHE_DIR="")
    assert said["value"] == 16
    assert len(said["warnings"]) == 1
    assert "NUMBA_CACHE_DIR" in said["warnings"][0]


@given(st.lists(st.integers(-3, 3), max_size=20))
def test_sort_by_is_a_stable_sort(keys: list[int]) -> None:
    """Tests the order against NumPy's stable sort."""
    order, scratch = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.int64)
    sort_by(np.array(keys, dtype=np.int64), len(keys), order, scratch)
    assert order.tolist() == np.argsort(np.array(keys, dtype=np.int64), kind="stable").tolist()


@pytest.mark.whole
def test_arrays_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that kernels free all arrays that they make, also those that one hands to another."""
    monkeypatch.setattr(_BriefDispatcher, "__call__", _Dispatcher.__call__)  # as plain Python they make none
    instance = generate("layered", tasks=10, seed=1)
    _nrt_python.memsys_enable_stats()  # what was made before is not counted, and may be freed meanwhile
    for method, budget in (("heft", {}), ("down-sets", {}), ("woa", {"stop": MaxEvaluations(40)})):
        before = rtsys.get_allocation_stats()
        solve(instance, method=method, seed=1, **budget)
        gc.collect()
        after = rtsys.get_allocation_stats()
        assert after.alloc > before.alloc
        assert after.alloc - before.alloc <= after.free - before.free
        assert after.mi_alloc - before.mi_alloc <= after.mi_free - before.mi_free


def test_counting_of_references() -> None:
    """Tests which kernels count references: those that make arrays or hand them over, and those that turn out to."""

    @inner_kernel
    def fill(array: NDArray[np.int64]) -> None:
        array[0] = 7

    @inner_kernel
    def copy_row(array: NDArray[np.int64]) -> None:
        array[1] = array[0]

    @kernel
    def both(array: NDArray[np.int64]) -> int:
        fill(array[0])
        copy_row(array)
        return len(array)

    assert both(array := np.zeros((2, 2), dtype=np.int64)) == 2
    assert array.tolist() == [[7, 0], [7, 0]]
    counts = [one.targetoptions["_nrt"] for one in (fill, copy_row, both, proven_slack, reduce_by_prices, least_work)]
    assert counts == [False, True, False, True, True, False]


def assert_equal(one: Any, other: Any) -> None:
    """Assert that two results are equal to the last digit, tuples of arrays included."""
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_equal(left, right)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    else:
        assert one == other


@pytest.mark.parametrize("contention", ["none", "nic"])
@pytest.mark.parametrize(
    "family",
    [
        "layered",
        pytest.param("erdos-renyi", marks=pytest.mark.slow),
        pytest.param("multi-tenant", marks=pytest.mark.slow),
    ],
)
def test_brief_kernels_give_the_same_as_plain_python(
    monkeypatch: pytest.MonkeyPatch, family: str, contention: str
) -> None:
    """Tests results and all that is written, to the last digit, of list schedulers and heads of three families."""
    called = set()

    def run_both(kernel: Any, *arguments: Any, **named: Any) -> Any:
        arguments = (*arguments, *named.values())  # named ones stand in the order of the parameters
        own = copy.deepcopy(arguments)
        plain, machine = kernel.py_func(*own), _Dispatcher.__call__(kernel, *arguments)
        assert_equal((plain, own), (machine, arguments))
        called.add(kernel.py_func.__name__)
        return machine

    monkeypatch.setattr(_BriefDispatcher, "__call__", run_both)
    for seed in range(4):
        instance = generate(family, tasks=14, seed=seed, cost=CostModel(memory_tightness=0.8))
        for method in ("heft", "peft", "cpop", "etf", "min-min", "max-min"):
            if contention == "none" or method in ("heft", "cpop", "peft"):
                solve(instance, method=method, contention=contention, bounds=())
        lower_bound(instance, methods=["join-aware-path"] if seed else ["join-aware-path", "probing"])
    rankings = {"upward_ranks", "downward_ranks", "optimistic_costs"}
    assert called >= {"_heads", "evaluate_keys", "settle_or_probe", *rankings}


def test_brief_kernels_begin_as_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that small calls compile nothing until they have taken their time, that large ones do, and the clock."""

    @brief_kernel(entries=3)
    def total(values: NDArray[np.int64]) -> int:
        result = 0
        for value in values:
            result += value
        return result

    monkeypatch.setattr(COMPILATION, "is_timed", False)
    monkeypatch.setattr(_KernelCache, "has_code", False)  # an earlier run of this test may have left some
    before = COMPILATION.seconds
    assert total(np.arange(3)) == 3
    assert not total.overloads
    assert COMPILATION.seconds > before
    assert total(np.arange(4)) == 6
    assert len(total.overloads) == 1

    def first(values: NDArray[np.int64]) -> int:
        return values[0]

    late, timed = brief_kernel(seconds=0.0)(first), brief_kernel()(first)
    assert late(np.arange(2)) == 0
    assert len(late.overloads) == 1
    monkeypatch.setattr(COMPILATION, "is_timed", True)
    assert timed(np.arange(2)) == 0
    assert len(timed.overloads) == 1
