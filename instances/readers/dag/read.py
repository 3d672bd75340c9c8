"""The formats of task graphs that can be read, by name, and their options as they are typed on a command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.readers.format import Format, format_named, read_format
from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from instances.dag.instance import DagInstance


READERS: dict[str, Format] = {
    "stg": Format(".dag.stg:read_stg", "Standard Task Graph Set: task graphs for identical processors", (".stg",)),
    "dot": Format(".dag.dot:read_dot", "Graphviz DOT with times, memory and bytes as attributes", (".dot", ".gv")),
    "pipedream": Format(
        ".dag.pipedream:read_pipedream",
        "PipeDream profiles: layers with forward and backward times; micro-batches",
        (".txt",),
    ),
    "dnn-partitioning": Format(
        ".dag.dnn_partitioning:read_dnn_partitioning",
        "placement graphs of Tarnawski et al.: accelerators with a memory limit, CPUs, colour classes",
        (".json",),
    ),
    "zero-bubble": Format(
        ".dag.zero_bubble:read_zero_bubble",
        "pipeline profiles of Zero Bubble: times and memory of F, B and W per stage",
        (".json",),
    ),
    "torch-csv": Format(
        ".dag.torch_csv:read_torch_csv",
        "schedules of torch.distributed.pipelining: passes of every rank in order; times are modelled",
        (".csv",),
    ),
    "doppler": Format(
        ".dag.doppler:read_doppler",
        "DOPPLER's graphs of split matrix programs: compute and transfer of every node, on equal GPUs",
        (".txt",),
    ),
    "wfformat": Format(
        ".dag.wfformat:read_wfformat",
        "WfCommons WfFormat 1.5: scientific workflows with run times and files",
        (".json",),
    ),
    "alibaba-v2018": Format(
        ".dag.alibaba_v2018:read_alibaba_v2018",
        "batch tasks of Alibaba's cluster trace of 2018: production DAG jobs",
        (".csv", ".csv.gz"),
    ),
    "heterogeneous-text": Format(
        ".dag.heterogeneous_text:read_heterogeneous_text",
        "sections #critical, #tasks, #edges: small graphs on unrelated machines",
        (".txt",),
    ),
    "csv": Format(
        ".dag.csv_tables:read_csv_tables",
        "a table of tasks with a time per GPU, and one of edges (option edges)",
        (".csv", ".csv.gz"),
    ),
    "onnx": Format(
        ".dag.onnx_models:read_onnx",
        "neural networks: operators with FLOPs and bytes from their shapes (extra onnx)",
        (".onnx",),
    ),
    "operators": Format(
        ".dag.operators_json:read_operators",
        "operators of a network with FLOPs and bytes, such as torch_operators.py writes them from torch",
        (".json", ".json.gz"),
    ),
    "chakra": Format(
        ".dag.chakra:read_chakra",
        "MLCommons Chakra execution traces: the ranks of a job, with sends and collectives",
        (".et", ".et.gz", ".json"),
    ),
}
"""Formats by name."""


def read_instance(format_name: str, path: str | PathLike[str], **options: object) -> DagInstance:
    """Read a file of a public format into an instance.

    Most formats take `cluster`, `cost`, `seed` and `reference_kind`; the docstring of the format's function and
    `Format.options` give the others.

    Parameters
    ----------
    format_name
        A key of `READERS`.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the format or an option is unknown, an option is out of range, or the file is broken; the message gives the
        place in the file.
    """
    instance: DagInstance = read_format(READERS, format_name, path, options)
    return instance


_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def option_from_text(format_name: str, name: str, text: str) -> object:
    """Return the value of a reader's option that is given as text.

    Parameters
    ----------
    format_name
        A key of `READERS`.
    name
        The option; hyphens replace underscores.
    text
        An integer, a number, ``true`` or ``false``, text, a cluster such as ``2xT4+1xP100``, or ``none``, according to
        the option.

    Returns
    -------
    object
        What `read_instance` expects under the name with underscores.

    Raises
    ------
    ValueError
        If the format or the option is unknown, the option cannot be given as text, or the text has another form.
    """
    known = format_named(READERS, format_name).options()
    key = name.replace("-", "_")
    if key not in known:
        expected = f"one of {', '.join(known) or 'no options'}"
        raise ValueError(f"option {name}: expected {expected}, got {name!r}{did_you_mean(key, known)}.")
    annotation = str(known[key].annotation)
    kind = annotation.removesuffix(" | None")
    if kind != annotation and text.lower() == "none":
        return None
    if kind not in _CONVERTERS:
        raise ValueError(f"option {name}: expected a value from Python, as it is a {kind}, got {text!r}.")
    expected, convert = _CONVERTERS[kind]
    try:
        return convert(text)
    except (ValueError, KeyError) as error:
        if kind == "Cluster":
            raise
        raise ValueError(f"option {name}: expected {expected}, got {text!r}.") from error


def _cluster(text: str) -> object:
    """Make a cluster; imported late because NumPy takes its time."""
    from instances.clusters.cluster import parse_cluster

    return parse_cluster(text)


_CONVERTERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "bool": ("true or false", lambda text: _TRUTHS[text.lower()]),
    "int": ("an integer", int),
    "float": ("a number", float),
    "str": ("text", str),
    "Cluster": ("a cluster", _cluster),
}
