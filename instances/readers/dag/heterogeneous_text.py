"""Reader of the plain text format for small graphs on unrelated machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.dag.instance import DagInstance
from instances.readers.text_fields import check_edges, instance_name, integer_field, shortened
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike


_SECTIONS = ("#critical", "#tasks", "#edges", "#end")


def read_heterogeneous_text(path: str | PathLike[str]) -> DagInstance:
    """Read a graph with a time per machine and a communication cost per edge.

    The file has the sections ``#critical`` (ignored), ``#tasks`` (``task: time on machine 0, time on machine 1, ...``)
    and ``#edges`` (``edge: from, to, communication``), and ends with ``#end``. Times have no unit and become ticks.
    Communication takes its value between any two machines, and nothing on one machine: bytes over links of latency 0
    and bandwidth 1.

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
    durations: list[list[int | None]] = []
    for line, fields in _rows(sections["#tasks"], "task", "times"):
        if durations and len(fields) != len(durations[0]):
            raise ValueError(f"line {line}: expected {len(durations[0])} times, one per machine, got {len(fields)}.")
        durations.append([integer_field(field, f"line {line}", "a time") for field in fields])
    edges, places = [], []
    for line, fields in _rows(sections["#edges"], "edge", "from, to, communication"):
        if len(fields) != 3:
            raise ValueError(f"line {line}: expected from, to and communication, got {len(fields)} fields.")
        tail, head, data = (
            integer_field(field, f"line {line}", what)
            for field, what in zip(fields, ("a task", "a task", "a communication"), strict=True)
        )
        if max(tail, head) >= len(durations):
            raise ValueError(f"line {line}: expected tasks in 0..{len(durations) - 1}, got {tail} -> {head}.")
        edges.append((tail, head, data))
        places.append(f"line {line}")
    check_edges([str(task) for task in range(len(durations))], edges, places)
    return DagInstance.from_lists(
        durations, edges, name=instance_name(path), gpu_kinds=[f"machine {gpu}" for gpu in range(len(durations[0]))]
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
