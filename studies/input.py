"""Misuse and broken input, reported in one line that names the option or the file."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from instances.text_file import check_readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike


_IN_OUR_VOICE = re.compile(r"(?P<word>[^:\[.]+)(?P<index>\[\d+\])?(?P<rest>[^:]*): expected .+", re.DOTALL)
"""Form of messages about bad values; any other error is an error of this software."""


class BadInputError(Exception):
    """One line that names the file or option, the place in it, and what was expected there; exit status 2."""


@contextmanager
def reading(path: str | PathLike[str]) -> Iterator[None]:
    """Put the name of the file before the message of any error in it."""
    try:
        check_readable(path)
        yield
    except OSError as error:
        raise BadInputError(f"{path}: expected a file that can be read, got: {reason(error)}.") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInputError(f"{path}: {error}") from error
    except MemoryError as error:
        raise BadInputError(f"{path}: expected content that fits into memory.") from error


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[None]:
    """Name the file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise BadInputError(f"{path}: expected a file that can be written, got: {reason(error)}.") from error


@contextmanager
def options(option_of_place: Mapping[str, str], otherwise: str) -> Iterator[None]:
    """Name the option that has a bad value.

    Parameters
    ----------
    option_of_place
        Option for each place that a message may begin with, such as ``cluster`` in ``cluster: expected ...``.
    otherwise
        Text before the message if its place has no option.
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
    """Return the message of the system in lower case."""
    return (error.strerror or str(error)).lower()


def quoted(text: object) -> str:
    """Quote a value as it was typed, cut to 40 characters."""
    given = str(text)
    return repr(given if len(given) <= 40 else f"{given[:37]}...")
