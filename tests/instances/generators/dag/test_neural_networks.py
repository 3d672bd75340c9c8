"""Tests of the task graphs of neural networks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.generators.dag.graph_builder import convolution, matrix_product, separable_convolution
from instances.generators.dag.neural_networks import inception, mixture_of_experts, nasnet, transformer

if TYPE_CHECKING:
    from instances.dag.task_graph import TaskGraph


def test_convolution_by_hand() -> None:
    """Tests a 3x3 convolution from 2 to 5 channels on two images of 4x4."""
    work = convolution(batch=2, height=4, inputs=2, outputs=5, kernel=3)
    assert work.flops == 2 * 9 * 2 * 5 * 32
    assert (work.parameter_bytes, work.output_bytes) == (2 * 90, 2 * 5 * 32)
    assert work.moved_bytes == 2 * (2 * 32 + 90 + 5 * 32)
    assert work.memory_bytes == 180 + 320


def test_separable_convolution_and_matrix_product_by_hand() -> None:
    """Tests FLOPs and parameters of the two other kinds of layer."""
    separable = separable_convolution(batch=1, height=2, channels=3, kernel=5)
    assert (separable.flops, separable.parameter_bytes) == (2 * (75 + 9) * 4, 2 * 84)
    product = matrix_product(rows=3, inner=4, columns=5)
    assert (product.flops, product.parameter_bytes, product.output_bytes) == (120, 40, 30)
    activations = matrix_product(rows=3, inner=4, columns=5, is_learned=False)
    assert (activations.parameter_bytes, activations.moved_bytes) == (0, product.moved_bytes)


def test_inception_cell() -> None:
    """Tests counts and branches of one cell: 10 tasks, 12 edges, four of them into the concatenation."""
    graph = inception(np.random.default_rng(1), tasks=1, cells=1, batch=1)
    assert (len(graph.task_names), len(graph.edges)) == (10, 12)
    index = {name: task for task, name in enumerate(graph.task_names)}
    into = Counter(head for _, head, _ in graph.edges)
    assert into[index["cat.0"]] == 4
    assert graph.flops[index["conv3.0"]] == 2 * 9 * 96 * 128 * 28**2  # module 3a of GoogLeNet: 96 to 128 channels
    assert graph.flops[index["conv5.0"]] == 2 * 25 * 16 * 32 * 28**2
    outgoing = sum(data for _, head, data in graph.edges if head == index["cat.0"])
    assert outgoing == 2 * 256 * 28**2


@pytest.mark.parametrize(("tasks", "nearest"), [(1, 10), (13, 10), (15, 18), (74, 74), (500, 498)])
def test_inception_sizes(tasks: int, nearest: int) -> None:
    """Tests that 8 tasks per cell and 2 more come nearest to the wished number."""
    assert len(inception(np.random.default_rng(1), tasks=tasks).task_names) == nearest


def wiring_of_cell(graph: TaskGraph, cell: int) -> set[tuple[str, str, int, str, str]]:
    """Name what each task of a cell reads, and by how many cells that is before."""
    found = set()
    for tail, head, _ in graph.edges:
        reader, its_cell, place = (*graph.task_names[head].split("."), "", "")[:3]
        source, cell_before, place_before = (*graph.task_names[tail].split("."), "", "")[:3]
        if its_cell == str(cell):
            found.add((reader, place, cell - int(cell_before), source, place_before))
    return found


def test_nasnet_cells_repeat_one_wiring() -> None:
    """Tests that cells are wired alike: ten operations, two inputs to each of five additions, one concatenation."""
    graph = nasnet(np.random.default_rng(4), tasks=1, cells=5)
    assert len(graph.task_names) == 5 * 16 + 2
    wiring = wiring_of_cell(graph, 2)
    assert wiring == wiring_of_cell(graph, 3) == wiring_of_cell(graph, 4)
    assert sum(reader == "add" for reader, *_ in wiring) == 10
    operations = [entry for entry in wiring if entry[0] not in ("add", "cat")]
    assert len(operations) == 10
    assert {before for _, _, before, _, _ in operations} <= {0, 1, 2}
    unread = {place for place in "01234" if not any(source == "add" and p == place for *_, source, p in operations)}
    assert {p for reader, _, _, source, p in wiring if reader == "cat"} == unread


def test_nasnet_seeds_change_the_wiring() -> None:
    """Tests that another generator draws another cell."""
    first, second = (nasnet(np.random.default_rng(seed), tasks=34) for seed in (1, 2))
    assert first.task_names != second.task_names


def test_transformer_block_by_hand() -> None:
    """Tests counts and FLOPs of two blocks with two heads, hidden size 8, four tokens."""
    graph = transformer(np.random.default_rng(1), tasks=1, layers=2, heads=2, hidden=8, sequence=4, batch=1)
    index = {name: task for task, name in enumerate(graph.task_names)}
    assert len(graph.task_names) == 2 * 7
    assert len(graph.edges) == 2 * (2 + 2 + 1 + 2) + 3  # and the residual stream to two heads and the output
    assert graph.flops[index["qkv0.0"]] == 6 * 4 * 8 * 4
    assert graph.flops[index["att0.0"]] == 4 * 4 * 4 * 4
    assert graph.flops[index["out0"]] == 2 * 4 * 64
    assert graph.flops[index["up0"]] == graph.flops[index["down0"]] == 8 * 4 * 64
    total = sum(graph.flops) / 2
    assert total == 24 * 4 * 64 + 4 * 4 * 4 * 8  # 24 u t h^2 + 4 u t^2 h per block
    parameters = 12 * 64
    outputs = 3 * 4 * 8 + 4 * 8 + 4 * 8 + 4 * 32 + 4 * 8
    assert sum(graph.memory_bytes) / 2 == 2 * (parameters + outputs)


@pytest.mark.parametrize(("tasks", "nearest"), [(1, 5), (6, 5), (7, 7), (19, 19), (30, 38), (100, 95)])
def test_transformer_sizes(tasks: int, nearest: int) -> None:
    """Tests that small graphs have fewer heads and large ones the nearest number of blocks."""
    assert len(transformer(np.random.default_rng(1), tasks=tasks).task_names) == nearest


def test_heads_divide_the_hidden_size() -> None:
    """Tests that three heads do not go with hidden size eight."""
    with pytest.raises(ValueError, match=r"heads: expected a divisor of hidden = 8, got 3\."):
        transformer(np.random.default_rng(1), tasks=9, heads=3, hidden=8)


def test_mixture_of_experts() -> None:
    """Tests counts, that experts get all tokens twice between them, and that the loads are uneven."""
    graph = mixture_of_experts(
        np.random.default_rng(1), tasks=1, layers=3, experts=16, hidden=8, sequence=1000, batch=1
    )
    assert len(graph.task_names) == 3 * 19
    assert len(graph.edges) == 3 * (1 + 16 + 16 + 1) + 2
    loads = np.array([f for f, n in zip(graph.flops, graph.task_names, strict=True) if n.startswith("exp0")]) / (
        16 * 64
    )
    assert loads.sum() == pytest.approx(2000, abs=16)
    assert loads.max() > 2 * loads.min()
    gate = graph.task_names.index("gate0")
    sent = [data for tail, _, data in graph.edges if tail == gate]
    assert sent == (2 * 8 * loads).tolist()
