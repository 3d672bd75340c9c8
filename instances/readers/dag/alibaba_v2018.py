"""Reader of DAG jobs from Alibaba's cluster trace of 2018."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from instances.fields import one_of
from instances.parameters import fields_as_parameters
from instances.readers.dag.contraction import contract_zero_time
from instances.readers.dag.measured_graph import GpuModel, MeasuredGraph, dag_instance_from_measured
from instances.readers.text_fields import (
    bytes_from_number,
    check_at_least,
    check_edges,
    instance_name,
    number_field,
    shortened,
)
from instances.text_file import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.dag.instance import DagInstance


CUT_LENGTH = 50
"""Names of exactly this length are taken as cut: parents are lost."""

_DAG_NAME = re.compile(r"[A-Za-z]+(\d{1,9})((?:_\d{1,9})*)(?:_Stg\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlibabaJob:
    """A job whose tasks have all terminated and whose names say how they depend on each other.

    Parameters
    ----------
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


class _Row(NamedTuple):
    """One task with the columns of its line."""

    line: int
    task_name: str
    instance_num: str
    job_name: str
    task_type: str
    status: str
    start_time: str
    end_time: str
    plan_cpu: str
    plan_mem: str


COLUMNS = _Row._fields[1:]


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
        row = _Row(line, *fields)
        rows_of_job.setdefault(row.job_name, []).append(row)
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
            number_field(row.start_time, place, "start_time"),
            number_field(row.end_time, place, "end_time"),
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


PICKS = ("first", "random")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSelection:
    """Which usable jobs of the file are read.

    Parameters
    ----------
    count
        Number of jobs.
    pick
        ``first`` in the file, or ``random``: drawn from the seed without replacement.
    min_tasks, max_tasks
        Sizes of the jobs to pick from.
    """

    count: int = 1
    pick: str = "first"
    min_tasks: int = 2
    max_tasks: int = 50

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_at_least("count", self.count, 1)
        one_of(self.pick, PICKS, "pick")


@fields_as_parameters
def read_alibaba_v2018(
    path: str | PathLike[str],
    *,
    job: str | None = None,
    selection: JobSelection = JobSelection(),
    release_gap_seconds: float | None = 0.0,
    edge_bytes: int = 0,
    memory_unit_bytes: float = 0.0,
    contract: bool = False,
    model: GpuModel = GpuModel(),
) -> DagInstance:
    """Read jobs of the batch tasks (``batch_task.csv``) as the jobs of one instance.

    The file has the nine columns of the trace, with or without a line of headings: ``task_name, instance_num, job_name,
    task_type, status, start_time, end_time, plan_cpu, plan_mem``. A task called ``R3_1_2`` is number 3 and depends on 1
    and 2. Usable are jobs whose tasks have all terminated and whose names form a DAG; a job with a name of exactly 50
    characters is not, as names are cut there and parents lost.

    The time of a task is ``end - max(start, largest end of its parents)``, cut at 0, because tasks are started before
    their parents have ended. It was measured on many CPUs at a clock of one second, and is taken as the time on the
    reference kind of GPU: all heterogeneity is a model. The trace has neither data on edges nor memory in bytes.

    The whole file is read into memory; of the complete trace (14 million tasks) read a part.

    Parameters
    ----------
    path
        The file, plain or compressed.
    job
        Name of the one job to read; None follows the selection.
    release_gap_seconds
        Mean of exponential gaps between the releases, drawn from the seed, the first job at 0; 0 releases all jobs at
        once, and None takes the trace's starts, counted from the first.
    edge_bytes
        Data on every edge, an assumption. With `cost.ccr`, 1 will do.
    memory_unit_bytes
        Bytes in one unit of ``plan_mem``, an assumption: the publisher normalised it to 0 to 100.
    contract
        Whether tasks of time 0 become part of a neighbour where that is safe (`zero_time_roots`).

    Returns
    -------
    DagInstance
        Tasks by job, in the order of their numbers; jobs by release.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file has another form (the message gives the line), the job is not there or not usable, there are too few
        jobs, or an option is out of range.

    References
    ----------
    Alibaba cluster-trace-v2018, github alibaba/clusterdata. Guo et al. (2019), Who Limits the Resource Efficiency of My
    Datacenter, IWQoS.
    """
    check_at_least("release_gap_seconds", 0.0 if release_gap_seconds is None else release_gap_seconds, 0)
    rng = np.random.default_rng(_checked_seed(model.seed))
    jobs = _picked_jobs(path, job, selection, rng)
    if release_gap_seconds is None:
        jobs = sorted(jobs, key=lambda item: (item.start_seconds, item.line))
        release = [item.start_seconds - jobs[0].start_seconds for item in jobs]
    else:
        release = [0.0, *np.cumsum(rng.exponential(release_gap_seconds, size=len(jobs) - 1)).tolist()]
    name = f"{instance_name(path)} {jobs[0].name}" if len(jobs) == 1 else f"{instance_name(path)} {len(jobs)} jobs"
    graph = _merged(name, jobs, release, edge_bytes, memory_unit_bytes)
    if contract:
        graph = contract_zero_time(graph)
    return dag_instance_from_measured(graph, model)


@fields_as_parameters
def read_alibaba_v2018_jobs(
    path: str | PathLike[str],
    *,
    selection: JobSelection = JobSelection(),
    edge_bytes: int = 0,
    memory_unit_bytes: float = 0.0,
    contract: bool = False,
    model: GpuModel = GpuModel(),
) -> list[DagInstance]:
    """Read jobs of the batch tasks, each as an instance of its own with release 0.

    See `read_alibaba_v2018` for parameters and exceptions. The balances of every instance are drawn from the same seed.
    """
    rng = np.random.default_rng(_checked_seed(model.seed))
    instances = []
    for job in _picked_jobs(path, None, selection, rng):
        graph = _merged(f"{instance_name(path)} {job.name}", [job], [0.0], edge_bytes, memory_unit_bytes)
        if contract:
            graph = contract_zero_time(graph)
        instances.append(dag_instance_from_measured(graph, model))
    return instances


def _checked_seed(seed: int) -> int:
    """Return the seed if it is one."""
    check_at_least("seed", seed, 0)
    return seed


def _picked_jobs(
    path: str | PathLike[str], job: str | None, selection: JobSelection, rng: np.random.Generator
) -> list[AlibabaJob]:
    """Return the jobs that are asked for, in the order of the file."""
    count, low, high = selection.count, selection.min_tasks, selection.max_tasks
    jobs, reasons = parse_alibaba_v2018(read_text(path))
    if job is not None:
        if job in jobs:
            return [jobs[job]]
        raise ValueError(
            reasons.get(job, f"job: expected one of the {len(jobs)} usable jobs of the file, got {job!r}.")
        )
    fitting = [item for item in jobs.values() if low <= len(item.task_names) <= high]
    if len(fitting) < count:
        raise ValueError(
            f"count: expected at most {len(fitting)}, the usable jobs of {low} to {high} tasks, "
            f"got {count}; {len(reasons)} of {len(jobs) + len(reasons)} jobs are not usable."
        )
    if selection.pick == "first":
        return fitting[:count]
    return [fitting[index] for index in sorted(rng.choice(len(fitting), size=count, replace=False).tolist())]


def _merged(
    name: str, jobs: Sequence[AlibabaJob], release: Sequence[float], edge_bytes: int, memory_unit_bytes: float
) -> MeasuredGraph:
    """Return the jobs as one graph."""
    bytes_from_number(edge_bytes, "edge_bytes", "the data on every edge")
    check_at_least("memory_unit_bytes", memory_unit_bytes, 0)
    names: list[str] = []
    edges: list[tuple[int, int, int]] = []
    for job in jobs:
        edges += [(len(names) + tail, len(names) + head, edge_bytes) for tail, head in job.edges]
        names += [task if len(jobs) == 1 else f"{job.name}/{task}" for task in job.task_names]
    return MeasuredGraph(
        name=name,
        task_names=names,
        seconds=[seconds for job in jobs for seconds in job.processing_seconds],
        memory_bytes=[
            bytes_from_number(memory_unit_bytes * units, job.name, "memory") for job in jobs for units in job.plan_mem
        ],
        edges=edges,
        job_of_task=[number for number, job in enumerate(jobs) for _ in job.task_names],
        job_names=[job.name for job in jobs],
        release_seconds=release,
    )
