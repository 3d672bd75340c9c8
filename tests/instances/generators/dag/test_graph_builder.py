"""Tests of the graph builder and of the checks of parameters."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import pytest

from instances.generators.dag.graph_builder import GraphBuilder, nearest_size
from instances.parameters import check_integer, check_number, fields_as_parameters


def test_inputs_and_rounding() -> None:
    """Tests that bytes are rounded up, memory is at least one byte, and a tensor read twice is sent once."""
    builder = GraphBuilder()
    first = builder.add("a", flops=1, moved_bytes=2, memory_bytes=0)
    second = builder.add("b", flops=1, moved_bytes=2, memory_bytes=2.1, inputs=[(first, 3.5), (first, 8.0)])
    graph = builder.graph("g")
    assert (first, second) == (0, 1)
    assert graph.edges == ((0, 1, 8),)
    assert graph.memory_bytes == (1, 3)


@pytest.mark.parametrize(("tasks", "value"), [(1, 2), (4, 2), (6, 2), (7, 3), (9, 3), (12, 3), (13, 4)])
def test_nearest_size_of_squares(tasks: int, value: int) -> None:
    """Tests that the nearest square from 4 on is found and that ties go to the smaller."""
    assert nearest_size(tasks, lambda size: size**2, low=2) == value


def test_parameters_of_another_kind() -> None:
    """Tests that booleans and text are no numbers, and that infinity and NaN are refused."""
    with pytest.raises(TypeError, match=r"tasks: expected an integer, got True\."):
        check_integer("tasks", True, low=0)
    with pytest.raises(TypeError, match=r"load: expected a number, got '2'\."):
        check_number("load", "2", low=0.0)  # type: ignore[arg-type]  # on purpose
    for value in (float("inf"), float("nan"), -1.0):
        with pytest.raises(ValueError, match=f"load: expected at least 0, got {value}"):
            check_number("load", value, low=0.0)


def test_fields_of_a_group_are_parameters() -> None:
    """Tests that a function takes the fields of a dataclass one by one, beside the dataclass itself, and lists them."""

    @dataclass(frozen=True)
    class Size:
        width: int = 2
        depth: int = 3

    @fields_as_parameters
    def volume(height: int, *, size: Size = Size(depth=5)) -> int:
        return height * size.width * size.depth

    assert (volume(1), volume(1, width=4), volume(1, size=Size()), volume(1, size=Size(), depth=7)) == (10, 20, 6, 14)
    assert list(inspect.signature(volume).parameters) == ["height", "width", "depth"]
    assert inspect.signature(volume).parameters["depth"].default == 5
    with pytest.raises(TypeError, match="breadth"):
        volume(1, breadth=4)
