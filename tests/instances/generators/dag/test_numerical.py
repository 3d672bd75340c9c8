"""Tests of the task graphs of numerical algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest

from instances.generators.dag.numerical import cholesky, fft, gaussian_elimination, lu, stencil

if TYPE_CHECKING:
    from instances.dag.task_graph import TaskGraph


def rng() -> np.random.Generator:
    """Make a generator that these families do not use."""
    return np.random.default_rng(0)


def edges_by_name(graph: TaskGraph) -> set[tuple[str, str]]:
    """Name the ends of every edge."""
    return {(graph.task_names[tail], graph.task_names[head]) for tail, head, _ in graph.edges}


def longest_path(graph: TaskGraph) -> int:
    """Count the tasks on the longest path."""
    return nx.dag_longest_path_length(nx.DiGraph([edge[:2] for edge in graph.edges])) + 1  # type: ignore[no-any-return]


@pytest.mark.parametrize(("points", "num_tasks", "num_edges"), [(2, 5, 6), (4, 15, 22), (8, 39, 62), (32, 223, 382)])
def test_fft_counts(points: int, num_tasks: int, num_edges: int) -> None:
    """Tests the textbook counts: 2m - 1 + m log2 m tasks, 2m - 2 + 2m log2 m edges, 2 log2 m + 1 tasks on all paths."""
    graph = fft(rng(), tasks=1, points=points)
    assert (len(graph.task_names), len(graph.edges)) == (num_tasks, num_edges)
    assert longest_path(graph) == 2 * (points.bit_length() - 1) + 1


def test_fft_work_by_hand() -> None:
    """Tests bytes and FLOPs of a transform of four points in a batch of ten: 80 bytes per entry."""
    graph = fft(rng(), tasks=1, points=4, batch=10)
    by_name = dict(
        zip(graph.task_names, zip(graph.flops, graph.moved_bytes, graph.memory_bytes, strict=True), strict=True)
    )
    assert by_name["S0.0"] == (0.0, 640.0, 320)
    assert by_name["S2.3"] == (0.0, 160.0, 80)
    assert by_name["B1.0"] == (80.0, 240.0, 80)
    assert sorted(data for _, _, data in graph.edges) == [80] * (4 + 16) + [160] * 2
    assert {("B1.0", "B2.0"), ("B1.2", "B2.0"), ("S2.1", "B1.0")} <= edges_by_name(graph)


def test_fft_needs_a_power_of_two() -> None:
    """Tests that six points are refused."""
    with pytest.raises(ValueError, match=r"points: expected a power of two, got 6\."):
        fft(rng(), tasks=1, points=6)


@pytest.mark.parametrize(("tiles", "num_tasks", "num_edges"), [(1, 1, 0), (2, 5, 5), (3, 14, 21), (5, 55, 110)])
def test_lu_counts(tiles: int, num_tasks: int, num_edges: int) -> None:
    """Tests t(t+1)(2t+1)/6 kernels and the sum of 2r + 3r^2 edges for r below t."""
    graph = lu(rng(), tasks=1, tiles=tiles)
    assert (len(graph.task_names), len(graph.edges)) == (num_tasks, num_edges)
    assert num_tasks == tiles * (tiles + 1) * (2 * tiles + 1) // 6
    assert num_edges == sum(2 * r + 3 * r**2 for r in range(tiles))


def test_lu_work_is_that_of_the_factorisation() -> None:
    """Tests that all kernels together take 2/3 n^3 FLOPs to leading order, and that edges carry tiles."""
    graph = lu(rng(), tasks=1, tiles=40, tile=10)
    assert sum(graph.flops) == pytest.approx(2 / 3 * 400**3, rel=0.01)
    assert {data for _, _, data in graph.edges} == {400}
    assert longest_path(graph) == 3 * 39 + 1


@pytest.mark.parametrize(("tiles", "num_tasks", "num_edges"), [(1, 1, 0), (2, 4, 3), (3, 10, 12), (4, 20, 30)])
def test_cholesky_counts(tiles: int, num_tasks: int, num_edges: int) -> None:
    """Tests t(t+1)(t+2)/6 kernels and three edges for each way to choose three of t + 1."""
    graph = cholesky(rng(), tasks=1, tiles=tiles)
    assert (len(graph.task_names), len(graph.edges)) == (num_tasks, num_edges)
    assert num_tasks == tiles * (tiles + 1) * (tiles + 2) // 6
    assert num_edges == (tiles + 1) * tiles * (tiles - 1) // 2


def test_cholesky_work_and_edges() -> None:
    """Tests 1/3 n^3 FLOPs to leading order and all edges of two by two tiles."""
    assert sum(cholesky(rng(), tasks=1, tiles=50, tile=10).flops) == pytest.approx(500**3 / 3, rel=0.01)
    small = cholesky(rng(), tasks=1, tiles=2)
    assert edges_by_name(small) == {("potrf(0)", "trsm(1,0)"), ("trsm(1,0)", "syrk(1,0)"), ("syrk(1,0)", "potrf(1)")}


@pytest.mark.parametrize(("columns", "num_tasks", "num_edges"), [(2, 2, 1), (3, 5, 5), (5, 14, 19), (10, 54, 89)])
def test_gaussian_elimination_counts(columns: int, num_tasks: int, num_edges: int) -> None:
    """Tests (m^2 + m - 2) / 2 tasks and m (m - 1) - 1 edges."""
    graph = gaussian_elimination(rng(), tasks=1, columns=columns)
    assert (len(graph.task_names), len(graph.edges)) == (num_tasks, num_edges)
    assert num_tasks == (columns**2 + columns - 2) // 2
    assert longest_path(graph) == 2 * (columns - 1)


def test_gaussian_elimination_work() -> None:
    """Tests that the memory of the tasks is nearly the matrix and their work 2/3 n^3 FLOPs to leading order."""
    graph = gaussian_elimination(rng(), tasks=1, columns=60, block=10)
    assert sum(graph.flops) == pytest.approx(2 / 3 * 600**3, rel=0.05)
    assert sum(graph.memory_bytes) == 4 * (600**2 - 10**2)
    assert {("T(1,1)", "T(1,2)"), ("T(1,2)", "T(2,2)"), ("T(1,3)", "T(2,3)")} <= edges_by_name(graph)


def test_stencil() -> None:
    """Tests counts and halos of three steps on four blocks of ten rows of 25 cells."""
    graph = stencil(rng(), tasks=1, blocks=4, steps=3, rows=10, columns=25)
    assert (len(graph.task_names), len(graph.edges)) == (12, 2 * (3 * 4 - 2))
    assert sorted({data for _, _, data in graph.edges}) == [100, 1000]
    assert sum(data == 1000 for _, _, data in graph.edges) == 8
    assert set(graph.flops) == {1250.0}
    assert ("X0.1", "X1.0") in edges_by_name(graph)
    assert ("X0.2", "X1.0") not in edges_by_name(graph)


@pytest.mark.parametrize(
    ("family", "tasks", "nearest"),
    [
        (fft, 1, 5),
        (fft, 60, 39),
        (fft, 90, 95),
        (lu, 9, 5),
        (lu, 10, 14),
        (cholesky, 60, 56),
        (gaussian_elimination, 100, 104),
        (stencil, 100, 100),
        (stencil, 30, 30),
    ],
)
def test_nearest_size(family: object, tasks: int, nearest: int) -> None:
    """Tests that of the sizes that exist the nearest one is taken."""
    assert callable(family)
    assert len(family(rng(), tasks=tasks).task_names) == nearest
