"""Misuse of the command line in one line, and the problem that an instance file is of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from instances.spelling import did_you_mean
from studies.input import quoted, reading

if TYPE_CHECKING:
    from os import PathLike


def usage_line(error: Any) -> str:
    """Return one line that names option or argument and what was expected.

    Parameters
    ----------
    error
        A usage error of Typer or Click, recognised by the name of its class, which both libraries share.
    """
    context = getattr(error, "ctx", None)
    command = str(getattr(context, "command_path", "optgap"))
    kind, message = type(error).__name__, str(error.format_message())
    if kind == "NoSuchOption":
        known = [name for parameter in context.command.params for name in parameter.opts] if context else []
        return f"{error.option_name}: expected an option of {command}{did_you_mean(error.option_name, known)}."
    if kind == "MissingParameter":
        return f"{_name(error.param)}: expected a value for {command}, got nothing."
    if kind == "BadOptionUsage":
        expected = "a value" if "requires" in message else "no value"
        return f"{error.option_name}: expected {expected} after it."
    if message.startswith(("No such command", "Missing command")):
        known = [] if context is None else context.command.list_commands(context)
        given = re.search("'(.*)'", message.partition(" Did you")[0])
        got = f"{given[1]!r}{did_you_mean(given[1], known)}" if given else "nothing"
        return f"{command}: expected a command ({', '.join(known)}), got {got}."
    if message.startswith("Got unexpected extra argument"):
        return f"{command}: expected fewer arguments, g{message[1:]}."
    place = _name(error.param) if getattr(error, "param", None) is not None else command
    return f"{place}: expected another value, got {quoted(message)}."


def _name(parameter: Any) -> str:
    """Return the name of an option or argument as the user types it."""
    if parameter is None:
        return "argument"
    return str(parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar or parameter.name)


def is_jobs_file(path: str | PathLike[str]) -> bool:
    """Say whether a file says that it is a jobs instance; False for one that is no instance.

    Raises a `BadInputError` if it cannot be read, or is no text.
    """
    from instances.readers.optgap_json import problem_of_text
    from instances.text_file import read_text

    with reading(path):
        text = read_text(path)
    try:
        return problem_of_text(text) == "jobs"
    except ValueError:
        return False
