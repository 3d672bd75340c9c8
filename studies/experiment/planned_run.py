"""One run of a study before it is made, and the key by which it is known ever after."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from studies.experiment.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Mapping

PHASES = ("bound", "exact", "method")
"""What runs after what: bounds first, so that every method's schedule is held against them at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """Everything that decides what a run does.

    Parameters
    ----------
    sha256
        Of the instance.
    phase
        One of `PHASES`.
    kind
        That of the method in `solvers.methods`, "bound" for a bound without search.
    label, method
        Name in tables, and what is called.
    parameters
        As given in the specification.
    all_parameters
        With the defaults of all others: the key holds these, so that a new default is a new run.
    objective
        What is minimised.
    budget
        Of a search; the time limit of an exact method.
    repetition, seed, threads
        Of the run.
    """

    sha256: str
    phase: str
    kind: str
    label: str
    method: str
    parameters: Mapping[str, Any]
    all_parameters: Mapping[str, Any]
    objective: str
    budget: Budget = field(default_factory=Budget)
    repetition: int = 0
    seed: int = 0
    threads: int = 1

    @property
    def key(self) -> str:
        """Hash of all that decides what the run does; the label does not."""
        content = {
            "instance": self.sha256,
            "kind": self.kind,
            "method": self.method,
            "parameters": dict(self.all_parameters),
            "objective": self.objective,
            "evaluations": self.budget.evaluations,
            "seconds": self.budget.seconds,
            "repetition": self.repetition,
            "seed": self.seed,
            "threads": self.threads,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:32]
