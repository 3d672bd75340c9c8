"""Tests of reading by the name of a format."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from instances.clusters.cluster import Cluster
from instances.readers.dag.read import READERS, option_from_text, read_instance

if TYPE_CHECKING:
    from pathlib import Path


SHARED_OPTIONS = ["cluster", "cost", "seed", "reference_kind"]


@pytest.mark.parametrize("format_name", READERS)
def test_every_reader_documents_its_options(format_name: str) -> None:
    """Tests that options have defaults and stand in the docstring of the reader or of a group, the shared ones last."""
    reader = READERS[format_name]
    groups = [type(item.default) for item in inspect.signature(inspect.unwrap(reader.function())).parameters.values()]
    documented = [reader.function(), *filter(dataclasses.is_dataclass, groups)]
    documentation = "\n".join(inspect.getdoc(item) or "" for item in documented)
    options = reader.options()
    for name, option in options.items():
        assert option.default is not inspect.Parameter.empty
        assert re.search(rf"^(\w+, )*{name}(, \w+)*$", documentation, re.MULTILINE), name
    if format_name not in ("heterogeneous-text", "zero-bubble", "torch-csv", "doppler"):
        shared = [name for name in SHARED_OPTIONS if name in options]  # what is not measured has no reference kind
        assert (
            list(options)[-len(shared) :]
            == shared
            == SHARED_OPTIONS[: 3 if format_name in ("onnx", "operators") else 4]
        )


def test_read_by_name(tmp_path: Path) -> None:
    """Tests that options reach the reader."""
    path = tmp_path / "two.stg"
    path.write_text("1\n0 0 0\n1 6 1 0\n2 0 1 1\n")
    assert read_instance("stg", path, num_gpus=5).durations.tolist() == [[6] * 5]


def test_unknown_format() -> None:
    """Tests that an unknown format lists the known ones."""
    with pytest.raises(ValueError, match=r"format: expected one of stg, dot, pipedream, .*, got 'mps'"):
        read_instance("mps", "nowhere")


def test_unknown_option() -> None:
    """Tests that an unknown option lists the known ones, before the file is opened."""
    with pytest.raises(ValueError, match=r"option gpus: expected one of num_gpus, keep_dummies, .* of format stg"):
        read_instance("stg", "nowhere", gpus=3)
    with pytest.raises(
        ValueError, match="option seed: expected one of scale, the options of format heterogeneous-text, got 'seed'"
    ):
        read_instance("heterogeneous-text", "nowhere", seed=3)


@pytest.mark.parametrize("format_name", READERS)
def test_missing_file(format_name: str, tmp_path: Path) -> None:
    """Tests that a file that is not there is an OSError."""
    with pytest.raises(FileNotFoundError):
        read_instance(format_name, tmp_path / "missing")


@pytest.mark.parametrize(
    ("format_name", "name", "text", "value"),
    [
        ("stg", "num-gpus", "4", 4),
        ("stg", "keep_dummies", "Yes", True),
        ("pipedream", "training", "false", False),
        ("pipedream", "parameter-copies", "none", None),
        ("pipedream", "parameter-copies", "2.5", 2.5),
        ("alibaba-v2018", "job", "j_1", "j_1"),
        ("dot", "gpu_memory_bytes", "12", 12),
    ],
)
def test_option_from_text(format_name: str, name: str, text: str, value: object) -> None:
    """Tests that text becomes the value that the reader expects."""
    assert option_from_text(format_name, name, text) == value


def test_cluster_from_text() -> None:
    """Tests that a cluster is made from its short text, and a broken one is refused in its own words."""
    cluster = option_from_text("pipedream", "cluster", "2xT4+1xP100")
    assert isinstance(cluster, Cluster)
    assert [kind.name for kind in cluster.kinds] == ["T4", "T4", "P100"]
    with pytest.raises(ValueError, match="GPU kind: expected "):
        option_from_text("pipedream", "cluster", "2xT5000")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("num_gpus", "four", "option num_gpus: expected an integer, got 'four'."),
        ("num_gpus", "none", "option num_gpus: expected an integer, got 'none'."),
        ("keep-dummies", "2", "option keep-dummies: expected true or false, got '2'."),
        ("unit_seconds", "", "option unit_seconds: expected a number, got ''."),
        ("cost", "1", "option cost: expected a value from Python, as it is a CostModel, got '1'."),
        ("speed", "1", "option speed: expected one of num_gpus, "),
    ],
)
def test_broken_option_text(name: str, text: str, message: str) -> None:
    """Tests that text of another form is one error that names the option."""
    with pytest.raises(ValueError, match=re.escape(message)):
        option_from_text("stg", name, text)


def test_imports_are_late() -> None:
    """Tests that listing the formats imports neither a reader nor what it needs."""
    code = (
        "import sys, instances.readers.dag.read as readers; list(readers.READERS); "
        "print([name for name in sys.modules if name in ('pydot', 'networkx', 'instances.readers.dag.pipedream')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
