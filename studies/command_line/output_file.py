"""Whether files can be written, asked before work begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.bad_input import BadInputError, writing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FIGURES = (".png", ".pdf", ".svg")
"""Endings of the names of figures."""


def check_outputs(inputs: Sequence[Path | None], outputs: Sequence[Path | None], *, figure: Path | None = None) -> None:
    """Check all files that a command is to write, of which one may be a figure; None is no file.

    Raises
    ------
    BadInputError
        If the figure has no name of `FIGURES`, an output replaces an input or another output, or cannot be written.
    """
    check_suffix(figure, FIGURES)
    check_distinct(inputs, [*outputs, figure])
    for path in (*outputs, figure):
        check_writable(path)


def check_writable(path: Path | None) -> None:
    """Check that a file can be written; nothing is left behind, and None is no file.

    Raises
    ------
    BadInputError
        If it cannot.
    """
    if path is None:
        return
    with writing(path):
        was_there = path.exists()
        with path.open("ab"):
            pass
        if not was_there:
            path.unlink()


def check_suffix(path: Path | None, suffixes: Sequence[str]) -> None:
    """Check the ending of a file's name.

    Raises
    ------
    BadInputError
        If it is another one.
    """
    if path is not None and path.suffix.lower() not in suffixes:
        raise BadInputError(f"{path}: expected a name that ends in {' or '.join(suffixes)}.")


def check_distinct(inputs: Sequence[Path | None], outputs: Sequence[Path | None]) -> None:
    """Check that no output replaces an input or another output; None is no file.

    Raises
    ------
    BadInputError
        If one does.
    """
    read = {path.resolve() for path in inputs if path is not None}
    written: set[Path] = set()
    for path in outputs:
        if path is None:
            continue
        if path.resolve() in read:
            raise BadInputError(f"{path}: expected another file to write than the one that is read.")
        if path.resolve() in written:
            raise BadInputError(f"{path}: expected a file of its own for each output, got it twice.")
        written.add(path.resolve())
