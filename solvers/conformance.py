"""What the conformance kits of both problems share."""

from __future__ import annotations

import io
import os
import signal
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

from heuristics.callback import Callback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class ConformanceError(AssertionError):
    """A method does not do what every method must."""


class CtrlC(Callback):
    """Presses Ctrl-C as soon as the run begins."""

    def on_start(self) -> None:
        """Press."""
        signal.raise_signal(signal.SIGINT)


@contextmanager
def captured_output() -> Iterator[Callable[[], str]]:
    """Catch what is written to Python's two streams and to the two descriptors below them."""
    stream = io.StringIO()
    with tempfile.TemporaryFile() as file, redirect_stdout(stream), redirect_stderr(stream):

        def read() -> str:
            file.seek(0)
            return stream.getvalue() + str(file.read().decode(errors="replace"))

        saved = [(number, os.dup(number)) for number in (1, 2)]
        try:
            for number, _ in saved:
                os.dup2(file.fileno(), number)
            yield read
        finally:
            for number, copy in saved:
                os.dup2(copy, number)
                os.close(copy)
