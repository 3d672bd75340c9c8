"""CSV tables of a user's own measurements: tasks and edges, and durations by operator and kind of GPU."""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cost_model import CostModel
from instances.clusters.gpu_kinds import GPU_KINDS
from instances.dag.conversion import dag_instance_from_seconds
from instances.dag.instance import NOT_ALLOWED
from instances.fields import one_of
from instances.parameters import fields_as_parameters
from instances.readers.dag.measured_graph import READER_COST, GpuModel, MeasuredGraph, dag_instance_from_measured
from instances.readers.dag.onnx_costs import OPERATOR_CLASSES
from instances.readers.dag.trace_durations import trace_durations
from instances.readers.text_fields import bytes_from_number, check_edges, instance_name, number_field, shortened
from instances.rounding import RoundingWarning, ticks_from_seconds
from instances.text_file import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.dag.instance import DagInstance


_OWN_COLUMNS = ("task", "seconds", "memory_bytes", "job")
_DURATIONS = ("operator", "kind", "seconds")
_MEASURED = ("class", "flops", "moved_bytes", "precision", "device", "versions", "date")


@dataclass(frozen=True, slots=True)
class _Table:
    """Columns of a CSV file, and its rows as texts by column with the place of each."""

    columns: tuple[str, ...]
    rows: list[tuple[str, dict[str, str]]]


@fields_as_parameters
def read_csv_tables(
    path: str | PathLike[str],
    *,
    edges: str | None = None,
    latency_seconds: float = 0.0,
    gb_per_second: float = 16.0,
    model: GpuModel = GpuModel(),
) -> DagInstance:
    """Read a table of tasks and, from a second file, a table of edges.

    The first line names the columns. Tasks have a ``task`` (their names, each once), and may have ``memory_bytes`` and
    ``job`` (a name; default one job). Their times are in seconds, either

    * one column per GPU, headed by its name or kind; a field that is empty or ``-`` means that it may not run the task.
      With a cluster, the columns are kinds, and each GPU takes the column of its kind, with the links and the memory of
      the cluster; or
    * one column ``seconds``, the time on the reference kind; times on the other kinds of the cluster are a model.

    Edges have ``from`` and ``to``, the names of tasks, and may have ``bytes``.

    Parameters
    ----------
    edges
        File with the edges; None for tasks without edges.
    latency_seconds, gb_per_second
        Latency and bandwidth of all links, where there is a column per GPU and no cluster.
    model
        GPUs, and times on them where there is one column of seconds. With a column per GPU, only the length of a tick
        follows from `cost`.

    Returns
    -------
    DagInstance
        Tasks in the order of the file.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If a table has another form; the message gives the line, and for edges the file.
    """
    tasks = _table(read_text(path), "tasks", required=("task",))
    names = [row["task"] for _, row in tasks.rows]
    place_of_task: dict[str, str] = {}
    for place, row in tasks.rows:
        if row["task"] in place_of_task:
            raise ValueError(
                f"{place}: expected each task once, got {row['task']!r} again after {place_of_task[row['task']]}."
            )
        place_of_task[row["task"]] = place
    gpus = [column for column in tasks.columns if column not in _OWN_COLUMNS]
    if bool(gpus) == ("seconds" in tasks.columns):
        got = "both" if gpus else f"the columns {', '.join(tasks.columns)}"
        raise ValueError(f"line 1: expected one column seconds, or one column per GPU, got {got}.")
    memory = [
        bytes_from_number(number_field(row.get("memory_bytes") or "0", place, "memory_bytes"), place, "memory_bytes")
        for place, row in tasks.rows
    ]
    jobs = list(dict.fromkeys(row.get("job") or "j0" for _, row in tasks.rows))
    job_of_task = [jobs.index(row.get("job") or "j0") for _, row in tasks.rows]
    try:
        pairs = [] if edges is None else _edges(edges, names)
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith("edges: ") else f"{edges}, {error}") from error
    if not gpus:
        seconds = [number_field(row["seconds"], place, "seconds") for place, row in tasks.rows]
        graph = MeasuredGraph(
            name=instance_name(path),
            task_names=names,
            seconds=seconds,
            memory_bytes=memory,
            edges=pairs,
            job_of_task=job_of_task,
            job_names=jobs,
            release_seconds=[0.0] * len(jobs),
        )
        return dag_instance_from_measured(graph, model)
    times = [[_time(row[gpu], place) for gpu in gpus] for place, row in tasks.rows]
    for (place, _), row_of_times in zip(tasks.rows, times, strict=True):
        if all(time is None for time in row_of_times):
            raise ValueError(f"{place}: expected a time on at least one GPU, got none.")
    with warnings.catch_warnings():
        if model.cost is None or model.cost.tick_seconds is None:  # such a tick is coarse on purpose
            warnings.simplefilter("ignore", RoundingWarning)
        made = _on_gpus(gpus, times, pairs, (latency_seconds, gb_per_second), model)
    return replace(
        made,
        name=instance_name(path),
        task_names=tuple(names),
        task_memory=np.array(memory, dtype=np.int64),
        job_of_task=np.array(job_of_task, dtype=np.int64),
        job_names=tuple(jobs),
        release=np.zeros(len(jobs), dtype=np.int64),
        weight=np.ones(len(jobs), dtype=np.int64),
    )


def _on_gpus(
    columns: Sequence[str],
    times: Sequence[Sequence[float | None]],
    edges: Sequence[tuple[int, int, int]],
    links: tuple[float, float],
    model: GpuModel,
) -> DagInstance:
    """Return an instance whose GPUs are the columns, or those of a cluster by their kinds."""
    cost = READER_COST if model.cost is None else model.cost
    if replace(cost, tick_seconds=None, mean_ticks=100.0) not in (CostModel(), READER_COST):
        raise ValueError(f"cost: expected a tick at most, as the file has the times on each GPU, got {cost}.")
    given = [time for row in times for time in row if time is not None]
    mean = sum(given) / len(given) if sum(given) > 0 else cost.mean_ticks
    tick = cost.tick_seconds or float(f"{mean / cost.mean_ticks:.3g}")
    if model.cluster is None:
        latency, bandwidth = links
        return dag_instance_from_seconds(
            times,
            edges,
            tick_seconds=tick,
            latency_seconds=latency,
            gb_per_second=bandwidth,
            gpu_kinds=columns,
        )
    kinds = [kind.name for kind in model.cluster.kinds]
    for kind in kinds:
        if kind not in columns:
            raise ValueError(f"line 1: expected a column {kind}, a kind of the cluster, got {', '.join(columns)}.")
    column_of_gpu = [columns.index(kind) for kind in kinds]
    return dag_instance_from_seconds(
        [[row[column] for column in column_of_gpu] for row in times],
        edges,
        tick_seconds=tick,
        latency_seconds=model.cluster.latency_seconds().tolist(),
        gb_per_second=(model.cluster.bytes_per_second() / 1e9).tolist(),
        gpu_memory_bytes=[kind.memory_bytes for kind in model.cluster.kinds],
        gpu_kinds=kinds,
        gpu_servers=[server.name for server in model.cluster.server_of_gpu],
    )


def _time(text: str, place: str) -> float | None:
    """Read a time in seconds, None where the GPU may not run the task."""
    return None if text in ("", "-") else number_field(text, place, "a time in seconds, or - where it may not run")


def _edges(path: str, names: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return edges between the numbers of the tasks."""
    task_of_name = {name: task for task, name in enumerate(names)}
    found, places = [], []
    try:
        text = read_text(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ValueError(f"edges: expected a file that can be read, got {path!r}: {reason}.") from error
    for place, row in _table(text, "edges", required=("from", "to"), optional=("bytes",)).rows:
        for end in ("from", "to"):
            if row[end] not in task_of_name:
                raise ValueError(f"{place}: expected the name of a task, got {shortened(row[end])}.")
        data = number_field(row.get("bytes") or "0", place, "bytes")
        found.append((task_of_name[row["from"]], task_of_name[row["to"]], bytes_from_number(data, place, "bytes")))
        places.append(place)
    check_edges(names, found, places)
    return found


def _table(text: str, what: str, *, required: Sequence[str], optional: Sequence[str] | None = None) -> _Table:
    """Read a CSV text; the columns are the required and the optional ones, or any others where those are None."""
    reader = csv.reader(text.splitlines(), strict=True)
    columns: tuple[str, ...] = ()
    rows: list[tuple[str, dict[str, str]]] = []
    try:
        for fields in reader:
            place, texts = f"line {reader.line_num}", [field.strip() for field in fields]
            if not any(texts):
                continue
            if not columns:
                columns = tuple(texts)
                unknown = [] if optional is None else [each for each in columns if each not in (*required, *optional)]
                if not set(required) <= set(columns) or unknown or len(set(columns)) < len(columns) or "" in columns:
                    choices = "".join(f" ({', '.join(optional)})" for _ in [0] if optional)
                    raise ValueError(
                        f"{place}: expected the columns {', '.join(required)}{choices}, each once, "
                        f"got {shortened(','.join(columns))}."
                    )
            elif len(texts) != len(columns):
                raise ValueError(f"{place}: expected {len(columns)} fields, got {len(texts)}.")
            else:
                rows.append((place, dict(zip(columns, texts, strict=True))))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: expected CSV, got {error}.") from error
    if not rows:
        raise ValueError(f"line {max(reader.line_num, 1)}: expected at least one line of {what}, got none.")
    return _Table(columns, rows)


def read_durations(path: str | PathLike[str]) -> dict[tuple[str, str], float]:
    """Read measured durations: a CSV table with the columns ``operator``, ``kind`` and ``seconds``, or a trace.

    A trace is a JSON file of Chrome's format, such as that of PyTorch's profiler (`trace_durations`). The other columns
    that ``optgap/measure_operators.py`` writes are for `read_efficiencies`.

    Returns seconds by operator and kind of GPU. Raises an `OSError` if the file cannot be read, and a `ValueError` if
    it has another form or names a pair twice; the message gives the place.
    """
    text = read_text(path)
    if text.lstrip()[:1] in ("{", "["):
        return trace_durations(text)
    found: dict[tuple[str, str], float] = {}
    for place, row in _table(text, "durations", required=_DURATIONS, optional=_MEASURED).rows:
        pair = (row["operator"], row["kind"])
        if pair in found:
            raise ValueError(f"{place}: expected each operator and kind once, got {pair[0]} on {pair[1]} again.")
        found[pair] = number_field(row["seconds"], place, "seconds")
    return found


LAUNCH_SECONDS = 2e-5
"""Times up to this one are those of starting a kernel, and say nothing of the roofline."""

LEAST_EFFICIENCY = 1e-6
"""A smaller share of the roofline is an error of the table, such as a time in another unit."""


def read_efficiencies(path: str | PathLike[str], precision: str) -> dict[str, dict[str, float]]:
    """Return how much of the roofline operators reached, from a table that ``optgap/measure_operators.py`` wrote.

    By class and kind of GPU it is the median of roofline over measured time, over all rows of a precision that take
    longer than `LAUNCH_SECONDS`; "" stands for kinds that are not in the table and has the median over those that are.
    A row that beats the roofline, as small operators do whose data stay in the cache, counts as 1.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it has another form, names an operator and a
    kind twice, names a kind that is not in the catalogue or an unknown class, has a time that cannot be (a share below
    `LEAST_EFFICIENCY`), or has no row of the precision that is long enough; the message gives the place.
    """
    ratios: dict[tuple[str, str], list[float]] = {}
    seen: set[str] = set()
    for place, row in _table(read_text(path), "durations", required=(*_DURATIONS, *_MEASURED)).rows:
        if row["precision"] != precision:
            continue
        pair = f"{row['operator']} on {row['kind']}"
        if pair in seen:
            raise ValueError(f"{place}: expected each operator and kind once per precision, got {pair} again.")
        seen.add(pair)
        gpu = GPU_KINDS[one_of(row["kind"], GPU_KINDS, f"{place}: kind")]
        one_of(row["class"], OPERATOR_CLASSES, f"{place}: class")
        flops, moved, seconds = (number_field(row[key], place, key) for key in ("flops", "moved_bytes", "seconds"))
        if not seconds or not flops + moved:
            got = shortened(",".join(row[key] for key in ("flops", "moved_bytes", "seconds")))
            raise ValueError(f"{place}: expected work and a time above 0, got {got}.")
        roofline = float(gpu.roofline_seconds(np.array([flops]), np.array([moved]), precision=precision)[0])
        if roofline < LEAST_EFFICIENCY * seconds:
            raise ValueError(f"{place}: expected seconds near the roofline of {roofline:.3g} s, got {seconds:g}.")
        if seconds > LAUNCH_SECONDS:
            ratios.setdefault((row["class"], row["kind"]), []).append(min(roofline / seconds, 1.0))
    if not ratios:
        got = f"{len(seen)} rows of shorter times" if seen else "none"
        expected = f"rows of precision {precision} that take longer than {LAUNCH_SECONDS:g} s"
        raise ValueError(f"document: expected {expected}, got {got}.")
    found: dict[str, dict[str, float]] = {what: {} for what, _ in ratios}
    for (what, kind), own in ratios.items():
        found[what][kind] = median(own)
    return {what: {"": median(of.values()), **of} for what, of in found.items()}


def with_measured_durations(instance: DagInstance, seconds: dict[tuple[str, str], float]) -> tuple[DagInstance, int]:
    """Put measured durations in the place of modelled ones.

    Parameters
    ----------
    seconds
        Duration by operator and kind of GPU. An operator is the name of a task, or a pattern such as ``Conv *`` for all
        tasks whose names fit; the name counts before patterns, and patterns in the order in which they stand.

    Returns
    -------
    tuple
        The instance, and how many of its durations were measured, out of those that are allowed. Where a task may not
        run stays as it is, and so does every duration without a measurement.

    Raises
    ------
    ValueError
        If no duration fits any task and kind, or one is longer than 2**53 ticks.

    Warns
    -----
    RoundingWarning
        If rounding to the ticks of the instance moves a duration by more than 0.1 %.
    """
    patterns = [pair for pair in seconds if any(sign in pair[0] for sign in "*?[")]
    measured = np.full(instance.durations.shape, np.nan)
    kinds = list(dict.fromkeys(instance.gpu_kinds))
    for task, name in enumerate(instance.task_names):
        for kind in kinds:
            pair = next((each for each in patterns if each[1] == kind and fnmatchcase(name, each[0])), None)
            time = seconds.get((name, kind), np.nan if pair is None else seconds[pair])
            measured[task, [gpu for gpu, own in enumerate(instance.gpu_kinds) if own == kind]] = time
    measured[instance.durations == NOT_ALLOWED] = np.nan
    count = int((~np.isnan(measured)).sum())
    if not count:
        expected = f"operators such as {instance.task_names[0]!r}" if instance.num_tasks else "no operators"
        got = ", ".join(f"{operator} on {kind}" for operator, kind in list(seconds)[:3])
        raise ValueError(f"durations: expected {expected} on {', '.join(kinds)}, got {got}.")
    ticks = ticks_from_seconds(
        measured, instance.tick_seconds, place=lambda index: f"tasks[{index[0]}].durations[{index[1]}]"
    )
    return replace(instance, durations=np.where(np.isnan(measured), instance.durations, ticks)), count
