"""Answers on stdout, everything else on stderr, and the files that a command writes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from instances.text_file import whole_file, write_text
from solvers.table import printable
from studies.input import BadInputError, reason, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes


class ForgivingFile(io.FileIO):
    """Descriptor of stdout or stderr; what cannot be written there is dropped, and the exit status stays what it is.

    A closed pipe (``| head``) is no error. Where stdout cannot be written for another reason, such as a full disk, one
    line on stderr says so.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._has_failed = False

    def write(self, content: Any, /) -> Any:
        """Write, or drop what cannot be written."""
        try:
            return super().write(content)
        except OSError as error:
            if self.fileno() == 1 and not self._has_failed and not isinstance(error, BrokenPipeError):
                note(f"stdout: expected room for the answer, got: {reason(error)}.")
            self._has_failed = True
            return len(content)


def open_streams() -> None:
    """Make stdout and stderr of this process such that writing to them never fails.

    Streams that are closed lead nowhere, so that no file that is opened later gets their descriptors. Characters that
    the encoding of stdout does not have are replaced. Streams that somebody else has put in their place are left alone.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one
    for descriptor, name, errors in ((1, "stdout", "replace"), (2, "stderr", "backslashreplace")):
        given = getattr(sys, name)
        if given is getattr(sys, f"__{name}__"):
            file = ForgivingFile(descriptor)
            encoding = "utf-8" if given is None else given.encoding
            is_line_buffered = descriptor == 2 or file.isatty()
            stream = io.TextIOWrapper(io.BufferedWriter(file), encoding, errors, line_buffering=is_line_buffered)
            setattr(sys, name, stream)


before_answers: list[Callable[[], None]] = []
"""What ends before an answer is printed: lines that a terminal shows meanwhile."""


def print_text(text: str) -> None:
    """Print an answer."""
    for end in before_answers:
        end()
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def print_json(document: object) -> None:
    """Print an answer as one JSON document."""
    print_text(json.dumps(document, indent=2, allow_nan=False))


def note(text: str) -> None:
    """Write one line to stderr."""
    sys.stderr.write(f"{printable(' '.join(text.split()))}\n")
    sys.stderr.flush()


FIGURES = (".png", ".pdf", ".svg")
"""Endings of the names of figures."""


def check_outputs(inputs: Sequence[Path | None], outputs: Sequence[Path | None], *, figure: Path | None = None) -> None:
    """Check all files that a command will write, one of which may be a figure; None stands for no file.

    Raises a `BadInputError` if the name of the figure does not end as in `FIGURES`, or an output replaces an input or
    another output or cannot be written.
    """
    check_suffix(figure, FIGURES)
    check_distinct(inputs, [*outputs, figure])
    for path in (*outputs, figure):
        check_writable(path)


def check_writable(path: Path | None) -> None:
    """Check that a file can be written, and leave nothing behind; None stands for no file.

    Raises a `BadInputError` if it cannot be written.
    """
    if path is None:
        return
    with contextlib.suppress(_EnoughError), writing(path), whole_file(path):
        raise _EnoughError


class _EnoughError(Exception):
    """A file could be written, and nothing more was to be known."""


def check_suffix(path: Path | None, suffixes: Sequence[str]) -> None:
    """Check the ending of a file's name; raises a `BadInputError` if it ends otherwise."""
    if path is not None and path.suffix.lower() not in suffixes:
        raise BadInputError(f"{path}: expected a name that ends in {' or '.join(suffixes)}.")


def check_distinct(inputs: Sequence[Path | None], outputs: Sequence[Path | None]) -> None:
    """Check that no output replaces an input or another output; None stands for no file.

    Raises a `BadInputError` if an output does.
    """
    read = {_real_path(path) for path in inputs if path is not None}
    written: set[str] = set()
    for path in outputs:
        if path is None:
            continue
        if _real_path(path) in read:
            raise BadInputError(f"{path}: expected another file to write than the one that is read.")
        if _real_path(path) in written:
            raise BadInputError(f"{path}: expected a file of its own for each output, got it twice.")
        written.add(_real_path(path))


def _real_path(path: Path) -> str:
    """Return a path without symbolic links; links that lead in a circle, or to a device, stay."""
    with writing(path):  # the working directory may be gone
        return str(path) if path.is_char_device() or path.is_fifo() else os.path.realpath(path)


def write_text_output(path: Path | None, text: Callable[[], str]) -> None:
    """Write a text, which is made only if there is a path; None stands for no file.

    Raises a `BadInputError` if it cannot be written.
    """
    if path is not None:
        with writing(path):
            write_text(path, text())


def write_figure(path: Path | None, axes: Callable[[], Axes], *, dpi: int = 150, **options: Any) -> None:
    """Write a figure, which is drawn only if there is a path; otherwise like `write_text_output`.

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
    with writing(path), whole_file(path) as partial:
        figure.savefig(partial, dpi=dpi, **options)
