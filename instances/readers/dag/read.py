"""The formats of task graphs that can be read, by name, and their options as they are typed on a command line."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from instances.dag.instance import DagInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A format, and the function that reads it.

    Parameters
    ----------
    path
        Module and function, ``module:function``; imported when it is first used.
    description
        What the format is, in one line.
    extensions
        Usual endings of its files.
    """

    path: str
    description: str
    extensions: tuple[str, ...]

    def function(self) -> Callable[..., DagInstance]:
        """Import and return the function."""
        module, _, name = self.path.partition(":")
        function: Callable[..., DagInstance] = getattr(importlib.import_module(module), name)
        return function

    def options(self) -> dict[str, inspect.Parameter]:
        """Return the options of the function by name: its keyword-only parameters."""
        parameters = inspect.signature(self.function()).parameters
        return {name: item for name, item in parameters.items() if item.kind is inspect.Parameter.KEYWORD_ONLY}


READERS: dict[str, Reader] = {
    "stg": Reader(
        path="instances.readers.dag.stg:read_stg",
        description="Standard Task Graph Set: task graphs for identical processors",
        extensions=(".stg",),
    ),
    "dot": Reader(
        path="instances.readers.dag.dot:read_dot",
        description="Graphviz DOT with times, memory and bytes as attributes",
        extensions=(".dot", ".gv"),
    ),
    "pipedream": Reader(
        path="instances.readers.dag.pipedream:read_pipedream",
        description="PipeDream profiles: layers with forward and backward times; micro-batches",
        extensions=(".txt",),
    ),
    "dnn-partitioning": Reader(
        path="instances.readers.dag.dnn_partitioning:read_dnn_partitioning",
        description="placement graphs of Tarnawski et al.: accelerators with a memory limit, CPUs, colour classes",
        extensions=(".json",),
    ),
    "wfformat": Reader(
        path="instances.readers.dag.wfformat:read_wfformat",
        description="WfCommons WfFormat 1.5: scientific workflows with run times and files",
        extensions=(".json",),
    ),
    "alibaba-v2018": Reader(
        path="instances.readers.dag.alibaba_v2018:read_alibaba_v2018",
        description="batch tasks of Alibaba's cluster trace of 2018: production DAG jobs",
        extensions=(".csv", ".csv.gz"),
    ),
    "heterogeneous-text": Reader(
        path="instances.readers.dag.heterogeneous_text:read_heterogeneous_text",
        description="sections #critical, #tasks, #edges: small graphs on unrelated machines",
        extensions=(".txt",),
    ),
}
"""Formats by name."""


def read_instance(format_name: str, path: str | PathLike[str], **options: object) -> DagInstance:
    """Read a file of a public format into an instance.

    Most formats take `cluster`, `cost`, `seed` and `reference_kind`; what else there is stands in the docstring of the
    format's function and in `Reader.options`.

    Parameters
    ----------
    format_name
        A key of `READERS`.
    options
        Options of the format's reader.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the format or an option is unknown, an option is out of range, or the file is broken; the message gives the
        place in the file.
    """
    reader = reader_of_format(format_name)
    known = reader.options()
    for name in options:
        if name not in known:
            raise ValueError(f"option {name}: expected {_options_text(known)} of format {format_name}, got {name!r}.")
    return reader.function()(path, **options)


def reader_of_format(format_name: str) -> Reader:
    """Return the reader of a format.

    Raises
    ------
    ValueError
        If there is none; the message lists the formats.
    """
    if format_name not in READERS:
        raise ValueError(f"format: expected one of {', '.join(READERS)}, got {format_name!r}.")
    return READERS[format_name]


def _options_text(known: dict[str, inspect.Parameter]) -> str:
    """Return the options as text."""
    return f"one of {', '.join(known)}, the options" if known else "no options"


_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def option_from_text(format_name: str, name: str, text: str) -> object:
    """Return the value of a reader's option that is given as text.

    Parameters
    ----------
    format_name
        A key of `READERS`.
    name
        The option; hyphens stand for underscores.
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
    known = reader_of_format(format_name).options()
    key = name.replace("-", "_")
    if key not in known:
        raise ValueError(f"option {name}: expected one of {', '.join(known) or 'no options'}, got {name!r}.")
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
