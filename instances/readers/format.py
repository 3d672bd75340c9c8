"""A public format that can be read, and what the registries of both problems do with one."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.fields import one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike


@dataclass(frozen=True, slots=True)
class Format:
    """A public format, and the function that reads it.

    Parameters
    ----------
    path
        Module and function, ``module:function``, imported on first use; a leading dot means `instances.readers`.
    description
        The format in one line.
    extensions
        Usual endings of its files.
    """

    path: str
    description: str
    extensions: tuple[str, ...]

    def function(self) -> Callable[..., Any]:
        """Import and return the function."""
        module, _, name = self.path.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module, "instances.readers"), name)
        return function

    def options(self) -> dict[str, inspect.Parameter]:
        """Return the options of the function by name: its keyword-only parameters."""
        parameters = inspect.signature(self.function()).parameters
        return {name: item for name, item in parameters.items() if item.kind is inspect.Parameter.KEYWORD_ONLY}


def format_named(formats: Mapping[str, Format], name: str) -> Format:
    """Return a format. Raises a `ValueError` if there is none of that name; the message lists the formats."""
    one_of(name, formats, "format")
    return formats[name]


def read_format(
    formats: Mapping[str, Format], name: str, path: str | PathLike[str], options: Mapping[str, object]
) -> Any:
    """Read a file of a format into an instance; `read_instance` and `read_jobs` say what may be raised."""
    known = format_named(formats, name).options()
    for option in options:
        if option not in known:
            choices = f"one of {', '.join(known)}, the options" if known else "no options"
            raise ValueError(f"option {option}: expected {choices} of format {name}, got {option!r}.")
    return formats[name].function()(path, **options)
