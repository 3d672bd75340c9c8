"""Parameters of methods, families and readers from the command line: ``--set key=value``."""

from __future__ import annotations

import ast
import inspect
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from instances.spelling import did_you_mean
from instances.text_file import check_readable
from studies.input import BadInputError, quoted, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


FILES = ("weights",)
"""Parameters that are paths of files to read."""

_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

MAX_INTEGER = 1_000_000_000
"""Largest integer that `--set` takes; more is a slip of the finger."""

_CONVERTERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "bool": ("true or false", lambda text: _TRUTHS[text.lower()]),
    "int": ("an integer", int),
    "float": ("a finite number", lambda text: _finite(float(text))),
    "str": ("text", str),
    "str | Predictor": ("a name", str),
    "Mapping[str, Any]": ("KEY=VALUE separated by commas", lambda text: _mapping(text)),
    "Rational": ("a number such as 0.25 or 1/4", Fraction),
    "Sequence[str]": ("names separated by commas", lambda text: tuple(text.split(","))),
}


def set_parameters(
    owner: str, function: Callable[..., object], texts: Sequence[str], *, without: Sequence[str] = ()
) -> dict[str, Any]:
    """Convert texts to keyword-only parameters of a function, by their annotations.

    Parameters
    ----------
    owner
        Method or family, for messages.
    texts
        ``key=value`` each; hyphens in the key stand for underscores.
    without
        Parameters that have options of their own.

    Raises
    ------
    BadInputError
        If a text has another form, the function has no such parameter, or a file that one names cannot be read.
    """
    known = {
        name: str(parameter.annotation)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in without
    }
    values: dict[str, Any] = {}
    for key, text in key_value_pairs(texts):
        if key not in known:
            expected = f"a parameter of {owner} ({', '.join(known) or 'it has none'})"
            raise BadInputError(f"--set: expected {expected}, got {quoted(key)}{did_you_mean(key, known)}.")
        values[key] = _converted(key, known[key], text)
        if key in FILES and values[key] is not None:
            _check_readable(owner, text)
    return values


def key_value_pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Split ``key=value`` texts; hyphens in keys become underscores.

    Raises a `BadInputError` if a text has another form, or a key is there twice.
    """
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key.isidentifier():
            raise BadInputError(f"--set: expected KEY=VALUE, got {quoted(text)}.")
        if key in pairs:
            raise BadInputError(f"--set {key}: expected each key once, got it twice.")
        pairs[key] = value.strip()
    return list(pairs.items())


def check_size(key: str, value: object, text: str) -> None:
    """Refuse integers beyond `MAX_INTEGER`."""
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise BadInputError(f"--set {key}: expected an integer of at most {MAX_INTEGER}, got {quoted(text)}.")


def _check_readable(owner: str, path: str) -> None:
    """Refuse a file that cannot be read, before any work begins."""
    try:
        check_readable(path)
        with open(path, "rb"):
            pass
    except OSError as error:
        got = f"{quoted(path)}: {reason(error)}"
        raise BadInputError(f"{owner}: expected a file that can be read, got {got}.") from error
    except ValueError as error:
        raise BadInputError(f"{owner}, {path}: {error}") from error


def _finite(value: float) -> float:
    """Refuse NaN and infinities."""
    if not math.isfinite(value):
        raise ValueError
    return value


def _mapping(text: str) -> dict[str, object]:
    """Return pairs whose values are numbers where they can be, else texts."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return {_key(key, equals): _number_or_text(value.strip()) for key, equals, value in pairs}


def _key(key: str, equals: str) -> str:
    """Return a key with underscores."""
    name = key.strip().replace("-", "_")
    if not equals or not name.isidentifier():
        raise ValueError
    return name


def _number_or_text(text: str) -> object:
    """Return an integer, else a finite number, else the text itself."""
    for convert in (int, lambda text: _finite(float(text))):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def _converted(key: str, annotation: str, text: str) -> object:
    """Convert a text to the type of a parameter."""
    kind = annotation.removesuffix(" | None")
    if kind != annotation and text.lower() == "none":
        return None
    if kind.startswith("Literal["):
        choices = ast.literal_eval(kind.removeprefix("Literal"))
        expected, convert = " or ".join(choices), lambda text: {choice: choice for choice in choices}[text]
    elif kind in _CONVERTERS:
        expected, convert = _CONVERTERS[kind]
    else:
        raise BadInputError(f"--set {key}: expected a value from Python, as it is a {kind}, got {quoted(text)}.")
    try:
        value = convert(text)
    except (ValueError, KeyError, ZeroDivisionError) as error:
        raise BadInputError(f"--set {key}: expected {expected}, got {quoted(text)}.") from error
    check_size(key, value, text)
    return value


OPTION_OF_PARAMETER = {
    "cluster": "--gpus",
    "cost": "cost options",
    "seed": "--seed",
    "reference_kind": "--reference-kind",
    "processors": "--processors",
    "scale": "--scale",
}
"""Parameters of readers with options of their own."""


def reader_options(format_name: str, given: Mapping[str, object], texts: Sequence[str]) -> dict[str, object]:
    """Return what to call a format's reader with.

    Parameters
    ----------
    given
        Values of the options of their own, None for one that was not given.
    texts
        ``key=value`` for all other options of the format.

    Raises
    ------
    BadInputError
        If the format is unknown or does not have an option.
    """
    from instances.readers.dag.read import READERS, option_from_text
    from instances.readers.format import format_named

    try:
        known = format_named(READERS, format_name).options()
    except ValueError as error:
        raise BadInputError(f"--from: {str(error).partition(': ')[2]}") from error
    values = {name: value for name, value in given.items() if value is not None}
    if "processors" in values and "num_gpus" in known:  # what the format's own publications call processors
        values["num_gpus"] = values.pop("processors")
    for name in values:
        if name not in known:
            raise BadInputError(
                f"{OPTION_OF_PARAMETER[name]}: expected none for format {format_name}, which has no such option."
            )
    for key, text in key_value_pairs(texts):
        if key in OPTION_OF_PARAMETER:
            raise BadInputError(
                f"--set {key}: expected its own option, {OPTION_OF_PARAMETER[key]}, got it as KEY=VALUE."
            )
        try:
            value = option_from_text(format_name, key, text)
            check_size(key, value, text)
            values[key] = value
        except ValueError as error:
            raise BadInputError(f"--set {key}: {str(error).partition(': ')[2]}") from error
    return values


def option_of_place(values: Mapping[str, object]) -> dict[str, str]:
    """Return the option for each place in a message of a reader, for `options`."""
    own = {name: f"--set {name}" for name in values if name not in OPTION_OF_PARAMETER}
    kind = {"GPU kind": "--reference-kind"} if "reference_kind" in values else {}
    return {**own, **kind, **{name: option for name, option in OPTION_OF_PARAMETER.items() if name != "cost"}}
