"""Tests that a file of either problem is recognised however it is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from instances.generators.dag.generate import generate
from instances.generators.jobs.generate import generate_jobs
from instances.readers.optgap_json import problem_of_text, read_instance_file, write_instance_file
from instances.text_file import read_text, write_text
from studies.cli.input import is_jobs_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["instance.json", "instance.json.gz"])
def test_files_of_both_problems(tmp_path: Path, name: str) -> None:
    """Tests plain and compressed files, and files in which the format is not the first key."""
    path = tmp_path / name
    for problem, instance in (
        ("dag", generate("chains", tasks=4, seed=1)),
        ("jobs", generate_jobs("jobs-recurrent", jobs=3, seed=1)),
    ):
        write_instance_file(instance, path)
        assert read_instance_file(path).sha256 == instance.sha256
        assert is_jobs_file(path) == (problem == "jobs")
        document = json.loads(read_text(path))
        write_text(path, json.dumps(dict(reversed(document.items()))))
        assert read_instance_file(path).sha256 == instance.sha256
        assert is_jobs_file(path) == (problem == "jobs")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"name": "optgap/jobs"', '{"name": "optgap/jobs"}', '{"format": "optgap/dag"}']
)
def test_anything_else_is_for_the_reader_of_dags(text: str) -> None:
    """Tests that a broken or foreign text is left to the reader of DAG instances, which says what is wrong."""
    assert problem_of_text(text) == "dag"
