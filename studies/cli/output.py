"""Answers on stdout, everything else on stderr, and the files that a command writes."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING

from solvers.table import printable
from studies.input import BadInputError, reason, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any

    from matplotlib.axes import Axes


def print_text(text: str) -> None:
    """Print an answer; a closed pipe (``| head``) is no error.

    Raises
    ------
    BadInputError
        If stdout cannot be written for another reason, such as a full disk.
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


FIGURES = (".png", ".pdf", ".svg")
"""Endings of the names of figures."""


def check_outputs(inputs: Sequence[Path | None], outputs: Sequence[Path | None], *, figure: Path | None = None) -> None:
    """Check all files that a command will write, one of which may be a figure; None stands for no file.

    Raises
    ------
    BadInputError
        If the name of the figure does not end as in `FIGURES`, or an output replaces an input or another output or
        cannot be written.
    """
    check_suffix(figure, FIGURES)
    check_distinct(inputs, [*outputs, figure])
    for path in (*outputs, figure):
        check_writable(path)


def check_writable(path: Path | None) -> None:
    """Check that a file can be written, and leave nothing behind; None stands for no file.

    Raises
    ------
    BadInputError
        If it cannot be written.
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
        If it ends otherwise.
    """
    if path is not None and path.suffix.lower() not in suffixes:
        raise BadInputError(f"{path}: expected a name that ends in {' or '.join(suffixes)}.")


def check_distinct(inputs: Sequence[Path | None], outputs: Sequence[Path | None]) -> None:
    """Check that no output replaces an input or another output; None stands for no file.

    Raises
    ------
    BadInputError
        If an output does.
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


def write_output(path: Path | None, write: Callable[[Path], object]) -> None:
    """Write a file by a function of its path; None stands for no file.

    Raises
    ------
    BadInputError
        If it cannot be written.
    """
    if path is not None:
        with writing(path):
            write(path)


def write_text_output(path: Path | None, text: Callable[[], str]) -> None:
    """Write a text, which is made only if there is a path; otherwise like `write_output`."""
    write_output(path, lambda file: file.write_text(text(), encoding="utf-8"))


def write_figure(path: Path | None, axes: Callable[[], Axes], *, dpi: int = 150, **options: Any) -> None:
    """Write a figure, which is drawn only if there is a path; otherwise like `write_output`.

    Parameters
    ----------
    path
        Its suffix determines the format.
    dpi
        Dots per inch of a raster format.
    options
        Other arguments of `Figure.savefig`.
    """
    if path is None:
        return
    figure = axes().get_figure(root=True)
    assert figure is not None  # the axes were just made with one
    write_output(path, lambda file: figure.savefig(file, dpi=dpi, **options))
