"""What every violation of a constraint has in common, in both problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated constraint: which task, job, GPU or edge, and by how much."""

    line: ClassVar[str]
    """Describes the violation; ``{0.task}`` stands for the field `task`."""

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return self.line.format(self)
