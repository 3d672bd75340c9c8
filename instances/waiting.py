"""Waiting for what another process holds, so that the user sees it."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


SILENT_SECONDS, LINE_SECONDS, NAP_SECONDS = 0.5, 10.0, 0.05
"""A wait that is shorter is not worth a line; a longer one has a line at once and one in every so many seconds."""


def turns(place: str) -> Iterator[None]:
    """Yield once, and after short naps again and again, for tries to take what another process has locked.

    Warnings that name the locked `place`, a file or folder, say how long this process has been waiting for it.
    """
    begin, next_line = time.monotonic(), SILENT_SECONDS
    while True:
        yield
        waited = time.monotonic() - begin
        if waited >= next_line:
            warnings.warn(f"{place}: locked by another process; waiting for it since {waited:.0f} s.", stacklevel=2)
            next_line = waited + LINE_SECONDS
        time.sleep(NAP_SECONDS)
