"""Misuse and broken input, told in one line, and which of the two problems an instance file is of."""

from __future__ import annotations

import difflib
import re
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike


_IN_OUR_VOICE = re.compile(r"(?P<word>[^:\[.]+)(?P<index>\[\d+\])?(?P<rest>[^:]*): expected .+", re.DOTALL)
"""What messages of bad values look like; any other error is one of this software."""


MAX_BYTES = 10**9
"""Larger input is refused."""


class BadInputError(Exception):
    """One line that names the file or option, the place in it, and what was expected there; exit status 2."""


@contextmanager
def reading(path: str | PathLike[str]) -> Iterator[None]:
    """Put the name of the file before whatever is wrong with it."""
    try:
        _check_file(Path(path))
        yield
    except OSError as error:
        raise BadInputError(f"{path}: expected a file that can be read, got: {reason(error)}.") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInputError(f"{path}: {error}") from error


def _check_file(path: Path) -> None:
    """Refuse devices, pipes and files that would fill the memory; directories have an error of the system."""
    status = path.stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise BadInputError(f"{path}: expected a regular file, got a device or a pipe.")
    if status.st_size > MAX_BYTES:
        raise BadInputError(f"{path}: expected at most {MAX_BYTES:,} bytes, got {status.st_size:,}.")


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[None]:
    """Say which file cannot be written."""
    try:
        yield
    except OSError as error:
        raise BadInputError(f"{path}: expected a file that can be written, got: {reason(error)}.") from error


@contextmanager
def options(option_of_place: Mapping[str, str], otherwise: str) -> Iterator[None]:
    """Name the option behind a bad value.

    Parameters
    ----------
    option_of_place
        Option for a place in a message, such as ``cluster`` of ``cluster: expected ...``; an index may follow.
    otherwise
        What is named before the message where the place has no option.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        message = str(error)
        match = _IN_OUR_VOICE.fullmatch(message)
        if match is None:
            raise
        word = match["word"]
        option = None if match["rest"] else option_of_place.get(word)
        line = f"{otherwise}: {message}" if option is None else f"{option}{message[len(word) :]}"
        raise BadInputError(line) from error


def reason(error: OSError) -> str:
    """Return what the system says, in lower case."""
    return (error.strerror or str(error)).lower()


def quoted(text: object) -> str:
    """Quote what was typed, cut to 40 characters."""
    given = str(text)
    return repr(given if len(given) <= 40 else f"{given[:37]}...")


def usage_line(error: Any) -> str:
    """Return one line that names option or argument and what was expected.

    Parameters
    ----------
    error
        A usage error of Typer or Click; known by the names of its classes, which are older than either.
    """
    context = getattr(error, "ctx", None)
    command = str(getattr(context, "command_path", "optgap"))
    kind, message = type(error).__name__, str(error.format_message())
    if kind == "NoSuchOption":
        known = [name for parameter in context.command.params for name in parameter.opts] if context else []
        near = difflib.get_close_matches(error.option_name, known, n=1)
        hint = f", did you mean {near[0]}?" if near else "."
        return f"{error.option_name}: expected an option of {command}{hint}"
    if kind == "MissingParameter":
        return f"{_name(error.param)}: expected a value for {command}, got nothing."
    if kind == "BadOptionUsage":
        expected = "a value" if "requires" in message else "no value"
        return f"{error.option_name}: expected {expected} after it."
    if message.startswith(("No such command", "Missing command")):
        known = [] if context is None else context.command.list_commands(context)
        return f"{command}: expected a command ({', '.join(known)}). {message}"
    if message.startswith("Got unexpected extra argument"):
        return f"{command}: expected fewer arguments, g{message[1:]}."
    place = _name(error.param) if getattr(error, "param", None) is not None else command
    return f"{place}: expected another value, got {quoted(message)}."


def _name(parameter: Any) -> str:
    """Return the name of an option or argument as the user types it."""
    if parameter is None:
        return "argument"
    return str(parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar or parameter.name)


MARK = b'optgap/jobs"'
"""Without these bytes a file is read once only, by the reader of DAG instances, which tells what is wrong with it."""


def is_jobs_file(path: str | PathLike[str]) -> bool:
    """Say whether a file says that it is a jobs instance; False for one that cannot be read or is broken."""
    from instances.text_file import file_format

    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > MAX_BYTES or MARK not in file.read_bytes():
            return False
        return file_format(file) == "optgap/jobs"
    except OSError:
        return False
