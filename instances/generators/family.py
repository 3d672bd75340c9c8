"""Families of generated instances, of both problems: where their functions are, and what these take."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.fields import one_of
from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Family:
    """A family of workloads.

    Parameters
    ----------
    path
        Module and function, ``module:function``, imported on first use; a leading dot means `instances.generators`.
    description
        What the family models, in a few words.
    source
        Where the structure comes from.
    """

    path: str
    description: str
    source: str

    def load(self) -> Callable[..., Any]:
        """Import and return the function."""
        module, function = self.path.split(":")
        loaded: Callable[..., Any] = getattr(importlib.import_module(module, "instances.generators"), function)
        return loaded

    def parameters(self) -> tuple[str, ...]:
        """Return the names of the family's own parameters."""
        names = tuple(inspect.signature(self.load()).parameters)
        given = ("rng", "tasks", "cluster") if "tasks" in names else ("rng", "cluster", "tick_seconds", "jobs")
        return tuple(name for name in names if name not in given)


def loaded_family(families: Mapping[str, Family], family: str, parameters: Iterable[str]) -> Callable[..., Any]:
    """Return the function of a family that takes these parameters.

    Raises a `ValueError` if the family is unknown, or has no such parameter.
    """
    one_of(family, families, "family")
    known = families[family].parameters()
    for name in parameters:
        if name not in known:
            own = f"a parameter of {family} ({', '.join(known)})" if known else f"no parameter, as {family} has none"
            raise ValueError(f"parameters: expected {own}, got {name!r}{did_you_mean(name, known)}.")
    return families[family].load()
