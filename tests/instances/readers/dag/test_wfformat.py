"""Tests of the reader of WfFormat."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from instances.clusters.cluster import parse_cluster
from instances.readers.dag.measured_graph import READER_COST
from instances.readers.dag.wfformat import read_wfformat
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path


V100 = parse_cluster("V100-16GB+T4")
MILLISECONDS = replace(READER_COST, tick_seconds=1e-3)


def task(identity: str, parents: list[str], children: list[str], reads: list[str], writes: list[str]) -> dict[str, Any]:
    """Return the specification of a task."""
    return {
        "name": "some name",
        "id": identity,
        "parents": parents,
        "children": children,
        "inputFiles": reads,
        "outputFiles": writes,
    }


WORKFLOW: dict[str, Any] = {
    "name": "invented",
    "schemaVersion": "1.5",
    "workflow": {
        "specification": {
            "tasks": [
                task("split", [], ["left", "right"], ["raw"], ["a", "b"]),
                task("left", ["split"], ["right"], ["a"], ["c"]),
                task("right", ["left", "split"], [], ["a", "b", "c"], []),
            ],
            "files": [
                {"id": "raw", "sizeInBytes": 5000},
                {"id": "a", "sizeInBytes": 10},
                {"id": "b", "sizeInBytes": 200},
                {"id": "c", "sizeInBytes": 3000},
            ],
        },
        "execution": {
            "tasks": [
                {"id": "right", "runtimeInSeconds": 2.5, "memoryInBytes": 77},
                {"id": "split", "runtimeInSeconds": 1.0},
                {"id": "left", "runtimeInSeconds": 0.0},
            ],
        },
    },
}


def write(tmp_path: Path, document: object) -> Path:
    """Write a file."""
    path = tmp_path / "small.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def changed(*path: object, value: object) -> dict[str, Any]:
    """Return the workflow with another value at a place below ``workflow``; a value of ... deletes the key."""
    document = copy.deepcopy(WORKFLOW)
    place: Any = document["workflow"]
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


def test_workflow(tmp_path: Path) -> None:
    """Tests that times, memory and the bytes of shared files are those of the file."""
    instance = read_wfformat(write(tmp_path, WORKFLOW), cluster=V100, cost=MILLISECONDS)
    assert instance.task_names == ("split", "left", "right")
    assert instance.durations[:, 0].tolist() == [1000, 0, 2500]
    assert instance.task_memory.tolist() == [0, 0, 77]
    edges = dict(zip(map(tuple, instance.edges.tolist()), instance.edge_bytes.tolist(), strict=True))
    assert edges == {(0, 1): 10, (1, 2): 3000, (0, 2): 210}


def test_contraction(tmp_path: Path) -> None:
    """Tests that a task without time becomes part of its only parent."""
    instance = read_wfformat(write(tmp_path, WORKFLOW), contract=True, cluster=V100, cost=MILLISECONDS)
    assert instance.task_names == ("split", "right")
    assert instance.edges.tolist() == [[0, 1]]
    assert instance.edge_bytes.tolist() == [3000]


SPECIFIED = ("specification", "tasks")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "line 1, column 1: expected JSON, got Expecting value."),
        (json.dumps(WORKFLOW, indent=1)[:400], "line "),
        ({**WORKFLOW, "schemaVersion": "1.4"}, 'schemaVersion: expected "1.5", got "1.4".'),
        ({"schemaVersion": "1.5"}, "workflow: expected an object, got nothing."),
        (changed("execution", value=...), "workflow.execution: expected an object, got nothing."),
        (changed(*SPECIFIED, value=...), "workflow.specification.tasks: expected a list, got nothing."),
        (changed(*SPECIFIED, value=[]), "workflow.specification.tasks: expected at least one task, got none."),
        (
            changed(*SPECIFIED, 1, "id", value="split"),
            'workflow.specification.tasks[1].id: expected each id once, got "split"',
        ),
        (changed(*SPECIFIED, 1, "id", value=3), "workflow.specification.tasks[1].id: expected text, got 3."),
        (
            changed(*SPECIFIED, 1, "parents", value=...),
            "workflow.specification.tasks[1].parents: expected a list, got nothing.",
        ),
        (
            changed(*SPECIFIED, 1, "parents", value=["spilt"]),
            'workflow.specification.tasks[1].parents[0]: expected the id of a task, got "spilt".',
        ),
        (
            changed(*SPECIFIED, 1, "inputFiles", value=[7]),
            "workflow.specification.tasks[1].inputFiles[0]: expected the id of a file, got 7.",
        ),
        (
            changed(*SPECIFIED, 1, "parents", value=["split", "split"]),
            "workflow.specification.tasks[1].parents[1]: expected each edge once, got split -> left again",
        ),
        (
            changed(*SPECIFIED, 0, "parents", value=["right"]),
            "workflow.specification.tasks[2].parents[0]: expected no cycle, got left -> right -> split -> left.",
        ),
        (
            changed(*SPECIFIED, 0, "children", value=["left"]),
            "workflow.specification.tasks[0].children: expected the tasks that name this one as parent, got",
        ),
        (
            changed("specification", "files", 1, "sizeInBytes", value=-4),
            "workflow.specification.files[1].sizeInBytes: expected a finite number of at least 0, got -4.",
        ),
        (
            changed("specification", "files", 1, "id", value="raw"),
            'workflow.specification.files[1].id: expected each id once, got "raw" again.',
        ),
        (
            changed("execution", "tasks", 1, "runtimeInSeconds", value="1"),
            'workflow.execution.tasks[1].runtimeInSeconds: expected a number, got "1".',
        ),
        (
            changed("execution", "tasks", 1, "id", value="other"),
            'workflow.execution.tasks[1].id: expected the id of a task, got "other".',
        ),
        (changed("execution", "tasks", value=[]), 'workflow.execution.tasks: expected task "split", got nothing.'),
    ],
)
def test_broken_file(tmp_path: Path, document: object, message: str) -> None:
    """Tests that a broken file gives one error that names the place."""
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        read_wfformat(write(tmp_path, document))


@pytest.mark.filterwarnings("ignore::instances.rounding.RoundingWarning")
@pytest.mark.parametrize(
    ("name", "num_tasks", "num_edges", "total_seconds", "total_mb", "num_zero"),
    [
        ("pegasus/srasearch-chameleon-10a-001", 22, 30, 6996.8, 10763.5, 0),
        ("pegasus/epigenomics-chameleon-hep-1seq-100k-001", 41, 48, 539.3, 353.3, 0),
        ("pegasus/1000genome-chameleon-2ch-100k-001", 52, 76, 2771.3, 11.2, 0),
        ("pegasus/montage-chameleon-dss-05d-001", 58, 114, 5585.8, 7139.4, 0),
        ("nextflow/bacass-dirt02-001", 11, 14, 3961.9, 233.6, 1),
        ("nextflow/scrnaseq-dirt02-001", 14, 17, 1374.3, 2700.2, 1),
        ("nextflow/methylseq-dirt02-001", 36, 70, 446.4, 162.9, 4),
        ("nextflow/hic-dirt02-001", 38, 47, 577.1, 268.8, 4),
    ],
)
def test_published_workflows(
    name: str, num_tasks: int, num_edges: int, total_seconds: float, total_mb: float, num_zero: int
) -> None:
    """Tests that the published workflows have their known sizes, run times and bytes."""
    instance = read_wfformat(real_data(f"wfcommons/{name}.json"), cluster=V100, cost=MILLISECONDS)
    assert (instance.num_tasks, instance.num_edges) == (num_tasks, num_edges)
    assert instance.durations[:, 0].sum() * 1e-3 == pytest.approx(total_seconds, abs=0.1)
    assert instance.edge_bytes.sum() * 1e-6 == pytest.approx(total_mb, abs=0.06)
    assert (instance.durations[:, 0] == 0).sum() == num_zero
