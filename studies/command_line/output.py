"""Answers on stdout, everything else on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys

from studies.command_line.bad_input import BadInputError, reason


def print_text(text: str) -> None:
    """Print an answer; a reader that has gone away (``| head``) is no error.

    Raises
    ------
    BadInputError
        If it cannot be written for another reason, such as a full disk.
    """
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # what is still buffered goes there when the process ends
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError):
            raise BadInputError(f"stdout: expected room for the answer, got: {reason(error)}.") from error


def print_json(document: object) -> None:
    """Print an answer as one JSON document."""
    print_text(json.dumps(document, indent=2, allow_nan=False))


def note(text: str) -> None:
    """Write one line to stderr."""
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(f"{printable(' '.join(text.split()))}\n")
        sys.stderr.flush()


def printable(text: str) -> str:
    """Escape what would steer a terminal or cannot be encoded; names in files are free text."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )
