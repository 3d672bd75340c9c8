"""Keeping quiet what a library prints below Python."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = threading.Lock()
_silences: list[_Silence] = []
_count = 0


@contextmanager
def silenced() -> Iterator[None]:
    """Send what C code writes to standard output nowhere; what Python prints still goes where it went.

    HiGHS 1.12 prints a line now and then although its output is switched off (ERGO-Code/HiGHS#2783), which would break
    the JSON document on standard output. Several threads may be inside at the same time.
    """
    global _count
    with _lock:
        if _count == 0:
            _silences.append(_Silence())
        _count += 1
    try:
        yield
    finally:
        with _lock:
            _count -= 1
            if _count == 0:
                _silences.pop().end()


class _Silence:
    """Descriptor 1 points nowhere until `end`; nothing is done where there is no such descriptor."""

    def __init__(self) -> None:
        self._saved: int | None = None
        self._python: TextIO | None = None
        _flush()
        try:
            self._saved = os.dup(1)
        except OSError:
            return
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        if _is_descriptor_1(sys.stdout):
            self._python = sys.stdout
            sys.stdout = open(  # noqa: SIM115  # closed by `end`
                self._saved,
                "w",
                buffering=1,
                encoding=self._python.encoding,
                errors=self._python.errors,
                closefd=False,
            )

    def end(self) -> None:
        """Undo everything."""
        if self._saved is None:
            return
        _flush()
        if self._python is not None:
            ours, sys.stdout = sys.stdout, self._python
            ours.close()
        os.dup2(self._saved, 1)
        os.close(self._saved)


def _is_descriptor_1(stream: TextIO | None) -> bool:
    """Say whether a stream writes to descriptor 1."""
    try:
        return stream is not None and stream.fileno() == 1
    except (OSError, ValueError, AttributeError):  # a notebook's or a test's
        return False


def _flush() -> None:
    """Write out what Python and the C library have buffered for descriptor 1."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with suppress(OSError, AttributeError, TypeError):  # no C library of that kind: nothing of it is buffered
        ctypes.CDLL(None).fflush(None)
