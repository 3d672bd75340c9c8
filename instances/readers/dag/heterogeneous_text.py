"""Reader of the plain text format for small graphs on unrelated machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.dag.instance import DagInstance
from instances.readers.text_fields import (
    check_edges,
    instance_name,
    integer_field,
    shortened,
    tick_of_scale,
    ticks_from_texts,
)
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike


_SECTIONS = ("#critical", "#tasks", "#edges", "#end")


def read_heterogeneous_text(path: str | PathLike[str], *, scale: int | None = None) -> DagInstance:
    """Read a graph with a time per machine and a communication cost per edge.

    The file has the sections ``#critical`` (ignored), ``#tasks`` (``task: time on machine 0, time on machine 1, ...``)
    and ``#edges`` (``edge: from, to, communication``), and ends with ``#end``. Times have no unit and become ticks.
    Communication takes its value between any two machines, and nothing on one machine: bytes over links of latency 0
    and bandwidth 1. Numbers may have a point, such as ``11.00`` or ``8.``.

    Parameters
    ----------
    scale
        Ticks in one unit: times and communication times scale are rounded to ticks. Without one they must be integers.

    Returns
    -------
    DagInstance
        Tasks and machines as numbered in the file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has another form; the message gives the line.

    References
    ----------
    Santiago et al. (2020), GRASP and Iterated Local Search-Based Cellular Processing Algorithm, Applied Sciences 10,
    7500; github AASantiago/SchedulingInstances.
    """
    sections = _sections(read_text(path))
    texts: list[list[str]] = []
    lines: list[str] = []
    for line, fields in _rows(sections["#tasks"], "task", "times"):
        if texts and len(fields) != len(texts[0]):
            raise ValueError(f"line {line}: expected {len(texts[0])} times, one per machine, got {len(fields)}.")
        texts.append(fields)
        lines += [f"line {line}"] * len(fields)
    ticks = ticks_from_texts([field for fields in texts for field in fields], lines, "a time", scale)
    durations = [ticks[first : first + len(texts[0])] for first in range(0, len(ticks), len(texts[0]))]
    pairs, communication, places = [], [], []
    for line, fields in _rows(sections["#edges"], "edge", "from, to, communication"):
        if len(fields) != 3:
            raise ValueError(f"line {line}: expected from, to and communication, got {len(fields)} fields.")
        tail, head = (integer_field(field, f"line {line}", "a task") for field in fields[:2])
        if max(tail, head) >= len(durations):
            raise ValueError(f"line {line}: expected tasks in 0..{len(durations) - 1}, got {tail} -> {head}.")
        pairs.append((tail, head))
        communication.append(fields[2])
        places.append(f"line {line}")
    delays = ticks_from_texts(communication, places, "a communication", scale)
    edges = [(tail, head, delay) for (tail, head), delay in zip(pairs, delays, strict=True)]
    check_edges([str(task) for task in range(len(durations))], edges, places)
    return DagInstance.from_lists(
        durations,
        edges,
        name=instance_name(path),
        tick_seconds=tick_of_scale(scale),
        gpu_kinds=[f"machine {gpu}" for gpu in range(len(durations[0]))],
    )


def _sections(text: str) -> dict[str, list[tuple[int, str]]]:
    """Return the numbered lines under each heading."""
    sections: dict[str, list[tuple[int, str]]] = {}
    number = 0
    for number, line in enumerate((raw.strip() for raw in text.split("\n")), start=1):
        if not line:
            continue
        expected = _SECTIONS[len(sections)] if len(sections) < len(_SECTIONS) else "nothing"
        if line.startswith("#"):
            if line != expected:
                raise ValueError(f"line {number}: expected {expected}, got {shortened(line)}.")
            sections[line] = []
        elif not sections or "#end" in sections:
            raise ValueError(f"line {number}: expected {expected}, got {shortened(line)}.")
        else:
            sections[_SECTIONS[len(sections) - 1]].append((number, line))
    if "#end" not in sections:
        raise ValueError(f"line {number}: expected {_SECTIONS[len(sections)]}, got the end of the file.")
    if not sections["#tasks"]:
        raise ValueError(f"line {number}: expected at least one task, got none.")
    return sections


def _rows(lines: list[tuple[int, str]], what: str, fields: str) -> list[tuple[int, list[str]]]:
    """Return line number and fields of each numbered row."""
    rows = []
    for index, (line, text) in enumerate(lines):
        number, colon, rest = text.partition(":")
        if not colon:
            raise ValueError(f"line {line}: expected {what}: {fields}, got {shortened(text)}.")
        if integer_field(number, f"line {line}", f"the number of the {what}") != index:
            raise ValueError(f"line {line}: expected {what} {index}, got {number.strip()}.")
        rows.append((line, rest.split(",")))
    return rows
