"""Tests of the reader of CSV tables and of measured durations."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.readers.dag.csv_tables import read_csv_tables, read_durations, with_measured_durations
from instances.readers.dag.measured_graph import READER_COST
from instances.rounding import RoundingWarning

if TYPE_CHECKING:
    from pathlib import Path


TASKS = """task, memory_bytes, job, T4, V100-16GB
"load, all", 64, first, 0.002, 1e-3
conv,,second,-,0.003

add,1.5,second,0.004,
"""
EDGES = 'from,to,bytes\n"load, all",conv,3150000\nconv,add,\n'
MILLISECONDS = replace(READER_COST, tick_seconds=1e-3)


def write(folder: Path, tasks: str = TASKS, edges: str | None = EDGES) -> tuple[Path, str | None]:
    """Write the two files."""
    (folder / "tasks.csv").write_text(tasks)
    if edges is None:
        return folder / "tasks.csv", None
    (folder / "edges.csv").write_text(edges)
    return folder / "tasks.csv", str(folder / "edges.csv")


def test_a_column_per_gpu(tmp_path: Path) -> None:
    """Tests that columns are GPUs, that an empty field or a minus sign is not allowed, and that links are as given."""
    tasks, edges = write(tmp_path)
    instance = read_csv_tables(tasks, edges=edges, cost=MILLISECONDS, latency_seconds=0.002, gb_per_second=1.05)
    assert instance.task_names == ("load, all", "conv", "add")
    assert instance.durations.tolist() == [[2, 1], [-1, 3], [4, -1]]
    assert (instance.gpu_kinds, instance.task_memory.tolist()) == (("T4", "V100-16GB"), [64, 0, 2])
    assert (instance.job_names, instance.job_of_task.tolist()) == (("first", "second"), [0, 1, 1])
    assert instance.edges.tolist() == [[0, 1], [1, 2]]
    assert instance.transfer_delays(0).tolist() == [[0, 5], [5, 0]]


def test_columns_are_kinds_of_a_cluster(tmp_path: Path) -> None:
    """Tests that every GPU takes the column of its kind, and links and memory come from the cluster."""
    tasks, edges = write(tmp_path)
    instance = read_csv_tables(tasks, edges=edges, cost=MILLISECONDS, cluster=parse_cluster("2xV100-16GB,T4"))
    assert instance.durations.tolist() == [[1, 1, 2], [3, 3, -1], [-1, -1, 4]]
    assert (instance.gpu_servers, instance.gpu_memory.tolist()) == (("s0", "s0", "s1"), [2**34] * 3)
    assert instance.bytes_per_tick[0, 2] == 12.5e6


def test_one_column_of_seconds(tmp_path: Path) -> None:
    """Tests that seconds stand on the reference kind, and that the tick follows from the mean where none is given."""
    tasks, edges = write(tmp_path, "task,seconds\na,0.004\nb,0.002\n", "from,to\na,b\n")
    cost = replace(READER_COST, tick_seconds=1e-6)
    instance = read_csv_tables(tasks, edges=edges, cluster=parse_cluster("V100-16GB+T4"), cost=cost)
    assert (instance.durations[:, 0].tolist(), instance.edge_bytes.tolist()) == ([4000, 2000], [0])
    unset = read_csv_tables(*write(tmp_path, "task,A,B\na,1,3\n", None)[:1])
    assert (unset.tick_seconds, unset.durations.tolist()) == (0.02, [[50, 150]])


@pytest.mark.parametrize(
    ("tasks", "edges", "message"),
    [
        ("", None, "line 1: expected at least one line of tasks, got none."),
        ("name,V100\na,1\n", None, "line 1: expected the columns task, each once, got 'name,V100'."),
        ("task,T4,T4\na,1,1\n", None, "line 1: expected the columns task, each once, got 'task,T4,T4'."),
        ("task\na\n", None, "line 1: expected one column seconds, or one column per GPU, got the columns task."),
        ("task,seconds,T4\na,1,1\n", None, "line 1: expected one column seconds, or one column per GPU, got both."),
        ("task,T4\na,1,2\n", None, "line 2: expected 2 fields, got 3."),
        ('task,T4\n"a,1\n', None, "expected CSV, got unexpected end of data."),
        ("task,T4\na,-\n", None, "line 2: expected a time on at least one GPU, got none."),
        ("task,T4\na,-3\n", None, "line 2: expected a time in seconds, or - where it may not run, a number of at"),
        ("task,T4\na,1\n\na,2\n", None, "line 4: expected each task once, got 'a' again after line 2."),
        ("task,T4,memory_bytes\na,1,x\n", None, "line 2: expected memory_bytes, a number of at least 0, got 'x'."),
        (TASKS, "from,to,weight\n", "edges.csv, line 1: expected the columns from, to (bytes), each once, got 'from,"),
        (TASKS, "from,to\nconv,relu\n", "edges.csv, line 2: expected the name of a task, got 'relu'."),
        (TASKS, "from,to\nconv,add\nadd,conv\n", "edges.csv, line 3: expected no cycle, got add -> conv -> add."),
        (TASKS, "from,to\n", "edges.csv, line 1: expected at least one line of edges, got none."),
    ],
)
def test_broken_table(tmp_path: Path, tasks: str, edges: str | None, message: str) -> None:
    """Tests that a broken table is one error that names the line, and the file of the edges."""
    path, edges_path = write(tmp_path, tasks, edges)
    with pytest.raises(ValueError, match=re.escape(message)):
        read_csv_tables(path, edges=edges_path)


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    """Tests that a missing kind, a cost that nothing would use, and a missing file of edges are refused."""
    tasks, _ = write(tmp_path)
    with pytest.raises(ValueError, match="line 1: expected a column P100, a kind of the cluster, got T4, V100-16GB"):
        read_csv_tables(tasks, cluster=parse_cluster("T4+P100"))
    with pytest.raises(ValueError, match="cost: expected a tick at most, as the file has the times on each GPU"):
        read_csv_tables(tasks, cost=CostModel(ccr=1.0))
    with pytest.raises(ValueError, match="edges: expected a file that can be read, got 'none': no such file"):
        read_csv_tables(tasks, edges="none")


MEASURED = "operator,kind,seconds\nconv 2,V100,7\nconv*,V100,5\nconv 1,T4,6\nrelu,V100,1\n"


def test_measured_durations(tmp_path: Path) -> None:
    """Tests that a name counts before a pattern, on all GPUs of the kind, and what is not allowed stays so."""
    (tmp_path / "durations.csv").write_text(MEASURED)
    modelled = DagInstance.from_lists(
        [[9, 9, 8], [9, 9, 8], [9, None, 8], [2, 2, 2]],
        task_names=["conv 1", "conv 2", "conv 3", "add"],
        gpu_kinds=["V100", "V100", "T4"],
    )
    instance, count = with_measured_durations(modelled, read_durations(tmp_path / "durations.csv"))
    assert instance.durations.tolist() == [[5, 5, 6], [7, 7, 8], [5, -1, 8], [2, 2, 2]]
    assert count == 6
    with pytest.raises(
        ValueError, match="durations: expected operators such as 'conv 1' on V100, T4, got relu on P100"
    ):
        with_measured_durations(modelled, {("relu", "P100"): 1.0})
    with pytest.warns(RoundingWarning, match=r"1 of 1 durations .* tasks\[3\].durations\[2\]"):
        assert with_measured_durations(modelled, {("add", "T4"): 2.4})[0].durations[3].tolist() == [2, 2, 2]


def test_broken_durations(tmp_path: Path) -> None:
    """Tests that a pair that is there twice and a table with other columns are refused."""
    path = tmp_path / "durations.csv"
    path.write_text(MEASURED + "conv 1,T4,8\n")
    with pytest.raises(ValueError, match="line 6: expected each operator and kind once, got conv 1 on T4 again"):
        read_durations(path)
    path.write_text("operator,kind,ms\na,T4,1\n")
    with pytest.raises(ValueError, match=r"line 1: expected the columns operator, kind, seconds .*, each once, got"):
        read_durations(path)
