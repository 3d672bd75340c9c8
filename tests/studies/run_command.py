"""How a command ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ended:
    """Exit status and what was printed."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What was printed with ``--json``."""
        return json.loads(self.out)


Run = Callable[..., Ended]
