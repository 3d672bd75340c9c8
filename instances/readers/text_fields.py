"""Numbers, edges and options of files of public formats; every message names the place in the file."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.graph import topological_order
from instances.fields import REQUIRED, brief
from instances.frozen_array import MAX_INTEGER
from instances.rounding import ticks_from_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.fields import Fields


_INTEGER = re.compile(r"[0-9]{1,16}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def integer_field(text: str, place: str, what: str) -> int:
    """Read an integer of at least 0.

    Parameters
    ----------
    text
        The field; white space around it is ignored.
    place
        Place in the file, such as ``line 12``.
    what
        Meaning of the field, such as ``a time``.

    Raises
    ------
    ValueError
        If it is something else, or beyond 2**53.
    """
    field = text.strip()
    if _INTEGER.fullmatch(field) is None or int(field) > MAX_INTEGER:
        raise ValueError(f"{place}: expected {what}, an integer in 0..2**53, got {shortened(field)}.")
    return int(field)


def number_field(text: str, place: str, what: str) -> float:
    """Read a finite number of at least 0; see `integer_field` for the parameters.

    Raises a `ValueError` if it is something else.
    """
    field = text.strip()
    if _NUMBER.fullmatch(field) is None or not 0 <= float(field) < math.inf:
        raise ValueError(f"{place}: expected {what}, a number of at least 0, got {shortened(field)}.")
    return abs(float(field))  # no negative zero


def ticks_from_texts(texts: Sequence[str], places: Sequence[str], what: str, scale: int | None) -> list[int]:
    """Read times that have no unit of their own as ticks.

    Parameters
    ----------
    places
        Place of each text in the file.
    what
        Meaning of the times, such as ``a time``.
    scale
        Ticks in one unit; times are rounded to the nearest tick. Without one they must be integers, as ``11.00`` is.

    Raises a `ValueError` if a time is negative, too long, or no integer where it must be one, or the scale is below 1.
    """
    numbers = [number_field(text, place, what) for text, place in zip(texts, places, strict=True)]
    if scale is not None:
        check_at_least("scale", scale, 1)
        exact = np.array(numbers, dtype=np.float64)
        ticks: list[int] = ticks_from_seconds(exact, 1.0 / scale, place=lambda index: places[index[0]]).tolist()
        return ticks
    for number, text, place in zip(numbers, texts, places, strict=True):
        if not number.is_integer() or number > MAX_INTEGER:
            digits = len(text.strip().partition(".")[2])
            hint = f" (scale={10**digits} makes it one)" if 0 < digits <= 9 and number <= MAX_INTEGER else ""
            raise ValueError(f"{place}: expected {what}, an integer in 0..2**53{hint}, got {shortened(text.strip())}.")
    return [int(number) for number in numbers]


def tick_of_scale(scale: int | None) -> float:
    """Return the length of a tick such that one unit of a file's times is shown as one second."""
    return 1.0 if scale is None else 1.0 / scale


def bytes_from_number(value: float, place: str, what: str) -> int:
    """Round a number of bytes up to an integer; raises a `ValueError` if it is negative, not finite or beyond 2**53."""
    if not 0 <= value <= MAX_INTEGER:
        raise ValueError(f"{place}: expected {what}, bytes in 0..2**53, got {value:g}.")
    return math.ceil(value)


def shortened(text: str) -> str:
    """Quote a text, cut to 40 characters."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def json_number(fields: Fields, key: str, default: object = REQUIRED) -> float:
    """Take a finite number of at least 0; raises a `ValueError` if it is something else."""
    value = fields.number(key, default)
    if not 0 <= value <= sys.float_info.max:
        raise ValueError(f"{fields.place(key)}: expected a finite number of at least 0, got {brief(value)}.")
    return float(value)


def json_bytes(fields: Fields, key: str, default: object = REQUIRED) -> int:
    """Take a number of bytes, rounded up to an integer; raises a `ValueError` if it is negative or beyond 2**53."""
    return bytes_from_number(json_number(fields, key, default), fields.place(key), "a size")


MAX_NAMES_SHOWN = 6
"""A longer cycle is shown in part."""


def check_edges(
    names: Sequence[str], edges: Sequence[tuple[int, int] | tuple[int, int, float]], places: Sequence[str]
) -> None:
    """Check that every edge is there once, joins two different tasks and closes no cycle.

    Parameters
    ----------
    names
        Name of each task in the file.
    edges
        Tail and head of each edge first, then whatever else belongs to it.
    places
        Place of each edge in the file.

    Raises
    ------
    ValueError
        If an edge does not; the message gives its place, for a cycle that of the last of its edges.
    """
    first_place: dict[tuple[int, int], str] = {}
    for (tail, head, *_), place in zip(edges, places, strict=True):
        arrow = f"{names[tail]} -> {names[head]}"
        if tail == head:
            raise ValueError(f"{place}: expected two different tasks, got {arrow}.")
        if (tail, head) in first_place:
            raise ValueError(f"{place}: expected each edge once, got {arrow} again after {first_place[tail, head]}.")
        first_place[tail, head] = place
    pairs = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    try:
        topological_order(len(names), pairs)
    except ValueError as error:
        edge, text = _last_edge_of_cycle(names, pairs.tolist())
        raise ValueError(f"{places[edge]}: expected no cycle, got {text}.") from error


def _last_edge_of_cycle(names: Sequence[str], edges: Sequence[Sequence[int]]) -> tuple[int, str]:
    """Return the last edge of a cycle, and the cycle as text, beginning with that edge."""
    import networkx as nx

    edge_of_ends = {(tail, head): edge for edge, (tail, head) in enumerate(edges)}
    cycle = [(int(tail), int(head)) for tail, head in nx.find_cycle(nx.DiGraph(list(edge_of_ends)))]
    last = max(range(len(cycle)), key=lambda position: edge_of_ends[cycle[position]])
    walk = [names[tail] for tail, _ in cycle[last:] + cycle[:last]]
    if len(walk) > MAX_NAMES_SHOWN:
        walk = [*walk[: MAX_NAMES_SHOWN - 1], "...", walk[-1]]
    return edge_of_ends[cycle[last]], " -> ".join([*walk, walk[0]])


def check_at_least(name: str, value: float, minimum: float) -> None:
    """Check an option of a reader; raises a `ValueError` if it is below the minimum, or not a number."""
    if not value >= minimum:
        raise ValueError(f"{name}: expected at least {minimum:g}, got {value}.")


def instance_name(path: str | PathLike[str]) -> str:
    """Return the name of an instance that is read from a file: that of the file without its endings."""
    return Path(path).name.removesuffix(".gz").rsplit(".", 1)[0]
