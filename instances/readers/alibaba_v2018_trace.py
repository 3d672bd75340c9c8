"""Jobs of the batch tasks of Alibaba's cluster trace of 2018."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

from instances.readers.check_edges import check_edges
from instances.readers.number_field import number_field, shortened

COLUMNS = (
    "task_name",
    "instance_num",
    "job_name",
    "task_type",
    "status",
    "start_time",
    "end_time",
    "plan_cpu",
    "plan_mem",
)

CUT_LENGTH = 50
"""Names of exactly this length are taken as cut: parents are lost."""

_DAG_NAME = re.compile(r"[A-Za-z]+(\d{1,9})((?:_\d{1,9})*)(?:_Stg\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlibabaJob:
    """A job whose tasks have all terminated and whose names say how they depend on each other.

    Parameters
    ----------
    name
        Name of the job.
    line
        First line of it in the file.
    task_names
        One per task, in the order of their numbers.
    processing_seconds
        Time of each task after its parents had ended.
    plan_mem
        Requested memory of each task in the publisher's unit (0 to 100), 0 where there is none.
    edges
        Parent and child of each dependency.
    start_seconds
        Earliest start of a task.
    """

    name: str
    line: int
    task_names: tuple[str, ...]
    processing_seconds: tuple[float, ...]
    plan_mem: tuple[float, ...]
    edges: tuple[tuple[int, int], ...]
    start_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One task as it stands in the file."""

    line: int
    task_name: str
    status: str
    start: str
    end: str
    plan_mem: str


def parse_alibaba_v2018(text: str) -> tuple[dict[str, AlibabaJob], dict[str, str]]:
    """Read all jobs.

    Returns
    -------
    dict[str, AlibabaJob]
        Usable jobs by name, in the order of their first tasks.
    dict[str, str]
        For each other job why it is not usable, with the line.

    Raises
    ------
    ValueError
        If a line does not have the nine columns, or a time is no number; the message gives the line.
    """
    rows_of_job: dict[str, list[_Row]] = {}
    for line, fields in _rows(text):
        row = dict(zip(COLUMNS, fields, strict=True))
        rows_of_job.setdefault(row["job_name"], []).append(
            _Row(
                line=line,
                task_name=row["task_name"],
                status=row["status"],
                start=row["start_time"],
                end=row["end_time"],
                plan_mem=row["plan_mem"],
            )
        )
    jobs: dict[str, AlibabaJob] = {}
    reasons: dict[str, str] = {}
    for name, rows in rows_of_job.items():
        job = _job(name, rows)
        if isinstance(job, AlibabaJob):
            jobs[name] = job
        else:
            reasons[name] = job
    return jobs, reasons


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Return line number and fields of every task."""
    reader = csv.reader(text.split("\n"), strict=True)
    rows: list[tuple[int, list[str]]] = []
    while True:
        line = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise ValueError(f"line {line}: expected CSV, got {error}.") from error
        if fields is None:
            break
        if not fields or (line == 1 and tuple(fields) == COLUMNS):
            continue
        if len(fields) != len(COLUMNS):
            expected = f"{len(COLUMNS)} columns ({', '.join(COLUMNS)})"
            raise ValueError(f"line {line}: expected {expected}, got {len(fields)}.")
        rows.append((line, fields))
    if not rows:
        raise ValueError("line 1: expected at least one task, got none.")
    return rows


def _job(name: str, rows: list[_Row]) -> AlibabaJob | str:
    """Return the job, or why it is not usable."""
    row_of_number: dict[int, _Row] = {}
    parents_of_number: dict[int, list[int]] = {}
    times: dict[int, tuple[float, float, float]] = {}
    for row in rows:
        place = f"line {row.line}"
        if len(row.task_name) == CUT_LENGTH:
            return f"{place}: expected a task name that is not cut, got one of {CUT_LENGTH} characters."
        match = _DAG_NAME.fullmatch(row.task_name)
        if match is None:
            return f"{place}: expected a task name such as R3_1_2, got {shortened(row.task_name)}."
        if row.status != "Terminated":
            return f"{place}: expected status Terminated, got {shortened(row.status)}."
        number = int(match[1])
        if number in row_of_number:
            return f"{place}: expected each task number of {name} once, got {number} again."
        row_of_number[number] = row
        parents_of_number[number] = [int(parent) for parent in match[2].split("_")[1:]]
        times[number] = (
            number_field(row.start, place, "start_time"),
            number_field(row.end, place, "end_time"),
            number_field(row.plan_mem or "0", place, "plan_mem"),
        )
    numbers = sorted(row_of_number)
    task_of_number = {number: task for task, number in enumerate(numbers)}
    edges, places = [], []
    for number in numbers:
        place = f"line {row_of_number[number].line}"
        for parent in parents_of_number[number]:
            if parent not in task_of_number:
                return f"{place}: expected parents among the tasks of {name}, got {parent}."
            edges.append((task_of_number[parent], task_of_number[number]))
            places.append(place)
    try:
        check_edges([row_of_number[number].task_name for number in numbers], edges, places)
    except ValueError as error:
        return str(error)
    processing = []
    for number in numbers:
        start, end, _ = times[number]
        ready = max([start, *(times[parent][1] for parent in parents_of_number[number])])
        processing.append(max(end - ready, 0.0))
    return AlibabaJob(
        name=name,
        line=rows[0].line,
        task_names=tuple(row_of_number[number].task_name for number in numbers),
        processing_seconds=tuple(processing),
        plan_mem=tuple(times[number][2] for number in numbers),
        edges=tuple(edges),
        start_seconds=min(times[number][0] for number in numbers),
    )
