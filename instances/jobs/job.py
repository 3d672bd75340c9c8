"""A job and its stages as they are written by hand, before they become rows of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of a pipeline; input of `JobsInstance.from_parts`, checked there.

    Parameters
    ----------
    times
        Forward plus backward time of one replica for its share of one micro-batch in ticks, by name of the kind of GPU;
        a kind that is absent, or None, is not allowed. A single integer holds for all kinds.
    replicas
        Replicas k_s, one GPU each.
    activation_bytes
        Data to the next stage per iteration, all replicas together; 0 at the last stage.
    parameter_bytes
        Parameters of one replica.
    """

    times: Mapping[str, int | None] | int
    replicas: int = 1
    activation_bytes: int = 0
    parameter_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job; input of `JobsInstance.from_parts`, checked there.

    Parameters
    ----------
    stages
        The pipeline, first stage first.
    iterations
        True number of iterations n.
    release
        Arrival in ticks.
    weight
        Weight, at least 1.
    micro_batches
        Micro-batches Q per iteration.
    name
        Free text; None stands for j0, j1, ...
    user, group, model_tag
        Who submitted it, which recurring job it is a run of, and what it trains; None where unknown.
    """

    stages: Sequence[Stage]
    iterations: int = 1
    release: int = 0
    weight: int = 1
    micro_batches: int = 1
    name: str | None = None
    user: str | None = None
    group: str | None = None
    model_tag: str | None = None
